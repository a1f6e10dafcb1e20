"""The pass for named algorithms: the whole graph, for strategies that search graphs."""

from __future__ import annotations

from reducekit.frontends.btor.model.simplify import EVERY
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.line_graph import LineGraph, line_graph


class Nodes:
    """Replaces and redirects nodes, as the strategy decides."""

    name = "nodes"

    def __init__(self, *, simplify: bool) -> None:
        self.rules = EVERY if simplify else None

    def problem(self, view: BtorView) -> LineGraph | None:
        """Return the graph; None if it has no roots."""
        return line_graph(view, self.rules) if view.dag.roots else None
