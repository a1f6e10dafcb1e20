"""LW: whole layers at once (Vida 2008, chapter 4.3.2).

The depth of a node is the longest path from a root. The listing moves to the next depth
after a success, too, and does nothing about a layer that can only go in parts; both stay.
The root itself has no substitution of its own, so the first layer is that below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reducekit.search.problem import KINDS, Graph, Items, Step, Substitute
from reducekit.search.selecting import Selecting, Selector
from reducekit.strategies.graph import GraphAlgorithm, strategy


@dataclass(frozen=True, slots=True)
class Layers(GraphAlgorithm):
    """The state: the depth of the next layer."""

    depth: int = 0

    def steps(self, graph: Graph) -> Sequence[Step] | None:
        """Return the substitutions of the whole layer."""
        layers = graph.layers()
        if self.depth >= len(layers):
            return None
        layer = tuple(layers[self.depth])
        return [Substitute(layer, kind) for kind in range(KINDS)] if layer else ()

    def after(self, graph: Graph, step: Step | None) -> GraphAlgorithm:
        return replace(self, depth=self.depth + 1)


@dataclass(frozen=True, slots=True)
class AllOnce(Selector):
    """The selector for items, which have no layers: all of them, once."""

    count: int

    def propose(self) -> range | None:
        return range(self.count) if self.count else None

    def after(self, taken: object) -> AllOnce:
        return AllOnce(0)


def layerwise(graph: Graph) -> GraphAlgorithm:
    """Return the algorithm over a graph."""
    return Layers()


def over_items(items: Items) -> Selecting:
    """Return the algorithm over items."""
    return Selecting(items, AllOnce(len(items.weights)))


lw = strategy("lw", layerwise, over_items)
