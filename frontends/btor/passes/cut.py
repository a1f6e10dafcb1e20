"""Cuts nodes off: many nodes at a time become leaves, and everything below them is removed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.line_graph import FRESH, ONES, SHARED, ZERO, line_graph
from reducekit.search.problem import FixedSearch, Graph, Step, Substitute
from reducekit.search.selecting import Selector
from reducekit.strategies.adaptive import backward
from reducekit.strategies.breadth_first import OneByOne
from reducekit.strategies.graph import GraphAlgorithm, walk

_FEW = 8
_NAMES = {ZERO: "zeros", ONES: "ones", FRESH: "fresh variables", SHARED: "shared variables"}


@dataclass(frozen=True, slots=True)
class Cuts(GraphAlgorithm):
    """The state: nodes, and which of them to cut next; all become leaves of one kind."""

    members: tuple[int, ...]
    selector: Selector
    kind: int

    def steps(self, graph: Graph) -> list[Step] | None:
        chosen = self.selector.propose()
        if chosen is None:
            return None
        group = tuple(self.members[each] for each in chosen if graph.alive(self.members[each]))
        return [Substitute(group, self.kind)] if group else []

    def after(self, graph: Graph, step: Step | None) -> GraphAlgorithm:
        """Report the removed nodes, including those below the group, to the selector."""
        chosen = self.selector.propose()
        assert chosen is not None
        if step is None and any(graph.alive(self.members[each]) for each in chosen):
            return replace(self, selector=self.selector.after(()))
        gone = {at for at, node in enumerate(self.members) if not graph.alive(node)}
        return replace(self, selector=self.selector.after(gone.union(chosen)))


class Cut:
    """Replaces nodes by leaves: variables or constants.

    The search is backward and adaptive: the last nodes are nearest to the roots and remove the
    most. A single variable for all nodes of a sort merges leaves in the same step; if the
    failure needs distinct ones, a later pass introduces fresh variables. If most nodes are
    expected to stay (`last`), few nodes are tried one by one.
    """

    def __init__(self, kind: int, *, leaves: bool = False, last: bool = False) -> None:
        self.kind = kind
        self.leaves = leaves
        self.last = last
        self.name = f"{_NAMES[kind]}{' for all' if leaves else ''}"

    def problem(self, view: BtorView) -> FixedSearch | None:
        """Return the search over the nodes."""
        graph = line_graph(view)
        nodes = sorted(node for node in graph.nodes() if self.leaves or len(graph.arguments(node)))
        if not nodes:
            return None
        few = self.last and len(nodes) <= _FEW
        selector = OneByOne(len(nodes)) if few else backward(len(nodes))
        return FixedSearch(walk(graph, Cuts(tuple(nodes), selector, self.kind)))
