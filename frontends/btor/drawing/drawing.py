"""Files to look at a BTOR graph: a picture (SVG), and the graph for Graphviz or as GraphML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from reducekit import graphs
from reducekit.diagram import COLOURS, Kind
from reducekit.errors import UsageError
from reducekit.frontends.btor.drawing.diagram import kind_of, name_of
from reducekit.frontends.btor.model.dag import Dag, SortTable, line_of
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.rules import describe
from reducekit.offers import Inspection
from reducekit.text import printable

if TYPE_CHECKING:
    import networkx

Graph: TypeAlias = "networkx.MultiDiGraph[int]"
_DOT: Mapping[Kind, str] = {
    "root": "shape=box penwidth=2",
    "inner": "shape=box",
    "leaf": "shape=box style=rounded",
    "constant": "shape=octagon",
    "other": "shape=box",
}


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
    """Return a picture; the fuller a box, the more nodes go with it.

    Raises UsageError for very many nodes.
    """
    index = {node: number for number, node in enumerate(graph)}
    edges: list[list[int]] = [[] for _ in index]
    for node, below, of in sorted(graph.edges(data=True), key=lambda edge: edge[2]["position"]):
        edges[index[node]].append(~index[below] if of["complement"] else index[below])
    found = []
    for node, of in graph.nodes(data=True):
        name = f"{node} {of['label']}"
        tip = f"{name}: {of['sort']}; {of['alone']} alone"
        full = 0.35 * of["alone"] / max(1, len(graph))
        found.append(graphs.Box(name, of["kind"], tip, edges[index[node]], full))
    return graphs.picture(found)


def graph_of(dag: Dag) -> Graph:
    """Return the lines by id, without the sorts of BTOR2, with edges from users to operands.

    This is for looking at a graph once. Reductions ask such questions of every candidate, and keep
    flat arrays for them (`passes.line_graph`); the tests hold both to the same answers.

    Nodes have `op`, `sort` (in words), `label`, `kind` (as in `diagram.Node`), `layer` (the longest
    path from a node without users), `dominator` (the id of the last node that all paths from the
    roots pass, 0: none) and `alone` (how many nodes go if it goes, itself included; 0 for what no
    root needs).
    Edges have the `position` of the operand, from 0, and whether it is a `complement`.
    """
    import networkx as nx

    graph: Graph = nx.MultiDiGraph()
    table = SortTable(dag.sorts)
    for line, code in enumerate(dag.op):
        if code == Op.SORT:
            continue
        sort = dag.sort[line]
        name = name_of(dag, line)
        words = [name, *map(str, dag.numbers.get(line, ()))]
        words += [printable(each[line]) for each in (dag.literals, dag.symbols) if line in each]
        said = describe(table, sort) if sort >= 0 else ""
        label, kind = " ".join(words), kind_of(code)
        graph.add_node(dag.ids[line], op=name, sort=said, label=label, kind=kind)
        for at, each in enumerate(dag.arguments(line)):
            below = dag.ids[line_of(each)]
            graph.add_edge(dag.ids[line], below, position=at, complement=each < 0)
    for layer, nodes in enumerate(nx.topological_generations(graph)):
        for node in nodes:
            graph.nodes[node]["layer"] = layer
    _dominate(dag, graph)
    return graph


def _dominate(dag: Dag, graph: Graph) -> None:
    """Put in the immediate dominator of each node and the size of what it dominates.

    A node goes with the nodes that dominate it: no path from a root is left. A state leads to
    its `init` and `next`, which go with it. All roots hang below one start that is not a line.
    """
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


class Shape(NamedTuple):
    """What a graph looks like, in numbers."""

    nodes: int
    edges: int
    complements: int
    """Edges that are complemented."""
    layers: int
    """Of the longest path, in nodes."""
    widest: int
    """Nodes of the largest layer."""
    shared: int
    """Nodes with several edges to them."""
    unneeded: int
    """Nodes that no root needs."""


def shape(graph: Graph) -> Shape:
    """Return the shape of a graph."""
    sizes = Counter(layer for _, layer in graph.nodes(data="layer"))
    return Shape(
        nodes=len(graph),
        edges=graph.number_of_edges(),
        complements=sum(of for *_, of in graph.edges(data="complement")),
        layers=len(sizes),
        widest=max(sizes.values(), default=0),
        shared=sum(users > 1 for _, users in graph.in_degree()),
        unneeded=sum(not alone for _, alone in graph.nodes(data="alone")),
    )


def cone(graph: Graph, nodes: Iterable[int]) -> Graph:
    """Return the part of a graph that some nodes (ids) depend on, themselves included.

    Attributes are those of the whole graph. Raises UsageError for an id that is not there.
    """
    import networkx as nx

    found: set[int] = set()
    for node in nodes:
        if node not in graph:
            raise UsageError(f"there is no node {node} (sorts of BTOR2 are not nodes)")
        found |= {node, *nx.descendants(graph, node)}
    part: Graph = graph.subgraph(found).copy()
    return part


_FIRST = 10  # nodes that are listed


def inspect(text: bytes, notation: str | None) -> Inspection:
    """Look into a file of a dialect (None: detected). Raises ParseError."""
    dag = read(text, None if notation is None else Dialect(notation))
    graph = cache(partial(graph_of, dag))
    return Inspection(
        lambda: _lines(dag, graph()),
        {
            ".dot": lambda: dot(graph()),
            ".graphml": lambda: graphml(graph()),
            ".svg": lambda: svg(graph()),
        },
    )


def _lines(dag: Dag, graph: Graph) -> Iterator[str]:
    """Yield the lines of the summary.

    A node dominates the nodes that are reachable from the roots only through it.
    """
    operators = Counter(op for _, op in graph.nodes(data="op"))
    found = shape(graph)
    yield f"{dag.dialect.value}: {found.nodes:,} nodes in {found.layers:,} layers"
    yield f"{found.edges:,} edges, {found.complements:,} of them complements"
    yield f"{found.shared:,} nodes with several edges to them"
    if found.unneeded:
        yield f"{found.unneeded:,} nodes that no root needs"
    yield "operators: " + ", ".join(
        f"{name} {count:,}"
        for name, count in sorted(operators.items(), key=lambda it: (-it[1], it))
    )
    carrying = sorted(
        (-of["alone"], node, of["label"]) for node, of in graph.nodes(data=True) if of["alone"] > 1
    )
    if carrying:
        yield "nodes that others go with:"
        for alone, node, label in carrying[:_FIRST]:
            yield f"  {node} {label}: {-alone - 1:,}"
