"""Texts and diagrams for the page, with positions that refer to its JavaScript strings."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from reducekit import registry
from reducekit.diagram import Diagram
from reducekit.errors import UsageError
from reducekit.offers import Draws

_DRAWN = 2 << 20  # bytes of a text that is drawn: about 3 s and 200,000 nodes
_SAFE_LABEL = 200  # characters


def shown(text: bytes) -> str:
    """Return a text for the page; bytes that are not valid UTF-8 are escaped."""
    return text.decode("utf-8", "backslashreplace")


class Positions:
    """Converts byte offsets in a text to positions in the page's string, in UTF-16 units."""

    def __init__(self, text: bytes) -> None:
        self._ascii = text.isascii()
        self._at: list[int] = []
        """The offset after each character that is not one byte and one unit."""
        self._shift: list[int] = [0]
        """Units minus bytes, up to and including that character."""
        if not self._ascii:
            at, shift = 0, 0
            for c in text.decode("utf-8", "surrogateescape"):
                if c < "\x80":
                    at += 1
                    continue
                if "\udc80" <= c <= "\udcff":  # escaped as \xhh
                    size, units = 1, 4
                else:
                    size, units = len(c.encode()), 2 if c > "\uffff" else 1
                at += size
                shift += units - size
                self._at.append(at)
                self._shift.append(shift)

    def of(self, byte: int) -> int:
        """Return the position in the page's string of a byte offset."""
        return byte if self._ascii else byte + self._shift[bisect_right(self._at, byte)]


def diagram_of(format_name: str | None, text: bytes) -> dict[str, Any]:
    """Return the diagram of a text of that format. Raises UsageError or ParseError."""
    if format_name is None:
        raise UsageError("no format reads this text")
    if len(text) > _DRAWN:
        raise UsageError(f"drawn up to {_DRAWN:,} bytes; this text has {len(text):,}")
    frontend = registry.frontend(format_name)
    if not isinstance(frontend, Draws):
        raise UsageError(f"diagrams are not supported for {format_name}")
    return diagram_json(frontend.diagram(frontend.parse(text)), text)


def diagram_json(diagram: Diagram, text: bytes) -> dict[str, Any]:
    """Return a diagram as plain data, one list per property: compact, and fast to parse."""
    place = Positions(text).of
    nodes = diagram.nodes
    chart = diagram.chart
    return {
        "shape": diagram.shape,
        "labels": [node.label[:_SAFE_LABEL] for node in nodes],
        "details": [node.detail[:_SAFE_LABEL] for node in nodes],
        "kinds": [node.kind for node in nodes],
        "starts": [place(node.start) for node in nodes],
        "ends": [place(node.end) for node in nodes],
        "edges": [list(node.edges) for node in nodes],
        "states": [list(each) for each in diagram.state],
        "chart": None
        if chart is None
        else {
            "states": list(chart.states),
            "transitions": [[each.source, each.target, each.label] for each in chart.transitions],
        },
    }
