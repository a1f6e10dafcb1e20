"""The upper part of a random graph: what has no parent is merged to the roots.

Layers as in the thesis (A. Vida, Linz 2008, sections 2.3 and 2.3.2): a read of each array,
a reduction of each wide bit-vector, then logical operators or clauses.
"""

from __future__ import annotations

import math

from reducekit.frontends.btor.generate.graph_builder import GraphBuilder
from reducekit.frontends.btor.model.builder import reordered
from reducekit.frontends.btor.model.dag import BitVec, Dag, line_of
from reducekit.frontends.btor.model.operators import Op

_REDUCTIONS = (Op.REDOR, Op.REDAND, Op.REDXOR)
_LOGIC = (Op.AND, Op.OR, Op.XOR, Op.XNOR, Op.NAND, Op.NOR, Op.IMPLIES, Op.IFF)
_CONJUNCTION = (Op.AND,)


def merge(graph: GraphBuilder, roots: int, layer: str, ratio: float) -> None:
    """Merge all nodes without parent to at most `roots` roots.

    `layer` is `logic` (any logical operators), `aig` (`and` and complements) or `cnf`:
    clauses, `ratio` of them for each node to be merged.
    """
    _read_arrays(graph)
    _reduce(graph)
    bits = list(graph.loose.get(graph.bit, ()))
    if not bits:
        bits = [graph.add(Op.INPUT, graph.bit)]
    if layer == "cnf":
        # Conjoined as they are: their complements would be no clauses.
        bits = _clauses(graph, bits, ratio)
    operators = _LOGIC if layer == "logic" else _CONJUNCTION
    while len(bits) > roots:
        pair = [_drawn(graph, bits), _drawn(graph, bits)]
        if layer != "cnf":
            pair = [graph.signed(each) for each in pair]
        code = operators[graph.below(len(operators))]
        bits.append(graph.add(code, graph.bit, pair))
    for each in bits:
        reference = each if layer == "cnf" else graph.signed(each)
        graph.builder.add(Op.ROOT, graph.bit, (reference,))


def roots_first(dag: Dag) -> Dag:
    """Return the graph with each root right after what it asserts."""
    roots: dict[int, list[int]] = {}
    for root in dag.roots:
        roots.setdefault(line_of(dag.arguments(root)[0]), []).append(root)
    order = [
        each
        for line, code in enumerate(dag.op)
        if code != Op.ROOT
        for each in (line, *roots.get(line, ()))
    ]
    return reordered(dag, order)


def _drawn(graph: GraphBuilder, bits: list[int]) -> int:
    """Take one out of a list, in constant time."""
    at = graph.below(len(bits))
    bits[at], bits[-1] = bits[-1], bits[at]
    return bits.pop()


def _read_arrays(graph: GraphBuilder) -> None:
    for sort, loose in list(graph.loose.items()):
        if isinstance(graph.builder.table.sorts[sort], BitVec):
            continue
        for array in list(loose):
            found = graph.array_sort(array)
            graph.add(Op.READ, found.element, (array, graph.vector(found.index)))


def _reduce(graph: GraphBuilder) -> None:
    for sort, loose in list(graph.loose.items()):
        if graph.builder.table.width(sort) <= 1:
            continue
        for line in list(loose):
            code = _REDUCTIONS[graph.below(len(_REDUCTIONS))]
            graph.add(code, graph.bit, (graph.signed(line),))


def _clauses(graph: GraphBuilder, variables: list[int], ratio: float) -> list[int]:
    """Return clauses of three literals, in which each variable occurs at least once."""
    count = len(variables)

    def literal() -> int:
        drawn = graph.below(2 * count)
        line = variables[drawn % count]
        return ~line if drawn >= count else line

    rest = list(variables)
    clauses: list[list[int]] = []
    while rest:
        clause = []
        for _ in range(3):
            line = _drawn(graph, rest) if rest else graph.some(variables)
            clause.append(~line if graph.below(2) else line)
        clauses.append(clause)
    wanted = math.floor(ratio * count + 0.5)
    clauses += [[literal() for _ in range(3)] for _ in range(wanted - len(clauses))]
    return [
        graph.add(Op.OR, graph.bit, (graph.add(Op.OR, graph.bit, clause[:2]), clause[2]))
        for clause in clauses
    ]
