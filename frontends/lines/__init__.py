"""Lines and tokens: for a text whose format is unknown or broken (`--lenient`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reducekit.frontend import Schedule, by_size
from reducekit.frontends.lines.parser import LinesView, parse_lines
from reducekit.frontends.lines.passes import Blanks, DropGroups, DropLines, DropTokens

__all__ = ["Lines", "LinesView", "parse_lines"]


class Lines:
    """The frontend for any text. `suffix` is the ending that the oracle's files get."""

    name = "lines"
    strict = False

    def __init__(self, suffix: str = "") -> None:
        self.suffix = suffix

    def parse(self, text: bytes) -> LinesView:
        """Read a text; every text can be read."""
        return LinesView(parse_lines(text))

    def schedule(self, strategy: str) -> Schedule:
        """Return the passes: the same for all strategies."""
        return Schedule(once=(), rounds=(DropLines(), DropGroups(), DropTokens(), Blanks()))

    def order(self, text: bytes) -> Any:
        """Return the key of the usual order."""
        return by_size(text)

    def measure(self, view: LinesView) -> Mapping[str, int]:
        """Count bytes, lines and tokens."""
        return {
            "bytes": len(view.document.text),
            "lines": len(view.lines),
            "tokens": len(view.document) - 1 - len(view.lines),
        }
