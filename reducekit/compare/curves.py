"""A comparison as a picture: how much of the size is left over the checks, a line each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from reducekit import svg
from reducekit.compare.runs import Run, Table, tables
from reducekit.compare.statistics import change_points, share_at
from reducekit.compare.tables import OURS, title

_WIDTH, _HEIGHT = 640, 400
"""Of the field of one chart, in pixels."""
_LEFT, _TOP, _RIGHT, _BELOW = 70, 46, 190, 56
_TEXT = 13
_COLORS = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22",
    "#17becf", "#d62728",
)  # fmt: skip
_OURS = "#000000"
_DASHES = ("", "7 3", "2 3")


def chart(runs: Sequence[Run]) -> str:
    """Return an SVG picture: one chart for each table, one below the other.

    Both axes are logarithmic, since most of a file goes in the first few checks. With several
    files a line shows the mean share that is left. A line ends, with a dot, where the last of
    its runs ends.
    """
    found = list(tables(runs))
    height = _TOP + _HEIGHT + _BELOW
    width = _LEFT + _WIDTH + _RIGHT
    parts = [
        svg.group(_field(table), _LEFT, number * height + _TOP)
        for number, table in enumerate(found)
    ]
    return svg.picture(width, height * len(found), parts, font_family="sans-serif", font_size=_TEXT)


def _field(table: Table) -> Iterator[str]:
    """Yield the parts of one chart."""
    lines = {
        name: [(max(1, checks), share_at(runs, checks)) for checks in change_points(runs)]
        for name, runs in table.rows.items()
    }
    ends = {name: max(run.checks for run in runs) for name, runs in table.rows.items()}
    most = max(10, *ends.values())
    shares = [share for line in lines.values() for _, share in line if share > 0]
    bottom = math.log10(0.8 * min(0.5, *shares))

    def x(checks: float) -> float:
        return _WIDTH * math.log10(max(1, checks)) / math.log10(most)

    def y(share: float) -> float:
        return _HEIGHT * math.log10(share) / bottom if share > 0 else _HEIGHT

    files = len(table.files)
    over = f"mean of {files} files" if files > 1 else table.files[0]
    yield svg.text(0, -20, title(table), font_weight="bold")
    yield svg.text(0, -4, f"{table.unit} left, percent ({over})")
    yield svg.text(_WIDTH / 2, _HEIGHT + 40, "checks", text_anchor="middle")
    for checks in _marks(most):
        yield _rule(x(checks), 0, x(checks), _HEIGHT)
        yield _label(x(checks), _HEIGHT + 18, "middle", f"{checks:g}")
    for power in range(math.floor(bottom), 1):
        for factor in (1, 2, 5):
            share = factor * 10.0**power
            if bottom <= math.log10(share) <= 0:
                yield _rule(0, y(share), _WIDTH, y(share))
                yield _label(-8, y(share) + 4, "end", f"{100 * share:g}")
    order = sorted(lines, key=lambda name: (lines[name][-1][1], ends[name]))
    colors = _styles(list(lines))
    for name in sorted(lines, key=lambda name: name in OURS):  # ours on top
        color, dash, thick = colors[name]
        points = [(x(checks), y(share)) for checks, share in lines[name]]
        way: list[str | float] = ["M", *points[0]]
        for across, down in points[1:]:
            way += ["H", across, "V", down]
        end = x(ends[name])
        yield svg.path(
            *way, "H", end, fill="none", stroke=color, stroke_width=thick, stroke_dasharray=dash
        )
        yield svg.circle(end, points[-1][1], 3.5, fill=color)
    for number, name in enumerate(order):
        color, dash, thick = colors[name]
        row = 10 + 22 * number
        yield svg.path(
            "M", _WIDTH + 16, row, "h30", stroke=color, stroke_width=thick, stroke_dasharray=dash
        )
        said = f"{name} ({100 * lines[name][-1][1]:.2g} %)"
        yield _label(_WIDTH + 52, row + 4, "start", said)


def _styles(names: Sequence[str]) -> dict[str, tuple[str, str, float]]:
    """Return the color, the dashes and the thickness of each line."""
    others = [name for name in names if name not in OURS]
    styles = {
        name: (_COLORS[at % len(_COLORS)], _DASHES[at // len(_COLORS) % len(_DASHES)], 1.6)
        for at, name in enumerate(others)
    }
    return {name: styles.get(name, (_OURS, "", 3.0)) for name in names}


def _marks(most: float) -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20, 50 and so on."""
    power = 1
    while power <= most:
        for factor in (1, 2, 5):
            if factor * power <= most:
                yield factor * power
        power *= 10


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return svg.path("M", x1, y1, "L", x2, y2, stroke="#dddddd")


def _label(x: float, y: float, anchor: str, text: str) -> str:
    return svg.text(x, y, text, text_anchor=anchor)
