"""Points edges at nodes deeper in the graph, from the roots on: what lies between goes.

The first edges are those of the roots, so the search begins with sinking them: each comes
to stand on a node far below, and all beside that goes.
"""

from __future__ import annotations

from reducekit.frontends.btor.passes.graph import line_graph
from reducekit.frontends.btor.view import BtorView
from reducekit.search.problem import Prepared
from reducekit.strategies.change_reference import change_reference, change_reference_plus
from reducekit.strategies.graph import walk

_LIMIT = 8
"""In a quick search, what is left of an edge's targets when it is given up: one in so many."""


class References:
    """The pass over all edges, by binary search over the depths.

    With `most` it tries each edge with each target instead, in graphs of at most so many
    nodes. With a `share` it is a quick one: only what takes such a share of the nodes away.
    """

    def __init__(self, *, most: int = 0, share: float = 0.0) -> None:
        self.most = most
        self.share = share
        self.name = "all references" if most else "short-cuts" if share else "references"

    def problem(self, view: BtorView) -> Prepared | None:
        """Return the search over the edges."""
        if self.most and len(view.dag) > self.most:
            return None
        graph = line_graph(view, share=self.share)
        if not graph.roots_left:
            return None
        if self.most:
            return Prepared(walk(graph, change_reference(graph)))
        limit = _LIMIT if self.share else 0
        return Prepared(walk(graph, change_reference_plus(graph, limit)))
