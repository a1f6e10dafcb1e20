"""A strategy: an algorithm by name, with a way to search every kind of problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from reducekit.change import Change, Edit, Template
from reducekit.search.problem import (
    KINDS,
    NOTHING,
    Closure,
    FixedSearch,
    Graph,
    Items,
    Problem,
    Search,
    Selection,
    Substitute,
    Tree,
)

Passes: TypeAlias = Literal["own", "classic", "tree", "syntax", "exhaustive"]
"""Which passes of a frontend a strategy searches: `own` are those that the frontend has for the
best result, `classic` those of the published tool of the format, `tree` is one hierarchy over
the whole input, `syntax` one that only knows the grammar, and `exhaustive` that with what Vulcan
tries where it ends (classic ones, where the frontend has none)."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """An algorithm: how it searches items, a tree, a graph, and which passes it is meant for.

    Without a way for graphs it searches them as items.
    """

    name: str
    items: Callable[[Items], Search]
    tree: Callable[[Tree], Search]
    graph: Callable[[Graph], Search] | None = None
    passes: Passes = "own"

    def start(self, problem: Problem) -> Search:
        """Return the search for a problem."""
        match problem:
            case FixedSearch():
                return problem.search
            case Items():
                return self.items(problem)
            case Tree():
                return self.tree(problem)
            case Graph():
                if self.graph is None:
                    return self.items(GraphItems(problem))
                return self.graph(problem)


# Searches build on the last few selections, so more of these large values would rarely be found
# again; with fewer, graphs are made again from the first one. Not measured.
_KEPT = 16
"""Graphs that are kept, by the items taken on the way to them."""


class GraphItems(Items):
    """A graph seen as items, for algorithms that know no graphs.

    Each node with each kind of leaf is an item; taking it makes the node such a leaf.

    Items of the first kind come last, so that a search from the back begins
    with them; of a node's kinds the first that is taken counts. A node that is
    gone, or has become a leaf of an earlier kind, orphans its items.

    What a substitution comes to depends on those before it. So the graph after a change is kept
    until the next selections build on it. Where a selection is not known, since successes were
    found side by side and merged, its graph is made from the first one in a step for each kind.
    """

    def __init__(self, graph: Graph) -> None:
        self.nodes = tuple(graph.nodes())
        self.weights: Sequence[int] = [1] * (len(self.nodes) * KINDS)
        self._first = graph
        self._known: dict[frozenset[int], Graph] = {NOTHING: graph}

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        """Add the items of nodes that go, and those of later kinds of the nodes chosen."""
        count, nodes = len(self.nodes), self.nodes
        reached = self._step(self._graph(taken), chosen)[0]
        orphaned = {each for item in chosen for each in range(item % count, item, count)}
        for at, node in enumerate(nodes):
            if not reached.alive(node):
                orphaned.update(range(at, count * KINDS, count))
        return Closure(NOTHING, frozenset(orphaned.difference(chosen, taken)))

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Return the edits from the graph of `taken` to that with `chosen` taken too."""
        # What a substitution comes to depends on those before it, so the graph they lead to is
        # asked.
        graph = self._graph(taken)
        reached, edits = self._step(graph, chosen)
        if reached is graph:
            return Change(())
        self._keep(frozenset(chosen | taken), reached)
        return Change(tuple(edits), reached.change.what)

    def _graph(self, taken: Selection) -> Graph:
        key = frozenset(taken)
        found = self._known.get(key)
        if found is None:
            found = self._step(self._first, taken)[0]
            self._keep(key, found)
        return found

    def _keep(self, key: frozenset[int], graph: Graph) -> None:
        self._known[key] = graph
        if len(self._known) > _KEPT:
            del self._known[next(iter(self._known))]

    def _step(self, graph: Graph, items: Selection) -> tuple[Graph, Iterable[Edit]]:
        """Substitute nodes, kind by kind; return the graph and the edits that lead to it."""
        count = len(self.nodes)
        kinds = {self.nodes[item % count]: KINDS - 1 - item // count for item in sorted(items)}
        edits: dict[int, Template] = {}
        for kind in range(KINDS):
            group = tuple(node for node, each in kinds.items() if each == kind)
            found = graph.apply(Substitute(group, kind)) if group else None
            if found is not None:
                graph = found
                edits.update(found.change.edits)
        return graph, (Edit(*each) for each in edits.items())
