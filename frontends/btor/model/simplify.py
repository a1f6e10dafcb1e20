"""Simplification of operators whose operands are constant, equal or complementary.

`FIGURE` has the rules of figure 4.2 in A. Vida's thesis (Linz 2008), `EVERY` these and
their kin for the other operators. A rule never makes a new operator: its result is a
constant, an operand or the complement of one, so graphs only shrink.

What the figure leaves open, and what holds here:

* Its 1 is all ones, so `add(1, 1)` is -2, as its caption says; where the number one is
  meant, the tables below say `u`. At one bit both are the same.
* `eq` has operands of any width and a result of one bit; `eq(y, 1)` is y at one bit only.
* `implies` reads from the row to the column, and is of one bit.
* `cond` has no rule for equal branches, and none for arrays (`acond`); EVERY has both.
* It has no rule for equal or complementary operands, though `-x` is among its results.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reducekit.frontends.btor.model.dag import (
    Builder,
    Dag,
    belonging,
    constant_value,
    line_of,
    moved,
    reached,
)
from reducekit.frontends.btor.model.evaluate import computed
from reducekit.frontends.btor.model.operators import DECLARATIONS, SYMMETRIC, Op

# Operands: 0 and 1 are all zeros and all ones, u is the number one; x and y stand for
# anything, the same letter for the same, -x for the complement. Results likewise, at the
# width of the result. Conditions: `bit` the first operand has one bit, `wide` more,
# `bits` the result has one, `whole` it is as wide as the first operand.
_FIGURE = """
and     x 0    0      add     x 0    x      implies x 1    1      not     x      -x
and     x 1    x      xor     x 0    x      implies 1 x    x      not     0      1
or      x 0    x      xor     x 1    -x     implies x 0    -x     not     1      0
or      x 1    1      xor     1 1    0      implies 0 x    1      ite     1 x y  x
nand    x 0    1      eq      1 1    1      nor     x 0    -x     ite     0 x y  y
nand    x 1    -x     eq      0 0    1      nor     x 1    0
eq      1 0    0
"""
_MORE = """
and     x x    x      and     x -x   0      or      x x    x      or      x -x   1
nand    x x    -x     nand    x -x   1      nor     x x    -x     nor     x -x   0
xor     x x    0      xor     x -x   1      xnor    x x    1      xnor    x -x   0
xnor    x 0    -x     xnor    x 1    x      iff     x x    1      iff     x -x   0
iff     x 0    -x     iff     x 1    x      implies x x    1      implies x -x   -x
eq      x x    1      eq      x -x   0      ne      x x    0      ne      x -x   1
eq      x 1    x bit  eq      x 0    -x bit ne      x 1    -x bit ne      x 0    x bit
ne      1 0    1
add     x -x   1      sub     x 0    x      sub     x x    0      sub     1 x    -x
mul     x 0    0      mul     x u    x      udiv    x 0    1      udiv    x u    x
urem    x 0    x      urem    x u    0      urem    x x    0      urem    0 x    0
sdiv    x u    x      srem    x 0    x      srem    x u    0      srem    x x    0
srem    0 x    0      srem    x 1    0      smod    x 0    x      smod    x u    0
smod    x x    0      smod    0 x    0      smod    x 1    0
sll     x 0    x      sll     0 x    0      srl     x 0    x      srl     0 x    0
sra     x 0    x      sra     0 x    0      sra     1 x    1      rol     x 0    x
rol     0 x    0      rol     1 x    1      ror     x 0    x      ror     0 x    0
ror     1 x    1
ult     x 0    0      ult     x x    0      ult     1 x    0      ulte    0 x    1
ulte    x x    1      ulte    x 1    1      ugt     0 x    0      ugt     x x    0
ugt     x 1    0      ugte    x 0    1      ugte    x x    1      ugte    1 x    1
ult     0 x    x bit  ult     x 1    -x bit ugt     x 0    x bit  ugt     1 x    -x bit
slt     x x    0      slte    x x    1      sgt     x x    0      sgte    x x    1
uaddo   x 0    0      uaddo   x -x   0      saddo   x 0    0      saddo   x -x   0
usubo   x 0    0      usubo   x x    0      usubo   1 x    0      ssubo   x 0    0
ssubo   x x    0      umulo   x 0    0      umulo   x u    0      smulo   x 0    0
smulo   x u    0 wide sdivo   x 0    0      sdivo   x u    0 wide sdivo   0 x    0
neg     0      0      neg     1      u      neg     x      x bit  inc     1      0
inc     0      u      inc     x      -x bit dec     0      1      dec     u      0
dec     x      -x bit proxy   x      x
redor   0      0      redor   1      1      redand  0      0      redand  1      1
redxor  0      0      redor   x      x bit  redand  x      x bit  redxor  x      x bit
slice   0      0      slice   1      1      uext    0      0      sext    0      0
sext    1      1      concat  0 0    0      concat  1 1    1
slice   x   x whole   uext    x   x whole   sext    x   x whole
ite     x y y  y      ite     x 1 0  x bits ite     x 0 1  -x bits
"""


class Rule(NamedTuple):
    """A row of the tables: patterns of the operands, the result, and a condition (may be empty)."""

    code: Op
    operands: tuple[str, ...]
    result: str
    condition: str


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules by operator; with `folds`, operators of constants alone are computed as well."""

    by_code: Mapping[int, tuple[Rule, ...]]
    folds: bool


