"""What ends or pauses a reduction: requests from outside, and its budget.

Requests are: stop, pause, resume, skip a pass.

A reduction runs in one thread; a page, a signal handler or a test sends requests from another.
Nothing is interrupted midway: the reduction looks for requests between checks, and at least every
`POLL` seconds while it waits for a verdict. So its state is always consistent, and a request takes
effect within about `POLL` seconds. Without requests, this costs one attribute read per check.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from reducekit.reduction.skips import Skip
from reducekit.text import counted

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
        asked = self._skip
        if asked:
            with self._condition:
                self._skip = False
                self._changed()
        return asked

    def take_continued(self) -> bool:
        """Return whether a pause, or a stop of the process, has ended since the last call."""
        asked = self._continued
        if asked:
            with self._condition:
                self._continued = False
                self._changed()
        return asked

    def _changed(self) -> None:
        self.requested = self._paused or self._skip or self._continued or self._reason is not None
        self._condition.notify_all()


_SOME = 24
"""Checks without success that say nothing yet."""


@dataclass(slots=True)
class Counts:
    """What a reduction has cost so far. Only `runs` depends on timing."""

    checks: int = 0
    """Candidates whose verdict took a run of the oracle."""
    skipped: Counter[Skip] = field(default_factory=Counter)
    """Candidates that took no run, by the reason."""
    runs: int = 0
    """Runs started, including those of candidates superseded by an earlier one's success."""
    repeats: int = 0
    """Runs that repeat an interesting text, to see whether it fails every time."""
    replayed: int = 0
    """Checks whose verdict was in the journal."""
    accepted: int = 0
    rejected: int = 0
    """Successes that could not be combined with others found at the same time."""

    @property
    def cache_hits(self) -> int:
        """Candidates whose verdict followed from earlier ones, or from the format."""
        return sum(
            self.skipped[why] for why in (Skip.KNOWN, Skip.REFUTED, Skip.ALIKE, Skip.REFUSED)
        )

    @property
    def discarded(self) -> int:
        """Runs whose verdict was not used."""
        return self.runs + self.replayed - self.checks - self.repeats


class Budget(NamedTuple):
    """When to stop early. None means no limit."""

    checks: int | None = None
    """After this many checks."""
    seconds: float | None = None
    """After this many seconds."""
    patience: int | None = None
    """After this many consecutive checks without success."""
    size: int | None = None
    """As soon as the text has at most this many bytes."""


@dataclass(slots=True, eq=False)
class Spending:
    """The used part of a budget. Invariant: `failures` counts the checks since the last success.

    The `require_` methods raise Stopped with the reason.
    """

    budget: Budget
    counts: Counts
    control: Control
    failures: int = 0
    early: bool = False
    """Whether checks or time ran out: continuing may make the text smaller."""
    begin: float = field(default_factory=time.monotonic)
    guessed: bool = False
    """Whether the text is a part of the input that was guessed, and no pass has changed it since:
    those that run once aside."""

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning, without pauses."""
        return time.monotonic() - self.begin - self.control.seconds_paused

    @property
    def spent(self) -> bool:
        """Whether all checks are used up."""
        return self.budget.checks is not None and self.made >= self.budget.checks

    @property
    def made(self) -> int:
        """The checks of this run; those replayed from the journal do not count."""
        return self.counts.checks - self.counts.replayed

    def take(self, interesting: bool) -> None:
        """Record the verdict of a check."""
        self.failures = 0 if interesting else self.failures + 1

    def is_vain(self, share: float) -> bool:
        """Return whether more than this share of the checks came after the last success."""
        return self.failures > max(_SOME, share * self.counts.checks)

    def require_check(self, *, known: bool = False) -> None:
        """Stop if no check may follow; one that is `known` from the journal is free."""
        if self.budget.patience is not None and self.failures >= self.budget.patience:
            # Not `early`: the user has said that such a streak means there is little left.
            raise Stopped(f"after {counted(self.failures, 'consecutive check')} without success")
        # What the journal knows costs nothing: a resumed run replays it even with a budget of 0.
        if self.spent and not known:
            self.early = True
            raise Stopped(f"after {counted(self.made, 'check')}")

    def require_time(self) -> float | None:
        """Return the seconds left, None if unlimited; stop when there are none."""
        if self.budget.seconds is None:
            return None
        left = self.budget.seconds - self.elapsed
        if left <= 0:
            self.early = True
            raise Stopped(f"after {self.budget.seconds:g} s")
        return left

    def require_larger(self, size: int) -> None:
        """Stop if a text of `size` bytes is small enough."""
        if self.budget.size is not None and size <= self.budget.size:
            raise Stopped(f"at {size:,} bytes (limit: {self.budget.size:,})")
