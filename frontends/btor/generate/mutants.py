"""Mutants of BTOR files of all dialects: small changes after which they are well sorted as before.

As for SMT-LIB (`smt2.generate.mutants`): other operators of the same rank, other nodes of the same
sort, operators around nodes, other constants, and two files joined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import TypeAlias

from reducekit.errors import ParseError, UsageError
from reducekit.frontends.btor.convert.conversion import convert
from reducekit.frontends.btor.model.dag import (
    BitVec,
    Builder,
    Dag,
    SortTable,
    line_of,
    moved,
    of_parts,
    parts_of,
)
from reducekit.frontends.btor.model.operators import (
    CONSTANTS,
    DECLARATIONS,
    Dialect,
    Op,
    Operator,
    spellings,
)
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.mutation import TRIES

_MOST = 3
"""The number of changes of a mutant, at most."""
_KEPT = DECLARATIONS | {Op.INPUT, Op.STATE, Op.PARAM, Op.LAMBDA, Op.APPLY, Op.ROOT, Op.PROXY}
"""Lines whose operator stays."""
_FIXED = frozenset({Op.SORT, Op.INIT, Op.LAMBDA, Op.APPLY})
"""Lines whose operands stay: an init value, for one, must not depend on inputs."""


_Nodes: TypeAlias = Mapping[int, Sequence[int]]
"""The lines that may be operands, by sort, in file order."""


@dataclass(frozen=True, slots=True)
class _Around:
    """An operator to put around an operand of a line, and the operator's operands."""

    code: int
    sort: int
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Changes:
    """Changes of a graph, by line."""

    codes: dict[int, int]
    args: dict[int, list[int]]
    values: dict[int, int]
    """New values of constants."""
    around: dict[tuple[int, int], _Around]
    """By the line and the number of its operand."""

    def __bool__(self) -> bool:
        return bool(self.codes or self.args or self.values or self.around)


def seed_of(text: bytes) -> Dag | None:
    """Return a file as a seed; None if it does not parse.

    What is in the dialect of 2007, which is read only, becomes that of 2008.
    """
    try:
        dag = read(text, any_ending=True)
        return convert(dag, Dialect.OLD) if dag.dialect is Dialect.BTOR_2007 else dag
    except (ParseError, UsageError):
        return None


def changed(dice: Random, seed: Dag, other: Dag | None) -> bytes | None:
    """Return the text of a seed, joined with the other one if that can be, with some changes."""
    dag = seed
    if other is not None and other.dialect == seed.dialect:
        dag = joined(seed, other)
    nodes: dict[int, list[int]] = {}
    for line, code in enumerate(dag.op):
        if code not in DECLARATIONS and code not in (Op.ROOT, Op.PARAM):
            nodes.setdefault(dag.sort[line], []).append(line)
    changes = _Changes({}, {}, {}, {})
    wanted = dice.randint(1, _MOST)
    lines = [line for line, code in enumerate(dag.op) if code != Op.SORT]
    for _ in range(TRIES if lines else 0):
        if wanted == 0:
            break
        wanted -= dice.choice(_CHANGES)(dice, dag, nodes, changes, dice.choice(lines))
    if not changes:
        return None
    try:
        text = canonical(_applied(dag, changes))
        read(text, dag.dialect, any_ending=True)
    except (ParseError, UsageError):
        return None  # such as a parameter outside of its function
    return text


def joined(first: Dag, second: Dag) -> Dag:
    """Return the lines of two files of one dialect, one after the other.

    The roots of both are asserted. Symbols of the second are left out: some must not stand twice.
    """
    builder = Builder(first.dialect, first.sorts)
    for dag in (first, second):
        sorts = _merged(builder.table, dag)
        at = len(builder)
        for line, code in enumerate(dag.op):
            args = [each + at if each >= 0 else each - at for each in dag.arguments(line)]
            symbol = dag.symbols.get(line, b"") if dag is first else b""
            sort = sorts[dag.sort[line]] if dag.sort[line] >= 0 else -1
            numbers, literal = dag.numbers.get(line, ()), dag.literals.get(line, b"")
            builder.add(code, sort, args, numbers, literal, symbol)
    return builder.dag()


def _merged(table: SortTable, dag: Dag) -> Sequence[int]:
    """Return the sorts of a graph in the table of another one; each names earlier ones only."""
    found: list[int] = []
    for sort in dag.sorts:
        found.append(table.add(of_parts(sort, [found[each] for each in parts_of(sort)])))
    return found


