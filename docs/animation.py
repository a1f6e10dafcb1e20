"""An animated SVG of a terminal, from what it showed at some moments.

A line that stays is in the file once, whatever changes around it: each distinct line is drawn
once, and shown where and while the terminal had it. Viewers who want no motion see the last screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from rich.ansi import AnsiDecoder
from rich.color import blend_rgb
from rich.color_triplet import ColorTriplet
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import SVG_EXPORT_THEME as THEME
from rich.text import Span, Text

_WIDTH, _HEIGHT = 8.4, 17  # of a character, in pixels at a font of 14
_LEFT, _TOP = 12, 36
_BACKGROUND = ColorTriplet(0x12, 0x12, 0x12)
"""As that of `--tui`, so that most of it needs no rectangle."""
_HOLD = 5.0
"""Seconds for which the last screen stays."""


@dataclass(frozen=True, slots=True)
class Screen:
    """What a terminal shows from a moment on: its lines, with escape sequences for colours."""

    seconds: float
    lines: Sequence[str]
    """A line begins with the colours that the one before it ends with."""

    def drawn(self) -> list[Text]:
        """Return the lines with their styles."""
        decoder = AnsiDecoder()
        return [decoder.decode_line(line) for line in self.lines]


def animation(screens: Sequence[Screen], columns: int, title: str) -> str:
    """Return the SVG, which begins anew at its end. The first screen is at 0 seconds."""
    whole = screens[-1].seconds + _HOLD
    rows = max(len(each.lines) for each in screens)
    width, height = 2 * _LEFT + columns * _WIDTH, _TOP + rows * _HEIGHT + _LEFT
    numbers: dict[_Line, int] = {}
    shown, moments = list[str](), dict[tuple[float, float], int]()
    drawn_screens = [(each.seconds, [_line(text) for text in each.drawn()]) for each in screens]
    for row in range(rows):
        for line, begin, end in _spells(drawn_screens, row, whole):
            if not line.plain.strip():
                continue
            number = numbers.setdefault(line, len(numbers))
            kind = f"m{moments.setdefault((begin, end), len(moments))}"
            place = f'href="#l{number}" y="{_TOP + row * _HEIGHT}"'
            shown.append(f'<use class="{kind}{" end" if end == whole else ""}" {place}/>')
    classes: dict[str, int] = {}
    drawn = [f'<g id="l{number}">{_drawn(line, classes)}</g>' for line, number in numbers.items()]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}">',
            f"<title>{escape(title)}</title>",
            "<style>",
            "text { font: 14px Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre }",
            f"use {{ animation: {whole:.1f}s step-end infinite }}",
            *(f".c{number} {{ {rule} }}" for rule, number in classes.items()),
            *(_moment(number, span, whole) for span, number in moments.items()),
            "@media (prefers-reduced-motion: reduce) {",
            "use { animation: none !important; visibility: hidden } .end { visibility: visible }",
            "}",
            "</style>",
            f"<defs>{''.join(drawn)}</defs>",
            f'<rect width="{width:.0f}" height="{height}" rx="8" fill="{_BACKGROUND.hex}"/>',
            *(
                f'<circle cx="{20 + 18 * at}" cy="18" r="6" fill="{colour}"/>'
                for at, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
            ),
            f'<text x="{width / 2:.0f}" y="23" text-anchor="middle" fill="#c5c8c6">{escape(title)}'
            "</text>",
            *shown,
            "</svg>",
            "",
        )
    )


class _Line(NamedTuple):
    """A line, such that equal ones look the same."""

    plain: str
    spans: tuple[Span, ...] = ()


def _line(text: Text) -> _Line:
    return _Line(text.plain, tuple(text.spans))


def _spells(
    screens: Sequence[tuple[float, Sequence[_Line]]], row: int, whole: float
) -> Iterator[tuple[_Line, float, float]]:
    """Yield what a row shows, from when, and until when."""
    begin, line = 0.0, _Line("")
    for seconds, lines in screens:
        now = lines[row] if row < len(lines) else _Line("")
        if now != line:
            yield line, begin, seconds
            begin, line = seconds, now
    yield line, begin, whole


def _moment(number: int, span: tuple[float, float], whole: float) -> str:
    """Return the style of what is shown from one moment to another."""
    begin, end = span
    steps = {0.0: "hidden"} | {begin: "visible"} | ({} if end == whole else {end: "hidden"})
    frames = " ".join(
        f"{100 * at / whole:.2f}% {{ visibility: {value} }}" for at, value in steps.items()
    )
    return f".m{number} {{ animation-name: k{number} }} @keyframes k{number} {{ {frames} }}"


def _drawn(line: _Line, classes: dict[str, int]) -> str:
    """Draw a line at y = 0; `classes` are the styles so far, and their numbers."""
    console = Console(width=1000, color_system="truecolor")
    drawn, column = [], 0
    for segment in console.render(Text(line.plain, spans=list(line.spans))):
        text = segment.text.rstrip("\n")
        rule, behind = _style(segment)
        x, long = f"{_LEFT + column * _WIDTH:g}", f"{len(text) * _WIDTH:g}"
        if behind is not None:
            drawn.append(f'<rect x="{x}" width="{long}" height="{_HEIGHT}" fill="{behind}"/>')
        if text.strip():
            kind = classes.setdefault(rule, len(classes))
            at = f'x="{x}" y="13" textLength="{long}"'
            drawn.append(f'<text class="c{kind}" {at}>{escape(text, quote=False)}</text>')
        column += len(text)
    return "".join(drawn)


def _style(segment: Segment) -> tuple[str, str | None]:
    """Return the style of a piece of text, and the colour behind it if it has one."""
    style = segment.style or Style()
    colour = THEME.foreground_color if style.color is None else style.color.get_truecolor(THEME)
    behind = None if style.bgcolor is None else style.bgcolor.get_truecolor(THEME, foreground=False)
    if style.reverse:
        colour, behind = behind or _BACKGROUND, colour
    if style.dim:
        colour = blend_rgb(colour, behind or _BACKGROUND, 0.4)
    rule = f"fill: {colour.hex}" + ("; font-weight: bold" if style.bold else "")
    return rule, None if behind in (None, _BACKGROUND) else behind.hex
