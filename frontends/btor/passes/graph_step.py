"""What the lines of a file have become after some steps, and how one more step is made.

Lines get another meaning, their users follow, and what no root needs any more is dropped.
A line that became a leaf stays in its place; references to one that became another line are
pointed there.

Constants zero are one node for each sort, as in the thesis, where ones are the complement:
the first line that has become one stands for all, since it stands above all users.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import gt

from reducekit.change import Edit
from reducekit.frontends.btor.model.dag import Array, BitVec, Dag, line_of
from reducekit.frontends.btor.model.literals import spelled
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.simplify import Operand, Rules, simplify
from reducekit.frontends.btor.model.view import BtorView

_FIXED = frozenset({Op.ROOT, Op.PARAM, Op.LAMBDA, *range(Op.BAD, Op.SORT + 1)})
"""Nodes that are not values, or are names: they have no substitution."""
_UNSIMPLIFIED = frozenset({Op.ROOT, Op.LAMBDA, Op.APPLY, *range(Op.BAD, Op.SORT + 1)})


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


NONE: frozenset[int] = frozenset()


def _free_params(dag: Dag) -> dict[int, frozenset[int]]:
    """Return the params that lines depend on and that no lambda binds yet."""
    params: dict[int, frozenset[int]] = {}
    for line, code in enumerate(dag.op):
        if code == Op.PARAM:
            params[line] = frozenset((line,))
            continue
        free: frozenset[int] = frozenset()
        for each in dag.arguments(line):
            free |= params.get(line_of(each), NONE)
        if code == Op.LAMBDA:
            free -= {dag.arguments(line)[0]}
        if free:
            params[line] = free
    return params


class Facts:
    """What is known of the lines of a view, whatever the steps."""

    def __init__(self, dag: Dag) -> None:
        size = len(dag)
        op = dag.op
        self.fixed = bytearray(size)
        """Lines that have no substitution."""
        for line, code in enumerate(op):
            if code in _FIXED or not isinstance(dag.sorts[dag.sort[line]], (BitVec, Array)):
                self.fixed[line] = 1
        self.belongs: dict[int, list[int]] = {}
        """The init and next lines of each state or variable."""
        self.starting = bytearray(size)
        """Lines below an init."""
        work = []
        for line in dag.lines_of(Op.INIT, Op.NEXT):
            self.belongs.setdefault(line_of(dag.arguments(line)[0]), []).append(line)
            if op[line] == Op.INIT:
                work.append(line_of(dag.arguments(line)[1]))
        while work:
            line = work.pop()
            if not self.starting[line]:
                self.starting[line] = 1
                work += map(line_of, dag.arguments(line))
        self.params = _free_params(dag) if dag.dialect is Dialect.FUN else {}
        """The params that lines depend on and that no lambda binds yet."""


class GraphStep:
    """One step while it is made: lines get other meanings, then their users follow."""

    def __init__(
        self,
        view: BtorView,
        rules: Rules | None,
        facts: Facts,
        state: State,
        lines: Sequence[int],
    ) -> None:
        """Start from a state in which `lines` are needed, in file order."""
        self.view = view
        self.dag = view.dag
        self.rules = rules
        self.facts = facts
        self.before = state
        self.lines = lines
        self.args = array("i", state.args)
        self.leaves = dict(state.leaves)
        self.values = dict(state.values)
        self.zeros = dict(state.zeros)
        self.inputs = dict(state.inputs)
        self.roots = state.roots
        self.meaning: dict[int, int] = {}
        """What changed lines have become, as references; itself for a line that became a leaf."""
        self.new_leaves: list[int] = []
        self.slots: dict[int, int] = {}
        """The lines of changed operands, by slot."""

    def fresh(self, line: int) -> None:
        """Make a line a variable, or an array."""
        if line in self.leaves and line not in self.values:
            return
        if line not in self.leaves and self.dag.op[line] == Op.INPUT:
            return
        self.values.pop(line, None)
        if self.zeros.get(self.dag.sort[line]) == line:
            del self.zeros[self.dag.sort[line]]
        self._leaf(line, variable(self.dag, line))
        sort = self.dag.sort[line]
        first = self.inputs.get(sort)
        if first is None or first > line or not self.before.live[first]:
            self.inputs[sort] = line

    def shared(self, line: int) -> None:
        """Let a line mean the variable of its sort that stands first, be it its own line."""
        sort = self.dag.sort[line]
        first = self.inputs.get(sort)
        if first == line:
            return
        if first is None or first > line or not self.before.live[first]:
            self.fresh(line)
            self.inputs[sort] = line
            if first is not None and first > line:
                self.meaning[first] = line
        else:
            self.meaning[line] = first

    def constant(self, line: int, value: int) -> None:
        """Let a line mean a constant; -1 is ones."""
        dag = self.dag
        sort = dag.sort[line]
        if value not in (0, -1):  # a mask has as many bits as the line: up to 2^31
            ones = (1 << dag.width(line)) - 1
            value &= ones
            if value not in (0, ones):
                self.values[line] = value
                self._leaf(line, constant(dag, line, value))
                return
        zero = self.zeros.get(sort)
        if zero == line:
            self.meaning[line] = line if value == 0 else ~line
            return
        if zero is None or zero > line or not self.before.live[zero]:
            if self.values.get(line) != 0:
                self.values[line] = 0
                self._leaf(line, constant(dag, line, 0))
            self.zeros[sort] = line
            if zero is not None and zero > line:
                self.meaning[zero] = line
            zero = line
        self.meaning[line] = zero if value == 0 else ~zero

    def redirect(self, user: int, position: int, target: int) -> None:
        """Point one operand at another line."""
        slot = self.dag.offset[user] + position
        self.args[slot] = target
        self.slots[slot] = user

    def _leaf(self, line: int, body: bytes) -> None:
        self.leaves[line] = body
        self.new_leaves.append(line)
        self.meaning.setdefault(line, line)

    def finish(self) -> tuple[State, int]:
        """Let users follow; return the state, and how many nodes there are."""
        if self.rules is not None or any(m != line for line, m in self.meaning.items()):
            self._follow()
        live, size = self._reached()
        state = State(
            self.args, self.leaves, self.values, self.zeros, self.inputs, live, self.roots
        )
        return state, size

    def _follow(self) -> None:
        """Point references at what lines have become, from the first changed line on."""
        meaning, args, leaves = self.meaning, self.args, self.leaves
        offset, op, rules = self.dag.offset, self.dag.op, self.rules
        # Of a redirected edge the user is simplified, too.
        touched_users = set(self.slots.values())
        first = min([*meaning, *touched_users], default=len(op))
        lines = self.lines
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
        if dag.op[line] in _UNSIMPLIFIED:
            return
        operands = [
            self._operand(each) for each in self.args[dag.offset[line] : dag.offset[line + 1]]
        ]
        if not operands:
            return
        numbers = dag.numbers.get(line, ())
        found = simplify(dag.op[line], operands, dag.width(line), numbers, rules)
        if found is None:
            return
        if found.reference is not None:
            known = self._operand(found.reference)
            if known.value is None:
                self.meaning[line] = found.reference
                return
            self.constant(line, known.value)
        else:
            self.constant(line, found.value)

    def _operand(self, reference: int) -> Operand:
        line = line_of(reference)
        width = self.dag.width(line)
        value = self.values.get(line)
        if value is not None and reference < 0:
            value ^= (1 << width) - 1
        return Operand(reference, width, value)

    def _reached(self) -> tuple[bytearray, int]:
        """Mark what the roots need; return the marks, and how many nodes there are."""
        dag, args, leaves = self.dag, self.args, self.leaves
        offset, belongs, sort_line = dag.offset, self.facts.belongs, dag.sort_line
        two = dag.dialect is Dialect.BTOR2
        live = bytearray(len(dag))
        stack = list(self.roots)
        for line in stack:
            live[line] = 1
        size = len(stack)
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
            if line in belongs:
                for each in belongs[line]:
                    if not live[each]:
                        live[each] = 1
                        size += 1
                        stack.append(each)
        return live, size

    def edits(self, state: State) -> Iterator[Edit]:
        """Yield the edits that lead to what `finish` returned."""
        view, dag, leaves, live = self.view, self.dag, self.leaves, state.live
        for line in compress(range(len(live)), map(gt, self.before.live, live)):
            yield Edit(view.line_nodes[line], ())
        ids = view.ids
        for line in self.new_leaves:
            if live[line]:
                yield Edit(view.line_nodes[line], (b"%s %s\n" % (ids[line], leaves[line]),))
        for slot, line in self.slots.items():
            if not live[line] or line in leaves:
                continue
            each = self.args[slot]
            word = ids[each] if each >= 0 else b"-" + ids[~each]
            yield Edit(view.argument_node(line, slot - dag.offset[line]), (word,))
            if dag.op[line] == Op.ROOT:
                yield Edit(view.header_node(line), (b"%d" % dag.width(line_of(each)),))


def variable(dag: Dag, line: int) -> bytes:
    """Return a fresh variable of the sort of a line, without its id."""
    sort = dag.sorts[dag.sort[line]]
    if dag.dialect is Dialect.BTOR2:
        return b"input %d" % dag.ids[dag.sort_line[line]]
    if isinstance(sort, BitVec):
        return b"var %d" % sort.width
    assert isinstance(sort, Array)
    element, index = dag.sorts[sort.element], dag.sorts[sort.index]
    assert isinstance(element, BitVec)
    assert isinstance(index, BitVec)
    return b"array %d %d" % (element.width, index.width)


def constant(dag: Dag, line: int, value: int) -> bytes:
    """Return a constant of the sort of a line, without its id."""
    width = dag.width(line)
    header = dag.ids[dag.sort_line[line]] if dag.dialect is Dialect.BTOR2 else width
    if not value and dag.dialect is not Dialect.BTOR_2007:
        return b"zero %d" % header
    code, digits = spelled(value, width)
    return b"%s %d %s" % (code.name.lower().encode(), header, digits)
