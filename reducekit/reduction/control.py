"""Requests to a running reduction from outside: stop, pause, resume, skip a pass.

A reduction runs in one thread; a page, a signal handler or a test asks from
another. Nothing is interrupted in the middle: the reduction looks here between
checks, and at least every `POLL` seconds while it waits for a verdict. So what
it knows is always consistent, and a request is obeyed within about `POLL`
seconds. A reduction that is asked nothing reads one attribute for each check.
"""

from __future__ import annotations

import threading

POLL = 0.1
"""Seconds between two looks at the requests while a reduction waits."""


class Stopped(Exception):
    """The search ends early; the text says why, as in "after 100 checks"."""


class Control:
    """The requests to one reduction. All methods may be called from any thread."""

    def __init__(self) -> None:
        self.requested = False
        """Whether there is anything to obey: the only thing that is read for every check."""
        self.skipped = False
        """Whether a pass was skipped: then the result depends on more than the input."""
        self.seconds_paused = 0.0
        """Kept by the reduction."""
        self._condition = threading.Condition(threading.RLock())
        self._reason: str | None = None
        self._paused = False
        self._skip = False

    def stop(self, reason: str) -> None:
        """Ask the reduction to end; `reason` becomes `Result.stopped`. The first one counts."""
        with self._condition:
            self._reason = self._reason or reason
            self._changed()

    def pause(self) -> None:
        """Ask the reduction to start no more checks; those that run go on to their end."""
        with self._condition:
            self._paused = True
            self._changed()

    def resume(self) -> None:
        """Let a paused reduction go on."""
        with self._condition:
            self._paused = False
            self._changed()

    def skip_pass(self) -> None:
        """Ask the reduction to leave its present pass, as if that had nothing left to try."""
        with self._condition:
            self._skip = True
            self._changed()

    @property
    def paused(self) -> bool:
        """Whether the reduction is asked to pause."""
        return self._paused

    @property
    def stopped(self) -> str | None:
        """Why the reduction is asked to stop; None if it is not."""
        return self._reason

    @property
    def skip_asked(self) -> bool:
        """Whether the present pass is to be left."""
        return self._skip

    def check(self) -> None:
        """Raise Stopped if the reduction is asked to stop."""
        if self._reason is not None:
            raise Stopped(self._reason)

    def wait(self) -> None:
        """Wait, while paused, for another request, at most `POLL` seconds."""
        with self._condition:
            if self._paused and self._reason is None:
                self._condition.wait(POLL)

    def take_skip(self) -> bool:
        """Return whether the present pass is to be left, and forget the request."""
        if not self._skip:
            return False
        with self._condition:
            self._skip = False
            self.skipped = True
            self._changed()
        return True

    def _changed(self) -> None:
        self.requested = self._paused or self._skip or self._reason is not None
        self._condition.notify_all()
