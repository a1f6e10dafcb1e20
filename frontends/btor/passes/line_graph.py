"""A BTOR file as a graph that steps lead on from (`search.problem.Graph`), each with its edits.

A node that becomes a leaf stays in its line; references to a node that becomes another one are
pointed there, and what no root needs any more is dropped in the same step. So every candidate is
well-formed and well-sorted, no step adds a node, and the edits of steps that were found at the
same time go together, as lines are only made leaves or dropped.

Constants zero are one node for each sort, as in the thesis, where ones are the complement: the
first line that has become one represents all, since it is above all users. An array has no
constants: it becomes a fresh array whatever the kind.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from operator import gt
from typing import NamedTuple

from reducekit.change import Change, Edit
from reducekit.frontends.btor.model.dag import constant_value, free_params, is_value, line_of
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.simplify import UNSIMPLIFIED, Rules, operand_of, simplify
from reducekit.frontends.btor.model.view import BtorView
from reducekit.search.problem import Graph, Redirect, Step, Substitute

ZERO, ONES, FRESH, SHARED = range(4)
"""Kinds of substitutions: those of the thesis, and one variable for all nodes of a sort."""
KINDS = ("zeros", "ones", "fresh variables", "shared variables")
"""Their names, by kind."""
_UNSEEN = -2
# Steps for each line, on average, to find dominators: in deep graphs some may be missed.
_CLIMBS = 50


class DropRoots(NamedTuple):
    """Roots and properties that go; one has to stay."""

    roots: Collection[int]


@dataclass(frozen=True, slots=True)
class State:
    """What the lines have become, by line or by slot of an operand; shared, never changed."""

    args: array[int]
    leaves: Mapping[int, bytes]
    """What follows the id of a line that has become a leaf."""
    values: Mapping[int, int]
    """The constants."""
    zeros: Mapping[int, int]
    """The line that is zero, by sort."""
    inputs: Mapping[int, int]
    """The first variable or array, by sort."""
    live: bytearray
    roots: tuple[int, ...]
    size: int


class LineGraph(Graph):
    """The graph of a view after some steps; `change` leads here from the graph before."""

    def __init__(
        self, view: BtorView, rules: Rules | None, state: State, change: Change, fixed: bytearray
    ) -> None:
        self.view, self.rules = view, rules
        self.state = state
        self.change = change
        self.fixed = fixed
        """Marks the lines that have no substitution."""

    @property
    def size(self) -> int:
        return self.state.size

    @property
    def tops(self) -> Sequence[int]:
        more = chain.from_iterable(self.view.belongs.values())
        return [*self.state.roots, *filter(self.alive, more)]

    @cached_property
    def lines(self) -> list[int]:
        """The lines that are needed, in file order."""
        return list(compress(range(len(self.state.live)), self.state.live))

    def alive(self, node: int) -> bool:
        return bool(self.state.live[node])

    def nodes(self) -> Sequence[int]:
        seen = bytearray(len(self.fixed))
        found = []
        stack = list(reversed(self.tops))
        while stack:
            line = stack.pop()
            if seen[line]:
                continue
            seen[line] = 1
            if not self.fixed[line]:
                found.append(line)
            stack.extend(reversed(self.children(line)))
        return found

    def layers(self) -> Sequence[Sequence[int]]:
        depth = self.depth
        layers: list[list[int]] = []
        for line in reversed(self.lines):
            if depth[line] > 0 and not self.fixed[line]:
                while len(layers) < depth[line]:
                    layers.append([])
                layers[depth[line] - 1].append(line)
        return layers

    @cached_property
    def depth(self) -> array[int]:
        """The longest path from a root to each live line; -1 for the others."""
        leaves, args = self.state.leaves, self.state.args
        offset, op = self.view.dag.offset, self.view.dag.op
        depth = array("i", [-1]) * len(op)
        # Operands stand above their users, so each line is reached after all of its users.
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
        leaves, args = self.state.leaves, self.state.args
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
        # Operands come first in file order, so each node has its own sum when it is added above.
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
        if line in self.state.leaves or dag.op[line] == Op.SORT:
            return ()
        return self.state.args[dag.offset[line] : dag.offset[line + 1]]

    def degree(self, node: int) -> int:
        return len(self.arguments(node))

    def targets(self, node: int, position: int) -> Sequence[int]:
        """Return the deeper lines above of the same sort, in ascending depth.

        The thesis takes all deeper ones; lines below the node's own would need another
        order of lines. A `root` takes any bit-vector, as its width is its operand's.
        """
        dag, fixed = self.view.dag, self.fixed
        now = line_of(self.arguments(node)[position])
        code, sort, depth = dag.op[node], dag.sort[now], self.depth
        if fixed[now] and dag.op[now] != Op.ROOT:
            return ()
        # These name a state or a param, not a value.
        if position == 0 and code in (Op.INIT, Op.NEXT, Op.LAMBDA):
            return ()
        if self.rules is None and not self.saved[now]:
            return ()  # what is used elsewhere stays
        anything = code in (Op.ROOT, Op.OUTPUT)
        # An init value has a smaller id than its state, not only than the init line.
        limit = line_of(self.arguments(node)[0]) if code == Op.INIT else node
        lines = self.lines
        found = [
            line
            for line in lines[: bisect_left(lines, limit)]
            if depth[line] > depth[node]
            and line != now
            and (dag.width(line) if anything else dag.sort[line] == sort)
            and not fixed[line]
            and self.fits(now, line)
        ]
        found.sort(key=depth.__getitem__)
        return found

    def fits(self, now: int, other: int) -> bool:
        """Return whether a line can replace another one, apart from sort and order.

        Not if a param would leave its lambda, or an input come below an init.
        """
        if params := self._params:
            return params.get(other, frozenset()) <= params.get(now, frozenset())
        return now not in self.view.starting or other in self.view.starting

    @cached_property
    def _params(self) -> Mapping[int, frozenset[int]]:
        return free_params(self.view.dag) if self.view.dag.dialect is Dialect.FUN else {}

    def apply(self, step: Step) -> LineGraph | None:
        made = _Step(self)
        if isinstance(step, Substitute):
            what = KINDS[step.kind]
            for line in sorted(step.nodes):
                made.substitute(line, step.kind)
        elif isinstance(step, Redirect):
            what = "redirect"
            made.redirect(step.node, step.position, step.target)
        else:
            what = "drop roots"
            gone = frozenset(step.roots)
            made.roots = tuple(root for root in self.state.roots if root not in gone)
            if not made.roots:
                return None
        state = made.finish()
        if state.size >= self.size:
            return None
        change = Change(tuple(made.edits(state)), what)
        return LineGraph(self.view, self.rules, state, change, self.fixed)


class _Step:
    """One step while it is made: lines get other meanings, then their users follow."""

    def __init__(self, graph: LineGraph) -> None:
        self.graph = graph
        self.view, self.dag = graph.view, graph.view.dag
        before = graph.state
        self.before = before
        self.args = before.args[:]
        self.leaves = dict(before.leaves)
        self.values = dict(before.values)
        self.zeros = dict(before.zeros)
        self.inputs = dict(before.inputs)
        self.roots = before.roots
        self.meaning: dict[int, int] = {}
        """What changed lines have become, as references; itself for a line that became a leaf."""
        self.new_leaves: list[int] = []
        self.slots: dict[int, int] = {}
        """The lines of changed operands, by slot."""

    def substitute(self, line: int, kind: int) -> None:
        """Let a line become a leaf of a kind, where it can."""
        if not self.before.live[line] or self.graph.fixed[line]:
            return
        if kind in (ZERO, ONES) and self.dag.width(line):
            self.constant(line, 0 if kind == ZERO else -1)
        elif line in self.view.starting:
            return  # an init value must not depend on an input
        elif kind == SHARED:
            self.shared(line)
        else:
            self.fresh(line)

    def redirect(self, user: int, position: int, target: int) -> None:
        """Point one operand at another line."""
        slot = self.dag.offset[user] + position
        self.args[slot] = target
        self.slots[slot] = user

    def fresh(self, line: int) -> None:
        """Make a line a variable, or an array."""
        leaf = line in self.leaves
        if line not in self.values if leaf else self.dag.op[line] == Op.INPUT:
            return
        self.values.pop(line, None)
        sort = self.dag.sort[line]
        if self.zeros.get(sort) == line:
            del self.zeros[sort]
        self._leaf(line, self.view.variable(line))
        if not self._stands_before(self.inputs.get(sort), line):
            self.inputs[sort] = line

    def shared(self, line: int) -> None:
        """Let a line mean the variable of its sort that stands first, be it its own line."""
        sort = self.dag.sort[line]
        first = self.inputs.get(sort)
        if first == line:
            return
        if self._stands_before(first, line):
            assert first is not None
            self.meaning[line] = first
            return
        self.fresh(line)
        self.inputs[sort] = line
        if first is not None and first > line:
            self.meaning[first] = line

    def constant(self, line: int, value: int) -> None:
        """Let a line mean a constant; -1 is ones."""
        dag = self.dag
        sort = dag.sort[line]
        if value not in (0, -1):  # a mask has as many bits as the line: up to 2^31
            ones = (1 << dag.width(line)) - 1
            value &= ones
            if value not in (0, ones):
                self.values[line] = value
                self._leaf(line, self.view.constant(line, value))
                return
        # Of a sort one zero is enough; ones are its complement.
        zero = self.zeros.get(sort)
        if zero == line:
            self.meaning[line] = line if value == 0 else ~line
            return
        if not self._stands_before(zero, line):
            if self.values.get(line) != 0:
                self.values[line] = 0
                self._leaf(line, self.view.constant(line, 0))
            self.zeros[sort] = line
            if zero is not None and zero > line:
                self.meaning[zero] = line
            zero = line
        assert zero is not None
        self.meaning[line] = zero if value == 0 else ~zero

    def _stands_before(self, first: int | None, line: int) -> bool:
        """Return whether a leaf of the sort is needed already, and above a line."""
        return first is not None and first <= line and bool(self.before.live[first])

    def _leaf(self, line: int, body: bytes) -> None:
        self.leaves[line] = body
        self.new_leaves.append(line)
        self.meaning.setdefault(line, line)

    def finish(self) -> State:
        """Let users follow; return the state."""
        if self.graph.rules is not None or any(m != line for line, m in self.meaning.items()):
            self._follow()
        live, size = self._reached()
        return State(
            self.args, self.leaves, self.values, self.zeros, self.inputs, live, self.roots, size
        )

    def _follow(self) -> None:
        """Point references at what lines have become, from the first changed line on."""
        meaning, args, leaves = self.meaning, self.args, self.leaves
        offset, op, rules = self.dag.offset, self.dag.op, self.graph.rules
        # Of a redirected edge the user is simplified, too.
        touched_users = set(self.slots.values())
        first = min([*meaning, *touched_users], default=len(op))
        lines = self.graph.lines
        # Users stand below, and the lines above the first change keep their meaning: one walk down.
        for line in lines[bisect_left(lines, first) :]:
            if line in leaves or op[line] == Op.SORT:
                continue
            touched = line in touched_users
            for slot in range(offset[line], offset[line + 1]):
                each = args[slot]
                below = each if each >= 0 else ~each
                if below in meaning:
                    found = meaning[below]
                    # What a line has become may have become something else before.
                    while (base := line_of(found)) in meaning and line_of(meaning[base]) != base:
                        found = meaning[base] if found >= 0 else ~meaning[base]
                    touched = True
                    if found != below:
                        args[slot] = found if each >= 0 else ~found
                        self.slots[slot] = line
            if touched and rules is not None and line not in meaning:
                self._simplify(line, rules)

    def _simplify(self, line: int, rules: Rules) -> None:
        dag = self.dag
        references = self.args[dag.offset[line] : dag.offset[line + 1]]
        if dag.op[line] in UNSIMPLIFIED or not references:
            return
        operands = [operand_of(dag, each, self.values) for each in references]
        width, numbers = dag.width(line), dag.numbers.get(line, ())
        found = simplify(dag.op[line], operands, width, numbers, rules)
        if found is None:
            return
        value = found.value
        if found.reference is not None:
            known = operand_of(dag, found.reference, self.values).value
            if known is None:
                self.meaning[line] = found.reference
                return
            value = known
        self.constant(line, value)

    def _reached(self) -> tuple[bytearray, int]:
        """Mark what the roots need; return the marks, and how many nodes there are."""
        dag, args, leaves = self.dag, self.args, self.leaves
        offset, belongs, sort_line = dag.offset, self.view.belongs, dag.sort_line
        two = dag.dialect is Dialect.BTOR2
        live = bytearray(len(dag))
        stack = list(self.roots)
        for line in stack:
            live[line] = 1
        size = len(stack)
        # Each line is put on the stack once, when it is marked, so this is linear.
        while stack:
            line = stack.pop()
            if two and (named := sort_line[line]) >= 0 and not live[named]:
                live[named] = 1
                stack.append(named)
                size -= dag.op[named] == Op.SORT
                size += 1
            if line in leaves:
                continue
            for each in args[offset[line] : offset[line + 1]]:
                below = each if each >= 0 else ~each
                if not live[below]:
                    live[below] = 1
                    size += dag.op[below] != Op.SORT
                    stack.append(below)
            for each in belongs.get(line, ()):
                if not live[each]:
                    live[each] = 1
                    size += 1
                    stack.append(each)
        return live, size

    def edits(self, state: State) -> Iterator[Edit]:
        """Yield the edits that lead to what `finish` returned."""
        view, dag, leaves, live = self.view, self.dag, self.leaves, state.live
        # Lines that were needed and are not any more.
        for line in compress(range(len(live)), map(gt, self.before.live, live)):
            yield Edit(view.line_nodes[line], ())
        for line in self.new_leaves:
            if live[line]:
                text = b"%s %s\n" % (view.ids[line], leaves[line])
                yield Edit(view.line_nodes[line], (text,))
        for slot, line in self.slots.items():
            if not live[line] or line in leaves:
                continue
            each = self.args[slot]
            yield Edit(view.argument_node(line, slot - dag.offset[line]), (view.word(each),))
            if dag.op[line] == Op.ROOT:
                yield Edit(view.header_node(line), (b"%d" % dag.width(line_of(each)),))


def line_graph(view: BtorView, rules: Rules | None = None) -> LineGraph:
    """Return the graph of a view; with rules, every step simplifies what it touches."""
    dag = view.dag
    values: dict[int, int] = {}
    zeros: dict[int, int] = {}
    inputs: dict[int, int] = {}
    fixed = bytearray(len(dag))
    for line, code in enumerate(dag.op):
        fixed[line] = code in (Op.PARAM, Op.LAMBDA) or not is_value(dag, line)
        value = constant_value(dag, line)
        if value is not None:
            values[line] = value
            if not value:
                zeros.setdefault(dag.sort[line], line)
        elif code == Op.INPUT:
            inputs.setdefault(dag.sort[line], line)
    live = bytearray(b"\1") * len(dag)
    size = len(dag) - sum(code == Op.SORT for code in dag.op)
    state = State(dag.args, {}, values, zeros, inputs, live, tuple(dag.roots), size)
    return LineGraph(view, rules, state, Change(()), fixed)
