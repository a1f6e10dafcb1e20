"""Draws a diagram that is a graph: layers from the roots down, dashed complements, a legend.

Shapes and colours are those of the web interface.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from reducekit import svg as draw
from reducekit.diagram import COLOURS, WORDS, Diagram, Kind
from reducekit.errors import UsageError
from reducekit.text import printable

WIDTH, HEIGHT, GAP, RISE = 92, 30, 18, 74  # of a box, and of the space between two, in pixels
_MOST = 2000  # nodes that are drawn as a picture; more cannot be distinguished
_LETTERS = 13  # that fit into a box
_CUT = 7  # of the corners of a constant, in pixels
_SWEEPS = 8


class Box(NamedTuple):
    """A node to draw."""

    label: str
    kind: Kind
    tip: str = ""  # shown by a browser when the pointer is on the box
    edges: Sequence[int] = ()  # boxes it refers to, by index; `~i`: complemented
    full: float = 0.0  # the strength of its colour, from 0 to 1


DARK_PAPER = "@media (prefers-color-scheme: dark) { svg > rect { fill: #16181d } }"
"""The rule of a picture's background."""


def style(within: str) -> str:
    """Return the rules of boxes and edges within elements of a class, such as `.graph`."""
    rules = [
        "text { fill: #1a1c20 }", ".edge { fill: none; stroke: #566070 }",
        ".box { fill: #fff; stroke-width: 1.3 }", ".root .box { stroke-width: 2 }",
        *(f".{kind} {{ --kind: {on} }}" for kind, (on, _) in COLOURS.items()),
        ".box { stroke: var(--kind) }", ".full { fill: var(--kind) }",
    ]  # fmt: skip
    dark = [
        ".box { fill: #16181d }", "text { fill: #e4e7ec }", ".edge { stroke: #a3adbb }",
        *(f".{kind} {{ --kind: {on} }}" for kind, (_, on) in COLOURS.items()),
    ]  # fmt: skip
    lines = [f"{within} {rule}" for rule in rules]
    by_night = " ".join(f"{within} {rule}" for rule in dark)
    return "\n".join([*lines, f"@media (prefers-color-scheme: dark) {{ {by_night} }}"])


def boxes_of(diagram: Diagram) -> list[Box]:
    """Return the nodes of a diagram as boxes. Raises UsageError if it is not a graph."""
    if diagram.shape != "graph":
        raise UsageError("only graphs have such a picture")
    return [
        Box(node.label, node.kind, f"{node.label}: {node.detail}".rstrip(": "), node.edges)
        for node in diagram.nodes
    ]


def target(edge: int) -> int:
    """Return the node that an edge leads to, complemented or not."""
    return ~edge if edge < 0 else edge


def picture(boxes: Sequence[Box]) -> bytes:
    """Return an SVG file. Raises UsageError for very many nodes."""
    if len(boxes) > _MOST:
        raise UsageError(f"{len(boxes)} nodes are too many for a picture: write .dot or .graphml")
    places = layout([box.edges for box in boxes])
    right = max((x for x, _ in places), default=0) + WIDTH + GAP
    bottom = max((y for _, y in places), default=0) + HEIGHT + GAP
    legend = list(_legend(boxes, bottom + GAP))
    right = max(right, len(legend) * (WIDTH + GAP))
    drawn = [drawn_box(box, *place) for box, place in zip(boxes, places, strict=True)]
    found = draw.picture(
        right + GAP, bottom + HEIGHT + 3 * GAP,
        [
            draw.style(f"{style('.graph')}\n{DARK_PAPER}"),
            draw.group([*drawn_edges(boxes, places), *drawn, *legend], class_="graph"),
        ],
        left=-GAP, top=-GAP, font_family="sans-serif", font_size=11, text_anchor="middle",
    )  # fmt: skip
    return found.encode()


def _legend(boxes: Sequence[Box], y: float) -> Iterator[str]:
    found = {box.kind for box in boxes}
    x = 0
    for kind in (kind for kind in WORDS if kind in found):
        label = draw.text(x + WIDTH / 2, y + 19, WORDS[kind])
        yield draw.group([*_outline(kind, x, y, 0.0), label], class_=kind)
        x += WIDTH + GAP
    if any(edge < 0 for box in boxes for edge in box.edges):
        yield draw.path("M", x, y + 27, "H", x + WIDTH, class_="edge", stroke_dasharray="4 3")
        yield draw.text(x + WIDTH / 2, y + 19, "complement")


