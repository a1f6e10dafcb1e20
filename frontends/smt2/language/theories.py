"""The sort rules of the standard theories: Core, Ints, Reals, ArraysEx, BitVectors, FloatingPoint.

Tables from symbol to rule, for the theories of SMT-LIB 2.7 and their extensions
by solvers. `theory_collections` covers strings, sequences, sets and the like.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from reducekit.frontends.smt2.language.rules import (
    Rule,
    Sorts,
    apply_value,
    common,
    every,
    function,
    join,
)
from reducekit.frontends.smt2.language.sorts import Sort, bitvector

# From the numerals of `(_ f numeral ...)` to the rule of f, None if they do not fit.
Indexed: TypeAlias = "Callable[[list[int]], Rule | None]"


def _equality(sorts: Sorts) -> Sort | None:
    """= and distinct: one sort, at least two terms."""
    return "Bool" if len(sorts) > 1 and common(sorts)[0] else None


def _ite(sorts: Sorts) -> Sort | None:
    if len(sorts) != 3 or sorts[0] not in ("Bool", None):
        return None
    return sorts[1] if sorts[1] == sorts[2] else join(sorts[1], sorts[2])[1]


def _number(sorts: Sorts) -> Sort | None:
    """Arithmetic: Int of Ints, Real as soon as one is Real."""
    count = len(sorts)
    if count and sorts.count("Int") == count:
        return "Int"
    reals = sorts.count("Real")
    return "Real" if reals and reals + sorts.count("Int") + sorts.count(None) == count else None


def _real_division(sorts: Sorts) -> Sort | None:
    numbers = sorts.count("Real") + sorts.count("Int") + sorts.count(None)
    return "Real" if len(sorts) > 1 and numbers == len(sorts) else None


def _comparison(sorts: Sorts) -> Sort | None:
    numbers = sorts.count("Real") + sorts.count("Int") + sorts.count(None)
    return "Bool" if len(sorts) > 1 and numbers == len(sorts) else None


def _two_integers(sorts: Sorts) -> Sort | None:
    return _INTEGERS(sorts) if len(sorts) > 1 else None


_INTEGERS = every("Int", "Int")


def _numeric(result: Sort) -> Rule:
    """A function of one number, Int or Real."""

    def rule(sorts: Sorts) -> Sort | None:
        return result if len(sorts) == 1 and sorts[0] in ("Int", "Real", None) else None

    return rule


_CORE: Mapping[bytes, Rule] = {
    **dict.fromkeys(
        (b"and", b"or", b"xor", b"=>", b"implies", b"&&", b"||"), every("Bool", "Bool")
    ),
    b"iff": every("Bool", "Bool", 2),
    b"not": function(("Bool",), "Bool"),
    b"=": _equality,
    b"distinct": _equality,
    b"ite": _ite,
    b"if": _ite,
    b"@": apply_value,
}

_REAL_FUNCTIONS = (
    b"exp log sqrt sin cos tan csc sec cot asin acos atan arcsin arccos arctan arccsc arcsec arccot"
    b" sinh cosh tanh asinh acosh atanh real.exp real.sin"
).split()

_ARITHMETIC: Mapping[bytes, Rule] = {
    **dict.fromkeys((b"+", b"-", b"*", b"^", b"**"), _number),
    b"/": _real_division,
    b"/0": _real_division,
    **dict.fromkeys((b"<", b"<=", b">", b">="), _comparison),
    **dict.fromkeys((b"div", b"mod", b"rem", b"div0", b"mod0", b"div_total"), _two_integers),
    b"mod_total": _two_integers,
    b"/_total": _real_division,
    b"abs": lambda sorts: _number(sorts) if len(sorts) == 1 else None,
    b"to_real": _numeric("Real"),
    b"to_int": _numeric("Int"),
    b"is_int": _numeric("Bool"),
    b"divisible": function(("Int", "Int"), "Bool"),
    b"int.pow2": function(("Int",), "Int"),
    b"pow2": function(("Int",), "Int"),
    b"piand": function(("Int", "Int", "Int"), "Int"),
    b"int.log2": function(("Int",), "Int"),
    b"int.ispow2": function(("Int",), "Bool"),
    **dict.fromkeys(_REAL_FUNCTIONS, function(("Real",), "Real")),
    b"atan2": function(("Real", "Real"), "Real"),
}


def _select(sorts: Sorts) -> Sort | None:
    return apply_value(sorts) if sorts and sorts[0].__class__ is tuple else None


def _store(sorts: Sorts) -> Sort | None:
    array = sorts[0] if sorts else None
    if not isinstance(array, tuple):
        return None
    if array[0] == "Array" and len(sorts) == len(array):
        expected = array[1:]
    elif array[0] == "Set" and len(sorts) == 3:
        expected = (array[1], "Bool")
    else:
        return None
    if expected == tuple(sorts[1:]):
        return array
    pairs = zip(expected, sorts[1:], strict=True)
    return array if all(join(want, have)[0] for want, have in pairs) else None  # type: ignore[arg-type]


def _default(sorts: Sorts) -> Sort | None:
    """Z3's default element of an array."""
    array = sorts[0] if len(sorts) == 1 else None
    if not isinstance(array, tuple) or array[0] != "Array":
        return None
    return array[-1]  # type: ignore[return-value]  # arrays hold sorts


