"""The statistics of comparisons: means, ratios, sizes over the checks, and dominance. Pure.

The measures of chapter 5 of A. Vida, "Random Test Case Generation and Delta Debugging for
Bit-Vector Logic with Arrays" (Linz 2008), are here: checks, sizes, percent of the size removed
by each check. They reward stopping early, so the anytime measures stand beside them: the size
after a number of checks, and the checks until a share of the size is left.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reducekit.compare.runs import Run


def mean(numbers: Sequence[float]) -> float:
    """Return the arithmetic mean."""
    return statistics.fmean(numbers)


class Spread(NamedTuple):
    """The average, the minimum and the maximum of some numbers."""

    mean: float
    least: float
    most: float


def spread(numbers: Sequence[float]) -> Spread:
    """Return the average, minimum and maximum of at least one number."""
    return Spread(mean(numbers), min(numbers), max(numbers))


def geometric_mean(numbers: Sequence[float]) -> float:
    """Return the geometric mean of positive numbers: the mean to use for ratios."""
    return math.exp(statistics.fmean(map(math.log, numbers)))


def mean_ratio(pairs: Iterable[tuple[float, float]], least: float) -> float | None:
    """Return the geometric mean of the ratios first / second; None without any pair.

    Both are raised to `least` before, so that a measurement of nothing does not divide by zero.
    """
    ratios = [max(first, least) / max(second, least) for first, second in pairs]
    return geometric_mean(ratios) if ratios else None


def mean_of_percents(percents: Sequence[float]) -> float:
    """Return 100 - the geometric mean of what is left, as in tables 5.5 and 5.6 of the thesis."""
    left = [100 - each for each in percents]
    if min(left) <= 0:
        return 100.0
    return 100 - geometric_mean(left)


def size_at(runs: Sequence[Run], checks: int) -> float:
    """Return the mean size over the files after that many checks on each."""
    return mean([run.size_at(checks) for run in runs])


def share_at(runs: Sequence[Run], checks: int) -> float:
    """Return the mean share of the size that is left after that many checks; 1 at first."""
    return mean([run.size_at(checks) / run.before if run.before else 1.0 for run in runs])


def change_points(runs: Sequence[Run]) -> list[int]:
    """Return the numbers of the checks at which a size changes, ascending."""
    return sorted({point.checks for run in runs for point in run.curve})


class Reached(NamedTuple):
    """When a share of the size was reached: the mean number of checks, and on how many files."""

    checks: float | None
    """Over the files on which it was reached; None: on no file."""
    files: int


def checks_to(runs: Sequence[Run], share: float) -> Reached:
    """Return after how many checks at most that share of the size was left, on average."""
    found = [run.reached(share * run.before) for run in runs]
    known = [each for each in found if each is not None]
    return Reached(mean(known) if known else None, len(known))


@dataclass(frozen=True, slots=True)
class Dominance:
    """How early one algorithm is where another one ends."""

    algorithm: str
    """The other one."""
    checks: float
    """Of the other one, on average."""
    size: float
    """Its final size, on average."""
    there: float | None
    """Checks until the one is at the other's final size, on average over the files."""
    curve: int | None
    """Checks on each file until the average of the one is at the other's average."""
    later: tuple[str, ...]
    """Files on which the one takes as many checks as the other or more, or never gets there."""
    larger: tuple[str, ...]
    """Files on which the one ends larger."""

    @property
    def dominated(self) -> bool:
        """Whether the one is there earlier in both ways, and nowhere larger in the end."""
        both = self.there, self.curve
        return not self.larger and all(each is not None and each < self.checks for each in both)


def dominance(one: Sequence[Run], other: Sequence[Run]) -> Dominance:
    """Compare an algorithm with another one on the same files."""
    there = [mine.reached(yours.after) for mine, yours in zip(one, other, strict=True)]
    known = [each for each in there if each is not None]
    goal = mean([run.after for run in other])
    return Dominance(
        algorithm=other[0].algorithm,
        checks=mean([run.checks for run in other]),
        size=goal,
        there=mean(known) if len(known) == len(there) else None,
        curve=next((checks for checks in change_points(one) if size_at(one, checks) <= goal), None),
        later=tuple(
            run.file
            for run, checks in zip(other, there, strict=True)
            if checks is None or checks >= max(1, run.checks)
        ),
        larger=tuple(
            yours.file for mine, yours in zip(one, other, strict=True) if mine.after > yours.after
        ),
    )
