"""A BTOR file as a graph of networkx: what dominates what, layers, and files to draw it.

This is for looking at a graph, not for reducing it: `passes.graph` has its own, faster arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

from reducekit.errors import UsageError
from reducekit.frontends.btor.dag import Array, Dag, SortTable, line_of
from reducekit.frontends.btor.operators import Op, spelling
from reducekit.frontends.btor.rules import describe

if TYPE_CHECKING:
    import networkx

Graph: TypeAlias = "networkx.MultiDiGraph[int]"

_MOST = 2000
"""Nodes that are drawn as a picture; more cannot be told apart."""
_WIDTH, _HEIGHT, _GAP, _RISE = 92, 30, 18, 74
"""Of a box in a picture, and what is between two, in pixels."""
_LETTERS = 13  # that fit into a box
_SWEEPS = 8


def graph_of(dag: Dag) -> Graph:
    """Return the lines by id, but for the sorts of BTOR2, with edges from users to operands.

    Nodes have `op`, `sort` (in words), `label`, `layer` (the longest path from what has no
    user), `dominator` (the id of the one that all paths from the roots pass last, 0: none) and
    `alone` (how many nodes go if it goes, itself included; 0 for what no root needs). Edges
    have the `position` of the operand, from 0, and whether it is a `complement`.
    """
    import networkx as nx

    graph: Graph = nx.MultiDiGraph()
    table = SortTable(dag.sorts)
    for line, code in enumerate(dag.op):
        if code == Op.SORT:
            continue
        sort = dag.sort[line]
        row = spelling(dag.dialect, code, sort >= 0 and isinstance(dag.sorts[sort], Array))
        name = (row.name if row else b"").decode() or Op(code).name.lower()
        words = [name, *map(str, dag.numbers.get(line, ()))]
        words += [_plain(each[line]) for each in (dag.literals, dag.symbols) if line in each]
        said = describe(table, sort) if sort >= 0 else ""
        graph.add_node(dag.ids[line], op=name, sort=said, label=" ".join(words))
        for at, each in enumerate(dag.arguments(line)):
            below = dag.ids[line_of(each)]
            graph.add_edge(dag.ids[line], below, position=at, complement=each < 0)
    for layer, nodes in enumerate(nx.topological_generations(graph)):
        for node in nodes:
            graph.nodes[node]["layer"] = layer
    _dominate(dag, graph)
    return graph


def _plain(word: bytes) -> str:
    """Return a word of a file as what every format of a graph can hold."""
    return "".join(c if c.isprintable() else "?" for c in word.decode("utf-8", "replace"))


def _dominate(dag: Dag, graph: Graph) -> None:
    """Put in what dominates each node. A state leads to its own init and next."""
    import networkx as nx

    start = 0  # no id
    flow = nx.DiGraph(graph.edges())
    flow.add_node(start)
    flow.add_edges_from((start, dag.ids[root]) for root in dag.roots)
    for line in dag.lines_of(Op.INIT, Op.NEXT):
        flow.add_edge(dag.ids[line_of(dag.arguments(line)[0])], dag.ids[line])
    above = nx.immediate_dominators(flow, start)
    above.pop(start, None)  # some versions name the start as its own
    tree = nx.DiGraph((up, node) for node, up in above.items())
    alone = dict.fromkeys(graph, 0)
    for node in nx.dfs_postorder_nodes(tree, start) if start in tree else ():
        if node != start:
            alone[node] = 1 + sum(alone[below] for below in tree[node])
    for node, found in alone.items():
        graph.nodes[node].update(dominator=above.get(node, 0), alone=found)


def dot(graph: Graph) -> bytes:
    """Return the graph for Graphviz, operands from left to right; complements are dashed."""
    lines = ["digraph btor {", "  node [shape=box];", "  ordering=out;"]
    for node, of in graph.nodes(data=True):
        label = of["label"].replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'  {node} [label="{node} {label}\\n{of["sort"]}"];')
    for node, below, of in graph.edges(data=True):
        lines.append(f"  {node} -> {below}{' [style=dashed]' if of['complement'] else ''};")
    return "\n".join([*lines, "}", ""]).encode()


def graphml(graph: Graph) -> bytes:
    """Return the graph with all attributes as GraphML."""
    import networkx as nx

    return "\n".join([*nx.generate_graphml(graph), ""]).encode()


def svg(graph: Graph) -> bytes:
    """Return a picture: layers from the roots down, dashed complements.

    The darker a box, the more goes with it. Raises UsageError for very many nodes.
    """
    if len(graph) > _MOST:
        raise UsageError(f"{len(graph)} nodes are too many for a picture: write .dot or .graphml")
    return "\n".join([*_picture(graph), ""]).encode()


def _picture(graph: Graph) -> Iterator[str]:
    place = layout(graph)
    right = max((x for x, _ in place.values()), default=0) + _WIDTH + _GAP
    bottom = max((y for _, y in place.values()), default=0) + _HEIGHT + _GAP
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right}" height="{bottom}" '
        f'viewBox="{-_GAP} {-_GAP} {right + _GAP} {bottom + _GAP}" font-family="sans-serif" '
        'font-size="11" text-anchor="middle">'
    )
    yield '<rect x="-100%" y="-100%" width="300%" height="300%" fill="white"/>'
    for node, below, of in graph.edges(data=True):
        (x, y), (to, down) = place[node], place[below]
        share = (of["position"] + 1) / (graph.out_degree(node) + 1)
        begin, end = x + share * _WIDTH, to + _WIDTH / 2
        way = f"L{end:.0f} {down}"
        if down - y > _RISE:  # round the boxes of the layers between
            beside = (begin + end) / 2 + (1.3 if share >= 0.5 else -1.3) * _WIDTH
            way = f"Q{beside:.0f} {(y + down) // 2} {end:.0f} {down}"
        dashes = ' stroke-dasharray="4 3"' if of["complement"] else ""
        yield f'<path d="M{begin:.0f} {y + _HEIGHT}{way}" fill="none" stroke="#555555"{dashes}/>'
    for node, of in graph.nodes(data=True):
        x, y = place[node]
        name = f"{node} {of['label']}"
        short = name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
        light = 255 - 90 * of["alone"] // max(1, len(graph))
        yield (
            f"<g><title>{escape(name)}: {escape(of['sort'])}; {of['alone']} alone</title>"
            f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" '
            f'fill="rgb({light},{light},255)" stroke="#333333"/>'
            f'<text x="{x + _WIDTH // 2}" y="{y + 19}">{escape(short)}</text></g>'
        )
    yield "</svg>"


def layout(graph: Graph) -> dict[int, tuple[int, int]]:
    """Return the left upper corner of each node's box: layers, with few crossings.

    Nodes stand where the mean of their users is, in turn with that of their operands
    (Sugiyama, Tagawa, Toda, Methods for visual understanding of hierarchical system
    structures, 1981).
    """
    layers: dict[int, list[int]] = {}
    for node, layer in graph.nodes(data="layer"):
        layers.setdefault(layer, []).append(node)
    rows = [layers[layer] for layer in sorted(layers)]
    at = {node: float(number) for row in rows for number, node in enumerate(row)}

    def mean(node: int, others: Any) -> float:
        found = [at[each] for each in others(node)]
        return sum(found) / len(found) if found else at[node]

    for sweep in range(_SWEEPS):
        others = graph.successors if sweep % 2 else graph.predecessors
        for row in reversed(rows) if sweep % 2 else rows:
            wanted = {node: mean(node, others) for node in row}
            row.sort(key=wanted.__getitem__)
            at.update((node, float(number)) for number, node in enumerate(row))
    widest = max(map(len, rows), default=0)
    return {
        node: (
            int((at[node] + (widest - len(row)) / 2) * (_WIDTH + _GAP)),
            depth * _RISE,
        )
        for depth, row in enumerate(rows)
        for node in row
    }
