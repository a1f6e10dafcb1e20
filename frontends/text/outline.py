"""What people see of a text: its largest parts within each other, and the colours of its tokens."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from heapq import nlargest

from reducekit.diagram import Diagram, Ink, Node
from reducekit.diagram import Kind as Colour
from reducekit.frontends.text.tree import Kind
from reducekit.frontends.text.view import TextView
from reducekit.text import shortened

_PRINTED, _LEAST = 30, 0.01  # parts, and the share of the text that each has
_DRAWN, _DEEPEST, _LETTERS = 1000, 40, 80
_PARTS = frozenset((Kind.ITEM, Kind.COMMENT))
_INKS: dict[int, Colour] = {Kind.NUMBER: "constant", Kind.STRING: "leaf", Kind.COMMENT: "other"}
_KEYWORDS = frozenset(
    b"""and as assert assume begin bool break case catch char class const continue def default do
    else end ensures enum exists false final float fn for forall from func function if import in
    include input int interface invariant let loop match method module new null of or output
    private public reg requires return returns static string struct switch then this throw true
    try type typedef union unsigned var void when while wire with""".split()
)
"""Words that many languages have."""


def parts(view: TextView, most: int, least: float) -> list[tuple[int, int, int]]:
    """Return the largest parts, in order: a node, its depth, and where it begins after comments."""
    document, kind = view.document, view.kind
    start, end, parent, depth = document.start, document.end, document.parent, bytearray(len(kind))
    head, token = array("i", start), len(document.text)
    for node in range(len(kind) - 1, -1, -1):
        if kind[node] >= Kind.WORD and kind[node] != Kind.COMMENT:
            token = start[node]
        head[node] = token if token < end[node] else start[node]
    found = []
    for node in range(1, len(kind)):
        above = parent[node]
        depth[node] = depth[above]
        if kind[node] in _PARTS and (head[node] != head[above] or not depth[above]):
            depth[node] = min(depth[above] + 1, _DEEPEST)
            if depth[node] < _DEEPEST and view.weight(node) >= least:
                found.append(node)
    # Of equal ones the outer first: each has those around it.
    largest = nlargest(most, found, key=lambda node: (view.weight(node), -node))
    return [(node, depth[node] - 1, head[node]) for node in sorted(largest)]


def _label(view: TextView, node: int, head: int) -> str:
    """Return the first line of a part; more if it is just a bracket."""
    text = view.document.text[head : view.document.end[node]][: 9 * _LETTERS]
    line = b" ".join(text.split(b"\n", 1)[0].split())
    return shortened(line if len(line) > 2 else b" ".join(text.split()), _LETTERS)


def lines(view: TextView) -> Iterator[str]:
    """Yield the outline for a terminal."""
    text = view.document.text
    for node, depth, head in parts(view, _PRINTED, _LEAST * len(text)):
        share, line = view.weight(node) / len(text), text.count(b"\n", 0, head) + 1
        yield f"{100 * share:5.1f} %  line {line:5}  {'  ' * depth}{_label(view, node, head)}"


def diagram(view: TextView) -> Diagram:
    """Return the outline, below the whole text, and the colours."""
    document, kind = view.document, view.kind
    start, end = document.start, document.end
    found = [(0, -1, 0), *parts(view, _DRAWN, 1)]
    below: list[list[int]] = [[] for _ in found]
    path: list[int] = []
    for number, (_, depth, _) in enumerate(found):
        del path[depth + 1 :]
        if path:
            below[path[-1]].append(number)
        path.append(number)
    nodes = [
        Node(_label(view, n, head), f"{view.weight(n):,} bytes", "inner", start[n], end[n], edges)
        for (n, _, head), edges in zip(found, below, strict=True)
    ]
    inks = []
    for node in view.tokens:
        word = kind[node] == Kind.WORD and document.source(node).lower() in _KEYWORDS
        if colour := "inner" if word else _INKS.get(kind[node]):
            inks.append(Ink(start[node], end[node], colour))
    return Diagram("outline", nodes, inks=inks)
