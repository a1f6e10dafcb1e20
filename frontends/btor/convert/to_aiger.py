"""Makes a circuit of a BTOR2 graph: a bit for each bit of a state or input, gates for the rest.

All operators on bit-vectors are translated; arrays are not.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TypeAlias

from reducekit.errors import UsageError
from reducekit.frontends.aiger.circuit import Circuit, Latch
from reducekit.frontends.aiger.files import write
from reducekit.frontends.btor.model.dag import BitVec, Dag, constant_value, line_of, values_given
from reducekit.frontends.btor.model.operators import Op
from reducekit.offers import Converted

FALSE, TRUE = 0, 1
Word: TypeAlias = Sequence[int]
"""A list of literals, the lowest bit first."""


class Gates:
    """Makes gates over literals. Those of inputs and latches are given; gates follow them.

    `before` is a circuit whose gates are there already.
    """

    def __init__(self, inputs: int, latches: int, before: Circuit | None = None) -> None:
        self.inputs, self.latches = inputs, latches
        self.left = array("i") if before is None else before.left[:]
        self.right = array("i") if before is None else before.right[:]
        self._known: dict[tuple[int, int], int] = {}

    # Bits.

    def both(self, one: int, other: int) -> int:
        """Return the conjunction."""
        low, high = (one, other) if one < other else (other, one)
        if low == FALSE or low ^ 1 == high:
            return FALSE
        if low in (TRUE, high):
            return high
        found = self._known.get((low, high))
        if found is None:
            found = 2 * (self.inputs + self.latches + 1 + len(self.left))
            self._known[low, high] = found
            self.left.append(high)
            self.right.append(low)
        return found

    def either(self, one: int, other: int) -> int:
        """Return the disjunction."""
        return self.both(one ^ 1, other ^ 1) ^ 1

    def differ(self, one: int, other: int) -> int:
        """Return whether two bits differ."""
        return self.both(self.both(one, other) ^ 1, self.either(one, other))

    def choose(self, condition: int, then: int, otherwise: int) -> int:
        """Return one of two bits."""
        if then == otherwise:
            return then
        return self.both(
            self.both(condition, then ^ 1) ^ 1, self.both(condition ^ 1, otherwise ^ 1) ^ 1
        )

    def all(self, bits: Word) -> int:
        """Return whether all bits are set."""
        return reduce(self.both, bits, TRUE)

    def any(self, bits: Word) -> int:
        """Return whether a bit is set."""
        return self.all(negated(bits)) ^ 1

    def parity(self, bits: Word) -> int:
        """Return whether an odd number of bits is set."""
        return reduce(self.differ, bits, FALSE)

    # Words of the same width. The operators mean what `evaluate` says.

    def mux(self, condition: int, then: Word, otherwise: Word) -> Word:
        """Return one of two words."""
        return [self.choose(condition, a, b) for a, b in zip(then, otherwise, strict=True)]

    def equal(self, one: Word, other: Word) -> int:
        """Return whether two words are equal."""
        return self.all([self.differ(a, b) ^ 1 for a, b in zip(one, other, strict=True)])

    def added(self, one: Word, other: Word, carry: int = FALSE) -> tuple[Word, int]:
        """Return the sum, and the carry out of it."""
        total = []
        for a, b in zip(one, other, strict=True):
            half = self.differ(a, b)
            total.append(self.differ(half, carry))
            carry = self.either(self.both(a, b), self.both(half, carry))
        return total, carry

    def subtracted(self, one: Word, other: Word) -> Word:
        """Return the difference."""
        return self.added(one, negated(other), TRUE)[0]

    def minus(self, word: Word) -> Word:
        """Return the negation in two's complement."""
        return self.subtracted([FALSE] * len(word), word)

    def less(self, one: Word, other: Word) -> int:
        """Return whether an unsigned number is less than another."""
        return self.added(one, negated(other), TRUE)[1] ^ 1

    def signed_less(self, one: Word, other: Word) -> int:
        """Return whether a signed number is less than another."""
        # With the sign bits exchanged, the order is that of unsigned numbers.
        return self.less([*one[:-1], other[-1]], [*other[:-1], one[-1]])

    def multiplied(self, one: Word, other: Word) -> Word:
        """Return the product, cut to the width."""
        width = len(one)
        total: Word = [FALSE] * width
        for at, bit in enumerate(other):
            row = [FALSE] * at + [self.both(bit, each) for each in one[: width - at]]
            total = self.added(total, row)[0]
        return total

    def divided(self, one: Word, other: Word) -> tuple[Word, Word]:
        """Return the quotient and the remainder; by 0: all ones, and the first operand."""
        width = len(one)
        rest: Word = [FALSE] * width
        quotient = [FALSE] * width
        divisor = [*other, FALSE]
        for at in reversed(range(width)):
            shifted = [one[at], *rest]
            fits = self.less(shifted, divisor) ^ 1
            quotient[at] = fits
            rest = self.mux(fits, self.subtracted(shifted, divisor), shifted)[:width]
        return quotient, rest

    def signed_divided(self, one: Word, other: Word) -> tuple[Word, Word]:
        """Return quotient and remainder of signed numbers, whose sign is that of the first."""
        absolute = [self.mux(each[-1], self.minus(each), each) for each in (one, other)]
        quotient, rest = self.divided(*absolute)
        signs = self.differ(one[-1], other[-1])
        return (
            self.mux(signs, self.minus(quotient), quotient),
            self.mux(one[-1], self.minus(rest), rest),
        )

    def modulo(self, one: Word, other: Word) -> Word:
        """Return the remainder of signed numbers whose sign is that of the divisor."""
        rest = self.signed_divided(one, other)[1]
        wrong = self.both(self.any(rest), self.differ(one[-1], other[-1]))
        return self.mux(wrong, self.added(rest, other)[0], rest)

    def shifted(self, word: Word, amount: Word, *, left: bool, fill: int) -> Word:
        """Return a word shifted by an unsigned number; `fill` comes in."""
        width = len(word)
        many = amount[(width - 1).bit_length() :]
        for at, bit in enumerate(amount[: (width - 1).bit_length()]):
            by = min(1 << at, width)
            filled = [fill] * by
            moved = [*filled, *word[: width - by]] if left else [*word[by:], *filled]
            word = self.mux(bit, moved, word)
        return self.mux(self.any(many), [fill] * width, word)

    def rotated(self, word: Word, amount: Word, *, left: bool) -> Word:
        """Return a word rotated by an unsigned number."""
        width = len(word)
        if width & (width - 1):
            # As wide as the word, so the width fits.
            amount = self.divided(amount, constant(width, len(amount)))[1]
        for at, bit in enumerate(amount[: (width - 1).bit_length()]):
            by = (1 << at) % width
            cut = width - by if left else by
            word = self.mux(bit, [*word[cut:], *word[:cut]], word)
        return word


