"""Passes that step through the graph of a file: cut nodes off, drop roots, redirect edges.

A cut makes many nodes at a time leaves and removes everything below them. A redirected edge leads
to a deeper node, which removes the nodes in between: `short_cuts` tries the edges that remove the
most, `References` every edge, from the roots down.

Short-cuts: if the graph below some node still fails, the graph below any node above it usually
does, too. So the lowest possible target of an edge is found by bisection, as in a branching
history: the node to try has half of the nodes in question below it. The edges of the roots come
first: each root sinks, and everything above its new target is removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from reducekit.change import Change
from reducekit.format import pass_
from reducekit.frontends.btor.model.dag import line_of, reached
from reducekit.frontends.btor.model.simplify import EVERY
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.line_graph import (
    FRESH,
    KINDS,
    SHARED,
    ZERO,
    DropRoots,
    LineGraph,
    line_graph,
)
from reducekit.frontends.common.items import WholeItems
from reducekit.search.problem import (
    FixedSearch,
    Graph,
    Items,
    Redirect,
    Step,
    Substitute,
    independent,
)
from reducekit.search.selecting import Selector
from reducekit.strategies.adaptive import backward
from reducekit.strategies.graph import GraphAlgorithm, walk
from reducekit.strategies.thesis import OneByOne, change_reference, change_reference_plus

FEW = 60
"""Up to this number of lines, every edge is tried with every target."""
_FEW = 8


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
        # What was below the group is gone with it: the selector need not ask for it again.
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
        self.name = f"{KINDS[kind]}{' for all' if leaves else ''}"

    def problem(self, view: BtorView) -> FixedSearch | None:
        """Return the search over the nodes."""
        if self.last and _is_small(view):
            return None
        graph = line_graph(view)
        nodes = sorted(node for node in graph.nodes() if self.leaves or len(graph.arguments(node)))
        if not nodes:
            return None
        # Few nodes, and most of them stay: groups would only fail.
        few = self.last and len(nodes) <= _FEW
        selector = OneByOne(len(nodes)) if few else backward(len(nodes))
        return FixedSearch(walk(graph, Cuts(tuple(nodes), selector, self.kind)))


@pass_("cone")
def cone(view: BtorView) -> Items | None:
    """Removes all lines outside the cone of the roots, in one step."""
    # Dropping no root still drops what no root needs.
    found = line_graph(view).apply(DropRoots(()))
    return None if found is None else independent([found.change])


@pass_("roots")
def roots(view: BtorView) -> Items | None:
    """Removes roots, except for one."""
    graph = line_graph(view)
    candidates = graph.state.roots

    def drop(items: Sequence[int]) -> Change:
        found = graph.apply(DropRoots([candidates[each] for each in items]))
        return Change(()) if found is None else found.change

    return WholeItems(len(candidates), drop) if len(candidates) > 1 else None


def _is_small(view: BtorView) -> bool:
    """Return whether `Edges` searches it: few lines, and no state depends on what others become."""
    return len(view.dag) <= FEW and not view.belongs


@dataclass(frozen=True, slots=True)
class Edges(GraphAlgorithm):
    """The state: which steps remain in a small graph, and what the refused ones kept.

    The idea is that what was refused lacks something that the failure needs, and so does every
    step that keeps only a part of it. Such steps are skipped, and the ones that keep the most come
    first, as their refusals rule out the most.
    """

    places: tuple[Edge, ...]
    """Edges from the roots down, then nodes (position -1), which may become leaves."""
    todo: tuple[tuple[Step, int], ...] | None = None
    """The steps at the first place, each with what it keeps; None if they are not known yet."""
    refused: tuple[int, ...] = ()
    """What each refused step kept (see `_kept`)."""

    def steps(self, graph: Graph) -> Sequence[Step] | None:
        return (self.todo[0][0],) if self.todo else None

    def after(self, graph: Graph, step: Step | None) -> GraphAlgorithm:
        """Stay at the same place after a success; after a failure try its next step."""
        assert isinstance(graph, LineGraph)
        assert self.todo is not None
        if step is not None:
            return replace(self, todo=None).settled(graph)
        (_, kept), *later = self.todo
        return Edges(self.places, tuple(later), (*self.refused, kept)).settled(graph)

    def settled(self, graph: LineGraph) -> Edges:
        """Return the state in which the next step is known, if there is one."""
        todo = self.todo
        for at, place in enumerate(self.places):
            todo = _steps(graph, *place) if todo is None else todo
            for number, (_, kept) in enumerate(todo):
                if not any(kept & each == kept for each in (0, *self.refused)):
                    return Edges(self.places[at:], todo[number:], self.refused)
            todo = None
        return Edges((), (), self.refused)


def _kept(graph: LineGraph) -> int:
    """Return the lines that are still there and unchanged, as bits."""
    kept = graph.state.live[:]
    for line in graph.state.leaves:
        kept[line] = 0
    return int.from_bytes(kept, "little")


def _steps(graph: LineGraph, line: int, position: int) -> tuple[tuple[Step, int], ...]:
    """Return the steps at a place with what each keeps: targets that keep the most lines first."""
    if not graph.alive(line) or position >= graph.degree(line):
        return ()
    steps: list[Step] = []
    if position >= 0:
        steps += (Redirect(line, position, each) for each in graph.targets(line, position))
    elif graph.degree(line) and not graph.fixed[line]:
        steps += (Substitute((line,), kind) for kind in (SHARED, FRESH, ZERO))
    results = [(step, left) for step in steps if (left := graph.apply(step)) is not None]
    if position >= 0:
        results.sort(key=lambda each: each[1].size, reverse=True)
    return tuple((step, _kept(left)) for step, left in results)


def _edges(graph: LineGraph) -> Edges:
    order = list(dict.fromkeys(graph.tops))
    for line in order:
        order += [each for each in graph.children(line) if each not in order]
    edges = [(line, at) for line in order for at in range(graph.degree(line))]
    return Edges((*edges, *((line, -1) for line in order))).settled(graph)


class References:
    """Redirects edges to deeper nodes, by binary search over the depths.

    With `every` it tries each edge with each target instead, in small graphs.
    """

    def __init__(self, *, every: bool = False) -> None:
        self.every = every
        self.name = "all references" if every else "references"

    def problem(self, view: BtorView) -> FixedSearch | None:
        """Return the search over the edges."""
        if (len(view.dag) <= FEW) != self.every:
            return None
        graph = line_graph(view)
        if not graph.state.roots:
            return None
        if not self.every:
            return FixedSearch(walk(graph, change_reference_plus(graph)))
        return FixedSearch(
            walk(graph, _edges(graph) if _is_small(view) else change_reference(graph))
        )


class Nodes:
    """Replaces and redirects nodes, as the strategy decides."""

    name = "nodes"

    def __init__(self, *, simplify: bool) -> None:
        self.rules = EVERY if simplify else None

    def problem(self, view: BtorView) -> LineGraph | None:
        """Return the graph; None if it has no roots."""
        return line_graph(view, self.rules) if view.dag.roots else None


# The minimum share of all nodes that only this edge leads to: below that, cuts save checks.
_SHARE = 0.05
# An edge is abandoned after this number of consecutive failures: an eighth of the nodes is then
# still in question.
_FAILURES = 3
_ROOT_FAILURES = 7
# The number of additional failures allowed for a root: sinking it removes more than anything else.
_PATIENCE = _ROOT_FAILURES - _FAILURES
# If more nodes than this are in question, a sample of this size is considered.
_SAMPLES = 512
# Of a graph with more nodes it is not noted what refused steps kept.
_MANY = 5000

Edge: TypeAlias = tuple[int, int]
"""A line and the position of an operand."""


class Question(NamedTuple):
    """The state of an edge: its possible targets, and the failures since a success."""

    targets: frozenset[int]
    failures: int


@dataclass(frozen=True, slots=True)
class ShortCut(GraphAlgorithm):
    """The state: the questions about all edges, and the edge and target to try next.

    Edges with the fewest failures come first, and among these the one that leads to most nodes.
    """

    known: Mapping[Edge, Question]
    edge: Edge | None
    target: int
    """-1 if the edge has none."""
    refused: tuple[int, ...] = ()
    """What refused steps kept (see `_kept`)."""
    regular: bool = True
    """Whether no step succeeded that kept only a part of what a refused one kept."""

    def steps(self, graph: Graph) -> list[Step] | None:
        if self.edge is None:
            return None
        return [Redirect(*self.edge, self.target)] if self.target >= 0 else []

    def after(self, graph: Graph, step: Step | None) -> GraphAlgorithm:
        """Keep the nodes below the target after a success, else the other nodes."""
        assert isinstance(graph, LineGraph)
        assert self.edge is not None
        targets, failures = self.known[self.edge]
        below = reached((self.target,), graph.children) if self.target >= 0 else set()
        # A success moves the edge below the target; after a failure nothing below it can be the
        # end of the edge, as it would lose even more.
        if self.target < 0:
            found = Question(frozenset(), _ROOT_FAILURES)
        elif step is None:
            found = Question(targets - below, failures + 1)
        else:
            found = Question((targets & below) - {self.target}, 0)
        refused, regular = self.refused, self.regular
        if step is not None:
            kept = _kept(graph)
            regular = regular and not any(kept & each == kept != each for each in refused)
        elif self.target >= 0 and graph.size <= _MANY:
            without = graph.apply(Redirect(*self.edge, self.target))
            if without is not None:
                refused = (*refused, _kept(without))
        left = short_cut(graph, {**self.known, self.edge: found})
        return replace(left, refused=refused, regular=regular)

    def following(self, graph: Graph) -> GraphAlgorithm | None:
        """Try all where `Edges` would leave out what succeeds."""
        assert isinstance(graph, LineGraph)
        all_edges = not self.regular and graph.size <= FEW and not graph.view.belongs
        return change_reference(graph) if all_edges else None


_NEW = Question(frozenset(), 0)


def short_cut(graph: LineGraph, known: Mapping[Edge, Question]) -> ShortCut:
    """Return the state in which the most promising edge is next."""
    # Only edges that alone lead to enough nodes are worth a search; lighter ones are left to
    # `References`, which tries all edges.
    saved, least = graph.saved, _SHARE * graph.size
    roots = frozenset(graph.state.roots)
    best: tuple[int, int] | None = None
    edge = None
    for line in graph.lines:
        for position, each in enumerate(graph.arguments(line)):
            weight = saved[line_of(each)]
            if weight <= least:
                continue
            question = known.get((line, position), _NEW)
            failures = question.failures - (_PATIENCE if line in roots else 0)
            if failures < _FAILURES and (best is None or (-max(0, failures), weight) > best):
                best, edge = (-max(0, failures), weight), (line, position)
    if edge is None:
        return ShortCut(known, None, -1)
    if edge not in known:
        known = {**known, edge: Question(frozenset(graph.targets(*edge)), 0)}
    return ShortCut(known, edge, _middle(graph, known[edge].targets))


def _middle(graph: LineGraph, targets: Iterable[int]) -> int:
    """Return the target that has closest to half of the targets below it; -1 if none."""
    # Steps since the question came up may have removed some of its targets.
    order = sorted(filter(graph.alive, targets))
    samples = order[:: -max(1, -(-len(order) // _SAMPLES))]
    bits = {line: 1 << at for at, line in enumerate(samples)}
    sets: dict[int, int] = {}
    """The samples below each line, as bits."""
    best, least = -1, 0
    # Operands stand above, so their sets are known: one pass over all lines.
    for line in graph.lines:
        found = bits.get(line, 0)
        for each in graph.arguments(line):
            found |= sets.get(each if each >= 0 else ~each, 0)
        sets[line] = found
        if line in bits:
            away = abs(2 * found.bit_count() - len(samples))
            if best < 0 or away < least:
                best, least = line, away
    return best


@pass_("short-cuts")
def short_cuts(view: BtorView) -> FixedSearch | None:
    """Redirects the edges that are the only way to many nodes."""
    graph = line_graph(view)
    return FixedSearch(walk(graph, short_cut(graph, {}))) if graph.state.roots else None