def _outline(kind: Kind, x: float, y: float, full: float) -> Iterator[str]:
    """Yield a box, which hides edges, and its colour, of that strength."""
    left, right = x + _CUT, x + WIDTH - _CUT
    middle, below = y + HEIGHT / 2, y + HEIGHT
    colour = [{"class_": "full", "fill_opacity": f"{full:.2f}"}] if full else []
    for look in ({"class_": "box"}, *colour):
        if kind == "constant":
            yield draw.path(
                "M", x, middle, "L", left, y, "H", right, "L", x + WIDTH, middle, "L", right,
                below, "H", left, "Z", **look,
            )  # fmt: skip
        else:
            yield draw.rect(x, y, WIDTH, HEIGHT, rx=HEIGHT / 2 if kind == "leaf" else 4, **look)


def drawn_edges(boxes: Sequence[Box], places: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Yield the edges between boxes at these places."""
    for box, (x, y) in zip(boxes, places, strict=True):
        for position, edge in enumerate(box.edges):
            to, down = places[target(edge)]
            share = (position + 1) / (len(box.edges) + 1)
            begin, end = x + share * WIDTH, to + WIDTH / 2
            way: tuple[str | float, ...] = ("L", end, down)
            if down - y > RISE or down <= y:  # round the boxes of the layers between
                beside = (begin + end) / 2 + (1.3 if share >= 0.5 else -1.3) * WIDTH
                way = ("Q", beside, (y + down) / 2, end, down)
            dashes = "4 3" if edge < 0 else ""
            yield draw.path("M", begin, y + HEIGHT, *way, class_="edge", stroke_dasharray=dashes)


def drawn_box(box: Box, x: float = 0, y: float = 0) -> str:
    """Return a box with its left upper corner at (x, y)."""
    label = printable(box.label)
    short = label if len(label) <= _LETTERS else f"{label[: _LETTERS - 1]}…"
    tip = [draw.tooltip(box.tip)] if box.tip else []
    words = draw.text(x + WIDTH / 2, y + 19, short)
    return draw.group([*tip, *_outline(box.kind, x, y, box.full), words], class_=box.kind)


def layers(edges: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the nodes by the longest path to them, of no edge that closes a cycle."""
    order: list[int] = []
    state = bytearray(len(edges))  # 1: being visited, 2: done
    forward: list[list[int]] = [[] for _ in edges]
    used = {target(edge) for below in edges for edge in below}
    # From what nobody uses first, so that the layers begin there.
    starts = sorted(range(len(edges)), key=lambda node: node in used)
    for start in starts:
        if state[start]:
            continue
        state[start] = 1
        stack = [(start, iter(edges[start]))]
        while stack:
            node, rest = stack[-1]
            for each in map(target, rest):
                if state[each] != 1:
                    forward[node].append(each)
                if not state[each]:
                    state[each] = 1
                    stack.append((each, iter(edges[each])))
                    break
            else:
                state[node] = 2
                order.append(node)
                stack.pop()
    depth = [0] * len(edges)
    for node in reversed(order):
        for each in forward[node]:
            depth[each] = max(depth[each], depth[node] + 1)
    rows: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for node, row in enumerate(depth):
        rows[row].append(node)
    return rows


def layout(edges: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Return the left upper corner of each node's box: layers, with few crossings.

    Nodes stand where the mean of their users is, in turn with that of their operands
    (Sugiyama, Tagawa, Toda, Methods for visual understanding of hierarchical system
    structures, 1981).
    """
    rows = layers(edges)
    below = [[target(edge) for edge in each] for each in edges]
    above: list[list[int]] = [[] for _ in edges]
    for node, targets in enumerate(below):
        for each in targets:
            above[each].append(node)
    at = [0.0] * len(edges)
    for row in rows:
        for number, node in enumerate(row):
            at[node] = float(number)

    def mean(nodes: Iterable[int], otherwise: float) -> float:
        found = [at[each] for each in nodes]
        return sum(found) / len(found) if found else otherwise

    for sweep in range(_SWEEPS):
        others = below if sweep % 2 else above
        for row in reversed(rows) if sweep % 2 else rows:
            wanted = {node: mean(others[node], at[node]) for node in row}
            row.sort(key=wanted.__getitem__)
            for number, node in enumerate(row):
                at[node] = float(number)
    # Each row is in the middle of the widest one.
    widest = max(map(len, rows), default=0)
    places = [(0, 0)] * len(edges)
    for depth, row in enumerate(rows):
        for node in row:
            across = at[node] + (widest - len(row)) / 2
            places[node] = (int(across * (WIDTH + GAP)), depth * RISE)
    return places