def negated(word: Word) -> Word:
    """Return the complement."""
    return [each ^ 1 for each in word]


def constant(value: int, width: int) -> Word:
    """Return the bits of a number."""
    return [value >> at & 1 for at in range(width)]


def extended(word: Word, width: int, *, signed: bool) -> Word:
    """Return a word made wider."""
    return [*word, *[word[-1] if signed else FALSE] * (width - len(word))]


_PROPERTIES: Mapping[int, str] = {
    Op.OUTPUT: "o", Op.BAD: "b", Op.CONSTRAINT: "c", Op.JUSTICE: "j", Op.FAIR: "f",
}  # fmt: skip

_Binary = Callable[[Gates, Word, Word], Word]


def _overflow(exactly: Callable[[Gates, Word, Word], Word]) -> _Binary:
    """Return whether a signed result, computed in twice the width, is out of range."""

    def overflows(gates: Gates, a: Word, b: Word) -> Word:
        exact = exactly(gates, _wider(a, signed=True), _wider(b, signed=True))
        return [gates.equal(exact, _wider(exact[: len(a)], signed=True)) ^ 1]

    return overflows


def _wider(word: Word, *, signed: bool) -> Word:
    return extended(word, 2 * len(word), signed=signed)


def _product_overflow(gates: Gates, a: Word, b: Word) -> Word:
    exact = gates.multiplied(_wider(a, signed=False), _wider(b, signed=False))
    return [gates.any(exact[len(a) :])]


def _quotient_overflow(gates: Gates, a: Word, b: Word) -> Word:
    least = constant(1 << (len(a) - 1), len(a))
    return [gates.both(gates.equal(a, least), gates.all(b))]


def _each(bit: Callable[[Gates, int, int], int]) -> _Binary:
    """Return the operator that works bit by bit."""
    return lambda gates, a, b: [bit(gates, x, y) for x, y in zip(a, b, strict=True)]


