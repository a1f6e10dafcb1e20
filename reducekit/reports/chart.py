"""The curve of a reduction as SVG: remaining bytes over checks or seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from reducekit import linechart, svg
from reducekit.linechart import STYLE, Axis, Line, Scale
from reducekit.session.progress import Point

Over = Literal["checks", "seconds"]

_OVER: tuple[Over, ...] = ("checks", "seconds")
_SCALES: tuple[Scale, ...] = ("linear", "logarithmic")

WIDTH, HEIGHT = 460, 270
"""Size of the whole chart in pixels."""
_LEAST_SECONDS = 0.1


def picture(curve: Sequence[Point], title: str) -> str:
    """Return an SVG file: by checks and by time, linear and logarithmic, in light and dark."""
    gap = 28
    width, height = 2 * WIDTH, 2 * (HEIGHT + gap)
    parts = [svg.style(STYLE), svg.rect(0, 0, width, height, class_="paper")]
    for row, scale in enumerate(_SCALES):
        for column, over in enumerate(_OVER):
            drawn = [svg.text(64, -8, caption(over, scale)), *_drawn(curve, over, scale)]
            top = row * (HEIGHT + gap) + gap
            parts.append(svg.group(drawn, column * WIDTH, top, class_="chart"))
    return svg.picture(width, height, parts, title=title)


def chart(curve: Sequence[Point], over: Over, scale: Scale) -> str:
    """Return one chart as an element of a page; `STYLE` gives it its colors."""
    what = f"{caption(over, scale)}: from {curve[0].size:,} to {curve[-1].size:,} bytes"
    return svg.element(
        "svg", *_drawn(curve, over, scale), class_="chart", viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img", aria_label=what,
    )  # fmt: skip


def caption(over: Over, scale: Scale) -> str:
    """Return the title of a chart."""
    return f"bytes by {'checks' if over == 'checks' else 'time'}, {scale}"


def _drawn(curve: Sequence[Point], over: Over, scale: Scale) -> list[str]:
    points = [
        (float(each.checks if over == "checks" else each.seconds), float(each.size))
        for each in curve
    ]
    least = 1.0 if over == "checks" else _LEAST_SECONDS
    largest = max(size for _, size in points)
    smallest = max(1.0, min(size for _, size in points))
    bottom = 10.0 ** math.floor(math.log10(smallest)) if scale == "logarithmic" else 0.0
    across = Axis(over, scale, least, max(points[-1][0], 2 * least))
    upward = Axis("bytes", scale, bottom, max(largest, 2 * bottom, 1))
    return [*linechart.chart([Line(points)], across, upward, width=WIDTH, height=HEIGHT)]
