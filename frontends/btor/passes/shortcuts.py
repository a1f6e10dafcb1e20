"""Points edges at nodes far below, the heaviest edges first: what lies between goes.

If a failure stays with what is below a node, it stays with what is below the nodes above, as
a rule. So the lowest node that an edge can be pointed at is found by bisection, as in a
history with branches: the node to try has half of the nodes in question below it. The first
edges are those of the roots: each root sinks, and everything else goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from reducekit.frontends.btor.model.dag import line_of
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.line_graph import LineGraph, line_graph
from reducekit.search.problem import FixedSearch, Graph, Redirect, Step
from reducekit.strategies.graph import GraphAlgorithm, walk

_SHARE = 0.05
"""What an edge leads to alone, at least, as a share of all nodes: below that, cuts save checks."""
_FAILURES = 3
"""An edge is given up after this number of failures in a row: an eighth of the nodes is left
in question."""
_ROOT_FAILURES = 7
_PATIENCE = _ROOT_FAILURES - _FAILURES
"""This number of failures of a root counts as none: sinking it removes more than anything else."""
_SAMPLES = 512
"""Of more nodes in question, this number is looked at."""

Edge: TypeAlias = tuple[int, int]
"""A line and the position of an operand."""


class Question(NamedTuple):
    """What is known of an edge: where it may still lead, and the failures since a success."""

    targets: frozenset[int]
    failures: int


@dataclass(frozen=True, slots=True)
class ShortCut(GraphAlgorithm):
    """The state: what is known of the edges, and the edge and target to try next.

    Edges with the fewest failures come first, of these the one that leads to most.
    """

    known: Mapping[Edge, Question]
    edge: Edge | None
    target: int
    """-1 if the edge has none."""

    def steps(self, graph: Graph) -> list[Step] | None:
        """Return the redirection."""
        if self.edge is None:
            return None
        return [Redirect(*self.edge, self.target)] if self.target >= 0 else []

    def after(self, graph: Graph, step: Step | None) -> GraphAlgorithm:
        """Leave in question what is below the target after a success, else what is not."""
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
            question = known.get((line, position))
            failures = 0 if question is None else question.failures
            if line in roots:
                failures -= _PATIENCE
            if failures < _FAILURES and (best is None or (-max(0, failures), weight) > best):
                best, edge = (-max(0, failures), weight), (line, position)
    if edge is None:
        return ShortCut(known, None, -1)
    if edge not in known:
        known = {**known, edge: Question(frozenset(graph.targets(*edge)), 0)}
    return ShortCut(known, edge, _middle(graph, known[edge].targets))


def _below(graph: LineGraph, line: int) -> frozenset[int]:
    """Return a line with all that it is made of."""
    seen = {line}
    work = [line]
    while work:
        for each in graph.children(work.pop()):
            if each not in seen:
                seen.add(each)
                work.append(each)
    return frozenset(seen)


def _middle(graph: LineGraph, targets: Iterable[int]) -> int:
    """Return the target with closest to half of the targets below it; -1 if there are none."""
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


class ShortCuts:
    """The pass over the edges that alone lead to many nodes."""

    name = "short-cuts"

    def problem(self, view: BtorView) -> FixedSearch | None:
        """Return the search over the edges."""
        graph = line_graph(view)
        return FixedSearch(walk(graph, short_cut(graph, {}))) if graph.roots_left else None
