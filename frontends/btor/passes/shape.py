"""A small graph while lines get other operands, sorts and operators; lines keep their numbers."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import NamedTuple, TypeAlias

from reducekit.errors import ParseError
from reducekit.frontends.btor.model.builder import reordered
from reducekit.frontends.btor.model.dag import Array, BitVec, Dag, line_of
from reducekit.frontends.btor.model.operators import DECLARATIONS, Op, spelling
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.btor.passes.graph_step import Facts

_ANY_WIDTH = frozenset({Op.ROOT, Op.OUTPUT})
"""Operators that take an operand of any width."""

Slot: TypeAlias = tuple[int, int]
"""A line and the position of an operand."""


class Shape(NamedTuple):
    """The lines of `dag`, with `args` and `sort` replaced by those given here. Immutable.

    Every step copies whole tuples, so this is meant for graphs of a few dozen lines.
    """

    dag: Dag
    args: tuple[Sequence[int], ...]
    sort: tuple[int, ...]
    belongs: Mapping[int, Sequence[int]]
    """The init and next lines of each state."""

    def with_(self, line: int, args: Sequence[int], sort: int) -> Shape:
        """Return the graph with other operands and another sort for one line."""
        changed = (*self.args[:line], args, *self.args[line + 1 :])
        sorts = (*self.sort[:line], sort, *self.sort[line + 1 :])
        return self._replace(args=changed, sort=sorts)

    def as_operator(self, line: int, code: Op, numbers: tuple[int, ...], operand: int) -> Shape:
        """Return the graph with an operator of one operand in a line."""
        op = array("i", self.dag.op)
        op[line] = code
        others = {each: found for each, found in self.dag.numbers.items() if each != line}
        dag = replace(self.dag, op=op, numbers={**others, line: numbers} if numbers else others)
        return self.with_(line, (operand,), self.sort[line])._replace(dag=dag)

    def past(self, line: int, target: int) -> tuple[Shape, Collection[Slot]]:
        """Point all edges to a line at another one; return the operands that changed, too."""
        shape = self
        slots = [
            (user, at)
            for user in sorted(self.live())
            for at, each in enumerate(self.args[user])
            if line_of(each) == line
        ]
        for user, at in slots:
            args = list(shape.args[user])
            args[at] = target if args[at] >= 0 else ~target
            shape = shape.with_(user, args, shape.sort[user])
        return shape, slots

    def retyped(self, line: int, operand: int) -> Shape | None:
        """Replace all operands of an operator over bit-vectors by another one, and adopt its width.

        None if they already have that width, or if users of the line need the old one.
        """
        dag, sort = self.dag, self.sort[operand]
        row = spelling(dag.dialect, dag.op[line], not dag.width(line))
        if row is None or not is_value(dag, line) or not isinstance(dag.sorts[sort], BitVec):
            return None
        args = list(self.args[line])
        at = [at for at, pattern in enumerate(row.operands) if pattern in ("n", "S")]
        if not at or takes_amount(dag, line) or self.sort[line_of(args[at[0]])] == sort:
            return None
        for each in at:
            args[each] = operand
        if row.result not in ("n", "S"):
            return self.with_(line, args, self.sort[line])
        users = (user for user in self.live() if line in map(line_of, self.args[user]))
        if all(dag.op[user] in _ANY_WIDTH for user in users):
            return self.with_(line, args, sort)
        return None

    def live(self) -> set[int]:
        """Return the lines that the roots need."""
        seen = set(self.dag.roots)
        work = list(seen)
        while work:
            line = work.pop()
            for each in (*map(line_of, self.args[line]), *self.belongs.get(line, ())):
                if each not in seen:
                    seen.add(each)
                    work.append(each)
        return seen

    def below(self, line: int) -> set[int]:
        """Return a line and all lines below it."""
        seen = {line}
        work = [line]
        while work:
            for each in map(line_of, self.args[work.pop()]):
                if each not in seen:
                    seen.add(each)
                    work.append(each)
        return seen

    def text(self) -> bytes | None:
        """Return the lines that the roots need, operands first; None if they break a format rule.

        The lines must not form a cycle.
        """
        dag = self.dag
        order: dict[int, None] = {}
        for first in sorted(self.live()):
            work = [first]
            while work:
                line = work[-1]
                missing = [each for each in map(line_of, self.args[line]) if each not in order]
                if missing:
                    work += missing
                    continue
                order[work.pop()] = None
        args = array("i", chain.from_iterable(self.args))
        offset = array("i", accumulate(map(len, self.args), initial=0))
        changed = replace(dag, args=args, offset=offset, sort=array("i", self.sort))
        text = canonical(reordered(changed, (line for line in order if dag.op[line] != Op.SORT)))
        try:
            read(text, dag.dialect)
        except ParseError:
            return None
        return text


def shape_of(dag: Dag) -> Shape:
    """Return the unchanged graph."""
    args = tuple(tuple(dag.arguments(line)) for line in range(len(dag)))
    return Shape(dag, args, tuple(dag.sort), Facts(dag).belongs)


def is_value(dag: Dag, line: int) -> bool:
    """Return whether a line is a bit-vector or array that others of its sort can replace."""
    code = dag.op[line]
    if code == Op.ROOT or code in DECLARATIONS:
        return False
    return isinstance(dag.sorts[dag.sort[line]], (BitVec, Array))


def takes_amount(dag: Dag, line: int) -> bool:
    """Return whether the second operand of a line is a shift amount, with its own width."""
    row = spelling(dag.dialect, dag.op[line], not dag.width(line))
    return row is not None and row.operands[1:] in (("log",), ("n/log",))
