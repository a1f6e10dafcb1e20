"""Operators whose indices and argument sorts depend on each other: `(_ extract 7 4)`, `concat`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import starmap
from random import Random
from typing import Any, NamedTuple

from reducekit.frontends.smt2.language.sorts import Sort, print_sort

# The head of an application, and the sorts of its arguments.
Application = tuple[str, tuple[Sort, ...]]
# Draws one with a result of this sort, out of a script with these sorts; None if there is none.
Draw = Callable[[Random, Sort, Sequence[Sort]], "Application | None"]


class _Result(NamedTuple):
    """What an application is drawn for: a sort of one family, and the sorts of the script."""

    dice: Random
    inside: tuple[Any, ...]
    """The indices or arguments of the sort."""
    sorts: Sequence[Sort]

    def of(self, family: str) -> list[Any]:
        """Return the sorts of another family."""
        return [each for each in self.sorts if isinstance(each, tuple) and each[0] == family]

    def width(self, fits: Callable[[int], bool]) -> int | None:
        """Draw the width of a bit-vector."""
        widths = [each for _, each in self.of("BitVec") if fits(each)]
        return self.dice.choice(widths) if widths else None


def _concat(to: _Result) -> Application | None:
    (width,) = to.inside
    if width < 2:
        return None
    left = to.dice.randrange(1, width)
    return "concat", (("BitVec", left), ("BitVec", width - left))


def _extract(to: _Result) -> Application | None:
    (width,) = to.inside
    whole = to.width(lambda each: each >= width)
    if whole is None:
        return None
    low = to.dice.randint(0, whole - width)
    return f"(_ extract {low + width - 1} {low})", (("BitVec", whole),)


def _extend(to: _Result) -> Application | None:
    (width,) = to.inside
    inner = to.width(lambda each: each <= width)
    if inner is None:
        return None
    name = to.dice.choice(("zero_extend", "sign_extend"))
    return f"(_ {name} {width - inner})", (("BitVec", inner),)


def _repeat(to: _Result) -> Application:
    (width,) = to.inside
    often = to.dice.choice([each for each in range(1, width + 1) if width % each == 0])
    return f"(_ repeat {often})", (("BitVec", width // often),)


def _rotate(to: _Result) -> Application:
    (width,) = to.inside
    name = to.dice.choice(("rotate_left", "rotate_right"))
    return f"(_ {name} {to.dice.randrange(width + 2)})", (("BitVec", width),)


def _to_natural(to: _Result) -> Application | None:
    width = to.width(bool)
    return None if width is None else ("bv2nat", (("BitVec", width),))


def _bits_to_float(to: _Result) -> Application | None:
    exponent, significand = to.inside
    if not to.of("BitVec"):
        return None
    kind = to.dice.randrange(4)
    if kind == 0:
        return f"(_ to_fp {exponent} {significand})", (("BitVec", exponent + significand),)
    if kind == 1:
        return "fp", (("BitVec", 1), ("BitVec", exponent), ("BitVec", significand - 1))
    name = ("to_fp", "to_fp_unsigned")[kind - 2]
    vector = to.dice.choice(to.of("BitVec"))
    return f"(_ {name} {exponent} {significand})", ("RoundingMode", vector)


def _float_to_bits(to: _Result) -> Application | None:
    if not to.of("FloatingPoint"):
        return None
    name = to.dice.choice(("fp.to_ubv", "fp.to_sbv"))
    argument = to.dice.choice(to.of("FloatingPoint"))
    return f"(_ {name} {to.inside[0]})", ("RoundingMode", argument)


def _constant_array(to: _Result) -> Application:
    return f"(as const {print_sort(('Array', *to.inside)).decode()})", (to.inside[1],)


def _pseudo_boolean(to: _Result) -> Application:
    """Draw a bound on how many terms are true, or on the sum of their weights."""
    count = to.dice.randint(2, 4)
    bound = str(to.dice.randint(0, count))
    name = to.dice.choice(("at-most", "at-least", "pble", "pbge", "pbeq"))
    if name.startswith("pb"):
        bound += "".join(f" {to.dice.randint(1, 3)}" for _ in range(count))
    return f"(_ {name} {bound})", ("Bool",) * count


def _repeated(to: _Result) -> Application:
    low = to.dice.randrange(4)
    if to.dice.random() < 0.5:
        return f"(_ re.^ {low})", ("RegLan",)
    return f"(_ re.loop {low} {low + to.dice.randrange(3)})", ("RegLan",)


def _tuple(to: _Result) -> Application | None:
    """Draw a tuple, or a field of one."""
    (sort,) = to.inside
    if isinstance(sort, tuple) and sort[0] == "Tuple":
        return "tuple", sort[1:]
    fields = [
        (at, each) for each in to.of("Tuple") for at, field in enumerate(each[1:]) if field == sort
    ]
    if not fields:
        return None
    at, whole = to.dice.choice(fields)
    return f"(_ tuple.select {at})", (whole,)


def _to_fp(to: _Result, *arguments: Sort) -> Application:
    exponent, significand = to.inside
    return f"(_ to_fp {exponent} {significand})", ("RoundingMode", *arguments)


# By theories: the family of the result, and what draws an application.
_DRAWS: Mapping[str, Sequence[tuple[str, Callable[[_Result], Application | None]]]] = {
    "bitvectors": [("BitVec", each) for each in (_concat, _extract, _extend, _repeat, _rotate)],
    "bitvectors ints": (
        ("BitVec", lambda to: (f"(_ int2bv {to.inside[0]})", ("Int",))),
        ("Int", _to_natural),
    ),
    "floats": (("FloatingPoint", lambda to: _to_fp(to, to.dice.choice(to.of("FloatingPoint")))),),
    "floats bitvectors": (("FloatingPoint", _bits_to_float), ("BitVec", _float_to_bits)),
    "strings": (("RegLan", _repeated),),
    "rare bitvectors ints": (("BitVec", lambda to: (f"(_ int_to_bv {to.inside[0]})", ("Int",))),),
    "cvc5 ints": (
        ("Bool", lambda to: (f"(_ divisible {to.dice.randint(1, 7)})", ("Int",))),
        ("Int", lambda to: (f"(_ iand {to.dice.choice((1, 4, 8))})", ("Int", "Int"))),
    ),
    "cvc5 arrays": (("Array", _constant_array),),
    "cvc5": (("any", _tuple),),
    "z3 arrays": (("Array", _constant_array),),
    "z3": (("Bool", _pseudo_boolean),),
    "rare floats reals": (("FloatingPoint", lambda to: _to_fp(to, "Real")),),
    "rare strings": (
        # A string of one letter by its code.
        ("String", lambda to: (f"(_ char #x{to.dice.choice((0, 65, 127, 0x2FFFF)):X})", ())),
    ),
}


def indexed(theories: frozenset[str]) -> Iterator[Draw]:
    """Yield what draws applications in these theories."""
    for name, draws in _DRAWS.items():
        if theories.issuperset(name.split()):
            yield from starmap(_for_family, draws)


def _for_family(family: str, draw: Callable[[_Result], Application | None]) -> Draw:
    def drawn(dice: Random, sort: Sort, sorts: Sequence[Sort]) -> Application | None:
        name, *inside = (sort,) if isinstance(sort, str) else sort
        if family == "any":
            name, inside = family, [sort]
        return draw(_Result(dice, tuple(inside), sorts)) if name == family else None

    return drawn
