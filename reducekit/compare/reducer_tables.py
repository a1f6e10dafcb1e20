"""Tables of measured reducers: every run, averages of test sets with their extremes, and ratios.

The table of test sets is Table 1 of A. Niemetz and A. Biere, "ddSMT: A Delta Debugger for the
SMT-LIB v2 Format" (SMT 2013): reduction, time, runs and memory, each as average, minimum and
maximum.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from reducekit.compare.reducers import Measured
from reducekit.compare.statistics import mean_ratio, spread
from reducekit.compare.tables import grid

_LEAST: Mapping[str, float] = {"bytes": 1.0, "checks": 1.0, "cpu": 0.01}
"""The quantities compared by ratios, with their lower bounds."""
_MEASURES: Mapping[str, tuple[Callable[[Measured], float], str]] = {
    "percent": (lambda row: row.reduction, ".1f"),
    "seconds": (lambda row: row.wall, ".1f"),
    "checks": (lambda row: row.checks, ".0f"),
    "MB": (lambda row: row.rss, ".0f"),
}


def markdown(rows: Sequence[Measured]) -> str:
    """Return all tables."""
    parts = [each_run(rows), "By test set, as average, minimum and maximum:", by_test_set(rows)]
    parts += ratios(rows)
    return "\n\n".join(parts) + "\n"


def each_run(rows: Sequence[Measured]) -> str:
    """Return the table with one line for each run."""
    header = (
        "case", "reducer", "bytes before", "bytes", "checks", "CPU s", "wall s", "MB", "verified",
    )  # fmt: skip
    lines = [
        (
            row.case,
            row.reducer,
            f"{row.bytes_in}",
            f"{row.bytes}",
            f"{row.checks}",
            f"{row.cpu:.1f}",
            f"{row.wall:.1f}",
            f"{row.rss:.0f}",
            ("yes" if row.verified else "NO") + (", capped" if row.capped else ""),
        )
        for row in rows
    ]
    return grid(header, lines)


def by_test_set(rows: Sequence[Measured]) -> str:
    """Return the table with one line for each reducer on each test set."""
    header = ["reducer", "set", "files"]
    for name in _MEASURES:
        header += [f"{name}, avg", "min", "max"]
    lines = []
    for reducer in dict.fromkeys(row.reducer for row in rows):
        for test_set in dict.fromkeys(row.test_set for row in rows):
            here = [row for row in rows if (row.reducer, row.test_set) == (reducer, test_set)]
            if here:
                lines.append([reducer, test_set, *_figures(here)])
    return grid(header, lines)


def _figures(rows: Sequence[Measured]) -> Iterator[str]:
    """Yield the number of files, then average, least and most of each measure."""
    yield f"{len({row.case for row in rows})}"
    for value, form in _MEASURES.values():
        yield from (f"{each:{form}}" for each in spread([value(row) for row in rows]))


def ratios(rows: Sequence[Measured]) -> list[str]:
    """Return one line for each reducer but the first, which the others are compared with."""
    first, *others = dict.fromkeys(row.reducer for row in rows)
    lines = []
    for other in others:
        found = {name: ratio(rows, name, other, first) for name in _LEAST}
        said = ", ".join(
            f"{name} {value:.3f} ({count} {'case' if count == 1 else 'cases'})"
            for name, (value, count) in found.items()
            if value is not None
        )
        lines.append(f"{other} / {first}, geometric means of the ratios: {said}.")
    return lines


def _runs_of(rows: Iterable[Measured], key: tuple[str, str, str]) -> list[Measured]:
    return [row for row in rows if (row.test_set, row.case, row.reducer) == key]


def _is_verified(groups: Iterable[Iterable[Measured]]) -> bool:
    return all(row.verified for rows in groups for row in rows)


def ratio(
    rows: Sequence[Measured], column: str, other: str, first: str
) -> tuple[float | None, int]:
    """Return the geometric mean of other / first over the cases, and the number of cases.

    For repeated runs the medians are used. Cases where the output of either is not verified count
    for bytes only.
    """
    pairs = []
    for case in dict.fromkeys((row.test_set, row.case) for row in rows):
        both = [_runs_of(rows, (*case, name)) for name in (other, first)]
        if all(both) and (column == "bytes" or _is_verified(both)):
            a, b = (statistics.median(getattr(row, column) for row in each) for each in both)
            pairs.append((a, b))
    return mean_ratio(pairs, _LEAST[column]), len(pairs)
