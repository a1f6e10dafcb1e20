"""Files to look at a BTOR graph: a picture (SVG), and the graph for Graphviz or as GraphML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from reducekit import svg as draw
from reducekit.diagram import COLOURS, WORDS, Kind
from reducekit.errors import UsageError
from reducekit.frontends.btor.drawing.graph import Graph

_MOST = 2000
"""Nodes that are drawn as a picture; more cannot be told apart."""
_WIDTH, _HEIGHT, _GAP, _RISE = 92, 30, 18, 74
"""Of a box in a picture, and of the space between two, in pixels."""
_LETTERS = 13  # that fit into a box
_CUT = 7
"""Of the corners of a constant, in pixels."""
_SWEEPS = 8
_DOT: Mapping[Kind, str] = {
    "root": "shape=box penwidth=2",
    "inner": "shape=box",
    "leaf": "shape=box style=rounded",
    "constant": "shape=octagon",
    "other": "shape=box",
}


def _rules() -> Iterator[str]:
    yield "text { fill: #1a1c20 } .edge { fill: none; stroke: #566070 }"
    yield ".paper { fill: #fff } .box { stroke-width: 1.3 } .root .box { stroke-width: 2 }"
    for kind, (light, _) in COLOURS.items():
        yield f".{kind} .box {{ stroke: {light}; fill: {light} }}"
    yield "@media (prefers-color-scheme: dark) {"
    yield "svg > rect, .paper { fill: #16181d } text { fill: #e4e7ec } .edge { stroke: #a3adbb }"
    for kind, (_, dark) in COLOURS.items():
        yield f".{kind} .box {{ stroke: {dark}; fill: {dark} }}"
    yield "}"


_STYLE = "\n".join(_rules())


def dot(graph: Graph) -> bytes:
    """Return the graph for Graphviz, operands from left to right; complements are dashed."""
    lines = ["digraph btor {", "  ordering=out;"]
    for node, of in graph.nodes(data=True):
        label = of["label"].replace("\\", "\\\\").replace('"', '\\"')
        look = f'{_DOT[of["kind"]]} color="{COLOURS[of["kind"]][0]}"'
        lines.append(f'  {node} [label="{node} {label}\\n{of["sort"]}" {look}];')
    for node, below, of in graph.edges(data=True):
        lines.append(f"  {node} -> {below}{' [style=dashed]' if of['complement'] else ''};")
    return "\n".join([*lines, "}", ""]).encode()


def graphml(graph: Graph) -> bytes:
    """Return the graph with all attributes as GraphML."""
    import networkx as nx

    return "\n".join([*nx.generate_graphml(graph), ""]).encode()


def svg(graph: Graph) -> bytes:
    """Return a picture: layers from the roots down, dashed complements, a legend.

    Shapes and colours are those of the page. The fuller a box, the more nodes go with it. Raises
    UsageError for very many nodes.
    """
    if len(graph) > _MOST:
        raise UsageError(f"{len(graph)} nodes are too many for a picture: write .dot or .graphml")
    place = layout(graph)
    right = max((x for x, _ in place.values()), default=0) + _WIDTH + _GAP
    bottom = max((y for _, y in place.values()), default=0) + _HEIGHT + _GAP
    legend = list(_legend(graph, bottom + _GAP))
    right = max(right, len(legend) * (_WIDTH + _GAP))
    parts = [draw.style(_STYLE), *_edges(graph, place), *_boxes(graph, place), *legend]
    drawn = draw.picture(
        right + _GAP, bottom + _HEIGHT + 3 * _GAP, parts, left=-_GAP, top=-_GAP,
        font_family="sans-serif", font_size=11, text_anchor="middle",
    )  # fmt: skip
    return drawn.encode()


def _legend(graph: Graph, y: float) -> Iterator[str]:
    """Yield a sample of each kind of node that occurs, and of a complement."""
    found = {kind for _, kind in graph.nodes(data="kind")}
    x = 0
    for kind in (kind for kind in WORDS if kind in found):
        label = draw.text(x + _WIDTH / 2, y + 19, WORDS[kind])
        yield draw.group([*_outline(kind, x, y, 0.0), label], class_=kind)
        x += _WIDTH + _GAP
    if any(of for *_, of in graph.edges(data="complement")):
        yield draw.path("M", x, y + 27, "H", x + _WIDTH, class_="edge", stroke_dasharray="4 3")
        yield draw.text(x + _WIDTH / 2, y + 19, "complement")


def _outline(kind: Kind, x: float, y: float, full: float) -> Iterator[str]:
    """Yield paper, which hides edges, and a box on it; `full`: the strength of its colour."""
    left, right = x + _CUT, x + _WIDTH - _CUT
    middle, below = y + _HEIGHT / 2, y + _HEIGHT
    for look in ({"class_": "paper"}, {"class_": "box", "fill_opacity": f"{full:.2f}"}):
        if kind == "constant":
            yield draw.path(
                "M", x, middle, "L", left, y, "H", right, "L", x + _WIDTH, middle, "L", right,
                below, "H", left, "Z", **look,
            )  # fmt: skip
        else:
            yield draw.rect(x, y, _WIDTH, _HEIGHT, rx=_HEIGHT / 2 if kind == "leaf" else 4, **look)


def _edges(graph: Graph, place: Mapping[int, tuple[int, int]]) -> Iterator[str]:
    for node, below, of in graph.edges(data=True):
        (x, y), (to, down) = place[node], place[below]
        share = (of["position"] + 1) / (graph.out_degree(node) + 1)
        begin, end = x + share * _WIDTH, to + _WIDTH / 2
        way: tuple[str | float, ...] = ("L", end, down)
        if down - y > _RISE:  # round the boxes of the layers between
            beside = (begin + end) / 2 + (1.3 if share >= 0.5 else -1.3) * _WIDTH
            way = ("Q", beside, (y + down) / 2, end, down)
        dashes = "4 3" if of["complement"] else ""
        yield draw.path("M", begin, y + _HEIGHT, *way, class_="edge", stroke_dasharray=dashes)


def _boxes(graph: Graph, place: Mapping[int, tuple[int, int]]) -> Iterator[str]:
    for node, of in graph.nodes(data=True):
        x, y = place[node]
        name = f"{node} {of['label']}"
        short = name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
        yield draw.group(
            [
                draw.tooltip(f"{name}: {of['sort']}; {of['alone']} alone"),
                *_outline(of["kind"], x, y, 0.35 * of["alone"] / max(1, len(graph))),
                draw.text(x + _WIDTH / 2, y + 19, short),
            ],
            class_=of["kind"],
        )


def layout(graph: Graph) -> dict[int, tuple[int, int]]:
    """Return the left upper corner of each node's box: layers, with few crossings.

    Nodes stand where the mean of their users is, in turn with that of their operands
    (Sugiyama, Tagawa, Toda, Methods for visual understanding of hierarchical system
    structures, 1981).
    """
    rows = _rows(graph)
    at = {node: float(number) for row in rows for number, node in enumerate(row)}

    for sweep in range(_SWEEPS):
        others = graph.successors if sweep % 2 else graph.predecessors
        for row in reversed(rows) if sweep % 2 else rows:
            wanted = {node: _mean(at, others(node), at[node]) for node in row}
            row.sort(key=wanted.__getitem__)
            at.update((node, float(number)) for number, node in enumerate(row))
    return _corners(rows, at)


def _corners(rows: Sequence[Sequence[int]], at: Mapping[int, float]) -> dict[int, tuple[int, int]]:
    """Return the corners of the boxes: each row in the middle of the widest one."""
    widest = max(map(len, rows), default=0)
    return {
        node: (
            int((at[node] + (widest - len(row)) / 2) * (_WIDTH + _GAP)),
            depth * _RISE,
        )
        for depth, row in enumerate(rows)
        for node in row
    }


def _mean(at: Mapping[int, float], nodes: Iterable[int], otherwise: float) -> float:
    """Return the mean of where nodes stand; of none, another place."""
    found = [at[each] for each in nodes]
    return sum(found) / len(found) if found else otherwise


def _rows(graph: Graph) -> list[list[int]]:
    """Return the nodes of each layer, the uppermost first."""
    layers: dict[int, list[int]] = {}
    for node, layer in graph.nodes(data="layer"):
        layers.setdefault(layer, []).append(node)
    return [layers[layer] for layer in sorted(layers)]
