"""deltabtor: intervals of nodes, halved, without complements (Vida 2008, chapter 4.2, figure 4.3).

All nodes but the root at once, then the halves, and so on to single nodes, each interval to
zeros, ones and fresh variables; all of that again while it helps, as A. Biere's program
does. At most 6n tests for n nodes each time.
"""

from __future__ import annotations

from reducekit.search.problem import Graph
from reducekit.strategies.graph import GraphAlgorithm, repeated, strategy
from reducekit.strategies.halving import over_graph, over_items


def until_fixpoint(graph: Graph) -> GraphAlgorithm:
    """Return the algorithm until it changes nothing."""
    return repeated(over_graph, graph)


deltabtor = strategy("deltabtor", until_fixpoint, over_items)