_BINARY: Mapping[int, _Binary] = {
    Op.ADD: lambda g, a, b: g.added(a, b)[0],
    Op.SUB: Gates.subtracted,
    Op.MUL: Gates.multiplied,
    Op.UDIV: lambda g, a, b: g.divided(a, b)[0],
    Op.UREM: lambda g, a, b: g.divided(a, b)[1],
    Op.SDIV: lambda g, a, b: g.signed_divided(a, b)[0],
    Op.SREM: lambda g, a, b: g.signed_divided(a, b)[1],
    Op.SMOD: Gates.modulo,
    Op.AND: _each(Gates.both),
    Op.OR: _each(Gates.either),
    Op.XOR: _each(Gates.differ),
    Op.NAND: _each(lambda g, x, y: g.both(x, y) ^ 1),
    Op.NOR: _each(lambda g, x, y: g.either(x, y) ^ 1),
    Op.XNOR: _each(lambda g, x, y: g.differ(x, y) ^ 1),
    Op.IMPLIES: _each(lambda g, x, y: g.either(x ^ 1, y)),
    Op.IFF: lambda g, a, b: [g.equal(a, b)],
    Op.EQ: lambda g, a, b: [g.equal(a, b)],
    Op.NE: lambda g, a, b: [g.equal(a, b) ^ 1],
    Op.SLL: lambda g, a, b: g.shifted(a, b, left=True, fill=FALSE),
    Op.SRL: lambda g, a, b: g.shifted(a, b, left=False, fill=FALSE),
    Op.SRA: lambda g, a, b: g.shifted(a, b, left=False, fill=a[-1]),
    Op.ROL: lambda g, a, b: g.rotated(a, b, left=True),
    Op.ROR: lambda g, a, b: g.rotated(a, b, left=False),
    Op.ULT: lambda g, a, b: [g.less(a, b)],
    Op.ULTE: lambda g, a, b: [g.less(b, a) ^ 1],
    Op.UGT: lambda g, a, b: [g.less(b, a)],
    Op.UGTE: lambda g, a, b: [g.less(a, b) ^ 1],
    Op.SLT: lambda g, a, b: [g.signed_less(a, b)],
    Op.SLTE: lambda g, a, b: [g.signed_less(b, a) ^ 1],
    Op.SGT: lambda g, a, b: [g.signed_less(b, a)],
    Op.SGTE: lambda g, a, b: [g.signed_less(a, b) ^ 1],
    Op.UADDO: lambda g, a, b: [g.added(a, b)[1]],
    Op.USUBO: lambda g, a, b: [g.less(a, b)],
    Op.SADDO: _overflow(lambda g, a, b: g.added(a, b)[0]),
    Op.SSUBO: _overflow(Gates.subtracted),
    Op.UMULO: _product_overflow,
    Op.SMULO: _overflow(Gates.multiplied),
    Op.SDIVO: _quotient_overflow,
    Op.CONCAT: lambda g, a, b: [*b, *a],
}

_UNARY: Mapping[int, Callable[[Gates, Word, int], Word]] = {
    Op.NOT: lambda g, a, w: negated(a),
    Op.NEG: lambda g, a, w: g.minus(a),
    Op.INC: lambda g, a, w: g.added(a, constant(0, w), TRUE)[0],
    Op.DEC: lambda g, a, w: g.subtracted(a, constant(1, w)),
    Op.UEXT: lambda g, a, w: extended(a, w, signed=False),
    Op.SEXT: lambda g, a, w: extended(a, w, signed=True),
    Op.REDOR: lambda g, a, w: [g.any(a)],
    Op.REDAND: lambda g, a, w: [g.all(a)],
    Op.REDXOR: lambda g, a, w: [g.parity(a)],
}
"""Given the width of the result, too."""


def aiger_of(dag: Dag, form: str) -> Converted:
    """Return a BTOR2 graph as a file, text or binary. Raises UsageError for arrays.

    What only asserts, without states, becomes one output: the conjunction.
    """
    circuit = blasted(dag)
    asserts = circuit.constraints and circuit.properties == len(circuit.constraints)
    notes = []
    if asserts and not circuit.latches:
        gates = Gates(circuit.inputs, 0, circuit)
        output = gates.all(circuit.constraints)
        circuit = replace(
            circuit, left=gates.left, right=gates.right, outputs=[output], constraints=(),
            symbols={key: name for key, name in circuit.symbols.items() if key[0] == "i"},
        )  # fmt: skip
        notes.append("the assertions became one output, which is 1 if all of them hold")
    return Converted(write(replace(circuit, binary=form == "aig")), tuple(notes))


def blasted(dag: Dag) -> Circuit:
    """Return the circuit of a BTOR2 graph. Raises UsageError, naming the node, for arrays."""
    return _Blasting(dag).run()


