"""When a reduction stops early, and how much of that is used up."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from reducekit.reduction.control import Control, Stopped
from reducekit.reduction.counts import Counts


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop early. None: never."""

    checks: int | None = None
    """After this many checks."""
    seconds: float | None = None
    """After this many seconds."""
    patience: int | None = None
    """After this many checks in a row without success."""
    size: int | None = None
    """As soon as the text has at most this many bytes."""


@dataclass(slots=True)
class Spending:
    """What is used up of a budget. Invariant: `failures` counts the checks since the last success.

    The `require_` methods raise Stopped, with the reason in words.
    """

    budget: Budget
    counts: Counts
    control: Control
    failures: int = 0
    early: bool = False
    """Whether checks or time were used up: going on may make the text smaller."""
    begin: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning, without those in which the reduction was paused."""
        return time.monotonic() - self.begin - self.control.seconds_paused

    @property
    def spent(self) -> bool:
        """Whether all checks are used up."""
        return self.budget.checks is not None and self.made >= self.budget.checks

    @property
    def made(self) -> int:
        """The checks made in this run: those that the journal knew are not paid again."""
        return self.counts.checks - self.counts.replayed

    def take(self, interesting: bool) -> None:
        """Take in the verdict of a check."""
        self.failures = 0 if interesting else self.failures + 1

    def require_check(self, *, known: bool = False) -> None:
        """Stop when no check may follow; one that is `known` from the journal is free."""
        if self.budget.patience is not None and self.failures >= self.budget.patience:
            raise Stopped(f"after {self.failures} checks in a row without success")
        if self.spent and not known:
            self.early = True
            raise Stopped(f"after {self.made} checks")

    def require_time(self) -> float | None:
        """Return the seconds left, None without end; stop when there are none."""
        if self.budget.seconds is None:
            return None
        left = self.budget.seconds - self.elapsed
        if left <= 0:
            self.early = True
            raise Stopped(f"after {self.budget.seconds:g} s")
        return left

    def require_larger(self, size: int) -> None:
        """Stop when a text of `size` bytes is small enough."""
        if self.budget.size is not None and size <= self.budget.size:
            raise Stopped(f"at {size:,} bytes, not more than {self.budget.size:,}")
