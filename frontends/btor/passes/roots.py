"""Drops lines that no root needs, and all but one of the roots and properties if possible."""

from __future__ import annotations

from reducekit.change import Change
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.line_graph import DropRoots, LineGraph, line_graph
from reducekit.passes import pass_
from reducekit.search.problem import IndependentItems, Items, Selection, independent


@pass_("cone")
def cone(view: BtorView) -> Items | None:
    """Removes all lines outside the cone of the roots, in one step."""
    found = line_graph(view).apply(DropRoots(()))
    return None if found is None else independent([found.change])


class RootItems(IndependentItems):
    """Roots as items; taking one drops it and everything that only it needs."""

    def __init__(self, graph: LineGraph) -> None:
        self.graph = graph
        self.candidates = graph.roots_left
        self.weights = [1] * len(self.candidates)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Drop all roots that are chosen or taken, but not the last one."""
        gone = tuple(self.candidates[each] for each in {*chosen, *taken})
        found = self.graph.apply(DropRoots(gone))
        return Change(()) if found is None else Change(found.change.edits, "drop roots")


@pass_("roots")
def roots(view: BtorView) -> Items | None:
    """Removes roots, except for one."""
    graph = line_graph(view)
    return RootItems(graph) if len(graph.roots_left) > 1 else None
