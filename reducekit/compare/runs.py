"""The data of a comparison, runs of algorithms on files, and their statistics. Pure.

The statistics are means, ratios, sizes over the checks and dominance. They include the measures of
chapter 5 of A. Vida, "Random Test Case Generation and Delta Debugging for Bit-Vector Logic with
Arrays" (Linz 2008): checks, sizes, percentage of the size removed per check. These reward stopping
early, so there are anytime measures as well: the size after a number of checks, and the checks
until a given share of the size is left.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

Settings: TypeAlias = tuple[tuple[str, str], ...]  # options of a format: `(("simplify", "on"),)`


class Point(NamedTuple):
    """The size of the best text, from check number `checks` on."""

    checks: int
    size: int


@dataclass(frozen=True, slots=True)
class Run:
    """One algorithm on one file. Sizes are in `unit`, such as nodes."""

    format: str
    file: str
    algorithm: str
    settings: Settings
    unit: str
    before: int
    bytes_before: int
    bytes_after: int
    checks: int  # the number of texts given to the oracle, without duplicates
    asked: int  # the number of verdicts asked for: the number of checks if verdicts were not cached
    curve: tuple[Point, ...]  # a point for each change of the size, the first before any check
    stopped: str | None = None  # the reason if it ended early, otherwise None

    @property
    def after(self) -> int:
        """The size of the result."""
        return self.curve[-1].size

    @property
    def removed(self) -> int:
        """How much smaller the result is."""
        return self.before - self.after

    @property
    def reduction(self) -> float:
        """The share of the size removed, in percent."""
        return 100 * (1 - self.after / self.before) if self.before else 0.0

    @property
    def per_check(self) -> float:
        """The percentage of the size that each check removed, on average."""
        return self.reduction / self.checks if self.checks else 0.0

    def size_at(self, checks: int) -> int:
        """Return the size after `checks` checks."""
        at = bisect_right(self.curve, checks, key=lambda point: point.checks)
        return self.curve[max(0, at - 1)].size

    def reached(self, size: float) -> int | None:
        """Return the number of checks after which that size was reached; None if it never was."""
        return next((point.checks for point in self.curve if point.size <= size), None)


@dataclass(frozen=True, slots=True)
class Table:
    """The runs of all algorithms on all files of one format with the same settings.

    `rows` has one run per file for every algorithm that has finished on all files.
    """

    format: str
    settings: Settings
    files: tuple[str, ...]
    rows: dict[str, tuple[Run, ...]]

    @property
    def unit(self) -> str:
        """The unit of the sizes."""
        return next(iter(self.rows.values()))[0].unit


def tables(runs: Sequence[Run]) -> Iterator[Table]:
    """Yield the tables of the runs, in their order.

    Algorithms that have not finished on every file are left out: their means would not compare.
    """
    for kind in dict.fromkeys((run.format, run.settings) for run in runs):
        here = {
            (run.file, run.algorithm): run for run in runs if (run.format, run.settings) == kind
        }
        files = tuple(dict.fromkeys(file for file, _ in here))
        rows = {
            name: tuple(here[file, name] for file in files)
            for name in dict.fromkeys(name for _, name in here)
            if all((file, name) in here for file in files)
        }
        if rows:
            yield Table(*kind, files, rows)


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
    """Return the geometric mean of the ratios first / second; None if there are no pairs.

    Both are raised to at least `least`, so that a measurement of 0 does not divide by zero.
    """
    ratios = [max(first, least) / max(second, least) for first, second in pairs]
    return geometric_mean(ratios) if ratios else None


def mean_of_percents(percents: Sequence[float]) -> float:
    """Return 100 - the geometric mean of the remaining percentages, as in tables 5.5 and 5.6."""
    left = [100 - each for each in percents]
    if min(left) <= 0:
        return 100.0
    return 100 - geometric_mean(left)


def size_at(runs: Sequence[Run], checks: int) -> float:
    """Return the mean size over the files after `checks` checks on each."""
    return mean([run.size_at(checks) for run in runs])


def share_at(runs: Sequence[Run], checks: int) -> float:
    """Return the mean remaining share of the size after `checks` checks; 1 at first."""
    return mean([run.size_at(checks) / run.before if run.before else 1.0 for run in runs])


def change_points(runs: Sequence[Run]) -> list[int]:
    """Return the numbers of the checks at which a size changes, ascending."""
    return sorted({point.checks for run in runs for point in run.curve})


class Reached(NamedTuple):
    """When a share of the size was reached: the mean number of checks, and on how many files."""

    checks: float | None  # the mean over the files on which it was reached; None if there are none
    files: int


def checks_to(runs: Sequence[Run], share: float) -> Reached:
    """Return the mean number of checks until at most that share of the size was left."""
    found = [run.reached(share * run.before) for run in runs]
    known = [each for each in found if each is not None]
    return Reached(mean(known) if known else None, len(known))


@dataclass(frozen=True, slots=True)
class Dominance:
    """How early one algorithm reaches the final sizes of another."""

    algorithm: str  # the other algorithm
    checks: float  # the mean number of checks of the other algorithm
    size: float  # the mean final size of the other algorithm
    there: float | None
    """Mean number of checks until it reaches the other's final sizes; None unless on all files."""
    curve: int | None  # checks on each file until the mean size reaches the other's mean final size
    later: tuple[str, ...]  # where the first needs at least as many checks, or never gets there
    larger: tuple[str, ...]  # the files on which the first ends with a larger result

    @property
    def dominated(self) -> bool:
        """Whether the first gets there earlier in both senses, and never ends larger."""
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
