"""HDD over graphs, and what the thesis makes of it: HDD+ and HDD* (Vida 2008, 4.1.2 to 4.1.4).

Each level is minimised by ddmin, from the roots down, where whole sub-graphs go. A node
of a graph is on the level of the longest path to it, so all its parents are above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reducekit.search.problem import Graph, Step
from reducekit.strategies.breadth_first import breadth_first
from reducekit.strategies.ddmin import over_items, selector
from reducekit.strategies.graph import GraphAlgorithm, Selected, chain, repeated, strategy


@dataclass(frozen=True, slots=True)
class Levels(GraphAlgorithm):
    """The state: the depth of the level, and ddmin over it."""

    depth: int
    inner: GraphAlgorithm

    def steps(self, graph: Graph) -> Sequence[Step] | None:
        return self.inner.steps(graph)

    def after(self, graph: Graph, step: Step | None) -> GraphAlgorithm:
        return replace(self, inner=self.inner.after(graph, step))

    def following(self, graph: Graph) -> GraphAlgorithm | None:
        return _level(graph, self.depth + 1)


def _level(graph: Graph, depth: int) -> Levels | None:
    # Of the graph as it is by now: what has gone took levels with it.
    layers = graph.layers()
    if depth >= len(layers):
        return None
    return Levels(depth, Selected(tuple(layers[depth]), selector(len(layers[depth]))))


def hierarchical(graph: Graph) -> GraphAlgorithm:
    """Return HDD over a graph."""
    return _level(graph, 0) or GraphAlgorithm()


def hierarchical_plus(graph: Graph) -> GraphAlgorithm:
    """Return HDD+: HDD, then BFS until that changes nothing."""
    return chain(graph, hierarchical, lambda found: repeated(breadth_first, found))


def hierarchical_star(graph: Graph) -> GraphAlgorithm:
    """Return HDD*: HDD until that changes nothing."""
    return repeated(hierarchical, graph)


hdd_plus = strategy("hdd+", hierarchical_plus, over_items)
hdd_star = strategy("hdd*", hierarchical_star, over_items)
