"""What BTOR offers to `show`: what a file is made of, which nodes carry most, and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache, partial

from reducekit.frontends.btor.drawing.drawing import dot, graphml, svg
from reducekit.frontends.btor.drawing.graph import Graph, graph_of, shape
from reducekit.frontends.btor.model.dag import Dag
from reducekit.frontends.btor.model.operators import Dialect
from reducekit.frontends.btor.model.reader import read
from reducekit.offers import Inspection

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
