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
from functools import partial, reduce
from typing import NamedTuple, TypeAlias

from reducekit.frontends.btor.convert import conversion
from reducekit.frontends.btor.model.dag import Builder
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.smt2.language.sorts import Sort, print_sort

BOOL: Sort = "Bool"
_MOST = 2**31 - 1
"""Bits: as in the reader."""


class Value(NamedTuple):
    """A reference to a node, and the sort that it has in SMT-LIB."""

    reference: int
    sort: Sort


class UnsuitableError(Exception):
    """Operands that an operator does not take, or what BTOR cannot say; in words."""


class Terms(Builder):
    """A builder of BTOR2 in which equal terms are the same line."""

    def __init__(self) -> None:
        super().__init__(Dialect.BTOR2, unique=True)

    def index(self, sort: Sort) -> int:
        """Return the index of a sort in the table."""
        if sort == BOOL:
            return self.table.bitvec(1)
        if (width := width_of(sort)) > 0:
            return self.table.bitvec(width)
        index, element = parts_of(sort)
        return self.table.array(self.index(index), self.index(element))

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
    width = sort[1] if sort[0] == "BitVec" else 0
    assert isinstance(width, int)
    return width


def parts_of(sort: Sort) -> tuple[Sort, Sort]:
    """Return the sorts of index and element of an array sort."""
    assert isinstance(sort, tuple)
    _, index, element = sort
    assert not isinstance(index, int)
    assert not isinstance(element, int)
    return index, element


def described(sort: Sort) -> str:
    """Return a sort as SMT-LIB writes it."""
    return print_sort(sort).decode()


_Make: TypeAlias = Callable[[Terms, Sequence[Value], Sequence[int]], Value]
"""Makes a node of operands and indices (`(_ extract 7 0)` has two)."""


class Operator(NamedTuple):
    """An operator: how many operands and indices it takes, and what the operands have to be."""

    least: int
    most: int | None
    check: Callable[[Sequence[Value]], object]
    make: _Make
    indices: int = 0


