"""The substitution algorithm of ddSMT (Niemetz and Biere, SMT 2013, figure 8), as deltabtor has it.

All items at once, then blocks of half the size, down to one; within a size
each block once, from front to back, and a block that was taken is not looked
at again. No complements and no restart.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from reducekit.search.problem import Items
from reducekit.search.selecting import Selecting, Selector
from reducekit.strategies.graph import Graph, GraphStrategy, Selected, Source
from reducekit.strategies.levels import level_by_level


@dataclass(frozen=True, slots=True)
class Halving:
    """The state: items left, the block size, and where the next block begins."""

    left: tuple[int, ...]
    size: int
    begin: int = 0

    def propose(self) -> Collection[int] | None:
        """Return the next block."""
        if not self.left or not self.size:
            return None
        return self.left[self.begin : self.begin + self.size]

    def after(self, taken: Collection[int]) -> Halving:
        """Go on behind the block, or with half the size at the end."""
        left, begin = self.left, self.begin + self.size
        if taken:
            gone = frozenset(taken)
            begin -= sum(item in gone for item in left[:begin])
            left = tuple(item for item in left if item not in gone)
        if begin >= len(left):
            return Halving(left, self.size // 2)
        return Halving(left, self.size, begin)


def selector(count: int) -> Selector:
    """Return the algorithm over `count` items."""
    return Halving(tuple(range(count)), count)


def over_items(items: Items) -> Selecting:
    """Return the algorithm over a sequence of items."""
    return Selecting(items, selector(len(items.weights)))


def over_graph(graph: Graph) -> Source:
    """Return the algorithm over the nodes of a graph, in depth-first order."""
    nodes = tuple(graph.nodes())
    return Selected(nodes, selector(len(nodes)))


halving = GraphStrategy(
    "halving", over_items, lambda tree: level_by_level(tree, over_items), over_graph
)
