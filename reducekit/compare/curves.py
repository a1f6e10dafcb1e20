"""A comparison as a picture: the remaining share of the size over the checks, one line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reducekit import linechart, svg
from reducekit.compare.runs import Run, Table, tables
from reducekit.compare.statistics import change_points, share_at
from reducekit.compare.tables import OURS, title
from reducekit.linechart import Axis, Line

_WIDTH, _HEIGHT = 720, 460
"""Size of one chart in pixels, without its titles and legend."""
_TITLES, _LEGEND = 46, 220


def chart(runs: Sequence[Run]) -> str:
    """Return an SVG picture with one chart for each table, one below the other.

    Both axes are logarithmic, since the first few checks remove most of a file. For several files,
    a line shows the mean remaining share. It ends, with a dot, where the last of its runs ends.
    """
    found = list(tables(runs))
    width, each = _WIDTH + _LEGEND, _TITLES + _HEIGHT
    parts = [
        svg.style(linechart.STYLE),
        svg.rect(0, 0, width, each * len(found), class_="paper"),
        *(
            svg.group(_chart(table), 0, number * each + _TITLES, class_="chart")
            for number, table in enumerate(found)
        ),
    ]
    return svg.picture(width, each * len(found), parts, title="comparison of algorithms")


def _lines(
    curves: Mapping[str, Sequence[tuple[float, float]]], ends: Mapping[str, int]
) -> list[Line]:
    """Return a line for each algorithm up to where its last run ended, the best one first."""
    last = {name: points[-1][1] for name, points in curves.items()}
    return [
        Line(
            [*curves[name], (float(ends[name]), last[name])],
            f"{name} ({last[name]:.2g} %)",
            main=name in OURS,
        )
        for name in sorted(curves, key=lambda name: (last[name], ends[name]))
    ]


def _chart(table: Table) -> Iterator[str]:
    """Yield the parts of one chart."""
    ends = {name: max(run.checks for run in runs) for name, runs in table.rows.items()}
    curves = {
        name: [(float(max(1, at)), 100 * share_at(runs, at)) for at in change_points(runs)]
        for name, runs in table.rows.items()
    }
    lines = _lines(curves, ends)
    shares = [share for points in curves.values() for _, share in points if share > 0]
    files = len(table.files)
    over = f"mean of {files} files" if files > 1 else table.files[0]
    yield svg.text(64, -20, title(table), class_="title")
    yield svg.text(64, -4, f"{table.unit} left, percent ({over})")
    yield from linechart.chart(
        lines,
        Axis("checks", "logarithmic", 1, max(10, *ends.values())),
        Axis("percent", "logarithmic", 0.8 * min(50, *shares), 100),
        width=_WIDTH,
        height=_HEIGHT,
    )