def _earlier(dice: Random, dag: Dag, nodes: _Nodes, sort: int, line: int) -> int | None:
    """Draw a reference to a node of a sort that stands before a line; None without such a node."""
    given = nodes.get(sort, ())
    many = sum(1 for each in given if each < line)
    if not many:
        return None
    found = given[dice.randrange(many)]
    return ~found if isinstance(dag.sorts[sort], BitVec) and dice.random() < 0.25 else found


def _operator(dice: Random, dag: Dag, nodes: _Nodes, changes: _Changes, line: int) -> bool:
    """Exchange the operator of a line for another one of its rank."""
    code = dag.op[line]
    if code in _KEPT or line in changes.codes or code in CONSTANTS:
        return False
    others = [each for each in _alike(dag.dialect).get(code, ()) if each != code]
    if others:
        changes.codes[line] = dice.choice(others)
    return bool(others)


def _place(dice: Random, dag: Dag, line: int) -> int:
    """Draw the position of an operand that may change, -1 if there is none."""
    args, code = dag.arguments(line), dag.op[line]
    return dice.randrange(code == Op.NEXT, len(args)) if args and code not in _FIXED else -1


def _operand(dice: Random, dag: Dag, nodes: _Nodes, changes: _Changes, line: int) -> bool:
    """Exchange an operand of a line for another node of its sort."""
    if line in changes.args or (at := _place(dice, dag, line)) < 0:
        return False
    args = list(dag.arguments(line))
    new = _earlier(dice, dag, nodes, dag.sort[line_of(args[at])], line)
    if new is None or new == args[at]:
        return False
    args[at] = new
    changes.args[line] = args
    return True


def _constant(dice: Random, dag: Dag, nodes: _Nodes, changes: _Changes, line: int) -> bool:
    """Give a constant another value, often an extreme one."""
    if dag.op[line] not in CONSTANTS:
        return False
    width = dag.width(line)
    extreme = (0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1)
    changes.values[line] = dice.choice((*extreme, dice.getrandbits(width)))
    return True


def _put_around(dice: Random, dag: Dag, nodes: _Nodes, changes: _Changes, line: int) -> bool:
    """Put an operator around an operand that is a bit-vector."""
    if (at := _place(dice, dag, line)) < 0:
        return False
    operand = dag.arguments(line)[at]
    sort = dag.sort[line_of(operand)]
    if not isinstance(dag.sorts[sort], BitVec):
        return False
    row = dice.choice(_around(dag.dialect))
    place = dice.choice([n for n, each in enumerate(row.operands) if each != "1"])
    bit = next((n for n, each in enumerate(dag.sorts) if each == BitVec(1)), None)
    found = []
    for number, pattern in enumerate(row.operands):
        wanted = bit if pattern == "1" else sort
        other = operand if number == place else None
        if other is None and wanted is not None:
            other = _earlier(dice, dag, nodes, wanted, line)
        if other is None:
            return False
        found.append(other)
    changes.around[line, at] = _Around(row.code, sort, tuple(found))
    return True


_CHANGES = (_operator, _operand, _constant, _put_around)


def _applied(dag: Dag, changes: _Changes) -> Dag:
    """Return the graph with the changes."""
    builder = Builder(dag.dialect, dag.sorts)
    place: list[int] = []
    for line, code in enumerate(dag.op):
        if code == Op.SORT:
            place.append(-1)  # the writer declares what is used
            continue
        if line in changes.values:
            place.append(builder.constant(dag.width(line), changes.values[line]))
            continue
        args = [moved(each, place) for each in changes.args.get(line, dag.arguments(line))]
        for at in range(len(args)):
            new = changes.around.get((line, at))
            if new is not None:
                others = [moved(each, place) for each in new.args]
                args[at] = builder.add(new.code, new.sort, others)
        place.append(builder.copy(dag, line, args, changes.codes.get(line, code)))
    return builder.dag()


@cache
def _alike(dialect: Dialect) -> Mapping[int, Sequence[int]]:
    """Return the operators of the same rank as each one, in a dialect."""
    ranks: dict[object, list[int]] = {}
    rows = [each for each in spellings(dialect).values() if each.code not in _KEPT]
    for row in rows:
        kind = (row.operands, row.result, row.numbers, row.header)
        ranks.setdefault(kind, []).append(row.code)
    return {code: codes for codes in ranks.values() for code in codes}


@cache
def _around(dialect: Dialect) -> Sequence[Operator]:
    """Return the operators whose result has the sort of an operand, and other operands too."""
    return [
        row
        for row in spellings(dialect).values()
        if row.code not in _KEPT
        and row.operands
        and not row.numbers
        and row.result in ("n", "S")
        and {*row.operands} <= {"1", "n", "S"}
        and {*row.operands} != {"1"}
    ]
