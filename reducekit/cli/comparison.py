"""What several algorithms came to on several files, and what follows from it. Pure.

The measures are those of chapter 5 of A. Vida, "Random Test Case Generation and Delta
Debugging for Bit-Vector Logic with Arrays" (Linz 2008): checks, sizes, percent of the size
taken away for each check; besides, the size after every check.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Point(NamedTuple):
    """The size of the best text so far from the check of that number on."""

    checks: int
    size: int


@dataclass(frozen=True, slots=True)
class Run:
    """One algorithm on one file. Sizes are in `unit`, such as nodes."""

    format: str
    file: str
    algorithm: str
    simplify: bool | None
    """None: the format has no simplification to turn on or off."""
    unit: str
    before: int
    bytes_before: int
    bytes_after: int
    checks: int
    """Texts given to the oracle, equal ones once."""
    asked: int
    """Texts whose verdict was asked for: without memory, so many checks."""
    curve: tuple[Point, ...]
    """One point for each change of the size, the first one before any check."""
    stopped: str | None = None
    """Why it ended early, if so."""

    @property
    def after(self) -> int:
        """The size of the result."""
        return self.curve[-1].size

    @property
    def reduction(self) -> float:
        """How much of the size is gone, in percent."""
        return 100 * (1 - self.after / self.before) if self.before else 0.0

    @property
    def per_check(self) -> float:
        """Percent of the size taken away for each check."""
        return self.reduction / self.checks if self.checks else 0.0

    def size_at(self, checks: int) -> int:
        """Return the size after so many checks."""
        at = bisect_right(self.curve, checks, key=lambda point: point.checks)
        return self.curve[max(0, at - 1)].size

    def reached(self, size: int) -> int | None:
        """Return after how many checks it was at that size or below; None: never."""
        return next((point.checks for point in self.curve if point.size <= size), None)


@dataclass(frozen=True, slots=True)
class Table:
    """The runs of all algorithms on all files of one format, simplification on or off.

    `rows` has the runs on each file for every algorithm that has ended on all files.
    """

    format: str
    simplify: bool | None
    files: tuple[str, ...]
    rows: dict[str, tuple[Run, ...]]

    @property
    def unit(self) -> str:
        """What the sizes are in."""
        return next(iter(self.rows.values()))[0].unit


def tables(runs: Sequence[Run]) -> Iterator[Table]:
    """Yield the tables of the runs, in their order; algorithms that have not ended are left out."""
    kinds = dict.fromkeys((run.format, run.simplify) for run in runs)
    for kind in kinds:
        here = {
            (run.file, run.algorithm): run for run in runs if (run.format, run.simplify) == kind
        }
        files = tuple(dict.fromkeys(file for file, _ in here))
        names = dict.fromkeys(name for _, name in here)
        rows = {
            name: tuple(here[file, name] for file in files)
            for name in names
            if all((file, name) in here for file in files)
        }
        if rows:
            yield Table(*kind, files, rows)


def mean(numbers: Sequence[float]) -> float:
    """Return the arithmetic mean."""
    return statistics.fmean(numbers)


def mean_of_percents(percents: Sequence[float]) -> float:
    """Return 100 - the geometric mean of what is left, as in tables 5.5 and 5.6 of the thesis."""
    left = [100 - each for each in percents]
    if min(left) <= 0:
        return 100.0
    return 100 - math.exp(statistics.fmean(map(math.log, left)))


def size_at(runs: Sequence[Run], checks: int) -> float:
    """Return the mean size over the files after so many checks on each."""
    return mean([run.size_at(checks) for run in runs])


def share_at(runs: Sequence[Run], checks: int) -> float:
    """Return the mean over the files of the share of the size that is left, 1 at first."""
    return mean([run.size_at(checks) / run.before if run.before else 1.0 for run in runs])


def turns(runs: Sequence[Run]) -> list[int]:
    """Return the numbers of the checks at which a size changes, ascending."""
    return sorted({point.checks for run in runs for point in run.curve})


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
    """The checks after which the one is at the other's final size, on average over the files."""
    curve: int | None
    """The checks on each file after which the average of the one is at the other's average."""
    later: tuple[str, ...]
    """The files on which the one took as many checks as the other or more, or is never there."""
    larger: tuple[str, ...]
    """The files on which the one ends larger."""

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
        curve=next((checks for checks in turns(one) if size_at(one, checks) <= goal), None),
        later=tuple(
            run.file
            for run, checks in zip(other, there, strict=True)
            if checks is None or checks >= max(1, run.checks)
        ),
        larger=tuple(
            yours.file for mine, yours in zip(one, other, strict=True) if mine.after > yours.after
        ),
    )
