"""Redirects edges to nodes far below, the heaviest edges first, removing the nodes in between.

If the graph below some node still fails, the graph below any node above it usually does, too. So
the lowest possible target of an edge is found by bisection, as in a branching history: the node to
try has half of the nodes in question below it. The edges of the roots come first: each root sinks,
and everything above its new target is removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from reducekit.frontends.btor.model.dag import line_of
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.line_graph import LineGraph, line_graph
from reducekit.passes import pass_
from reducekit.search.problem import FixedSearch, Graph, Redirect, Step
from reducekit.strategies.graph import GraphAlgorithm, walk

_SHARE = 0.05
"""The minimum share of all nodes that only this edge leads to: below that, cuts save checks."""
_FAILURES = 3
"""An edge is abandoned after this number of consecutive failures: an eighth of the nodes is then
still in question."""
_ROOT_FAILURES = 7
_PATIENCE = _ROOT_FAILURES - _FAILURES
"""The number of additional failures allowed for a root: sinking it removes more than anything
else."""
_SAMPLES = 512
"""If more nodes than this are in question, a sample of this size is considered."""

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

    def steps(self, graph: Graph) -> list[Step] | None:
        if self.edge is None:
            return None
        return [Redirect(*self.edge, self.target)] if self.target >= 0 else []

    def after(self, graph: Graph, step: Step | None) -> GraphAlgorithm:
        """Keep the nodes below the target after a success, else the other nodes."""
        assert isinstance(graph, LineGraph)
        assert self.edge is not None
        targets, failures = self.known[self.edge]
        if self.target < 0:
            found = Question(frozenset(), _ROOT_FAILURES)
        elif step is None:
            found = Question(targets - _below(graph, self.target), failures + 1)
        else:
            found = Question((targets & _below(graph, self.target)) - {self.target}, 0)
        return short_cut(graph, {**self.known, self.edge: found})


_NEW = Question(frozenset(), 0)


def short_cut(graph: LineGraph, known: Mapping[Edge, Question]) -> ShortCut:
    """Return the state in which the most promising edge is next."""
    saved, least = graph.saved, _SHARE * graph.size
    roots = frozenset(graph.roots_left)
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


def _below(graph: LineGraph, line: int) -> frozenset[int]:
    """Return a line and all lines below it."""
    seen = {line}
    work = [line]
    while work:
        for each in graph.children(work.pop()):
            if each not in seen:
                seen.add(each)
                work.append(each)
    return frozenset(seen)


def _middle(graph: LineGraph, targets: Iterable[int]) -> int:
    """Return the target that has closest to half of the targets below it; -1 if none."""
    order = sorted(filter(graph.alive, targets))
    samples = order[:: -max(1, -(-len(order) // _SAMPLES))]
    bits = {line: 1 << at for at, line in enumerate(samples)}
    sets: dict[int, int] = {}
    """The samples below each line, as bits."""
    best, least = -1, 0
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
    return FixedSearch(walk(graph, short_cut(graph, {}))) if graph.roots_left else None