def apply(name: str, terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    """Return an operator over operands. Raises UnsuitableError, also for an unknown name."""
    operator = (_INDEXED if indices else _PLAIN).get(name)
    if operator is None:
        shown = f"(_ {name} {' '.join(map(str, indices))})" if indices else name
        raise UnsuitableError(f"{shown} is not declared above, and no operator that BTOR can say")
    least, most = operator.least, operator.most
    if len(indices) != operator.indices:
        raise UnsuitableError(f"expected {operator.indices} indices, found {len(indices)}")
    if len(args) < least or (most is not None and len(args) > most):
        wanted = f"{least} operands" if least == most else f"{least} operands or more"
        raise UnsuitableError(f"expected {wanted}, found {len(args)}")
    operator.check(args)
    return operator.make(terms, args, indices)


# What operands have to be.


def _same(args: Sequence[Value]) -> None:
    for each in args[1:]:
        if each.sort != args[0].sort:
            raise UnsuitableError(
                f"operands of different sorts: {described(args[0].sort)} and {described(each.sort)}"
            )


def _bools(args: Sequence[Value]) -> None:
    for each in args:
        _require(each, BOOL)


def _vectors(args: Sequence[Value]) -> None:
    for each in args:
        if not width_of(each.sort):
            raise UnsuitableError(f"expected a bit-vector, found {described(each.sort)}")


def _same_vectors(args: Sequence[Value]) -> None:
    _vectors(args)
    _same(args)


def _choice(args: Sequence[Value]) -> None:
    _bools(args[:1])
    _same(args[1:])


def _access(args: Sequence[Value]) -> None:
    """Require an array, an index and, of a write, an element."""
    if args[0].sort[0] != "Array":
        raise UnsuitableError(f"expected an array, found {described(args[0].sort)}")
    for each, wanted in zip(args[1:], parts_of(args[0].sort), strict=False):
        _require(each, wanted)


def _require(value: Value, sort: Sort) -> None:
    if value.sort != sort:
        raise UnsuitableError(f"expected {described(sort)}, found {described(value.sort)}")


# What they become.


def _plain(code: Op, result: Sort | None = None) -> _Make:
    """Return an operator of BTOR; its result has the sort of the last operand, or another one."""
    return lambda terms, args, _: terms.value(code, result or args[-1].sort, *args)


def _folded(code: Op) -> _Make:
    """Return an operator over all operands from left to right."""
    return lambda terms, args, _: reduce(partial(terms.value, code, args[0].sort), args)


def _complement(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    return Value(~args[0].reference, args[0].sort)


def _implies(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    """Return (=> a b c): associative to the right."""
    result = args[-1]
    for each in reversed(args[:-1]):
        result = terms.value(Op.IMPLIES, BOOL, each, result)
    return result


_conjunction = _folded(Op.AND)


def _equality(terms: Terms, args: Sequence[Value], indices: Sequence[int] = ()) -> Value:
    """Return whether all operands are equal, each to the next."""
    pairs = [terms.value(Op.EQ, BOOL, *pair) for pair in itertools.pairwise(args)]
    return _conjunction(terms, pairs, ())


def _distinct(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    pairs = [terms.value(Op.EQ, BOOL, *pair) for pair in itertools.combinations(args, 2)]
    return _conjunction(terms, [Value(~each.reference, BOOL) for each in pairs], ())


def concatenated(terms: Terms, args: Sequence[Value], indices: Sequence[int] = ()) -> Value:
    """Return bit-vectors side by side, the first one as the most significant bits."""
    result = args[0]
    for each in args[1:]:
        width = width_of(result.sort) + width_of(each.sort)
        result = terms.value(Op.CONCAT, bits(width), result, each)
    return result


def _comparison(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    """Return bvcomp: equality as one bit."""
    return Value(_equality(terms, args).reference, bits(1))


def _least(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    """Return bvnego: whether negation overflows."""
    return Value(conversion.negation_overflow(terms, args[0].reference), BOOL)


def _extract(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    reference, sort = args[0]
    upper, lower = indices
    if not width_of(sort) > upper >= lower:
        raise UnsuitableError(f"there are no bits {upper} to {lower} in {described(sort)}")
    return Value(conversion.sliced(terms, reference, upper, lower), bits(upper - lower + 1))


def _extended(code: Op) -> _Make:
    def make(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
        sort = bits(width_of(args[0].sort) + indices[0])
        extended = conversion.extended(terms, code, args[0].reference, width_of(sort))
        return Value(extended, sort)

    return make


def _repeat(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    times = indices[0]
    bits(width_of(args[0].sort) * times)  # not too wide, and not 0
    # Doubling: as many nodes as the number of copies has digits.
    result, power = None, args[0]
    while times:
        if times & 1:
            result = power if result is None else concatenated(terms, (power, result))
        times >>= 1
        if times:
            power = concatenated(terms, (power, power))
    assert result is not None
    return result


def _rotated(left: bool) -> _Make:
    def make(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
        width = width_of(args[0].sort)
        by = indices[0] % width
        if not by:
            return args[0]
        cut = width - by if left else by  # the lowest of the bits that come first
        low = _extract(terms, args, (cut - 1, 0))
        return concatenated(terms, (low, _extract(terms, args, (width - 1, cut))))

    return make


def _select(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    return terms.value(Op.READ, parts_of(args[0].sort)[1], *args)


def _store(terms: Terms, args: Sequence[Value], indices: Sequence[int]) -> Value:
    return terms.value(Op.WRITE, args[0].sort, *args)


FOLDED = {"bvand": Op.AND, "bvor": Op.OR, "bvxor": Op.XOR, "bvadd": Op.ADD, "bvmul": Op.MUL}
BINARY = {
    "bvnand": Op.NAND, "bvnor": Op.NOR, "bvxnor": Op.XNOR, "bvsub": Op.SUB, "bvudiv": Op.UDIV,
    "bvurem": Op.UREM, "bvsdiv": Op.SDIV, "bvsrem": Op.SREM, "bvsmod": Op.SMOD, "bvshl": Op.SLL,
    "bvlshr": Op.SRL, "bvashr": Op.SRA,
}  # fmt: skip
COMPARISONS = {
    "bvult": Op.ULT, "bvule": Op.ULTE, "bvugt": Op.UGT, "bvuge": Op.UGTE, "bvslt": Op.SLT,
    "bvsle": Op.SLTE, "bvsgt": Op.SGT, "bvsge": Op.SGTE,
}  # fmt: skip
_OVERFLOWS = {
    "bvuaddo": Op.UADDO, "bvsaddo": Op.SADDO, "bvusubo": Op.USUBO, "bvssubo": Op.SSUBO,
    "bvumulo": Op.UMULO, "bvsmulo": Op.SMULO, "bvsdivo": Op.SDIVO,
}  # fmt: skip
_PLAIN: Mapping[str, Operator] = {
    "not": Operator(1, 1, _bools, _complement), "=>": Operator(2, None, _bools, _implies),
    "=": Operator(2, None, _same, _equality), "distinct": Operator(2, None, _same, _distinct),
    "ite": Operator(3, 3, _choice, _plain(Op.ITE)),
    "concat": Operator(2, None, _vectors, concatenated),
    "bvcomp": Operator(2, 2, _same_vectors, _comparison),
    "select": Operator(2, 2, _access, _select), "store": Operator(3, 3, _access, _store),
    "bvnot": Operator(1, 1, _vectors, _complement), "bvnego": Operator(1, 1, _vectors, _least),
    "bvneg": Operator(1, 1, _vectors, _plain(Op.NEG)),
    "bvredor": Operator(1, 1, _vectors, _plain(Op.REDOR, bits(1))),
    "bvredand": Operator(1, 1, _vectors, _plain(Op.REDAND, bits(1))),
    **{
        name: Operator(2, None, _bools, _folded(code))
        for name, code in {"and": Op.AND, "or": Op.OR, "xor": Op.XOR}.items()
    },
    **{name: Operator(2, None, _same_vectors, _folded(code)) for name, code in FOLDED.items()},
    **{name: Operator(2, 2, _same_vectors, _plain(code)) for name, code in BINARY.items()},
    **{
        name: Operator(2, 2, _same_vectors, _plain(code, BOOL))
        for name, code in (COMPARISONS | _OVERFLOWS).items()
    },
}  # fmt: skip
_INDEXED: Mapping[str, Operator] = {
    "extract": Operator(1, 1, _vectors, _extract, 2),
    "zero_extend": Operator(1, 1, _vectors, _extended(Op.UEXT), 1),
    "sign_extend": Operator(1, 1, _vectors, _extended(Op.SEXT), 1),
    "repeat": Operator(1, 1, _vectors, _repeat, 1),
    "rotate_left": Operator(1, 1, _vectors, _rotated(left=True), 1),
    "rotate_right": Operator(1, 1, _vectors, _rotated(left=False), 1),
}
