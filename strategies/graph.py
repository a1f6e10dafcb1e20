"""Algorithms over graphs: a state that steps lead from, and sources that say which to try.

A tree has one way to each node; in a graph a node may have several parents, and what one
substitution takes away or simplifies changes what the next one finds. So a `Graph` is a
value: a step leads from one to the next, with the change to the text between the two, and
a `Source` looks at the graph of the moment. All here is immutable, as a Search has to be.

The algorithms of A. Vida, "Random Test Case Generation and Delta Debugging for Bit-Vector
Logic with Arrays" (Linz 2008), chapter 4, are sources.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self, TypeAlias, TypeGuard

from reducekit.change import Change
from reducekit.search.problem import Items, Problem, Search, Strategy, Tree
from reducekit.search.selecting import Selector

KINDS = 3
"""Substitutions: all zeros, all ones, a fresh variable, tried in this order (chapter 4.1.1)."""


class Substitute(NamedTuple):
    """Nodes to be replaced by leaves of their sorts, all of one kind (0 .. KINDS - 1)."""

    nodes: Collection[int]
    kind: int


class Redirect(NamedTuple):
    """An edge, as a node and the position of an operand, to be pointed at another node."""

    node: int
    position: int
    target: int


Step: TypeAlias = Any
"""A Substitute, a Redirect, or what else the graph knows."""


class Graph(Protocol):
    """Nodes with operands below roots, as far as they are reached from these. Immutable."""

    @property
    def change(self) -> Change:
        """The change that led here from the graph before."""

    @property
    def size(self) -> int:
        """How many nodes there are."""

    @property
    def tops(self) -> Sequence[int]:
        """The roots."""

    def apply(self, step: Step) -> Self | None:
        """Return the graph after a step; None if that is not possible or nothing gets smaller."""

    def alive(self, node: int) -> bool:
        """Return whether a node is still there."""

    def nodes(self) -> Sequence[int]:
        """Return what can be substituted, depth first from the roots."""

    def layers(self) -> Sequence[Sequence[int]]:
        """Return what can be substituted by depth: the longest path from a root (chapter 4.3.2)."""

    def children(self, node: int) -> Sequence[int]:
        """Return the operands of a node, without repetition."""

    def degree(self, node: int) -> int:
        """Return how many edges lead down from a node."""

    def targets(self, node: int, position: int) -> Sequence[int]:
        """Return where else an edge can point, in ascending depth."""


class Source:
    """Base of sources: which steps to try in a graph. Immutable."""

    def steps(self, graph: Graph) -> Sequence[Step] | None:
        """Return steps to try in order until one succeeds; None when there are no more."""
        return None

    def after(self, graph: Graph, step: Step | None) -> Source:
        """Return what goes on after a step succeeded and led to `graph`, or after all failed."""
        return self

    def following(self, graph: Graph) -> Source | None:
        """Return the source that comes when this one has no more steps; None at the end."""
        return None


@dataclass(frozen=True, slots=True)
class Walk:
    """The search that goes from graph to graph as a source says."""

    graph: Graph
    source: Source
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
            return walk(self.candidate, self.source.after(self.candidate, self.steps[self.at]))
        return replace(self, at=self.at + 1)._settle()

    def _settle(self) -> Walk:
        graph, source, steps, at = self.graph, self.source, self.steps, self.at
        while True:
            while at < len(steps):
                candidate = graph.apply(steps[at])
                if candidate is not None:
                    return Walk(graph, source, steps, at, candidate)
                at += 1
            source = source.after(graph, None)
            while (found := source.steps(graph)) is None:
                following = source.following(graph)
                if following is None:
                    return Walk(graph, source)
                source = following
            steps, at = found, 0


def walk(graph: Graph, source: Source) -> Walk:
    """Return the search of a graph from a source on."""
    current: Source | None = source
    while current is not None:
        steps = current.steps(graph)
        if steps is not None:
            return Walk(graph, current, steps)._settle()
        source, current = current, current.following(graph)
    return Walk(graph, source)


@dataclass(frozen=True, slots=True)
class Selected(Source):
    """Groups of nodes as a selector over their numbers says; each group with every kind.

    Nodes that have gone with others count as taken.
    """

    members: tuple[int, ...]
    selector: Selector

    def steps(self, graph: Graph) -> Sequence[Step] | None:
        """Return the next group in all kinds."""
        chosen = self.selector.propose()
        if chosen is None:
            return None
        group = tuple(self.members[each] for each in chosen if graph.alive(self.members[each]))
        return [Substitute(group, kind) for kind in range(KINDS)] if group else ()

    def after(self, graph: Graph, step: Step | None) -> Source:
        """Tell the selector; what is no longer alive is taken, too."""
        chosen = self.selector.propose()
        assert chosen is not None
        if step is None:
            # A group of which nothing is left was taken before.
            gone = not any(graph.alive(self.members[each]) for each in chosen)
            return replace(self, selector=self.selector.after(tuple(chosen) if gone else ()))
        taken = set(chosen)
        taken.update(at for at, node in enumerate(self.members) if not graph.alive(node))
        return replace(self, selector=self.selector.after(taken))


@dataclass(frozen=True, slots=True)
class Staged(Source):
    """One algorithm after the other: `inner`, and what follows it."""

    inner: Source
    then: Callable[[Graph], Source | None]
    """What comes when `inner` has no more steps, made of the graph that it leaves."""

    def steps(self, graph: Graph) -> Sequence[Step] | None:
        """Return the steps of the present algorithm."""
        return self.inner.steps(graph)

    def after(self, graph: Graph, step: Step | None) -> Source:
        """Go on within the algorithm."""
        return replace(self, inner=self.inner.after(graph, step))

    def following(self, graph: Graph) -> Source | None:
        """Go on within the algorithm, or turn to what follows it."""
        inner = self.inner.following(graph)
        return self.then(graph) if inner is None else replace(self, inner=inner)


def repeated(make: Callable[[Graph], Source], graph: Graph) -> Staged:
    """Return an algorithm that is repeated as long as the graph gets smaller."""
    size = graph.size
    return Staged(make(graph), lambda left: repeated(make, left) if left.size < size else None)


def chain(graph: Graph, *makes: Callable[[Graph], Source]) -> Staged:
    """Return algorithms one after the other."""
    first, *rest = makes
    return Staged(first(graph), lambda left: chain(left, *rest) if rest else None)


@dataclass(frozen=True, slots=True)
class GraphStrategy(Strategy):
    """An algorithm that searches graphs, too."""

    graph: Callable[[Graph], Source]

    def start(self, problem: Problem | Graph) -> Search:
        """Return the search for a problem."""
        if _is_graph(problem):
            return walk(problem, self.graph(problem))
        return Strategy.start(self, problem)  # type: ignore[arg-type]  # it is no graph


def _is_graph(problem: object) -> TypeGuard[Graph]:
    return hasattr(problem, "layers")


def strategy(
    name: str, graph: Callable[[Graph], Source], items: Callable[[Items], Search]
) -> GraphStrategy:
    """Return an algorithm over graphs, which takes trees as graphs; `items` is for the rest."""

    def over_tree(tree: Tree) -> Search:
        found = TreeGraph(tree)
        return walk(found, graph(found))

    return GraphStrategy(name, items, over_tree, graph)


class TreeGraph:
    """A tree as a graph: its moves to leaves are substitutions, those to nodes within redirections.

    An edge stands for the node below it, so that moves are where the tree has them.
    """

    def __init__(
        self,
        tree: Tree,
        done: dict[int, tuple[int, ...]] | None = None,
        change: Change | None = None,
    ) -> None:
        self.tree = tree
        self.change = change or Change(())
        self._done = done or {}
        """What is left below the nodes that were substituted."""
        self._layers: list[list[int]] = []
        layer = list(tree.roots)
        while layer:
            here = [node for node in layer if node not in self._done]
            self._layers.append(here)
            layer = [below for node in layer for below in self.children(node)]
        self._alive = frozenset(node for layer in self._layers for node in layer)
        self.size = len(self._alive)

    @property
    def tops(self) -> Sequence[int]:
        """The roots of the tree."""
        return self.tree.roots

    def apply(self, step: Step) -> TreeGraph | None:
        """Make the moves of a step."""
        if isinstance(step, Redirect):
            found = [(step.node, self.tree.moves(step.node)[step.target])]
        else:
            leaves = ((node, self._leaves(node)) for node in step.nodes)
            found = [(node, moves[step.kind]) for node, moves in leaves if step.kind < len(moves)]
        if not found:
            return None
        edits = tuple(edit for _, move in found for edit in move.change.edits)
        done = self._done | {node: move.rest for node, move in found}
        return TreeGraph(self.tree, done, Change(edits, found[0][1].change.what))

    def _leaves(self, node: int) -> list[Any]:
        return [move for move in self.tree.moves(node) if not move.rest]

    def alive(self, node: int) -> bool:
        """Return whether a node has neither been replaced nor gone with another."""
        return node in self._alive

    def nodes(self) -> Sequence[int]:
        """Return the nodes depth first."""
        found, stack = [], list(reversed(self.tree.roots))
        while stack:
            node = stack.pop()
            if node not in self._done:
                found.append(node)
            stack += reversed(self.children(node))
        return found

    def layers(self) -> Sequence[Sequence[int]]:
        """Return the nodes level by level; above the roots there is nothing."""
        return self._layers

    def children(self, node: int) -> Sequence[int]:
        """Return the nodes directly below, or what is left of them."""
        rest = self._done.get(node)
        return self.tree.children(node, frozenset()) if rest is None else rest

    def degree(self, node: int) -> int:
        """Return 1: the edge to the node itself."""
        return int(node not in self._done)

    def targets(self, node: int, position: int) -> Sequence[int]:
        """Return the numbers of the moves to nodes within, the heaviest first."""
        moves = self.tree.moves(node)
        found = [at for at, move in enumerate(moves) if move.rest]
        return sorted(found, key=lambda at: -sum(map(self.tree.weight, moves[at].rest)))
