"""combine: one algorithm as long as it helps, then the next (Vida 2008, chapter 4.4).

The order is that of the thesis' last experiment: ddmin, HDD, BFS, LW, changeref+, changeref.
HDD+ and HDD* are left out there, as they are HDD with BFS, and HDD repeated. To begin again
with ddmin improved none of its results, so the chain runs once.
"""

from __future__ import annotations

from functools import partial

from reducekit.search.problem import Graph
from reducekit.strategies.breadth_first import breadth_first
from reducekit.strategies.change_reference import change_reference, change_reference_plus
from reducekit.strategies.ddmin import over_graph, over_items
from reducekit.strategies.graph import GraphAlgorithm, chain, repeated, strategy
from reducekit.strategies.hierarchical import hierarchical
from reducekit.strategies.layerwise import layerwise

_ALGORITHMS = (
    over_graph,
    hierarchical,
    breadth_first,
    layerwise,
    change_reference_plus,
    change_reference,
)


def combined(graph: Graph) -> GraphAlgorithm:
    """Return all algorithms, each while it helps."""
    return chain(graph, *(partial(repeated, each) for each in _ALGORITHMS))


combine = strategy("combine", combined, over_items)