_I, _E = "'I", "'E"
_ARRAYS: Mapping[bytes, Rule] = {
    b"select": _select,
    b"store": _store,
    b"default": _default,
    b"fmf.card": function((_I, "Int"), "Bool"),  # of the sort of a term, in CVC4
    b"array-ext": function((("Array", _I, _E), ("Array", _I, _E)), _I),
    b"eqrange": function((("Array", _I, _E), ("Array", _I, _E), _I, _I), "Bool"),
}


def _is_bitvector(sort: Sort | None) -> bool:
    return sort.__class__ is tuple and sort[0] == "BitVec"


def _width(sort: Sort | None) -> int | None:
    """Return the width of a bit-vector sort."""
    if isinstance(sort, tuple) and sort[0] == "BitVec" and isinstance(sort[1], int):
        return sort[1]
    return None


def _bitvectors(sorts: Sorts) -> Sort | None:
    """Any number of bit-vectors of one width: that sort."""
    if not sorts:
        return None
    first = sorts[0]
    if first is None or sorts.count(first) != len(sorts):
        fits, first = common(sorts)
        if not fits:
            return None
    return first if _is_bitvector(first) else None


def _several_bitvectors(sorts: Sorts) -> Sort | None:
    return _bitvectors(sorts) if len(sorts) > 1 else None


def _one_bitvector(sorts: Sorts) -> Sort | None:
    return sorts[0] if len(sorts) == 1 and _is_bitvector(sorts[0]) else None


def _bitvector_predicate(arity: int) -> Rule:
    def rule(sorts: Sorts) -> Sort | None:
        if len(sorts) != arity:
            return None
        fits, sort = common(sorts)
        return "Bool" if fits and (sort is None or _is_bitvector(sort)) else None

    return rule


def _to_bit(arity: int) -> Rule:
    holds = _bitvector_predicate(arity)
    return lambda sorts: ("BitVec", 1) if holds(sorts) else None


def _concat(sorts: Sorts) -> Sort | None:
    total = 0
    for sort in sorts:
        width = _width(sort)
        if width is None:
            return None
        total += width
    return bitvector(total)


def _bit_function(result: Sort) -> Rule:
    """A function of one bit-vector of any width."""

    def rule(sorts: Sorts) -> Sort | None:
        fits = len(sorts) == 1 and (sorts[0] is None or _is_bitvector(sorts[0]))
        return result if fits else None

    return rule


def _extract(indices: list[int]) -> Rule | None:
    if len(indices) != 2 or indices[0] < indices[1]:
        return None
    high, result = indices[0], bitvector(indices[0] - indices[1] + 1)

    def rule(sorts: Sorts) -> Sort | None:
        if len(sorts) != 1:
            return None
        width = _width(sorts[0])
        return result if sorts[0] is None or (width is not None and high < width) else None

    return rule


def _widen(new_width: Callable[[int, int], int]) -> Indexed:
    """One bit-vector and one numeral: the new width from the width and the numeral."""

    def indexed(indices: list[int]) -> Rule | None:
        if len(indices) != 1:
            return None

        def rule(sorts: Sorts) -> Sort | None:
            width = _width(sorts[0]) if len(sorts) == 1 else None
            return None if width is None else bitvector(new_width(width, indices[0]))

        return rule

    return indexed


def _fixed(arity: int, make: Callable[[list[int]], Rule | None]) -> Indexed:
    """An indexed symbol with this many numerals."""
    return lambda indices: make(indices) if len(indices) == arity else None


def _bits_of_booleans(sorts: Sorts) -> Sort | None:
    return bitvector(len(sorts)) if _BOOLEANS(sorts) else None


_BOOLEANS = every("Bool", "Bool")

