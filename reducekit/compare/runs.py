"""The data of a comparison: one run of one algorithm on one file, and tables of such runs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

Settings: TypeAlias = tuple[tuple[str, str], ...]
"""The format options of a run, by name: `(("simplify", "on"),)`."""


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
    checks: int
    """The number of texts given to the oracle, without duplicates."""
    asked: int
    """The number of verdicts asked for: the number of checks if verdicts were not cached."""
    curve: tuple[Point, ...]
    """One point for each change of the size; the first is the size before any check."""
    stopped: str | None = None
    """The reason if it ended early, otherwise None."""

    @property
    def after(self) -> int:
        """The size of the result."""
        return self.curve[-1].size

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
        rows = _finished(here, files)
        if rows:
            yield Table(*kind, files, rows)


def _finished(
    runs: Mapping[tuple[str, str], Run], files: Sequence[str]
) -> dict[str, tuple[Run, ...]]:
    """Return the runs of each algorithm that has one on every file, in the order of the files."""
    return {
        name: tuple(runs[file, name] for file in files)
        for name in dict.fromkeys(name for _, name in runs)
        if all((file, name) in runs for file in files)
    }
