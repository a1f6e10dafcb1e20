"""changeref, changeref+: edges to nodes deeper in the graph (Vida 2008, chapters 4.3.3, 4.3.4).

From the roots on, each edge of a node is pointed at other nodes of the same sort: the
deepest first, which takes a call for each, or by a binary search over the depths, which
tries the middle and then the half closer to the root. What an edge can be pointed at is the
graph's to say; it must not lead back to the node. `GETMATCHINGNODES(c, depth+1)` names all
nodes deeper than the edge's node, be they below it or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reducekit.search.problem import Graph, Redirect, Step
from reducekit.strategies.breadth_first import over_items
from reducekit.strategies.graph import GraphAlgorithm, strategy


@dataclass(frozen=True, slots=True)
class Edges(GraphAlgorithm):
    """The state: nodes to visit, and the edge of the first one.

    With `halves` a binary search, of which `high` targets are left (-1: not begun).
    """

    halves: bool
    queue: tuple[int, ...]
    seen: frozenset[int]
    position: int = 0
    high: int = -1

    def steps(self, graph: Graph) -> Sequence[Step] | None:
        """Return the redirections of the edge: all, the deepest first, or that in the middle."""
        if not self.queue:
            return None
        node = self.queue[0]
        if not graph.alive(node) or self.position >= graph.degree(node):
            return ()
        targets = graph.targets(node, self.position)
        if not self.halves:
            # The deepest is closest to the leaves, so the cone that remains is smallest.
            return [Redirect(node, self.position, each) for each in reversed(targets)]
        high = len(targets) if self.high < 0 else self.high
        return [Redirect(node, self.position, targets[high // 2])] if high else ()

    def after(self, graph: Graph, step: Step | None) -> GraphAlgorithm:
        """Halve the interval after a failure; else turn to the next edge, or the next node."""
        if not self.queue:
            return self
        node = self.queue[0]
        if graph.alive(node) and self.position < graph.degree(node):
            # The half closer to the root, as in the listing; the other half is never looked at.
            if step is None and self.halves and self.high:
                count = len(graph.targets(node, self.position))
                high = (count if self.high < 0 else self.high) // 2
                if high:
                    return replace(self, high=high)
            return replace(self, position=self.position + 1, high=-1)
        below = [each for each in graph.children(node) if each not in self.seen]
        seen = self.seen.union(below)
        return replace(self, queue=(*self.queue[1:], *below), seen=seen, position=0, high=-1)


def change_reference(graph: Graph) -> GraphAlgorithm:
    """Return changeref over a graph."""
    return Edges(False, tuple(graph.tops), frozenset(graph.tops))


def change_reference_plus(graph: Graph) -> GraphAlgorithm:
    """Return changeref+ over a graph."""
    return Edges(True, tuple(graph.tops), frozenset(graph.tops))


changeref = strategy("changeref", change_reference, over_items)
changeref_plus = strategy("changeref+", change_reference_plus, over_items)
