"""Clauses as a picture: a matrix of clauses by variables, and a graph of both for the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reducekit import svg as draw
from reducekit.diagram import COLOURS, Diagram, Kind, Node
from reducekit.frontends.cnf.reader import View

_MOST = 200
"""Rows and columns of the matrix: where there are more, a cell counts the literals of several."""
_CELL, _LEFT, _TOP = 5, 8, 26
_SIGNS: tuple[tuple[str, Kind], ...] = (("positive", "leaf"), ("negative", "root"))


def _literals(view: View) -> Iterator[tuple[int, int, int]]:
    """Yield for each literal its clause, its variable and its sign, each counted from 0."""
    place = {variable: at for at, variable in enumerate(view.variables)}
    row = 0
    for at in range(len(view)):
        if view.counts(at):
            for literal in view.literals[view.first[at] : view.first[at + 1]]:
                yield row, place[abs(literal)], int(literal < 0)
            row += 1


def matrix(view: View) -> bytes:
    """Return a picture of clauses (rows) by variables (columns), literals as squares.

    The stronger its colour, the more literals a square stands for; one of both signs is split.
    """
    tall, wide = (-(-many // _MOST) or 1 for many in (view.clauses, len(view.variables)))
    found = Counter((row // tall, at // wide, sign) for row, at, sign in _literals(view))
    most = max(found.values(), default=1)
    columns, rows = -(-len(view.variables) // wide), -(-view.clauses // tall)
    rules = ["text { fill: #1a1c20 } .paper { fill: #fff }"]
    rules += [f".{name} {{ fill: {COLOURS[kind][0]} }}" for name, kind in _SIGNS]
    rules.append("@media (prefers-color-scheme: dark) { text { fill: #e4e7ec }")
    rules += [f".{name} {{ fill: {COLOURS[kind][1]} }}" for name, kind in _SIGNS]
    rules.append(".paper { fill: #16181d } }")
    width, height = max(columns * _CELL, 330) + 2 * _LEFT, rows * _CELL + _TOP + _LEFT
    parts = [draw.style("\n".join(rules)), draw.rect(0, 0, width, height, class_="paper")]
    said = f"{view.clauses:,} clauses by {len(view.variables):,} variables"
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


def diagram(view: View) -> Diagram:
    """Return clauses as roots over variables, negative literals as complemented edges."""
    variables = view.variables
    place = {variable: at for at, variable in enumerate(variables)}
    nodes = [Node(str(variable), "variable", "leaf", 0, 0) for variable in variables]
    for at in range(len(view)):
        if view.counts(at):
            literals = view.literals[view.first[at] : view.first[at + 1]]
            edges = [place[each] if each > 0 else ~place[-each] for each in literals]
            node = view.nodes[at]
            label = f"clause {len(nodes) - len(variables) + 1}"
            start, end = view.document.start[node], view.document.end[node]
            nodes.append(Node(label, view.prefixes[at].decode(), "root", start, end, edges))
    return Diagram("graph", nodes)
