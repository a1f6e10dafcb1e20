"""Draws line charts as SVG: curves of reductions, comparisons, series of measurements.

Pure: from numbers to text. Colors follow the reader's light or dark mode. `STYLE` has to be in
the page or file around a chart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from reducekit import svg

Scale = Literal["linear", "logarithmic"]

_COLORS = (
    ("#2463c9", "#7fb0ff"), ("#d9730d", "#ffa657"), ("#2a8a3e", "#6fd08c"), ("#8250df", "#c297ff"),
    ("#8c564b", "#d1a18f"), ("#c2357f", "#f288bd"), ("#6e7781", "#a9b1ba"), ("#9a8700", "#d8c64a"),
    ("#0e8a9e", "#5fd3e3"), ("#cf222e", "#ff8182"),
)  # fmt: skip
"""Of each line in light and in dark mode; at least 3:1 against the paper (WCAG 2.1, 1.4.11)."""
_DASHES = ("", "7 3", "2 3")
_LEFT, _TOP, _RIGHT, _BELOW = 64, 12, 16, 42
_LEGEND = 20  # pixels of a row of the legend
_MOST = 400  # maximum number of points drawn of a line; more would be indistinguishable


def _rules() -> Iterator[str]:
    yield ".chart { color: #1a1c20; font: 12px system-ui, sans-serif; }"
    yield ".chart text { fill: currentColor; }"
    yield ".chart .title { font-weight: bold; }"
    yield ".chart .rule { stroke: #9aa3b2; stroke-opacity: .35; }"
    yield ".chart .line { fill: none; stroke-width: 2; stroke-linejoin: round; }"
    yield ".chart .thick { stroke-width: 3; stroke: currentColor; }"
    yield ".chart .area { fill-opacity: .1; }"
    yield ".paper { fill: #fff; }"
    for number, (light, _) in enumerate(_COLORS):
        yield f".chart .line.c{number} {{ stroke: {light}; }}"
        yield f".chart .area.c{number}, .chart .end.c{number} {{ fill: {light}; }}"
    yield "@media (prefers-color-scheme: dark) {"
    yield "  .chart { color: #e4e7ec; }"
    yield "  .paper { fill: #16181d; }"
    for number, (_, dark) in enumerate(_COLORS):
        yield f"  .chart .line.c{number} {{ stroke: {dark}; }}"
        yield f"  .chart .area.c{number}, .chart .end.c{number} {{ fill: {dark}; }}"
    yield "}"


STYLE = "\n".join(_rules())


@dataclass(frozen=True, slots=True)
class Axis:
    """The horizontal or vertical axis: what it shows, from `least` to `most`.

    `least` and `most` of a logarithmic axis are above 0; smaller values are drawn at `least`.
    """

    name: str
    scale: Scale
    least: float
    most: float

    def place(self, length: float) -> Callable[[float], float]:
        """Return a function that maps a value to its position on `length` pixels."""
        if self.scale == "linear":
            return lambda value: length * value / self.most
        low = math.log10(self.least)
        span = math.log10(self.most / self.least)
        return lambda value: length * (math.log10(max(value, self.least)) - low) / span

    def marks(self) -> list[float]:
        """Return round values to label, at most seven of a linear axis."""
        if self.most <= 0:
            return []
        if self.scale == "linear":
            step = _round_up(self.most / 5)
            return [step * number for number in range(int(self.most / step + 1e-9) + 1)]
        first, last = (math.floor(math.log10(each) + 1e-9) for each in (self.least, self.most))
        factors = (1, 2, 5) if last - first < 2 else (1,)
        found = [factor * 10.0**power for power in range(first, last + 1) for factor in factors]
        return [each for each in found if self.least * (1 - 1e-9) <= each <= self.most]


@dataclass(frozen=True, slots=True)
class Line:
    """The points of a line from left to right; with a name it appears in the legend."""

    points: Sequence[tuple[float, float]]
    name: str = ""
    main: bool = False  # drawn thicker, on top, in the color of the text


def chart(
    lines: Sequence[Line],
    across: Axis,
    upward: Axis,
    *,
    width: float,
    height: float,
    steps: bool = True,
) -> Iterator[str]:
    """Yield the parts of a chart of that size in pixels; the legend is to the right of it.

    With `steps`, a value holds up to the next point; otherwise points are connected. A chart
    with one line has its area filled.
    """
    field_width, field_height = width - _LEFT - _RIGHT, height - _TOP - _BELOW
    x_of, y_of = across.place(field_width), upward.place(field_height)
    bottom = _TOP + field_height

    def x(value: float) -> float:
        return _LEFT + x_of(value)

    def y(value: float) -> float:
        return bottom - y_of(value)

    for mark in upward.marks():
        yield svg.path("M", _LEFT, y(mark), "h", field_width, class_="rule")
        yield svg.text(_LEFT - 6, y(mark) + 4, short(mark), text_anchor="end")
    for mark in across.marks():
        yield svg.path("M", x(mark), _TOP, "v", field_height, class_="rule")
        yield svg.text(x(mark), bottom + 16, short(mark), text_anchor="middle")
    yield svg.text(_LEFT + field_width / 2, height - 8, across.name, text_anchor="middle")
    kinds = _kinds(lines)
    for number in sorted(range(len(lines)), key=lambda number: lines[number].main):
        points = _thinned([(x(at), y(value)) for at, value in lines[number].points])
        way: list[str | float] = ["M", *points[0]]
        for right, down in points[1:]:
            way += ["H", right, "V", down] if steps else ["L", right, down]
        name, dash = kinds[number]
        if len(lines) == 1:
            yield svg.path(*way, "V", bottom, "H", points[0][0], "Z", class_=f"area {name}")
        yield svg.path(*way, class_=f"line {name}", stroke_dasharray=dash)
        if steps:
            yield svg.circle(*points[-1], 3.5, class_=f"end {name}")
    for number, line in enumerate(lines):
        if line.name:
            name, dash = kinds[number]
            row = _TOP + _LEGEND * (number + 0.5)
            yield svg.path("M", width, row, "h30", class_=f"line {name}", stroke_dasharray=dash)
            yield svg.text(width + 36, row + 4, line.name)


def short(value: float) -> str:
    """Return a number in at most five characters, such as 20k."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.4g}{unit}"
    return f"{value:.3g}"


def _kinds(lines: Sequence[Line]) -> list[tuple[str, str]]:
    """Return the class and the dash pattern of each line."""
    found = []
    main = others = 0
    for line in lines:
        if line.main:
            found.append(("thick", _DASHES[main % len(_DASHES)]))
            main += 1
        else:
            dash = _DASHES[others // len(_COLORS) % len(_DASHES)]
            found.append((f"c{others % len(_COLORS)}", dash))
            others += 1
    return found


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Drop points on the same pixel as their predecessor; if many remain, keep every n-th."""
    kept = points[:1]
    for each in points[1:-1]:
        if abs(each[0] - kept[-1][0]) >= 0.5 or abs(each[1] - kept[-1][1]) >= 0.5:
            kept.append(each)
    if len(points) > 1:
        kept.append(points[-1])
    stride = math.ceil(len(kept) / _MOST)
    return [*kept[:-1:stride], kept[-1]] if stride > 1 else kept


def _round_up(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return max(1e-9, next(power * factor for factor in (1, 2, 5, 10) if power * factor >= step))
