"""Algorithms over graphs of A. Vida's thesis (Linz 2008), chapters 4.1.2 to 4.4; `graph` has more.

- HDD (Misherghi and Su, ICSE 2006) minimises each level by ddmin, from the roots down, where whole
  sub-graphs go. A node of a graph is on the level of the longest path to it, so all its parents are
  above. HDD+ runs BFS after it, and HDD* repeats it (4.1.2 to 4.1.4).
- deltabtor halves intervals of nodes, without complements (4.2, figure 4.3): all nodes but the root
  at once, then the halves, and so on to single nodes, each interval to zeros, ones and fresh
  variables; all of that again while it helps, as A. Biere's program does. At most 6n tests for n
  nodes each time.
- BFS tries each node once, breadth first from the roots (4.3.1). The listing tries the children of
  a node one by one, then visits them. Two errors are corrected: it says SETTOONE(nodelist) where it
  means the child, and it visits children that were read before substitutions and simplification
  replaced them, so it ends early; here the children are read again after every success. A node with
  several parents is tried once.
- LW tries whole layers at once (4.3.2). The listing moves to the next depth after a success, too,
  and does nothing about a layer that can only go in parts; both stay. The root itself has no
  substitution of its own, so the first layer is that below it.
- changeref points each edge at other nodes of the same sort (4.3.3, 4.3.4), from the roots on: the
  deepest first, which takes a call for each; changeref+ by a binary search over the depths, which
  tries the middle and then the half closer to the root. What an edge can be pointed at is the
  graph's to say; it must not lead back to the node. `GETMATCHINGNODES(c, depth+1)` names all nodes
  deeper than the edge's node, be they below it or not.
- combine runs one algorithm as long as it helps, then the next, in the order of the thesis' last
  experiment (4.4). HDD+ and HDD* are left out there, as they are HDD with BFS, and HDD repeated. To
  begin again with ddmin improved none of its results, so the chain runs once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from reducekit.search.problem import KINDS, Graph, Redirect, Step, Substitute
from reducekit.search.selecting import Selector
from reducekit.strategies import ddmin, halving
from reducekit.strategies.graph import GraphAlgorithm, Selected, chain, repeated, strategy
from reducekit.strategies.levels import graph_by, items_by


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
    return Levels(depth, Selected(tuple(layers[depth]), ddmin.selector(len(layers[depth]))))


def hierarchical(graph: Graph) -> GraphAlgorithm:
    """Return HDD over a graph."""
    return _level(graph, 0) or GraphAlgorithm()


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


@dataclass(frozen=True, slots=True)
class Edges(GraphAlgorithm):
    """The state: nodes to visit, and the edge of the first one.

    With `halves` a binary search among the first `high` targets (-1: not begun).
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


_one_by_one = items_by(OneByOne)
hdd = strategy("hdd", hierarchical, ddmin.over_items, tree=ddmin.ddmin.tree, passes="tree")
hdd_plus = strategy(
    "hdd+",
    lambda graph: chain(graph, hierarchical, partial(repeated, breadth_first)),
    ddmin.over_items,
)
hdd_star = strategy("hdd*", partial(repeated, hierarchical), ddmin.over_items)
deltabtor = strategy(
    "deltabtor", partial(repeated, graph_by(halving.selector)), halving.halving.items
)
bfs = strategy("bfs", breadth_first, _one_by_one)
lw = strategy("lw", layerwise, items_by(AllOnce))
changeref = strategy("changeref", change_reference, _one_by_one)
changeref_plus = strategy("changeref+", change_reference_plus, _one_by_one)
combine = strategy(
    "combine",
    lambda graph: chain(
        graph,
        *(
            partial(repeated, each)
            for each in (
                graph_by(ddmin.selector),
                hierarchical,
                breadth_first,
                layerwise,
                change_reference_plus,
                change_reference,
            )
        ),
    ),
    ddmin.over_items,
)