class _Blasting:
    """The bits of each line.

    A latch has one first value, a constant or none. A state whose first value is an expression is
    that expression in the first step, which a latch of its own tells apart, and a latch after it.
    A state without `next` may have any value in each step, so it is an input, in the first step
    with its `init`.
    """

    def __init__(self, dag: Dag) -> None:
        self.dag = dag
        self.first, self.next = values_given(dag, Op.INIT), values_given(dag, Op.NEXT)
        self.bits: list[Word] = []
        self.symbols: dict[tuple[str, int], bytes] = {}
        states = list(dag.lines_of(Op.STATE))
        free = [*dag.lines_of(Op.INPUT), *(each for each in states if each not in self.next)]
        kept = [each for each in states if each in self.next]
        self.constants: dict[int, int] = {}
        for state, reference in self.first.items():
            ones = (1 << self._width(state)) - 1
            value = self._value(line_of(reference))
            if value is not None:
                self.constants[state] = value if reference >= 0 else value ^ ones
        self.computed = [
            each
            for each in states
            if each in self.first and (each not in self.constants or each not in self.next)
        ]
        self.own: dict[int, Word] = {}
        """The literals of the inputs or latches of each input or state."""
        inputs = self._numbered("i", free, 0)
        latches = self._numbered("l", kept, inputs)
        self.started = 2 * (inputs + latches + 1)
        """The latch that is false in the first step only, if one is needed."""
        self.kept = kept
        self.gates = Gates(inputs, latches + bool(self.computed))

    def _numbered(self, kind: str, lines: list[int], before: int) -> int:
        """Give each bit of some inputs or states a literal; return how many there are."""
        count = 0
        for line in sorted(lines):
            width = self._width(line)
            self.own[line] = [2 * (before + count + at + 1) for at in range(width)]
            self._name(kind, count, line, width)
            count += width
        return count

    def _name(self, kind: str, first: int, line: int, width: int) -> None:
        """Give the bits of a line its symbol, if it has one, with their numbers."""
        symbol = self.dag.symbols.get(line, b"")
        for at in range(width if symbol else 0):
            self.symbols[kind, first + at] = symbol + (b"[%d]" % at if width > 1 else b"")

    def _width(self, line: int) -> int:
        dag = self.dag
        if dag.sort[line] < 0 or not isinstance(dag.sorts[dag.sort[line]], BitVec):
            raise UsageError(f"AIGER has no arrays (node {dag.ids[line]})")
        return dag.width(line)

    def _value(self, line: int) -> int | None:
        """Return the value of a constant; None for what is computed."""
        self._width(line)  # arrays are refused
        return constant_value(self.dag, line)

    def _operand(self, reference: int) -> Word:
        bits = self.bits[line_of(reference)]
        return bits if reference >= 0 else negated(bits)

    def run(self) -> Circuit:
        """Translate all lines in their order."""
        dag = self.dag
        found: dict[str, list[list[int]]] = {kind: [] for kind in "obcjf"}
        for line, code in enumerate(dag.op):
            kind = _PROPERTIES.get(code)
            self.bits.append(() if kind or code == Op.SORT else self._line(line))
            if kind:
                values = [self._operand(each) for each in dag.arguments(line)]
                if code == Op.OUTPUT:
                    if dag.width(line_of(dag.arguments(line)[0])):
                        self._name("o", len(found["o"]), line, len(values[0]))
                    found["o"] += [[bit] for bit in values[0]]
                    continue
                if line in dag.symbols:
                    self.symbols[kind, len(found[kind])] = dag.symbols[line]
                found[kind].append([bits[0] for bits in values])
        return self._circuit(found)

    def _line(self, line: int) -> Word:
        dag, gates, code = self.dag, self.gates, self.dag.op[line]
        if code in (Op.INIT, Op.NEXT):
            return ()
        args = dag.arguments(line)
        width = self._width(line)
        if code == Op.INPUT:
            return self.own[line]
        if code == Op.STATE:
            first = self.first.get(line)
            if line not in self.computed or first is None:
                return self.own[line]
            return gates.mux(self.started, self.own[line], self._operand(first))
        if (value := self._value(line)) is not None:
            return constant(value, width)
        words = [self._operand(each) for each in args]
        if (binary := _BINARY.get(code)) is not None and words[0]:
            return binary(gates, words[0], words[1])
        if (unary := _UNARY.get(code)) is not None:
            return unary(gates, words[0], width)
        if code == Op.SLICE:
            upper, lower = dag.numbers[line]
            return words[0][lower : upper + 1]
        if code == Op.ITE:
            return gates.mux(words[0][0], words[1], words[2])
        raise UsageError(f"AIGER has nothing like {Op(code).name.lower()} (node {dag.ids[line]})")

    def _circuit(self, found: Mapping[str, list[list[int]]]) -> Circuit:
        latches = []
        for state in sorted(self.kept):
            following = self._operand(self.next[state])
            value = 0 if state in self.computed else self.constants.get(state)
            latches += [
                Latch(bit, None if value is None else value >> at & 1)
                for at, bit in enumerate(following)
            ]
        if self.computed:
            latches.append(Latch(TRUE, 0))
        single = {kind: [bits[0] for bits in found[kind]] for kind in "obcf"}
        gates = self.gates
        return Circuit(
            False, gates.inputs, latches, gates.left, gates.right, single["o"], single["b"],
            single["c"], [tuple(each) for each in found["j"]], single["f"], self.symbols,
        )  # fmt: skip
