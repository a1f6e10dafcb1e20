"""A BTOR file as a graph that steps lead on from (`search.problem.Graph`), each with its edits.

A node that becomes a leaf stays in its line; a node that becomes another one has its
references pointed there, and what no root needs any more is dropped in the same step. So
every candidate is well-formed and well-sorted, no step adds a node, and edits of steps
that were found at the same time go together, as lines are only made leaves or dropped.

Constants zero are one node for each sort, as in the thesis, where ones are the complement:
the first line that has become one represents all of them, since it is above all users. An
array has no constants: it becomes a fresh array whatever the kind.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import compress
from typing import NamedTuple

from reducekit.change import Change
from reducekit.frontends.btor.model.dag import line_of
from reducekit.frontends.btor.model.operators import Op
from reducekit.frontends.btor.model.simplify import Rules, constant_value
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.graph_step import NONE, Facts, GraphStep, State
from reducekit.search.problem import Graph, Redirect, Step, Substitute

ZERO, ONES, FRESH, SHARED = range(4)
"""Kinds of substitutions: those of the thesis, and one variable for all nodes of a sort."""
_WHAT = ("zeros", "ones", "fresh variables", "shared variables")
"""What the steps of a journal are called, by kind."""
_UNSEEN = -2
_CLIMBS = 50
"""Steps for each line, on average, to find dominators: in deep graphs some may be missed."""


class DropRoots(NamedTuple):
    """Roots and properties that go; one has to stay."""

    roots: Collection[int]


class LineGraph(Graph):
    """The graph of a view after some steps, of which the last made `change`."""

    def __init__(
        self,
        view: BtorView,
        rules: Rules | None,
        state: State,
        size: int,
        change: Change,
        facts: Facts,
    ) -> None:
        self.view = view
        self.rules = rules
        self.size = size
        self.change = change
        self._state = state
        self._facts = facts

    # What the strategies ask.

    @property
    def tops(self) -> Sequence[int]:
        live = self._state.live
        more = [line for lines in self._facts.belongs.values() for line in lines if live[line]]
        return [*self._state.roots, *more]

    @property
    def roots_left(self) -> Sequence[int]:
        """The roots and properties."""
        return self._state.roots

    @cached_property
    def lines(self) -> list[int]:
        """The lines that are needed, in file order."""
        return list(compress(range(len(self._state.live)), self._state.live))

    def alive(self, node: int) -> bool:
        return bool(self._state.live[node])

    def is_value(self, node: int) -> bool:
        """Return whether a line is a value that others of its sort can replace."""
        return not self._facts.fixed[node]

    def nodes(self) -> Sequence[int]:
        fixed, op = self._facts.fixed, self.view.dag.op
        seen = bytearray(len(op))
        found = []
        stack = list(reversed(self.tops))
        while stack:
            line = stack.pop()
            if seen[line]:
                continue
            seen[line] = 1
            if not fixed[line]:
                found.append(line)
            stack.extend(reversed(self.children(line)))
        return found

    def layers(self) -> Sequence[Sequence[int]]:
        depth, fixed = self.depth, self._facts.fixed
        layers: list[list[int]] = []
        for line in reversed(self.lines):
            if depth[line] > 0 and not fixed[line]:
                while len(layers) < depth[line]:
                    layers.append([])
                layers[depth[line] - 1].append(line)
        return layers

    @cached_property
    def depth(self) -> array[int]:
        """The longest path from a root to each live line; -1 for the others."""
        leaves, args = self._state.leaves, self._state.args
        offset, op = self.view.dag.offset, self.view.dag.op
        depth = array("i", [-1]) * len(op)
        for line in reversed(self.lines):
            if op[line] == Op.SORT:
                continue
            here = depth[line]
            if here < 0:
                here = depth[line] = 0
            if line in leaves:
                continue
            for each in args[offset[line] : offset[line + 1]]:
                below = each if each >= 0 else ~each
                if depth[below] <= here:
                    depth[below] = here + 1
        return depth

    @cached_property
    def saved(self) -> array[int]:
        """How many nodes go when the only edge to a line goes; 0 if there are several.

        These are the nodes that it dominates (Cooper, Harvey, Kennedy, "A Simple, Fast
        Dominance Algorithm", 2001; a graph without cycles takes one pass).
        """
        lines, offset, op = self.lines, self.view.dag.offset, self.view.dag.op
        leaves, args = self._state.leaves, self._state.args
        size = len(op)
        above = array("i", [_UNSEEN]) * size  # the immediate dominator; -1: nothing
        level = array("i", bytes(4 * size))
        uses = array("i", bytes(4 * size))
        effort = _CLIMBS * len(lines)
        for line in reversed(lines):
            if above[line] == _UNSEEN:
                above[line] = -1
            if above[line] >= 0:
                level[line] = level[above[line]] + 1
            if line in leaves or op[line] == Op.SORT:
                continue
            # A state is not used by its own init and next: they go when it goes.
            first = offset[line] + (op[line] in (Op.INIT, Op.NEXT))
            for each in args[first : offset[line + 1]]:
                below = each if each >= 0 else ~each
                uses[below] += 1
                one, other = above[below], line
                if one == _UNSEEN:
                    above[below] = line
                    continue
                while one != other and one >= 0 and other >= 0 and effort:
                    effort -= 1
                    # The levels of both are known: they are above the line at hand, or it.
                    if level[one] >= level[other]:
                        one = above[one]
                    else:
                        other = above[other]
                above[below] = one if one == other else -1
        weight = array("i", bytes(4 * size))
        for line in lines:
            weight[line] += 1
            if above[line] >= 0:
                weight[above[line]] += weight[line]
            if uses[line] != 1:
                weight[line] = 0
        return weight

    def children(self, node: int) -> Sequence[int]:
        return list(dict.fromkeys(map(line_of, self.arguments(node))))

    def arguments(self, line: int) -> Sequence[int]:
        """Return the references of a line."""
        dag = self.view.dag
        if line in self._state.leaves or dag.op[line] == Op.SORT:
            return ()
        return self._state.args[dag.offset[line] : dag.offset[line + 1]]

    def degree(self, node: int) -> int:
        return len(self.arguments(node))

    def targets(self, node: int, position: int) -> Sequence[int]:
        """Return the deeper lines above of the same sort, in ascending depth.

        The thesis takes all deeper ones; lines below the node's own would need another
        order of lines. A `root` takes any bit-vector, as its width is its operand's.
        """
        dag, facts = self.view.dag, self._facts
        now = line_of(self.arguments(node)[position])
        code, sort, depth = dag.op[node], dag.sort[now], self.depth
        if facts.fixed[now] and dag.op[now] != Op.ROOT:
            return ()
        if position == 0 and code in (Op.INIT, Op.NEXT, Op.LAMBDA):
            return ()
        if self.rules is None and not self.saved[now]:
            return ()  # what is used elsewhere stays
        anything = code in (Op.ROOT, Op.OUTPUT)
        limit = line_of(self.arguments(node)[0]) if code == Op.INIT else node
        lines = self.lines
        found = [
            line
            for line in lines[: bisect_left(lines, limit)]
            if depth[line] > depth[node]
            and line != now
            and (dag.width(line) if anything else dag.sort[line] == sort)
            and not facts.fixed[line]
            and self.fits(now, line)
        ]
        found.sort(key=depth.__getitem__)
        return found

    def fits(self, now: int, other: int) -> bool:
        """Return whether a line can replace another one, apart from sort and order.

        Not if a param would leave its lambda, or an input come below an init.
        """
        facts = self._facts
        if facts.params:
            return facts.params.get(other, NONE) <= facts.params.get(now, NONE)
        return not (facts.starting[now] and not facts.starting[other])

    # Steps.

    def apply(self, step: Step) -> LineGraph | None:
        made = GraphStep(self.view, self.rules, self._facts, self._state, self.lines)
        if isinstance(step, Substitute):
            what = _WHAT[step.kind]
            self._substitute(made, step.nodes, step.kind)
        elif isinstance(step, Redirect):
            what = "redirect"
            made.redirect(step.node, step.position, step.target)
        else:
            what = "drop roots"
            gone = frozenset(step.roots)
            made.roots = tuple(root for root in self._state.roots if root not in gone)
            if not made.roots:
                return None
        state, size = made.finish()
        if size >= self.size:
            return None
        change = Change(tuple(made.edits(state)), what)
        return LineGraph(self.view, self.rules, state, size, change, self._facts)

    def _substitute(self, made: GraphStep, nodes: Collection[int], kind: int) -> None:
        facts, live, dag = self._facts, self._state.live, self.view.dag
        for line in sorted(nodes):
            if not live[line] or facts.fixed[line]:
                continue
            if kind in (ZERO, ONES) and dag.width(line):
                made.constant(line, ZERO if kind == ZERO else -1)
            elif facts.starting[line]:
                continue  # an init value must not depend on an input
            elif kind == SHARED:
                made.shared(line)
            else:
                made.fresh(line)


def line_graph(view: BtorView, rules: Rules | None = None) -> LineGraph:
    """Return the graph of a view; with rules, every step simplifies what it touches."""
    dag = view.dag
    facts = Facts(dag)
    values = {}
    zeros: dict[int, int] = {}
    for line in dag.lines_of(Op.CONST, Op.CONSTD, Op.CONSTH, Op.ZERO, Op.ONE, Op.ONES):
        value = constant_value(dag, line)
        assert value is not None
        values[line] = value
        if not value:
            zeros.setdefault(dag.sort[line], line)
    inputs: dict[int, int] = {}
    for line in dag.lines_of(Op.INPUT):
        inputs.setdefault(dag.sort[line], line)
    live = bytearray(b"\1") * len(dag)
    state = State(dag.args, {}, values, zeros, inputs, live, tuple(dag.roots))
    size = len(dag) - sum(code == Op.SORT for code in dag.op)
    return LineGraph(view, rules, state, size, Change(()), facts)
