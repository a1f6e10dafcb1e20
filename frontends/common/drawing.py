"""Constraints as pictures: a matrix of these by variables, and a graph of both for the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from reducekit import svg as draw
from reducekit.diagram import COLOURS, Diagram, Kind, Node
from reducekit.document import Document

_MOST = 200
"""Rows and columns of the matrix: where there are more, a cell counts the literals of several."""
_CELL, _LEFT, _TOP = 5, 8, 26
_SIGNS: tuple[tuple[str, Kind], ...] = (("positive", "leaf"), ("negative", "root"))


class Part(NamedTuple):
    """A constraint or gate: how it is called, what it is, its node and its literals."""

    label: str
    detail: str
    kind: Kind
    node: int
    literals: Sequence[int]
    defines: int = 0
    """The variable of a gate; 0 for others."""


def matrix(constraints: Sequence[Sequence[int]], variables: Sequence[int], what: str) -> bytes:
    """Return a picture of constraints (rows) by variables (columns), literals as squares.

    The stronger its colour, the more literals a square stands for; one of both signs is split.
    """
    tall, wide = (-(-len(each) // _MOST) or 1 for each in (constraints, variables))
    place = {variable: at for at, variable in enumerate(variables)}
    found = Counter(
        (row // tall, place[abs(each)] // wide, int(each < 0))
        for row, literals in enumerate(constraints) for each in literals
    )  # fmt: skip
    most = max(found.values(), default=1)
    columns, rows = -(-len(variables) // wide), -(-len(constraints) // tall)
    rules = ["text { fill: #1a1c20 } .paper { fill: #fff }"]
    rules += [f".{name} {{ fill: {COLOURS[kind][0]} }}" for name, kind in _SIGNS]
    rules.append("@media (prefers-color-scheme: dark) { text { fill: #e4e7ec }")
    rules += [f".{name} {{ fill: {COLOURS[kind][1]} }}" for name, kind in _SIGNS]
    rules.append(".paper { fill: #16181d } }")
    width, height = max(columns * _CELL, 330) + 2 * _LEFT, rows * _CELL + _TOP + _LEFT
    parts = [draw.style("\n".join(rules)), draw.rect(0, 0, width, height, class_="paper")]
    said = f"{len(constraints):,} {what} by {len(variables):,} variables"
    said += f", {tall:,} by {wide:,} to a square" if tall > 1 or wide > 1 else ""
    parts.append(draw.text(_LEFT, 16, said))
    for at, (name, _) in enumerate(_SIGNS):
        parts.append(draw.text(width - 130 + 65 * at, 16, name, class_=name))
    for (row, column, sign), count in sorted(found.items()):
        half = found[row, column, 1 - sign] > 0
        x = _LEFT + column * _CELL + (half and sign) * _CELL / 2
        parts.append(
            draw.rect(
                x, _TOP + row * _CELL, _CELL / 2 if half else _CELL - 0.5, _CELL - 0.5,
                class_=_SIGNS[sign][0], fill_opacity=f"{0.25 + 0.75 * (count / most) ** 0.5:.2f}",
            )
        )  # fmt: skip
    return draw.picture(width, height, parts, font_family="sans-serif", font_size=11).encode()


def diagram(
    document: Document, leaves: Mapping[int, tuple[str, str]], parts: Iterable[Part]
) -> Diagram:
    """Return parts over variables, each below what uses it; negative literals are complemented.

    `leaves` are the variables that no part defines: how each is called, and what it is. Uses of
    what is defined later are left out: no program reads them, and there are no cycles.
    """
    nodes = [Node(label, detail, "leaf", 0, 0) for label, detail in leaves.values()]
    place = {variable: at for at, variable in enumerate(leaves)}
    for each in parts:
        literals = [literal for literal in each.literals if abs(literal) in place]
        edges = [place[at] if at > 0 else ~place[-at] for at in literals]
        start, end = document.start[each.node], document.end[each.node]
        if each.defines:
            place[each.defines] = len(nodes)
        nodes.append(Node(each.label, each.detail, each.kind, start, end, edges))
    return Diagram("graph", nodes)
