"""What a reduction has cost, and when it stops early."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from reducekit.reduction.control import Control, Stopped
from reducekit.reduction.skips import Skip


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


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop early. None means no limit."""

    checks: int | None = None
    """After this many checks."""
    seconds: float | None = None
    """After this many seconds."""
    patience: int | None = None
    """After this many consecutive checks without success."""
    size: int | None = None
    """As soon as the text has at most this many bytes."""


@dataclass(slots=True)
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

    def require_check(self, *, known: bool = False) -> None:
        """Stop if no check may follow; one that is `known` from the journal is free."""
        if self.budget.patience is not None and self.failures >= self.budget.patience:
            # Not `early`: the user has said that such a streak means there is little left.
            raise Stopped(f"after {self.failures} consecutive checks without success")
        # What the journal knows costs nothing, so a resumed run replays it even with a budget of
        # 0.
        if self.spent and not known:
            self.early = True
            raise Stopped(f"after {self.made} checks")

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
