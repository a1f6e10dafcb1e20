"""A toy format for tests of the engine: any text, by lines and tokens."""

import re
from array import array
from collections.abc import Mapping
from typing import Any

from reducekit.change import Edit
from reducekit.document import Document
from reducekit.format import Format, Schedule, pass_
from reducekit.frontends.common.items import NodeItems
from reducekit.search.problem import Items
from reducekit.search.strategy import Passes

_PARTS = re.compile(rb"[^\n]*\n|[^\n]+"), re.compile(rb"[()]|[^\s()]+")


class LinesView:
    """A text: below the root are lines, below these tokens."""

    def __init__(self, text: bytes) -> None:
        nodes: list[list[int]] = [[0, len(text), 0]]
        self.lines: list[int] = []
        for line in _PARTS[0].finditer(text):
            self.lines.append(len(nodes))
            nodes.append([*line.span(), 0])
            for token in _PARTS[1].finditer(text, *line.span()):
                nodes.append([*token.span(), len(nodes) + 1])
            nodes[self.lines[-1]][2] = len(nodes)
        nodes[0][2] = len(nodes)
        start, end, stop = (array("i", each) for each in zip(*nodes, strict=True))
        self.document = Document(text, start, end, stop)
        self.tokens = sorted({*range(1, len(nodes))}.difference(self.lines))


def _dropping(view: LinesView, nodes: list[int], what: str) -> Items | None:
    return NodeItems(view.document, nodes, lambda each: Edit(each, ()), what) if nodes else None


@pass_("lines")
def drop_lines(view: LinesView) -> Items | None:
    """Removes lines."""
    return _dropping(view, view.lines, "drop lines")


@pass_("tokens")
def drop_tokens(view: LinesView) -> Items | None:
    """Removes tokens."""
    return _dropping(view, view.tokens, "drop tokens")


class Lines(Format):
    """Any text, by lines and tokens."""

    name = "lines"

    def __init__(self, suffix: str = "") -> None:
        self.suffix = suffix

    def parse(self, text: bytes) -> LinesView:
        return LinesView(text)

    def schedule(self, passes: Passes) -> Schedule:
        return Schedule(rounds=(drop_lines, drop_tokens))

    def measure(self, view: Any) -> Mapping[str, int]:
        counts = {"lines": len(view.lines), "tokens": len(view.tokens)}
        return {"bytes": len(view.document.text), **counts}