_BITVECTORS: Mapping[bytes, Rule] = {
    **dict.fromkeys(
        b"bvand bvor bvxor bvxnor bvnand bvnor bvadd bvmul bvsub bvudiv bvurem bvsdiv bvsrem bvsmod"
        b" bvshl bvlshr bvashr ext_rotate_left ext_rotate_right bvrol bvror bvudiv0 bvurem0 bvsdiv0"
        b" bvsrem0 bvsmod0 bvudiv_i bvurem_i bvsdiv_i bvsrem_i bvsmod_i bvudiv_total"
        b" bvurem_total".split(),
        _several_bitvectors,
    ),
    **dict.fromkeys(b"bvnot bvneg bvinc bvdec".split(), _one_bitvector),
    **dict.fromkeys(
        b"bvult bvule bvugt bvuge bvslt bvsle bvsgt bvsge bvuaddo bvsaddo bvumulo bvsmulo bvusubo"
        b" bvssubo bvudivo bvsdivo bvumul_noovfl bvsmul_noovfl bvsmul_noudfl".split(),
        _bitvector_predicate(2),
    ),
    b"bvnego": _bitvector_predicate(1),
    b"bvcomp": _to_bit(2),
    **dict.fromkeys(b"bvultbv bvsltbv bvulebv bvslebv".split(), _to_bit(2)),
    **dict.fromkeys(b"bvredor bvredand bvredxor".split(), _to_bit(1)),
    b"bvite": lambda sorts: (
        _bitvectors(sorts[1:]) if len(sorts) == 3 and sorts[0] in (("BitVec", 1), None) else None
    ),
    b"concat": _concat,
    **dict.fromkeys(b"bv2nat bv2int ubv_to_int sbv_to_int bvsize".split(), _bit_function("Int")),
    **dict.fromkeys((b"bool-to-bv", b"bool2bv"), function(("Bool",), ("BitVec", 1))),
    **dict.fromkeys((b"mkbv", b"@from_bools", b"from_bools"), _bits_of_booleans),
}

_INDEXED_BITVECTORS: Mapping[bytes, Indexed] = {
    b"extract": _extract,
    b"repeat": _widen(lambda width, times: width * times),
    **dict.fromkeys((b"zero_extend", b"sign_extend"), _widen(lambda width, more: width + more)),
    **dict.fromkeys((b"rotate_left", b"rotate_right"), _widen(lambda width, _: width)),
    **dict.fromkeys(
        (b"int2bv", b"int_to_bv", b"nat2bv"),
        _fixed(1, lambda indices: function(("Int",), bitvector(indices[0]))),
    ),
    **dict.fromkeys(
        (b"bit2bool", b"bitOf", b"@bit", b"bit"), _fixed(1, lambda _: _bit_function("Bool"))
    ),
    b"iand": _fixed(1, lambda _: function(("Int", "Int"), "Int")),
    b"divisible": _fixed(1, lambda _: function(("Int",), "Bool")),
}


def _is_float(sort: Sort | None) -> bool:
    return sort.__class__ is tuple and sort[0] == "FloatingPoint"


def _fp(sorts: Sorts) -> Sort | None:
    """(fp sign exponent significand), without the hidden bit."""
    widths = [_width(sort) for sort in sorts]
    if len(widths) != 3 or widths[0] != 1 or widths[1] is None or widths[2] is None:
        return None
    return ("FloatingPoint", widths[1], widths[2] + 1)


def _floats(arity: int, rounded: bool = False) -> Rule:
    """A function of this many floats of one sort, with a rounding mode before them if `rounded`."""

    def rule(sorts: Sorts) -> Sort | None:
        if rounded:
            if not sorts or sorts[0] not in ("RoundingMode", None):
                return None
            sorts = sorts[1:]
        if len(sorts) != arity:
            return None
        sort = common(sorts)[1]
        return sort if _is_float(sort) else None

    return rule


def _float_predicate(arity: int | None) -> Rule:
    """A predicate over floats of one sort; of two or more if the arity is None."""

    def rule(sorts: Sorts) -> Sort | None:
        if len(sorts) != arity and (arity is not None or len(sorts) < 2):
            return None
        fits, sort = common(sorts)
        return "Bool" if fits and (sort is None or _is_float(sort)) else None

    return rule


def _from_float(result: Sort | None, rounded: bool) -> Rule:
    """A conversion of one float, with a rounding mode before it if `rounded`."""

    def rule(sorts: Sorts) -> Sort | None:
        if len(sorts) != 1 + rounded or (rounded and sorts[0] not in ("RoundingMode", None)):
            return None
        return result if sorts[-1] is None or _is_float(sorts[-1]) else None

    return rule


def _ieee_bits(sorts: Sorts) -> Sort | None:
    sort = sorts[0] if len(sorts) == 1 else None
    if not isinstance(sort, tuple) or sort[0] != "FloatingPoint":
        return None
    _, exponent, significand = sort
    return bitvector(exponent + significand)  # type: ignore[operator,arg-type]  # both are int


