"""The operators of SMT-LIB that BTOR can say: what each one makes of its operands.

Bool is a bit-vector of one bit in BTOR. The two sorts are kept apart here, so that scripts
that confuse them are refused as SMT-LIB solvers refuse them. A complement costs no line:
`not` and `bvnot` only turn a reference round.

Sources: SMT-LIB theories Core, FixedSizeBitVectors and ArraysEx, and logic QF_BV (versions
2.6 and 2.7); `bvredor` and `bvredand` are those of Bitwuzla and cvc5.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from reducekit.frontends.btor.convert import conversion as lowering
from reducekit.frontends.btor.model.dag import Builder
from reducekit.frontends.btor.model.operators import Dialect, Op

Sort: TypeAlias = "tuple[str, *tuple[int | Sort, ...]]"
"""("Bool",), ("BitVec", width) or ("Array", index, element)."""

BOOL: Sort = ("Bool",)
_MOST = 2**31 - 1  # bits: as in the reader


class Value(NamedTuple):
    """A reference to a node, and the sort that it has in SMT-LIB."""

    reference: int
    sort: Sort


class UnsuitableError(Exception):
    """Operands that an operator does not take, or what BTOR cannot say; in words."""


class Terms(Builder):
    """A builder of BTOR2 that has each node once: equal terms become the same line."""

    def __init__(self) -> None:
        super().__init__(Dialect.BTOR2)
        self._known: dict[tuple[object, ...], int] = {}

    def add(
        self,
        code: int,
        sort: int,
        args: Sequence[int] = (),
        numbers: tuple[int, ...] = (),
        literal: bytes = b"",
        symbol: bytes = b"",
    ) -> int:
        """Return the line of a node, which may be there already; inputs are always new."""
        if code in (Op.INPUT, Op.CONSTRAINT):
            return super().add(code, sort, args, numbers, literal, symbol)
        key = (code, sort, *args, numbers, literal)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = super().add(code, sort, args, numbers, literal, symbol)
        return found

    def index(self, sort: Sort) -> int:
        """Return the index of a sort in the table."""
        if sort == BOOL:
            return self.table.bitvec(1)
        if sort[0] == "BitVec":
            return self.table.bitvec(width_of(sort))
        return self.table.array(self.index(_part(sort, 1)), self.index(_part(sort, 2)))

    def value(self, code: Op, sort: Sort, *args: Value) -> Value:
        """Return an operator over operands."""
        return Value(self.add(code, self.index(sort), [each.reference for each in args]), sort)

    def literal(self, width: int, value: int) -> Value:
        """Return a bit-vector constant; `value` is taken modulo 2**width."""
        return Value(self.constant(width, value % (1 << width)), bits(width))

    def truth(self, value: bool) -> Value:
        """Return true or false: of one node, as the other is its complement."""
        zero = self.constant(1, 0)
        return Value(~zero if value else zero, BOOL)


def bits(width: int) -> Sort:
    """Return the sort of bit-vectors of a width."""
    if not 1 <= width <= _MOST:
        raise UnsuitableError(f"a bit-vector of {width} bits cannot be said in BTOR")
    return ("BitVec", width)


def width_of(sort: Sort) -> int:
    """Return the width of a bit-vector sort, 0 for any other."""
    width = sort[-1] if sort[0] == "BitVec" else 0
    assert isinstance(width, int)
    return width


def described(sort: Sort) -> str:
    """Return a sort as SMT-LIB writes it."""
    if sort == BOOL:
        return "Bool"
    if sort[0] == "BitVec":
        return f"(_ BitVec {width_of(sort)})"
    return f"(Array {described(_part(sort, 1))} {described(_part(sort, 2))})"


def _part(sort: Sort, at: int) -> Sort:
    found = sort[at]
    assert isinstance(found, tuple)
    return found


Operator: TypeAlias = Callable[[Terms, Sequence[Value], Sequence[int]], Value]
"""Makes a node of operands and indices (`(_ extract 7 0)` has two)."""


def apply(name: str, terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    """Return an operator over operands. Raises UnsuitableError, also for an unknown name."""
    operator = (_INDEXED if indices else _PLAIN).get(name)
    if operator is None:
        shown = f"(_ {name} {' '.join(map(str, indices))})" if indices else name
        raise UnsuitableError(f"{shown} is not declared above, and no operator that BTOR can say")
    return operator(terms, args, indices)


def complement(value: Value) -> Value:
    """Return the negation of a Bool or bit-vector."""
    return Value(~value.reference, value.sort)


# What operands have to be.


def _counted(args: Sequence[Value], least: int, most: int | None = None) -> None:
    if len(args) < least or (most is not None and len(args) > most):
        wanted = f"{least} operands" if least == most else f"{least} operands or more"
        raise UnsuitableError(f"expected {wanted}, found {len(args)}")


def _same(args: Sequence[Value]) -> Sort:
    for each in args[1:]:
        if each.sort != args[0].sort:
            raise UnsuitableError(
                f"operands of different sorts: {described(args[0].sort)} and {described(each.sort)}"
            )
    return args[0].sort


def _bools(args: Sequence[Value]) -> None:
    for each in args:
        if each.sort != BOOL:
            raise UnsuitableError(f"expected Bool, found {described(each.sort)}")


def _widths(args: Sequence[Value]) -> list[int]:
    for each in args:
        if not width_of(each.sort):
            raise UnsuitableError(f"expected a bit-vector, found {described(each.sort)}")
    return [width_of(each.sort) for each in args]


# Shapes of operators.


def _folded(code: Op, sort_checked: Callable[[Sequence[Value]], object]) -> Operator:
    """Return an operator of two operands of one sort or more, from left to right."""

    def operator(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
        _counted(args, 2)
        sort_checked(args)
        sort = _same(args)
        result = args[0]
        for each in args[1:]:
            result = terms.value(code, sort, result, each)
        return result

    return operator


def _vectors(code: Op) -> Operator:
    """Return an operator of two bit-vectors of one width, which the result has."""

    def operator(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
        _counted(args, 2, 2)
        _widths(args)
        return terms.value(code, _same(args), *args)

    return operator


def _predicate(code: Op) -> Operator:
    """Return a comparison of two bit-vectors of one width."""

    def operator(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
        _counted(args, 2, 2)
        _widths(args)
        _same(args)
        return terms.value(code, BOOL, *args)

    return operator


def _unary(make: Callable[[Terms, Value], Value]) -> Operator:
    """Return an operator of one bit-vector."""

    def operator(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
        _counted(args, 1, 1)
        _widths(args)
        return make(terms, args[0])

    return operator


def _indexed(count: int, make: Callable[[Terms, Value, Sequence[int]], Value]) -> Operator:
    """Return an operator of one bit-vector and some numbers."""

    def operator(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
        if len(indices) != count:
            raise UnsuitableError(f"expected {count} indices, found {len(indices)}")
        _counted(args, 1, 1)
        _widths(args)
        return make(terms, args[0], indices)

    return operator


# Core.


def _not(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    _counted(args, 1, 1)
    _bools(args)
    return complement(args[0])


def _implies(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    """Return (=> a b c): associative to the right."""
    _counted(args, 2)
    _bools(args)
    result = args[-1]
    for each in reversed(args[:-1]):
        result = terms.value(Op.IMPLIES, BOOL, each, result)
    return result


def equality(terms: Terms, args: Sequence[Value], indices: Sequence[int] = ()) -> Value:
    """Return whether all operands are equal, each to the next."""
    _counted(args, 2)
    _same(args)
    pairs = [terms.value(Op.EQ, BOOL, *pair) for pair in itertools.pairwise(args)]
    return _conjunction(terms, pairs)


def _distinct(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    _counted(args, 2)
    _same(args)
    pairs = [
        complement(terms.value(Op.EQ, BOOL, one, other))
        for at, one in enumerate(args)
        for other in args[at + 1 :]
    ]
    return _conjunction(terms, pairs)


def _conjunction(terms: Terms, args: Sequence[Value]) -> Value:
    result = args[0]
    for each in args[1:]:
        result = terms.value(Op.AND, BOOL, result, each)
    return result


def _ite(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    _counted(args, 3, 3)
    _bools(args[:1])
    return terms.value(Op.ITE, _same(args[1:]), *args)


# Bit-vectors.


def _concat(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    _counted(args, 2)
    _widths(args)
    return concatenated(terms, args)


def concatenated(terms: Terms, args: Sequence[Value]) -> Value:
    """Return bit-vectors side by side, the first one as the most significant bits."""
    result = args[0]
    for each in args[1:]:
        width = width_of(result.sort) + width_of(each.sort)
        result = terms.value(Op.CONCAT, bits(width), result, each)
    return result


def _comparison(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    """Return bvcomp: equality as one bit."""
    _counted(args, 2, 2)
    _widths(args)
    return Value(equality(terms, args).reference, bits(1))


def _reduced(code: Op) -> Callable[[Terms, Value], Value]:
    def make(terms: Terms, value: Value) -> Value:
        return terms.value(code, bits(1), value)

    return make


def _least(terms: Terms, value: Value) -> Value:
    """Return bvnego: whether negation overflows."""
    return Value(lowering.negation_overflow(terms, value.reference), BOOL)


def _extract(terms: Terms, value: Value, indices: Sequence[int]) -> Value:
    upper, lower = indices
    if not width_of(value.sort) > upper >= lower:
        raise UnsuitableError(f"there are no bits {upper} to {lower} in {described(value.sort)}")
    return Value(lowering.sliced(terms, value.reference, upper, lower), bits(upper - lower + 1))


def _extended(code: Op) -> Callable[[Terms, Value, Sequence[int]], Value]:
    def make(terms: Terms, value: Value, indices: Sequence[int]) -> Value:
        sort = bits(width_of(value.sort) + indices[0])
        return Value(lowering.extended(terms, code, value.reference, width_of(sort)), sort)

    return make


def _repeat(terms: Terms, value: Value, indices: Sequence[int]) -> Value:
    times = indices[0]
    width = width_of(bits(width_of(value.sort) * times))
    # Doubling: as many nodes as the number of copies has digits.
    result, power = None, value
    while times:
        if times & 1:
            result = power if result is None else concatenated(terms, (power, result))
        times >>= 1
        if times:
            power = concatenated(terms, (power, power))
    assert result is not None
    assert width_of(result.sort) == width
    return result


def _rotated(left: bool) -> Callable[[Terms, Value, Sequence[int]], Value]:
    def make(terms: Terms, value: Value, indices: Sequence[int]) -> Value:
        width = width_of(value.sort)
        by = indices[0] % width
        if not by:
            return value
        cut = width - by if left else by  # the lowest of the bits that come first
        low = _extract(terms, value, (cut - 1, 0))
        return concatenated(terms, (low, _extract(terms, value, (width - 1, cut))))

    return make


# Arrays.


def _array(value: Value) -> tuple[Sort, Sort]:
    if value.sort[0] != "Array":
        raise UnsuitableError(f"expected an array, found {described(value.sort)}")
    return _part(value.sort, 1), _part(value.sort, 2)


def _expected(value: Value, sort: Sort) -> None:
    if value.sort != sort:
        raise UnsuitableError(f"expected {described(sort)}, found {described(value.sort)}")


def _select(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    _counted(args, 2, 2)
    index, element = _array(args[0])
    _expected(args[1], index)
    return terms.value(Op.READ, element, *args)


def _store(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    _counted(args, 3, 3)
    index, element = _array(args[0])
    _expected(args[1], index)
    _expected(args[2], element)
    return terms.value(Op.WRITE, args[0].sort, *args)


_PLAIN: Mapping[str, Operator] = {
    "not": _not, "=>": _implies, "=": equality, "distinct": _distinct, "ite": _ite,
    "and": _folded(Op.AND, _bools), "or": _folded(Op.OR, _bools), "xor": _folded(Op.XOR, _bools),
    "concat": _concat, "bvcomp": _comparison, "select": _select, "store": _store,
    "bvnot": _unary(lambda terms, value: complement(value)),
    "bvneg": _unary(lambda terms, value: terms.value(Op.NEG, value.sort, value)),
    "bvredor": _unary(_reduced(Op.REDOR)), "bvredand": _unary(_reduced(Op.REDAND)),
    "bvnego": _unary(_least),
    **{
        name: _folded(code, _widths)
        for name, code in {
            "bvand": Op.AND, "bvor": Op.OR, "bvxor": Op.XOR, "bvadd": Op.ADD, "bvmul": Op.MUL,
        }.items()
    },
    **{
        name: _vectors(code)
        for name, code in {
            "bvnand": Op.NAND, "bvnor": Op.NOR, "bvxnor": Op.XNOR, "bvsub": Op.SUB,
            "bvudiv": Op.UDIV, "bvurem": Op.UREM, "bvsdiv": Op.SDIV, "bvsrem": Op.SREM,
            "bvsmod": Op.SMOD, "bvshl": Op.SLL, "bvlshr": Op.SRL, "bvashr": Op.SRA,
        }.items()
    },
    **{
        name: _predicate(code)
        for name, code in {
            "bvult": Op.ULT, "bvule": Op.ULTE, "bvugt": Op.UGT, "bvuge": Op.UGTE,
            "bvslt": Op.SLT, "bvsle": Op.SLTE, "bvsgt": Op.SGT, "bvsge": Op.SGTE,
            "bvuaddo": Op.UADDO, "bvsaddo": Op.SADDO, "bvusubo": Op.USUBO,
            "bvssubo": Op.SSUBO, "bvumulo": Op.UMULO, "bvsmulo": Op.SMULO, "bvsdivo": Op.SDIVO,
        }.items()
    },
}  # fmt: skip
_INDEXED: Mapping[str, Operator] = {
    "extract": _indexed(2, _extract),
    "zero_extend": _indexed(1, _extended(Op.UEXT)),
    "sign_extend": _indexed(1, _extended(Op.SEXT)),
    "repeat": _indexed(1, _repeat),
    "rotate_left": _indexed(1, _rotated(left=True)),
    "rotate_right": _indexed(1, _rotated(left=False)),
}
