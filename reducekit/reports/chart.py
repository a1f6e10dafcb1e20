"""The curve of a reduction as SVG: how many bytes are left after so many checks or seconds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from reducekit import svg
from reducekit.reports.account import Point

Axis = Literal["checks", "seconds"]
Scale = Literal["linear", "logarithmic"]

_AXES: tuple[Axis, ...] = ("checks", "seconds")
_SCALES: tuple[Scale, ...] = ("linear", "logarithmic")

WIDTH, HEIGHT = 460, 270
"""Of the whole chart, in pixels."""
_LEFT, _TOP, _RIGHT, _BELOW = 64, 12, 16, 42
_FIELD_WIDTH, _FIELD_HEIGHT = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BELOW
_MOST = 400
"""Points that are drawn; more cannot be told apart."""
_LEAST_SECONDS = 0.1

STYLE = """
.chart { color: #1a1c20; font: 12px system-ui, sans-serif; }
.chart text { fill: currentColor; }
.chart .rule { stroke: #9aa3b2; stroke-opacity: .35; }
.chart .line { fill: none; stroke: #2463c9; stroke-width: 2; stroke-linejoin: round; }
.chart .area { fill: #2463c9; fill-opacity: .1; }
.chart .end { fill: #2463c9; }
@media (prefers-color-scheme: dark) {
  .chart { color: #e4e7ec; }
  .chart .line { stroke: #7fb0ff; }
  .chart .area { fill: #7fb0ff; }
  .chart .end { fill: #7fb0ff; }
}
""".strip()
"""What both a page and a picture of its own need."""


def picture(curve: Sequence[Point], title: str) -> str:
    """Return an SVG file: by checks and by time, linear and logarithmic, in light and dark."""
    gap = 28
    width, height = 2 * WIDTH, 2 * (HEIGHT + gap)
    dark = "@media (prefers-color-scheme: dark) { .paper { fill: #16181d; } }"
    parts = [
        svg.style(f"{STYLE}\n.paper {{ fill: #fff; }}\n{dark}"),
        svg.rect(0, 0, width, height, class_="paper"),
    ]
    for row, scale in enumerate(_SCALES):
        for column, axis in enumerate(_AXES):
            drawn = [
                svg.text(_LEFT, -8, caption(axis, scale)),
                *_drawn(curve, axis, scale),
            ]
            top = row * (HEIGHT + gap) + gap
            parts.append(svg.group(drawn, column * WIDTH, top, class_="chart"))
    return svg.picture(width, height, parts, title=title)


def chart(curve: Sequence[Point], axis: Axis, scale: Scale) -> str:
    """Return one chart as an element of a page; `STYLE` gives it its colors."""
    what = f"{caption(axis, scale)}: from {curve[0].size:,} to {curve[-1].size:,} bytes"
    return svg.element(
        "svg", *_drawn(curve, axis, scale), class_="chart", viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img", aria_label=what,
    )  # fmt: skip


def caption(axis: Axis, scale: Scale) -> str:
    """Say what a chart shows."""
    return f"bytes by {'checks' if axis == 'checks' else 'time'}, {scale}"


def _drawn(curve: Sequence[Point], axis: Axis, scale: Scale) -> Iterator[str]:
    values = [float(each.checks if axis == "checks" else each.seconds) for each in curve]
    least = 1.0 if axis == "checks" else _LEAST_SECONDS
    across = _along(scale, least, max(values[-1], 2 * least), _FIELD_WIDTH)
    sizes = [each.size for each in curve]
    largest = max(sizes)
    smallest = max(1, min(sizes))
    bottom = 10.0 ** math.floor(math.log10(smallest)) if scale == "logarithmic" else 0.0
    upward = _along(scale, bottom, max(largest, 2 * bottom, 1), _FIELD_HEIGHT)

    def x(value: float) -> float:
        return _LEFT + across(value)

    def y(size: float) -> float:
        return _TOP + _FIELD_HEIGHT - upward(size)

    for mark in _marks(scale, bottom, largest):
        yield svg.path("M", _LEFT, y(mark), "h", _FIELD_WIDTH, class_="rule")
        yield svg.text(_LEFT - 6, y(mark) + 4, _short(mark), text_anchor="end")
    for mark in _marks(scale, least, values[-1]):
        yield svg.path("M", x(mark), _TOP, "v", _FIELD_HEIGHT, class_="rule")
        yield svg.text(x(mark), _TOP + _FIELD_HEIGHT + 16, _short(mark), text_anchor="middle")
    middle = _LEFT + _FIELD_WIDTH / 2
    yield svg.text(middle, HEIGHT - 8, axis, text_anchor="middle")
    points = _thinned([(x(at), y(size)) for at, size in zip(values, sizes, strict=True)])
    steps: list[str | float] = ["M", *points[0]]
    for right, down in points[1:]:
        steps += ["H", right, "V", down]
    ground = _TOP + _FIELD_HEIGHT
    yield svg.path(*steps, "V", ground, "H", points[0][0], "Z", class_="area")
    yield svg.path(*steps, class_="line")
    yield svg.circle(*points[-1], 3.5, class_="end")


def _along(scale: Scale, least: float, most: float, length: float) -> Callable[[float], float]:
    """Return what places a value on an axis of that length in pixels."""
    if scale == "linear":
        return lambda value: length * value / most
    low, span = math.log10(least), math.log10(most / least)
    return lambda value: length * max(0.0, math.log10(max(value, least)) - low) / span


def _marks(scale: Scale, least: float, most: float) -> list[float]:
    """Return round values to label, at most seven of a linear axis."""
    if most <= 0:
        return []
    if scale == "linear":
        rough = most / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
        step = max(step, 1e-9)
        return [step * number for number in range(int(most / step + 1e-9) + 1)]
    powers = range(math.floor(math.log10(least) + 1e-9), math.floor(math.log10(most) + 1e-9) + 1)
    factors = (1, 2, 5) if len(powers) <= 2 else (1,)
    found = [factor * 10.0**power for power in powers for factor in factors]
    return [each for each in found if least * (1 - 1e-9) <= each <= most]


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Drop points that fall on the same pixel as the one before, then every other if still many."""
    kept = points[:1]
    for each in points[1:-1]:
        if abs(each[0] - kept[-1][0]) >= 0.5 or abs(each[1] - kept[-1][1]) >= 0.5:
            kept.append(each)
    if len(points) > 1:
        kept.append(points[-1])
    stride = math.ceil(len(kept) / _MOST)
    return [*kept[:-1:stride], kept[-1]] if stride > 1 else kept


def _short(value: float) -> str:
    """Return a number in at most five characters, such as 20k."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.4g}{unit}"
    return f"{value:.3g}"
