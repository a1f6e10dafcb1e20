"""Redirects edges to deeper nodes, from the roots down, which removes the nodes in between.

`shortcuts` does the same for the edges that remove the most; here every edge is tried. `Nodes` is
the pass for named algorithms: the whole graph, for strategies that search graphs.
"""

from __future__ import annotations

from reducekit.frontends.btor.model.simplify import EVERY
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.line_graph import LineGraph, line_graph
from reducekit.search.problem import FixedSearch
from reducekit.strategies.change_reference import change_reference, change_reference_plus
from reducekit.strategies.graph import walk


class References:
    """Redirects edges to deeper nodes, by binary search over the depths.

    With `most` it tries each edge with each target instead, in graphs of at most `most` nodes.
    """

    def __init__(self, *, most: int = 0) -> None:
        self.most = most
        self.name = "all references" if most else "references"

    def problem(self, view: BtorView) -> FixedSearch | None:
        """Return the search over the edges."""
        if self.most and len(view.dag) > self.most:
            return None
        graph = line_graph(view)
        if not graph.roots_left:
            return None
        source = change_reference if self.most else change_reference_plus
        return FixedSearch(walk(graph, source(graph)))


class Nodes:
    """Replaces and redirects nodes, as the strategy decides."""

    name = "nodes"

    def __init__(self, *, simplify: bool) -> None:
        self.rules = EVERY if simplify else None

    def problem(self, view: BtorView) -> LineGraph | None:
        """Return the graph; None if it has no roots."""
        return line_graph(view, self.rules) if view.dag.roots else None
