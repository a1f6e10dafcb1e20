"""Operators whose indices and argument sorts depend on each other: `(_ extract 7 4)`, `concat`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

from reducekit.frontends.smt2.language.sorts import Sort, print_sort

# The head of an application, and the sorts of its arguments.
Application = tuple[str, tuple[Sort, ...]]
# Draws one with a result of this sort, out of a script with these sorts; None if there is none.
Draw = Callable[[Random, Sort, Sequence[Sort]], "Application | None"]


def _width(sort: Sort) -> int:
    """Return the width of a bit-vector sort; 0 for any other sort."""
    known = isinstance(sort, tuple) and sort[0] == "BitVec" and isinstance(sort[1], int)
    return sort[1] if known else 0  # type: ignore[return-value]  # it is a number


def _widths(sorts: Sequence[Sort]) -> list[int]:
    return [width for width in map(_width, sorts) if width]


def _format(sort: Sort) -> tuple[int, int] | None:
    """Return the exponent and significand of a float sort, in bits; None for any other sort."""
    if not isinstance(sort, tuple) or sort[0] != "FloatingPoint":
        return None
    _, exponent, significand = sort
    assert isinstance(exponent, int)
    assert isinstance(significand, int)
    return exponent, significand


def _concat(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    width = _width(sort)
    if width < 2:
        return None
    left = dice.randrange(1, width)
    return "concat", (("BitVec", left), ("BitVec", width - left))


def _extract(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    width = _width(sort)
    wider = [each for each in _widths(sorts) if each >= width]
    if not width or not wider:
        return None
    whole = dice.choice(wider)
    low = dice.randint(0, whole - width)
    return f"(_ extract {low + width - 1} {low})", (("BitVec", whole),)


def _extend(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    width = _width(sort)
    narrower = [each for each in _widths(sorts) if each <= width]
    if not width or not narrower:
        return None
    inner = dice.choice(narrower)
    name = dice.choice(("zero_extend", "sign_extend"))
    return f"(_ {name} {width - inner})", (("BitVec", inner),)


def _repeat(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    width = _width(sort)
    times = [each for each in range(1, width + 1) if width % each == 0]
    if not times:
        return None
    often = dice.choice(times)
    return f"(_ repeat {often})", (("BitVec", width // often),)


def _rotate(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    if not _width(sort):
        return None
    name = dice.choice(("rotate_left", "rotate_right"))
    return f"(_ {name} {dice.randrange(_width(sort) + 2)})", (sort,)


def _from_natural(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    return (f"(_ int2bv {_width(sort)})", ("Int",)) if _width(sort) else None


def _to_natural(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    widths = _widths(sorts)
    if sort != "Int" or not widths:
        return None
    return "bv2nat", (("BitVec", dice.choice(widths)),)


def _to_float(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    """Draw a conversion from another format."""
    formats = [each for each in sorts if _format(each)]
    found = _format(sort)
    if found is None or not formats:
        return None
    return f"(_ to_fp {found[0]} {found[1]})", ("RoundingMode", dice.choice(formats))


def _bits_to_float(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    found, widths = _format(sort), _widths(sorts)
    if found is None or not widths:
        return None
    indices, whole = f"{found[0]} {found[1]}", sum(found)
    kind = dice.randrange(4)
    if kind == 0:
        return f"(_ to_fp {indices})", (("BitVec", whole),)
    if kind == 1:
        exponent, significand = found
        return "fp", (("BitVec", 1), ("BitVec", exponent), ("BitVec", significand - 1))
    name = ("to_fp", "to_fp_unsigned")[kind - 2]
    return f"(_ {name} {indices})", ("RoundingMode", ("BitVec", dice.choice(widths)))


def _float_to_bits(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    formats = [each for each in sorts if _format(each)]
    if not _width(sort) or not formats:
        return None
    name = dice.choice(("fp.to_ubv", "fp.to_sbv"))
    return f"(_ {name} {_width(sort)})", ("RoundingMode", dice.choice(formats))


def _to_vector(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    return (f"(_ int_to_bv {_width(sort)})", ("Int",)) if _width(sort) else None


def _divisible(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    return (f"(_ divisible {dice.randint(1, 7)})", ("Int",)) if sort == "Bool" else None


def _and_of_integers(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    return (f"(_ iand {dice.choice((1, 4, 8))})", ("Int", "Int")) if sort == "Int" else None


def _constant_array(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    if not isinstance(sort, tuple) or sort[0] != "Array" or isinstance(sort[2], int):
        return None
    return f"(as const {print_sort(sort).decode()})", (sort[2],)


def _tuple(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    """Draw a tuple, or a field of one."""
    if isinstance(sort, tuple) and sort[0] == "Tuple":
        return "tuple", tuple(each for each in sort[1:] if not isinstance(each, int))
    fields = [
        (at, each)
        for each in sorts
        if isinstance(each, tuple) and each[0] == "Tuple"
        for at, inside in enumerate(each[1:])
        if inside == sort
    ]
    if not fields:
        return None
    at, whole = dice.choice(fields)
    return f"(_ tuple.select {at})", (whole,)


def _pseudo_boolean(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    """Draw a bound on how many terms are true, or on the sum of their weights."""
    if sort != "Bool":
        return None
    count = dice.randint(2, 4)
    bound = str(dice.randint(0, count))
    name = dice.choice(("at-most", "at-least", "pble", "pbge", "pbeq"))
    if name.startswith("pb"):
        bound += "".join(f" {dice.randint(1, 3)}" for _ in range(count))
    return f"(_ {name} {bound})", ("Bool",) * count


def _real_to_float(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    found = _format(sort)
    if found is None:
        return None
    return f"(_ to_fp {found[0]} {found[1]})", ("RoundingMode", "Real")


def _letter(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    """Draw a string of one letter by its code."""
    return (f"(_ char #x{dice.choice((0, 65, 127, 0x2FFFF)):X})", ()) if sort == "String" else None


def _repeated(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
    if sort != "RegLan":
        return None
    low = dice.randrange(4)
    if dice.random() < 0.5:
        return f"(_ re.^ {low})", ("RegLan",)
    return f"(_ re.loop {low} {low + dice.randrange(3)})", ("RegLan",)


_DRAWS: Mapping[str, tuple[Draw, ...]] = {
    "bitvectors": (_concat, _extract, _extend, _repeat, _rotate),
    "bitvectors ints": (_from_natural, _to_natural),
    "floats": (_to_float,),
    "floats bitvectors": (_bits_to_float, _float_to_bits),
    "strings": (_repeated,),
    "rare bitvectors ints": (_to_vector,),
    "cvc5 ints": (_divisible, _and_of_integers),
    "cvc5 arrays": (_constant_array,),
    "cvc5": (_tuple,),
    "z3 arrays": (_constant_array,),
    "z3": (_pseudo_boolean,),
    "rare floats reals": (_real_to_float,),
    "rare strings": (_letter,),
}


def indexed(theories: frozenset[str]) -> Iterator[Draw]:
    """Yield what draws applications in these theories."""
    for name, draws in _DRAWS.items():
        if theories.issuperset(name.split()):
            yield from draws
