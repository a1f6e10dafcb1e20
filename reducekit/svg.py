"""Writes SVG pictures: each function returns one element as text, `picture` a whole file.

It knows shapes and nothing of their meaning: charts, graphs and state diagrams are
made of them elsewhere. Lengths are pixels. Attributes are named as in SVG, with `_` for `-`
and an underscore after Python's keywords: `stroke_width=2`, `class_="name"`. Numbers have
at most one digit after the point, and texts and attributes are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from reducekit.text import printable

_Value = str | float


def number(value: float) -> str:
    """Return a length with at most one digit after the point: `12`, `12.5`."""
    found = f"{value:.1f}"
    return found[:-2] if found.endswith(".0") else found


def element(tag: str, *parts: str, **attributes: _Value) -> str:
    """Return an element around parts that are elements themselves, or escaped text.

    An attribute with the value "" is left out.
    """
    head = tag
    for name, value in attributes.items():
        shown = value if isinstance(value, str) else number(value)
        if shown:
            head += f' {name.rstrip("_").replace("_", "-")}="{escape(shown)}"'
    return f"<{head}>{''.join(parts)}</{tag}>" if parts else f"<{head}/>"


def text(x: float, y: float, words: str, **attributes: _Value) -> str:
    """Return words on the base line `y`, from `x` on (see `text_anchor`)."""
    return element("text", escape(printable(words), quote=False), x=x, y=y, **attributes)


def rect(x: float, y: float, width: float, height: float, **attributes: _Value) -> str:
    """Return a rectangle with its left upper corner at (x, y); `rx` rounds its corners."""
    return element("rect", x=x, y=y, width=width, height=height, **attributes)


def circle(x: float, y: float, radius: float, **attributes: _Value) -> str:
    """Return a circle around (x, y)."""
    return element("circle", cx=x, cy=y, r=radius, **attributes)


def path(*steps: _Value, **attributes: _Value) -> str:
    """Return a line along path commands and their numbers: `path("M", 0, 0, "H", 9.5)`."""
    words = [each if isinstance(each, str) else number(each) for each in steps]
    return element("path", d=" ".join(words), **attributes)


def group(parts: Iterable[str], x: float = 0, y: float = 0, **attributes: _Value) -> str:
    """Return parts that have attributes in common, moved by (x, y)."""
    moved = f"translate({number(x)} {number(y)})" if x or y else ""
    return element("g", *parts, transform=moved, **attributes)


def tooltip(words: str) -> str:
    """Return what a browser shows of the element around it: the first part of a group."""
    return element("title", escape(printable(words), quote=False))


def style(rules: str) -> str:
    """Return a style sheet (CSS) for the picture."""
    return element("style", escape(rules, quote=False))


def picture(
    width: float,
    height: float,
    parts: Iterable[str],
    *,
    left: float = 0,
    top: float = 0,
    title: str = "",
    **attributes: _Value,
) -> str:
    """Return the text of a file: parts on white, with the left upper corner at (left, top).

    `title` is read to people who do not see the picture.
    """
    box = " ".join(map(number, (left, top, width, height)))
    label = {"role": "img", "aria_label": printable(title)} if title else {}
    white = rect(left, top, width, height, fill="white")
    start = element(
        "svg", "\n", xmlns="http://www.w3.org/2000/svg", width=width, height=height,
        viewBox=box, **label, **attributes,
    ).removesuffix("</svg>")  # fmt: skip
    return start + "\n".join([white, *parts, "</svg>", ""])