def _to_fp(indices: list[int]) -> Rule | None:
    """to_fp in all its forms: the target sort is in the indices."""
    if len(indices) != 2 or 0 in indices:
        return None
    target: Sort = ("FloatingPoint", *indices)

    def rule(sorts: Sorts) -> Sort | None:
        if len(sorts) > 1 and sorts[0] not in ("RoundingMode", None):
            # Z3 also takes a Real and an exponent.
            return target if len(sorts) == 3 and sorts[-1] == "RoundingMode" else None
        return target if 0 < len(sorts) < 4 else None

    return rule


def float_constant(indices: list[int]) -> Sort | None:
    """Return the sort of (_ NaN e s) and similar constants."""
    return ("FloatingPoint", *indices) if len(indices) == 2 and 0 not in indices else None


_FLOATS: Mapping[bytes, Rule] = {
    b"fp": _fp,
    **dict.fromkeys((b"fp.add", b"fp.sub", b"fp.mul", b"fp.div"), _floats(2, rounded=True)),
    b"fp.fma": _floats(3, rounded=True),
    b"fp.sqrt": _floats(1, rounded=True),
    b"fp.roundToIntegral": _floats(1, rounded=True),
    **dict.fromkeys((b"fp.rem", b"fp.min", b"fp.max", b"fp.min_i", b"fp.max_i"), _floats(2)),
    **dict.fromkeys((b"fp.abs", b"fp.neg"), _floats(1)),
    **dict.fromkeys((b"fp.eq", b"fp.lt", b"fp.leq", b"fp.gt", b"fp.geq"), _float_predicate(None)),
    **dict.fromkeys(
        b"fp.isNormal fp.isSubnormal fp.isZero fp.isInfinite fp.isNaN fp.isNegative"
        b" fp.isPositive".split(),
        _float_predicate(1),
    ),
    b"fp.to_real": _from_float("Real", rounded=False),
    b"fp.to_ieee_bv": _ieee_bits,
    b"to_ieee_bv": _ieee_bits,
}

_INDEXED_FLOATS: Mapping[bytes, Indexed] = {
    **dict.fromkeys(
        b"to_fp to_fp_unsigned to_fp_signed to_fp_bv to_fp_fp to_fp_real to_fp_from_ubv"
        b" to_fp_from_sbv to_fp_from_fp to_fp_from_real to_fp_from_ieee_bv asFloat".split(),
        _to_fp,
    ),
    **dict.fromkeys(
        b"fp.to_ubv fp.to_sbv fp.to_ubv_total fp.to_sbv_total".split(),
        _fixed(1, lambda indices: _from_float(bitvector(indices[0]), rounded=True)),
    ),
}


def _small_order(sorts: Sorts) -> Sort | None:
    """Finite field arithmetic: one field."""
    sort = common(sorts)[1] if sorts else None
    return sort if isinstance(sort, tuple) and sort[0] == "FiniteField" else None


_FIELDS: Mapping[bytes, Rule] = dict.fromkeys(
    (b"ff.add", b"ff.mul", b"ff.neg", b"ff.bitsum"), _small_order
)


def _pseudo_boolean(indices: list[int]) -> Rule | None:
    return every("Bool", "Bool") if indices else None


def _special_relation(indices: list[int]) -> Rule | None:
    return function(("'X", "'X"), "Bool") if len(indices) == 1 else None


_INDEXED_BOOLEANS: Mapping[bytes, Indexed] = {
    **dict.fromkeys((b"at-most", b"at-least", b"pble", b"pbge", b"pbeq"), _pseudo_boolean),
    **dict.fromkeys(
        b"partial-order linear-order tree-order piecewise-linear-order".split(), _special_relation
    ),
}

OPERATORS: Mapping[bytes, Rule] = {
    **_CORE,
    **_ARITHMETIC,
    **_ARRAYS,
    **_BITVECTORS,
    **_FLOATS,
    **_FIELDS,
}

INDEXED: Mapping[bytes, Indexed] = {
    **_INDEXED_BITVECTORS,
    **_INDEXED_FLOATS,
    **_INDEXED_BOOLEANS,
}

CONSTANTS: Mapping[bytes, Sort] = {
    b"true": "Bool",
    b"and": "Bool",  # without arguments, in Z3
    b"or": "Bool",
    b"false": "Bool",
    b"real.pi": "Real",
    b"pi": "Real",
    b"euler": "Real",
    **dict.fromkeys(
        b"RNE RNA RTP RTN RTZ roundNearestTiesToEven roundNearestTiesToAway roundTowardPositive"
        b" roundTowardNegative roundTowardZero".split(),
        "RoundingMode",
    ),
}

INDEXED_CONSTANTS: Mapping[bytes, Callable[[list[int]], Sort | None]] = dict.fromkeys(
    (b"+oo", b"-oo", b"+zero", b"-zero", b"NaN"), float_constant
)
