"""BFS: each node once, breadth first from the roots (Vida 2008, chapter 4.3.1).

The listing tries the children of a node one by one, then visits them. Two errors are corrected:
it says SETTOONE(nodelist) where it means the child, and it visits children that were read
before substitutions and simplification replaced them, so it ends early; here the children
are read again after every success. A node with several parents is tried once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reducekit.search.problem import KINDS, Graph, Items, Step, Substitute
from reducekit.search.selecting import Selecting, Selector
from reducekit.strategies.graph import GraphAlgorithm, strategy


@dataclass(frozen=True, slots=True)
class BreadthFirst(GraphAlgorithm):
    """The state: the nodes to try, and how far that has gone; and those that were tried."""

    order: tuple[int, ...]
    at: int = 0
    tried: frozenset[int] = frozenset()

    def steps(self, graph: Graph) -> Sequence[Step] | None:
        if self.at >= len(self.order):
            return None
        return [Substitute((self.order[self.at],), kind) for kind in range(KINDS)]

    def after(self, graph: Graph, step: Step | None) -> GraphAlgorithm:
        """Turn to the next node; after a success, what is to be tried is read again."""
        if step is None:
            return replace(self, at=self.at + 1)
        tried = self.tried.union(self.order[: self.at + 1])
        # A success may bring nodes closer to the root, so the order is made again; those that
        # were tried stay tried, or the search would be quadratic in the graph.
        order = tuple(node for node in _breadth_first(graph) if node not in tried)
        return BreadthFirst(order, 0, tried)


def _breadth_first(graph: Graph) -> list[int]:
    """Return all nodes below the roots, each when it is met first."""
    order = list(dict.fromkeys(graph.tops))
    seen = set(order)
    for node in order:
        for child in graph.children(node):
            if child not in seen:
                seen.add(child)
                order.append(child)
    return order


def breadth_first(graph: Graph) -> GraphAlgorithm:
    """Return the algorithm over a graph."""
    return BreadthFirst(tuple(_breadth_first(graph)))


@dataclass(frozen=True, slots=True)
class OneByOne(Selector):
    """The selector for items: each once."""

    count: int
    at: int = 0

    def propose(self) -> tuple[int] | None:
        return (self.at,) if self.at < self.count else None

    def after(self, taken: object) -> OneByOne:
        return replace(self, at=self.at + 1)


def over_items(items: Items) -> Selecting:
    """Return the algorithm over items."""
    return Selecting(items, OneByOne(len(items.weights)))


bfs = strategy("bfs", breadth_first, over_items)
