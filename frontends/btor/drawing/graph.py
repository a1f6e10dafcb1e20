"""A BTOR file as a graph of networkx: layers, dominators, cones, and what goes with each node.

This is for looking at a graph once. Reductions ask such questions of every candidate, and
keep flat arrays for them (`passes.line_graph`); the tests hold both to the same answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from reducekit.errors import UsageError
from reducekit.frontends.btor.drawing.diagram import kind_of
from reducekit.frontends.btor.model.dag import Array, Dag, SortTable, line_of
from reducekit.frontends.btor.model.operators import Op, spelling
from reducekit.frontends.btor.model.rules import describe
from reducekit.text import printable

if TYPE_CHECKING:
    import networkx

Graph: TypeAlias = "networkx.MultiDiGraph[int]"


def _operator(dag: Dag, code: int, sort: int) -> str:
    """Return the name of an operator in the file's dialect, or that of its code."""
    row = spelling(dag.dialect, code, sort >= 0 and isinstance(dag.sorts[sort], Array))
    return row.name.decode() if row and row.name else Op(code).name.lower()


def graph_of(dag: Dag) -> Graph:
    """Return the lines by id, without the sorts of BTOR2, with edges from users to operands.

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
        name = _operator(dag, code, sort)
        words = [name, *map(str, dag.numbers.get(line, ()))]
        words += [printable(each[line]) for each in (dag.literals, dag.symbols) if line in each]
        said = describe(table, sort) if sort >= 0 else ""
        kind = kind_of(code)
        graph.add_node(dag.ids[line], op=name, sort=said, label=" ".join(words), kind=kind)
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
