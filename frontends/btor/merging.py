"""The upper part of a random graph: what has no parent is merged to the roots.

Layers as in the thesis (A. Vida, Linz 2008, sections 2.3 and 2.3.2): a read of each array,
a reduction of each wide bit-vector, then logical operators or clauses.
"""

from __future__ import annotations

import math

from reducekit.frontends.btor.builder import reordered
from reducekit.frontends.btor.dag import BitVec, Dag, line_of
from reducekit.frontends.btor.growing import Growth
from reducekit.frontends.btor.operators import Op

_REDUCTIONS = (Op.REDOR, Op.REDAND, Op.REDXOR)
_LOGIC = (Op.AND, Op.OR, Op.XOR, Op.XNOR, Op.NAND, Op.NOR, Op.IMPLIES, Op.IFF)
_CONJUNCTION = (Op.AND,)


def merge(growth: Growth, roots: int, layer: str, ratio: float) -> None:
    """Merge all nodes without parent to at most so many roots.

    `layer` is `logic` (any logical operators), `aig` (`and` and complements) or `cnf`:
    clauses, `ratio` of them for each node to be merged.
    """
    _read_arrays(growth)
    _reduce(growth)
    bits = list(growth.loose.get(growth.bit, ()))
    if not bits:
        bits = [growth.add(Op.INPUT, growth.bit)]
    if layer == "cnf":
        # Conjoined as they are: their complements would be no clauses.
        bits = _clauses(growth, bits, ratio)
    operators = _LOGIC if layer == "logic" else _CONJUNCTION
    while len(bits) > roots:
        pair = [_drawn(growth, bits), _drawn(growth, bits)]
        if layer != "cnf":
            pair = [growth.signed(each) for each in pair]
        code = operators[growth.below(len(operators))]
        bits.append(growth.add(code, growth.bit, pair))
    for each in bits:
        reference = each if layer == "cnf" else growth.signed(each)
        growth.builder.add(Op.ROOT, growth.bit, (reference,))


def roots_first(dag: Dag) -> Dag:
    """Return the graph with each root right behind what it asserts."""
    behind: dict[int, list[int]] = {}
    for root in dag.roots:
        behind.setdefault(line_of(dag.arguments(root)[0]), []).append(root)
    order = [
        each
        for line, code in enumerate(dag.op)
        if code != Op.ROOT
        for each in (line, *behind.get(line, ()))
    ]
    return reordered(dag, order)


def _drawn(growth: Growth, bits: list[int]) -> int:
    """Take one out of a list, in constant time."""
    at = growth.below(len(bits))
    bits[at], bits[-1] = bits[-1], bits[at]
    return bits.pop()


def _read_arrays(growth: Growth) -> None:
    for sort, loose in list(growth.loose.items()):
        if isinstance(growth.builder.table.sorts[sort], BitVec):
            continue
        for array in list(loose):
            found = growth.array_sort(array)
            growth.add(Op.READ, found.element, (array, growth.vector(found.index)))


def _reduce(growth: Growth) -> None:
    for sort, loose in list(growth.loose.items()):
        if growth.builder.table.width(sort) <= 1:
            continue
        for line in list(loose):
            code = _REDUCTIONS[growth.below(len(_REDUCTIONS))]
            growth.add(code, growth.bit, (growth.signed(line),))


def _clauses(growth: Growth, variables: list[int], ratio: float) -> list[int]:
    """Return clauses of three literals, in which each variable stands at least once."""
    count = len(variables)

    def literal() -> int:
        drawn = growth.below(2 * count)
        line = variables[drawn % count]
        return ~line if drawn >= count else line

    rest = list(variables)
    clauses: list[list[int]] = []
    while rest:
        clause = []
        for _ in range(3):
            line = _drawn(growth, rest) if rest else growth.some(variables)
            clause.append(~line if growth.below(2) else line)
        clauses.append(clause)
    wanted = math.floor(ratio * count + 0.5)
    clauses += [[literal() for _ in range(3)] for _ in range(wanted - len(clauses))]
    return [
        growth.add(Op.OR, growth.bit, (growth.add(Op.OR, growth.bit, clause[:2]), clause[2]))
        for clause in clauses
    ]
