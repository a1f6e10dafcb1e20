"""A strategy: an algorithm by name, with a way to search every kind of problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from reducekit.search.graph_items import GraphItems
from reducekit.search.problem import FixedSearch, Graph, Items, Problem, Search, Tree

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
