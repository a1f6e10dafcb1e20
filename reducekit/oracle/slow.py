"""Slowness: a run takes long, or longer than that of another program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reducekit.errors import UsageError
from reducekit.oracle.criterion import Compared, Criterion
from reducekit.run import Outcome

_TELLING = 0.1  # seconds


@dataclass(frozen=True, slots=True)
class SlowerThan(Criterion):
    """The run takes at least `seconds` of wall time."""

    seconds: float
    captures: bool = False

    @property
    def wall(self) -> float:
        """The run is stopped as soon as it is slow enough."""
        return self.seconds

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        return outcomes[0].seconds >= self.seconds

    def describe(self) -> str:
        return f"takes {self.seconds:g} s or more"


@dataclass(frozen=True, slots=True)
class SlowerThanReference(Criterion):
    """The first command is slow and the second, on the same file, is not.

    Either it takes at least `seconds` and the second does not, or it takes at least `ratio` times
    as long. Runs shorter than a tenth of a second do not count as slow.
    """

    seconds: float | None = None
    ratio: float | None = None
    captures: bool = False

    @property
    def wall(self) -> float | None:
        """The runs are stopped as soon as they are slow enough."""
        return self.seconds

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Compare the times; the second command does not run if the first is quick."""
        first = outcomes[0].seconds
        if first < (_TELLING if self.seconds is None else self.seconds):
            return False
        if len(outcomes) == 1:
            return None
        other = outcomes[1]
        if other.limit is not None:
            return False
        if self.seconds is not None:
            return other.seconds < self.seconds
        return first >= (self.ratio or 1.0) * max(other.seconds, _TELLING / 10)

    def describe(self) -> str:
        if self.seconds is not None:
            return f"takes {self.seconds:g} s or more, and the reference less"
        return f"takes {self.ratio:g} times as long as the reference, or more"


@dataclass(frozen=True, kw_only=True)
class Slow(Compared):
    """A run takes long, or longer than that of another program."""

    slower_than: float | None = None
    slower_ratio: float | None = None
    """The least ratio of the run's time to that of the `reference`."""

    def criterion(self) -> Criterion:
        if self.slower_than is not None and self.slower_ratio is not None:
            raise UsageError("`slower_than` is a time or a ratio: give one")
        if self.reference is not None:
            return SlowerThanReference(self.slower_than, self.slower_ratio)
        if self.slower_than is None:
            raise UsageError("`slower_than` as a ratio needs `reference`: slower than what?")
        return SlowerThan(self.slower_than)
