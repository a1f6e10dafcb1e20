"""The rules that look further than one line: of `init` and `next`, of `param` and `lambda`.

The words of a problem have `{}` in place of the operand, which is named as in the text.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Protocol

from reducekit.frontends.btor.model.dag import line_of
from reducekit.frontends.btor.model.operators import CONSTANTS, Op
from reducekit.frontends.btor.model.rules import Problem


class Lines(Protocol):
    """The lines so far; the one that is being added has the next number."""

    two: bool
    ids: array[int]
    op: list[int]
    sort: list[int]
    offset: list[int]
    args: array[int]


class States:
    """Who has an `init`, who a `next`."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.given: dict[int, set[int]] = {Op.INIT: set(), Op.NEXT: set()}
        self.inits: list[tuple[int, int]] = []  # line, line of a value that is not a constant

    def add(self, code: int, operands: Sequence[int]) -> Problem | None:
        """Check an `init` or `next` line; sorts are checked already."""
        lines = self.lines
        name = "init" if code == Op.INIT else "next"
        state, value = operands[0], line_of(operands[1])
        if state < 0 or lines.op[state] != (Op.STATE if lines.two else Op.INPUT):
            what = "{} is not a state" if lines.two else "{} is not a variable"
            return Problem(name, what, 0)
        if state in self.given[code]:
            return Problem(name, "{} has its " + name + " above", 0)
        self.given[code].add(state)
        if code == Op.NEXT:
            return None
        if value > state:
            return Problem(
                "init-order",
                f"init value {{}} needs a smaller id than its state {lines.ids[state]}",
                1,
            )
        if lines.op[value] not in CONSTANTS:
            if lines.sort[value] != lines.sort[state]:
                return Problem("init", "an array starts as an array or a constant", 1)
            self.inits.append((len(lines.op), value))
        return None

    def _below_inputs(self, count: int) -> bytearray:
        """Mark those of the first lines that depend on an input."""
        tainted = bytearray(count)
        offset, args, op = self.lines.offset, self.lines.args, self.lines.op
        for line in range(count):
            if op[line] == Op.INPUT:
                tainted[line] = 1
            elif op[line] != Op.SORT:
                operands = args[offset[line] : offset[line + 1]]
                tainted[line] = any(tainted[line_of(each)] for each in operands)
        return tainted

    def finish(self) -> tuple[int, Problem] | None:
        """Check that no init value depends on an input; return the line that breaks that."""
        if not self.inits:
            return None
        tainted = self._below_inputs(max(value for _, value in self.inits) + 1)
        for line, value in self.inits:
            if tainted[value]:
                what = f"{self.lines.ids[value]} depends on an input"
                return line, Problem("init-inputs", what, 1)
        return None


class Scopes:
    """Which params a line depends on, and which have got their lambda."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.free: dict[int, frozenset[int]] = {}
        self.bound: set[int] = set()

    def _is_unbound(self, parameter: int) -> bool:
        param = parameter >= 0 and self.lines.op[parameter] == Op.PARAM
        return param and parameter not in self.bound

    def add(self, code: int, operands: Sequence[int]) -> Problem | None:
        """Check that params stay below their lambdas."""
        line, ids = len(self.lines.op), self.lines.ids
        free: frozenset[int] = frozenset((line,)) if code == Op.PARAM else frozenset()
        for at, each in enumerate(operands):
            more = self.free.get(line_of(each))
            if not more:
                continue
            gone = more & self.bound
            if gone and not (code == Op.LAMBDA and at == 0):
                what = f"param {ids[min(gone)]} is bound by a lambda above"
                return Problem("parameter-scope", what, at)
            free = free | more if free else more
        if code == Op.LAMBDA:
            if not self._is_unbound(operands[0]):
                return Problem("parameter", "{} is not an unbound param", 0)
            self.bound.add(operands[0])
            free = free - {operands[0]}
        if code == Op.ROOT and free:
            return Problem("parameter-scope", f"param {ids[min(free)]} has no lambda", 0)
        if free:
            self.free[line] = free
        return None
