"""The upper part of a random graph: what has no parent is merged to roots, or has properties.

Layers as in the thesis (A. Vida, Linz 2008, sections 2.3 and 2.3.2): a read of each array,
a reduction of each wide bit-vector, then logical operators or clauses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from reducekit.frontends.btor.generate.graph_builder import Dice, GraphBuilder
from reducekit.frontends.btor.model.dag import (
    Array,
    BitVec,
    Builder,
    Dag,
    line_of,
    moved,
    reordered,
)
from reducekit.frontends.btor.model.operators import Dialect, Op

_REDUCTIONS = (Op.REDOR, Op.REDAND, Op.REDXOR)
_LOGIC = (Op.AND, Op.OR, Op.XOR, Op.XNOR, Op.NAND, Op.NOR, Op.IMPLIES, Op.IFF)
_CONJUNCTION = (Op.AND,)


def merge(graph: GraphBuilder, roots: int, layer: str, ratio: float) -> None:
    """Merge all nodes without parent to at most `roots` roots.

    `layer` is `logic` (any logical operators), `aig` (`and` and complements) or `cnf`:
    clauses, `ratio` of them for each node to be merged.
    """
    table = graph.builder.table
    for sort, loose in list(graph.loose.items()):
        for array in () if isinstance(table.sorts[sort], BitVec) else list(loose):
            found = graph.array_sort(array)
            graph.add(Op.READ, found.element, (array, graph.vector(found.index)))
    for sort, loose in list(graph.loose.items()):
        for line in list(loose) if table.width(sort) > 1 else ():
            graph.add(graph.some(_REDUCTIONS), graph.bit, (graph.signed(line),))
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
        bits.append(graph.add(graph.some(operators), graph.bit, pair))
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


_STATES, _INITS, _NEXTS = 60, 70, 85
"""Percent of leaves that are states, of states with a first value, and with a next one."""
_COUNTERS = 30
"""Percent of states of bit-vectors that count, so that some bad states are many steps away."""
_KINDS = 40
"""Percent of files that have a kind of property, for each kind but `bad`."""
_MOST = 3


def system(dag: Dag, chance: Callable[[], float], states: int) -> Dag:
    """Return a graph of BTOR2 with constraints only as a system, of some states at least."""
    return _System(dag, chance, states).run()


class _System(Dice):
    """Copies the lines of a graph; `place` is where each went.

    BTOR2 of A. Niemetz, M. Preiner, C. Wolf, A. Biere (CAV 2018): `init` and `next`, some missing,
    and `bad`, `constraint`, `fair`, `justice` and `output`. FuzzBtor2 (TACAS 2023) makes the first
    two.
    """

    def __init__(self, dag: Dag, chance: Callable[[], float], states: int) -> None:
        super().__init__(chance)
        self.dag = dag
        self.builder = Builder(Dialect.BTOR2, dag.sorts)
        self.bit = self.builder.table.bitvec(1)
        self.place: dict[int, int] = {}
        self.states: list[int] = []
        self.of: dict[int, list[int]] = {}
        """The nodes by sort."""
        leaves = list(dag.lines_of(Op.INPUT))
        self.chosen = {each for each in leaves if self.percent(_STATES)}
        while leaves and len(self.chosen) < states:
            self.chosen.add(leaves.pop(self.below(len(leaves))))

    def signed(self, line: int) -> int:
        return ~line if self.percent(25) and self.builder.width(line) else line

    def run(self) -> Dag:
        dag, roots = self.dag, list[int]()
        for line, code in enumerate(dag.op):
            args = [moved(each, self.place) for each in dag.arguments(line)]
            if code == Op.CONSTRAINT:
                roots += args
            elif line in self.chosen:
                self.place[line] = self.state(dag.sort[line])
            elif code != Op.SORT:
                more = dag.numbers.get(line, ()), dag.literals.get(line, b"")
                self.place[line] = self.add(code, dag.sort[line], args, *more)
        for state in self.states:
            if self.percent(_NEXTS):
                sort = self.builder.sort[state]
                following = self.signed(self.some(self.of[sort]))
                if self.builder.width(state) and self.percent(_COUNTERS):
                    following = self.builder.add(Op.INC, sort, (state,))
                self.builder.add(Op.NEXT, sort, (state, following))
        self.properties(roots)
        return self.builder.dag()

    def add(self, code: int, sort: int, args: Sequence[int] = (), *more: Any) -> int:
        line = self.builder.add(code, sort, args, *more)
        self.of.setdefault(sort, []).append(line)
        return line

    def state(self, sort: int) -> int:
        """Add a state, and its first value: another state, or a constant for all elements."""
        table = self.builder.table
        found = table.sorts[sort]
        width = table.width(found.element if isinstance(found, Array) else sort)
        value = -1
        if width and self.percent(_INITS):
            earlier = [each for each in self.states if self.builder.sort[each] == sort]
            if earlier and self.percent(20):
                value = self.some(earlier)
            else:
                bits = sum(1 << at for at in range(width) if self.percent(50))
                value = self.builder.constant(width, 0 if self.percent(50) else bits)
        line = self.add(Op.STATE, sort)
        if value >= 0:
            self.builder.add(Op.INIT, sort, (line, value))
        self.states.append(line)
        return line

    def properties(self, roots: Sequence[int]) -> None:
        """Add the properties: one of each kind to begin with, and the roots, so all is needed."""
        builder = self.builder
        builder.add(Op.BAD, -1, (self.later(roots[0]),))
        for each in roots[1:]:
            code = Op.OUTPUT if self.percent(30) else Op.BAD
            builder.add(code, -1, (each if code == Op.OUTPUT else self.later(each),))
        for code in (Op.BAD, Op.CONSTRAINT, Op.FAIR, Op.JUSTICE, Op.OUTPUT):
            for _ in range(1 + self.below(_MOST) if self.percent(_KINDS) else 0):
                if code == Op.OUTPUT:
                    sorts = [sort for sort in self.of if builder.table.width(sort)]
                    args = [self.some(self.of[self.some(sorts)])]
                elif code == Op.JUSTICE:
                    args = [self.drawn() for _ in range(1 + self.below(_MOST))]
                else:
                    args = [self.drawn()]
                if code == Op.BAD:
                    args = [self.later(args[0])]
                if code == Op.CONSTRAINT:
                    # Weak, or hardly a system would have a run.
                    args = [builder.add(Op.OR, self.bit, (args[0], self.drawn()))]
                builder.add(code, -1, args)

    def later(self, bit: int) -> int:
        """Return a bit that is true only where states have certain values, often."""
        builder = self.builder
        states = [each for each in self.states if builder.width(each)]
        for _ in range(self.below(4) if states else 0):
            state = self.some(states)
            width = builder.width(state)
            value = builder.constant(width, self.below(1 << min(width, 30)))
            equal = builder.add(Op.EQ, self.bit, (state, value))
            bit = builder.add(Op.AND, self.bit, (bit, equal))
        return bit

    def drawn(self) -> int:
        """Return any bit, perhaps complemented."""
        return self.signed(self.some(self.of[self.bit]))
