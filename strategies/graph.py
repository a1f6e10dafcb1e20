"""Algorithms over graphs: each says which steps to try in the graph that it is shown.

A graph is a value: a step leads from one graph to the next. A `GraphAlgorithm` looks at the
graph of the moment and names steps; `Walk` is the search that tries them. All is immutable, as
a Search has to be.

The algorithms of A. Vida, "Random Test Case Generation and Delta Debugging for Bit-Vector
Logic with Arrays" (Linz 2008), chapter 4, are written so. They work on trees too, which
`TreeGraph` shows them as graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from reducekit.change import Change
from reducekit.search.problem import (
    KINDS,
    Graph,
    Items,
    Move,
    Redirect,
    Search,
    Step,
    Substitute,
    Tree,
)
from reducekit.search.selecting import Selector
from reducekit.search.strategy import Passes, Strategy


class GraphAlgorithm:
    """Base of the algorithms: which steps to try in a graph. Immutable."""

    __slots__ = ()

    def steps(self, graph: Graph) -> Sequence[Step] | None:
        """Return steps to try in order until one succeeds; None when there are no more."""
        return None

    def after(self, graph: Graph, step: Step | None) -> GraphAlgorithm:
        """Return the algorithm after a step succeeded and led to `graph`, or after all failed."""
        return self

    def following(self, graph: Graph) -> GraphAlgorithm | None:
        """Return the algorithm that comes when this one has no more steps; None at the end."""
        return None


@dataclass(frozen=True, slots=True)
class Walk(Search):
    """The search that goes from graph to graph as an algorithm says."""

    graph: Graph
    algorithm: GraphAlgorithm
    steps: Sequence[Step] = ()
    at: int = 0
    candidate: Graph | None = None

    def propose(self) -> Change | None:
        """Return the change to the graph that the next step leads to."""
        return None if self.candidate is None else self.candidate.change

    def after(self, ok: bool) -> Walk:
        """Go on from the new graph after a success, with the next step after a failure."""
        assert self.candidate is not None, "after() without a proposal"
        if ok:
            return walk(self.candidate, self.algorithm.after(self.candidate, self.steps[self.at]))
        return replace(self, at=self.at + 1)._settle()

    def _settle(self) -> Walk:
        graph, algorithm, steps, at = self.graph, self.algorithm, self.steps, self.at
        while True:
            for each in range(at, len(steps)):
                candidate = graph.apply(steps[each])
                if candidate is not None:
                    return Walk(graph, algorithm, steps, each, candidate)
            # All steps that it named have failed, or could not be made.
            algorithm, found = _named(graph, algorithm.after(graph, None))
            if found is None:
                return Walk(graph, algorithm)
            steps, at = found, 0


def _named(graph: Graph, algorithm: GraphAlgorithm) -> tuple[GraphAlgorithm, Sequence[Step] | None]:
    """Return the steps of the first algorithm, of this one and what follows, that names any."""
    # Several in a row may have nothing to say, as after the last level of a graph.
    while (steps := algorithm.steps(graph)) is None and (then := algorithm.following(graph)):
        algorithm = then
    return algorithm, steps


def walk(graph: Graph, algorithm: GraphAlgorithm) -> Walk:
    """Return the search of a graph with an algorithm."""
    algorithm, steps = _named(graph, algorithm)
    return Walk(graph, algorithm) if steps is None else Walk(graph, algorithm, steps)._settle()


@dataclass(frozen=True, slots=True)
class Selected(GraphAlgorithm):
    """Groups of nodes as a selector over their numbers says; each group with every kind.

    Nodes that have gone with others count as taken.
    """

    members: tuple[int, ...]
    selector: Selector

    def steps(self, graph: Graph) -> Sequence[Step] | None:
        chosen = self.selector.propose()
        if chosen is None:
            return None
        group = tuple(self.members[each] for each in chosen if graph.alive(self.members[each]))
        return [Substitute(group, kind) for kind in range(KINDS)] if group else ()

    def after(self, graph: Graph, step: Step | None) -> GraphAlgorithm:
        """Pass the verdict to the selector; items that are no longer alive count as taken."""
        chosen = self.selector.propose()
        assert chosen is not None
        if step is None:
            # A group without live nodes was taken before.
            gone = not any(graph.alive(self.members[each]) for each in chosen)
            return replace(self, selector=self.selector.after(tuple(chosen) if gone else ()))
        # In a graph one substitution takes whole cones along: the selector has to know.
        taken = set(chosen)
        taken.update(at for at, node in enumerate(self.members) if not graph.alive(node))
        return replace(self, selector=self.selector.after(taken))


@dataclass(frozen=True, slots=True)
class Sequential(GraphAlgorithm):
    """One algorithm after the other: `inner`, and what follows it."""

    inner: GraphAlgorithm
    then: Callable[[Graph], GraphAlgorithm | None]
    """What comes when `inner` has no more steps, made of the graph that it leaves."""

    def steps(self, graph: Graph) -> Sequence[Step] | None:
        return self.inner.steps(graph)

    def after(self, graph: Graph, step: Step | None) -> GraphAlgorithm:
        return replace(self, inner=self.inner.after(graph, step))

    def following(self, graph: Graph) -> GraphAlgorithm | None:
        """Go on within the algorithm, or turn to what follows it."""
        inner = self.inner.following(graph)
        return self.then(graph) if inner is None else replace(self, inner=inner)


def repeated(make: Callable[[Graph], GraphAlgorithm], graph: Graph) -> Sequential:
    """Return an algorithm that is repeated as long as the graph gets smaller."""
    size = graph.size
    return Sequential(make(graph), lambda left: repeated(make, left) if left.size < size else None)


def chain(graph: Graph, *makes: Callable[[Graph], GraphAlgorithm]) -> Sequential:
    """Return algorithms one after the other."""
    first, *rest = makes
    return Sequential(first(graph), lambda left: chain(left, *rest) if rest else None)


def strategy(
    name: str,
    algorithm: Callable[[Graph], GraphAlgorithm],
    items: Callable[[Items], Search],
    *,
    tree: Callable[[Tree], Search] | None = None,
    passes: Passes = "classic",
) -> Strategy:
    """Return an algorithm over graphs as a strategy.

    `items` searches items; `tree` trees, which the algorithm takes as graphs otherwise.
    """

    over_graph = _searching(algorithm)

    def over_tree(tree: Tree) -> Search:
        return over_graph(TreeGraph(tree))

    return Strategy(name, items, tree or over_tree, over_graph, passes)


@cache
def _searching(algorithm: Callable[[Graph], GraphAlgorithm]) -> Callable[[Graph], Search]:
    """Return the search by an algorithm: one object for each, by which strategies are compared."""

    def over_graph(graph: Graph) -> Search:
        return walk(graph, algorithm(graph))

    return over_graph


class TreeGraph(Graph):
    """A tree as a graph: its moves to leaves are substitutions, those to nodes within redirections.

    An edge represents the node below it, so that moves are where the tree has them. A node without
    a move is no node of the graph; what is below it may be.
    """

    def __init__(
        self,
        tree: Tree,
        done: dict[int, tuple[int, ...]] | None = None,
        change: Change | None = None,
        moves: Callable[[int], Sequence[Move]] | None = None,
    ) -> None:
        self.tree = tree
        self.moves = moves or cache(tree.moves)  # each step asks for those of many nodes
        self.change = change or Change(())
        self._done = done or {}
        """The nodes that remain below those that were substituted."""

    # Made when they are needed: of most graphs only the change is, as most steps fail.
    @cached_property
    def _layers(self) -> list[list[int]]:
        found, layer = [], list(self.tree.roots)
        while layer:
            found.append(self._left(layer))
            layer = [below for node in layer for below in self.children(node)]
        return found

    @cached_property
    def _alive(self) -> frozenset[int]:
        return frozenset[int]().union(*self._layers)

    @property
    def size(self) -> int:
        return len(self._alive)

    def _left(self, nodes: Sequence[int]) -> list[int]:
        """Return the nodes that can be substituted, or point elsewhere."""
        return [node for node in nodes if node not in self._done and self.moves(node)]

    @property
    def tops(self) -> Sequence[int]:
        return self.tree.roots

    def apply(self, step: Step) -> TreeGraph | None:
        # A move to a node within: the edge then leads there, as in hoisting.
        if isinstance(step, Redirect):
            found = [(step.node, self.moves(step.node)[step.target])]
        else:
            found = []
            for node in step.nodes:
                leaves = [move for move in self.moves(node) if not move.rest]
                found += [(node, move) for move in leaves[step.kind : step.kind + 1]]
        if not found:
            return None
        edits = tuple(edit for _, move in found for edit in move.change.edits)
        done = self._done | {node: move.rest for node, move in found}
        return TreeGraph(self.tree, done, Change(edits, found[0][1].change.what), self.moves)

    def alive(self, node: int) -> bool:
        return node in self._alive

    def nodes(self) -> Sequence[int]:
        found, stack = [], list(reversed(self.tree.roots))
        while stack:
            node = stack.pop()
            found.append(node)
            stack += reversed(self.children(node))
        return self._left(found)

    def layers(self) -> Sequence[Sequence[int]]:
        """Return the nodes level by level; above the roots there is nothing."""
        return self._layers

    def children(self, node: int) -> Sequence[int]:
        """Return the nodes directly below that remain."""
        rest = self._done.get(node)
        return self.tree.children(node, frozenset()) if rest is None else rest

    def degree(self, node: int) -> int:
        return int(node not in self._done)

    def targets(self, node: int, position: int) -> Sequence[int]:
        """Return the numbers of the moves to nodes within, the heaviest first."""
        moves = self.moves(node)
        found = [at for at, move in enumerate(moves) if move.rest]
        return sorted(found, key=lambda at: -sum(map(self.tree.weight, moves[at].rest)))
