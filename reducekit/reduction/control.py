"""Requests to a running reduction from outside: stop, pause, resume, skip a pass.

A reduction runs in one thread; a page, a signal handler or a test sends requests from another.
Nothing is interrupted midway: the reduction looks for requests between checks, and at least every
`POLL` seconds while it waits for a verdict. So its state is always consistent, and a request takes
effect within about `POLL` seconds. Without requests, this costs one attribute read per check.
"""

from __future__ import annotations

import threading

# Short enough to feel immediate; long enough that waiting takes no measurable processor time.
POLL = 0.1
"""Seconds between two looks for requests while a reduction waits."""


class Stopped(Exception):
    """The search ends early; the text gives the reason, as in "after 100 checks"."""


class Control:
    """The requests to one reduction. All methods may be called from any thread."""

    def __init__(self) -> None:
        self.requested = False
        """Whether a request is pending: the only attribute that is read for every check."""
        self.skipped = False
        """Whether a pass was skipped: then the result does not depend on the input alone."""
        self.seconds_paused = 0.0
        """Maintained by the reduction."""
        self._condition = threading.Condition(threading.RLock())
        self._reason: str | None = None
        self._paused = False
        self._skip = False
        self._continued = False

    def stop(self, reason: str) -> None:
        """Ask the reduction to end; `reason` becomes `Result.stopped`. The first one counts."""
        with self._condition:
            # A second Ctrl-C, or a limit that is reached while stopping, must not hide the first
            # reason.
            self._reason = self._reason or reason
            self._changed()

    def pause(self) -> None:
        """Ask the reduction to start no more checks; running checks continue to their end."""
        with self._condition:
            self._paused = True
            self._changed()

    def resume(self) -> None:
        """Let a paused reduction continue."""
        with self._condition:
            # Noted here: a short pause may be over before the reduction looks for requests.
            self._continued = self._continued or self._paused
            self._paused = False
            self._changed()

    def skip_pass(self) -> None:
        """Ask the reduction to leave the current pass, as if it had nothing left to try."""
        with self._condition:
            self._skip = True
            self._changed()

    def continued(self) -> None:
        """Note that the process was stopped (Ctrl-Z) and runs again."""
        with self._condition:
            self._continued = True
            self._changed()

    @property
    def paused(self) -> bool:
        """Whether the reduction was asked to pause."""
        return self._paused

    @property
    def stopped(self) -> str | None:
        """The reason why the reduction was asked to stop; None if it was not."""
        return self._reason

    @property
    def skip_asked(self) -> bool:
        """Whether the current pass is to be skipped."""
        return self._skip

    def check(self) -> None:
        """Raise Stopped if the reduction was asked to stop."""
        if self._reason is not None:
            raise Stopped(self._reason)

    def wait(self) -> None:
        """While paused, wait for another request, at most `POLL` seconds."""
        with self._condition:
            if self._paused and self._reason is None:
                self._condition.wait(POLL)

    def take_skip(self) -> bool:
        """Return whether the current pass is to be skipped, and clear the request."""
        # Read without the lock: at worst the request is seen at the next look.
        if not self._skip:
            return False
        with self._condition:
            self._skip = False
            self.skipped = True
            self._changed()
        return True

    def take_continued(self) -> bool:
        """Return whether a pause, or a stop of the process, has ended since the last call."""
        if not self._continued:
            return False
        with self._condition:
            self._continued = False
            self._changed()
        return True

    def _changed(self) -> None:
        self.requested = self._paused or self._skip or self._continued or self._reason is not None
        self._condition.notify_all()