def _read(table: str) -> list[Rule]:
    """Read rows, several a line, and add those with operands exchanged where that is the same."""
    rules: list[Rule] = []
    names = {each.name.lower() for each in Op}
    words = table.split()
    starts = [at for at, word in enumerate(words) if word in names]
    for start, end in zip(starts, [*starts[1:], len(words)], strict=True):
        code = Op[words[start].upper()]
        rest = words[start + 1 : end]
        condition = rest.pop() if rest[-1] in ("bit", "bits", "wide", "whole") else ""
        rule = Rule(code, tuple(rest[:-1]), rest[-1], condition)
        rules.append(rule)
        if code in SYMMETRIC and rule.operands[0] != rule.operands[1]:
            swapped = rule.operands[::-1]
            # Patterns bind from left to right: a complement follows what it complements.
            if not swapped[0].startswith("-"):
                rules.append(rule._replace(operands=swapped))
    return rules


def _rules(*tables: str, folds: bool) -> Rules:
    by_code: dict[int, list[Rule]] = {}
    for table in tables:
        for rule in _read(table):
            by_code.setdefault(rule.code, []).append(rule)
    return Rules({code: tuple(found) for code, found in by_code.items()}, folds)


FIGURE = _rules(_FIGURE, folds=False)
"""The rules of figure 4.2, no more."""
EVERY = _rules(_FIGURE, _MORE, folds=True)
"""All rules, and computing with constants."""


class Operand(NamedTuple):
    """What is known of an operand: its reference, width (0: no bit-vector), and value if constant.

    The value is that of the reference, so complemented where the reference is.
    """

    reference: int
    width: int
    value: int | None = None


class Replacement(NamedTuple):
    """What replaces a simplified node: a reference or, where that is None, a value."""

    reference: int | None
    value: int = 0


def simplify(
    code: int,
    operands: Sequence[Operand],
    width: int,
    numbers: Sequence[int] = (),
    rules: Rules = EVERY,
) -> Replacement | None:
    """Return what replaces an operator with such operands, None if no rule applies.

    `width` is that of the result (0 for arrays), `numbers` those of the line.
    """
    if rules.folds and width:
        value = _computed(code, operands, width, numbers)
        if value is not None:
            return Replacement(None, value)
    for rule in rules.by_code.get(code, ()):
        found = _applied(rule, operands, width)
        if found is not None:
            return found
    return None


_CONDITIONS: Mapping[str, Callable[[int, int], bool]] = {
    "bit": lambda first, width: first == 1,
    "bits": lambda first, width: width == 1,
    "wide": lambda first, width: first > 1,
    "whole": lambda first, width: first == width,
}
"""What a rule asks of the widths of the first operand and of the result."""


def _applied(rule: Rule, operands: Sequence[Operand], width: int) -> Replacement | None:
    if rule.condition and not _CONDITIONS[rule.condition](operands[0].width, width):
        return None
    bound: dict[str, Operand] = {}
    for pattern, operand in zip(rule.operands, operands, strict=True):
        if not _matches(pattern, operand, bound):
            return None
    result = rule.result
    if result in _VALUES:
        return Replacement(None, _VALUES[result](width))
    complement = result.startswith("-")
    operand = bound[result.removeprefix("-")]
    return Replacement(~operand.reference if complement else operand.reference)


_VALUES: Mapping[str, Callable[[int], int]] = {
    "0": lambda width: 0,
    "1": lambda width: (1 << width) - 1,
    "u": lambda width: 1,
}


def _matches(pattern: str, operand: Operand, bound: dict[str, Operand]) -> bool:
    if pattern in _VALUES:
        return operand.value is not None and operand.value == _VALUES[pattern](operand.width)
    if pattern.startswith("-"):
        reference, width, value = bound[pattern[1:]]
        inverse = None if value is None else value ^ ((1 << width) - 1)
        return _same(Operand(~reference, width, inverse), operand)
    other = bound.setdefault(pattern, operand)
    return other is operand or _same(other, operand)


def _same(a: Operand, b: Operand) -> bool:
    if a.reference == b.reference:
        return True
    return a.value is not None and a.value == b.value and a.width == b.width


def _computed(
    code: int, operands: Sequence[Operand], width: int, numbers: Sequence[int]
) -> int | None:
    """Return the value of an operator of constants."""
    values = [each.value for each in operands if each.value is not None]
    if len(values) < len(operands) or not values or code == Op.ROOT:
        return None
    return computed(code, values, [each.width for each in operands], width, numbers)


UNSIMPLIFIED = DECLARATIONS | {Op.ROOT, Op.LAMBDA, Op.APPLY}


def operand_of(dag: Dag, reference: int, values: Mapping[int, int]) -> Operand:
    """Return a reference as an operand; `values` has the lines that are constants."""
    line = line_of(reference)
    width = dag.width(line)
    value = values.get(line)
    if value is not None and reference < 0:
        value ^= (1 << width) - 1
    return Operand(reference, width, value)


def simplify_dag(dag: Dag, rules: Rules = EVERY) -> Dag:
    """Return the graph with all rules applied until none does, without what is no longer needed.

    It means the same, and has no text. Kept are the roots and properties, what is below
    them, and the `init` and `next` of the states and variables there. Of the constants of
    one width and value (or its complement) the first one stays. The order of lines stays.
    """
    meaning = array("q", range(len(dag)))
    values: dict[int, int] = {}  # of lines that are constants
    holders: dict[tuple[int, int], int] = {}  # sort and value -> a reference
    new_constants: set[int] = set()
    # Operands come first, so that each sees what has become of its operands: one walk is all.
    for line, code in enumerate(dag.op):
        value = constant_value(dag, line)
        own = value is not None
        if value is None:
            arguments = dag.arguments(line)
            if not (code in rules.by_code or rules.folds) or not arguments or code in UNSIMPLIFIED:
                continue
            operands = [operand_of(dag, moved(each, meaning), values) for each in arguments]
            width, numbers = dag.width(line), dag.numbers.get(line, ())
            found = simplify(code, operands, width, numbers, rules)
            if found is None:
                continue
            value = found.value
            if found.reference is not None:
                known = operand_of(dag, found.reference, values).value
                if known is None:
                    meaning[line] = found.reference
                    continue
                value = known
        # The line is a constant: an earlier one, or itself.
        holder = holders.get((dag.sort[line], value))
        if holder is not None:
            meaning[line] = holder
            continue
        ones = (1 << dag.width(line)) - 1
        holders[dag.sort[line], value], holders[dag.sort[line], value ^ ones] = line, ~line
        values[line] = value
        if not own:
            new_constants.add(line)
    return _built(dag, meaning, values, new_constants)


def _built(
    dag: Dag, meaning: array[int], values: Mapping[int, int], new_constants: set[int]
) -> Dag:
    belongs = belonging(dag)

    def below(line: int) -> list[int]:
        """Return what a line needs: its operands, and the init and next of a leaf."""
        args = () if line in new_constants else dag.arguments(line)
        return [*belongs.get(line, ()), *(line_of(moved(each, meaning)) for each in args)]

    live = reached(dag.roots, below)
    builder = Builder(dag.dialect, dag.sorts)
    place: dict[int, int] = {}
    for line in sorted(live):
        if line in new_constants:
            place[line] = builder.constant(dag.width(line), values[line])
        else:
            args = [moved(moved(each, meaning), place) for each in dag.arguments(line)]
            place[line] = builder.copy(dag, line, args)
    return builder.dag()
