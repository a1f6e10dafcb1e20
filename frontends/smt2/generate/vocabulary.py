"""What the terms of one script are built of: sorts, functions and constants, drawn at random.

The name of a logic gives their theories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count as count_from
from itertools import starmap
from random import Random
from typing import Any, NamedTuple

from reducekit.errors import UsageError
from reducekit.frontends.smt2.language.operators import (
    HEAP,
    HIGHER,
    RARE,
    RELATIONS,
    Signature,
    signatures,
    theories_in,
)
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
        return [each for each in self.sorts if isinstance(each, tuple) and each[0] == family]

    def width(self, fits: Callable[[int], bool]) -> int | None:
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


ANY = "any"
DRAWN = (
    "ALL", "QF_ABV", "QF_ALIA", "QF_AUFBV", "QF_AUFLIA", "QF_AX", "QF_BV", "QF_BVFP", "QF_DT",
    "QF_FP", "QF_IDL", "QF_LIA", "QF_LIRA", "QF_LRA", "QF_NIA", "QF_NRA", "QF_RDL", "QF_S",
    "QF_SLIA", "QF_UF", "QF_UFBV", "QF_UFDTLIA", "QF_UFLIA", "QF_UFLRA", "ABV", "ALIA", "AUFDTLIA",
    "AUFLIRA", "BV", "FP", "LIA", "LRA", "NIA", "NRA", "UF", "UFBV", "UFDT", "UFLIA", "UFLRA",
)  # fmt: skip
"""What `ANY` draws from."""


def theories_of(logic: str) -> frozenset[str]:
    """Return the theories of a logic by name, and "quantifiers" where it has them.

    Raises UsageError for other names.
    """
    found = theories_in(logic)
    if found is None:
        known = logic.upper() if theories_in(logic.upper()) else "ALL, any, or one such as QF_LIA"
        raise UsageError(f"there is no logic {logic!r}: say {known}")
    return found


_FORMATS = ((2, 3), (3, 5), (5, 11), (8, 24))
_FIELDS = 0.2
"""How often a script of cvc5 has finite fields, which not all of its builds know."""
_WIDTHS = (1, 2, 3, 4, 5, 7, 8, 16, 32, 33, 64)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The sorts and symbols of a script, and the commands that declare them."""

    theories: frozenset[str]
    sorts: tuple[Sort, ...]
    """Those that constants and bound variables may have."""
    operators: list[Signature]
    """Of the theories, and the functions of the script."""
    draws: tuple[Draw, ...]
    """What draws applications of indexed operators."""
    constants: dict[Sort, list[str]] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    constructors: dict[Sort, list[Signature]] = field(default_factory=dict)
    """Those of each datatype."""

    def declare(self, name: str, sort: Sort) -> None:
        """Add a constant."""
        self.constants.setdefault(sort, []).append(name)
        self.commands.append(f"(declare-const {name} {spelled(sort)})")


def spelled(sort: Sort) -> str:
    """Return the text of a sort."""
    return print_sort(sort).decode()


def draw_vocabulary(dice: Random, theories: frozenset[str], symbols: int) -> Vocabulary:
    """Draw sorts of these theories, and at most this many constants of each."""
    commands: list[str] = []
    operators = list(signatures(theories))
    constructors: dict[Sort, list[Signature]] = {}
    base = list(_base(dice, theories))
    sorts = list(base)
    if "functions" in theories or not sorts:
        own = ["U0"] if sorts else ["U0", "U1"]
        commands += (f"(declare-sort {each} 0)" for each in own)
        sorts += own
    count = dice.choice((1, 1, 2)) if "datatypes" in theories else 0
    mutual = count == 2 and theories >= RARE
    declared = []
    for name in ("D0", "D1")[:count]:
        others: list[Sort] = ["D1"] if mutual and name == "D0" else []
        body, made, functions = _datatype(dice, name, [*sorts, "Bool", *others])
        declared.append((name, body))
        operators += (*made, *functions, *_updates(functions, theories))
        constructors[name] = made
        sorts.append(name)
    if mutual:
        names, bodies = zip(*declared, strict=True)
        listed = " ".join(f"({name} 0)" for name in names)
        commands.append(f"(declare-datatypes ({listed}) ({' '.join(bodies)}))")
    else:
        commands += (f"(declare-datatypes (({name} 0)) ({body}))" for name, body in declared)
    if count and theories >= RARE:
        commands.append("(declare-datatypes ((P 1)) ((par (T) ((cP (sP T) (tP Bool))))))")
        inside = dice.choice((*sorts, "Bool"))
        sorts.append(("P", inside))
        # z3 5.4.1 refuses a constructor that a script uses for two sorts.
        inside = "'S" if dice.random() < 0.1 else inside
        operators += (
            Signature(("cP",), (inside, "Bool"), ("P", inside)),
            Signature(("sP",), (("P", inside),), inside),
            Signature(("tP",), (("P", inside),), "Bool"),
        )
    if "sequences" in theories:
        sorts.append(("Seq", dice.choice(sorts)))
    if "cvc5" in theories:
        sorts += _collections(dice, [*sorts, "Bool"], theories)
    if theories >= {HIGHER, RELATIONS}:
        for collection, name in (("Set", "rel"), ("Bag", "table")):
            parts = (collection, ("Tuple", "'E", "'E")), (collection, ("Tuple", "'E"))
            for at in (0, 1):
                operators.append(Signature((f"(_ {name}.project {at})",), parts[:1], parts[1]))
    if HEAP in theories:
        place, content = dice.choice(base or ["U0"]), dice.choice(base or ["U0"])
        commands.append(f"(declare-heap ({spelled(place)} {spelled(content)}))")
        operators += (
            Signature(("pto",), (place, content), "Bool"),
            Signature((f"(as sep.nil {spelled(place)})",), (), place),
        )
    if "arrays" in theories:
        # As the logics name them: from integers to integers, and so on.
        inside_arrays = [each for each in base or sorts if each != "RoundingMode"]
        for _ in range(dice.choice((1, 1, 2))):
            sorts.append(("Array", dice.choice(inside_arrays), dice.choice(inside_arrays)))
    sorts = list(dict.fromkeys((*sorts, "Bool")))
    vocabulary = Vocabulary(
        theories, tuple(sorts), operators, tuple(indexed(theories)), {}, commands, constructors
    )
    numbers = count_from(0)
    for each in vocabulary.sorts:
        for _ in range(dice.randint((symbols + 1) // 2, symbols)):
            vocabulary.declare(f"x{next(numbers)}", each)
    if "functions" in theories:
        for name in ("f", "g", "p"):
            _declare_function(dice, vocabulary, name)
    return vocabulary


def _collections(dice: Random, inside: Sequence[Sort], theories: frozenset[str]) -> Iterator[Sort]:
    """Yield sorts that only cvc5 has."""
    pair: Sort = ("Tuple", dice.choice(inside), dice.choice(inside))
    yield pair
    yield "Set", dice.choice((*inside, pair))
    if "ints" in theories:
        yield "Bag", dice.choice(inside)
    if HIGHER in theories:
        of = dice.choice(inside)
        yield "->", of, dice.choice(inside)
        yield "->", of, "Bool"
        yield "Set", of
    if RELATIONS in theories:
        of = dice.choice(inside)
        for collection in ("Set", "Bag") if "ints" in theories else ("Set",):
            yield collection, ("Tuple", of)
            yield collection, ("Tuple", of, of)
    if dice.random() < _FIELDS:
        yield "FiniteField", dice.choice((2, 3, 7, 257))


def _base(dice: Random, theories: frozenset[str]) -> Iterator[Sort]:
    """Yield sorts that are made of no others."""
    if theories & {"ints", "int differences"}:
        yield "Int"
    if theories & {"reals", "real differences"}:
        yield "Real"
    if "strings" in theories:
        yield "String"
    if "bitvectors" in theories:
        for width in dice.sample(_WIDTHS, dice.choice((1, 2, 3))):
            yield "BitVec", width
    if "floats" in theories:
        for exponent, significand in dice.sample(_FORMATS, dice.choice((1, 1, 2))):
            yield "FloatingPoint", exponent, significand
        yield "RoundingMode"


def _datatype(
    dice: Random, name: str, fields: list[Sort]
) -> tuple[str, list[Signature], list[Signature]]:
    """Return the text of a datatype, its constructors, and its other functions.

    The first constructor has no fields: so there are values.
    """
    constructors = [Signature((f"c{name}0",), (), name)]
    declared = [f"(c{name}0)"]
    functions = []
    for number in range(1, dice.choice((2, 3, 4))):
        sorts = tuple(dice.choice((*fields, name)) for _ in range(dice.randrange(3)))
        constructors.append(Signature((f"c{name}{number}",), sorts, name))
        selectors = [
            Signature((f"s{name}{number}{at}",), (name,), sort) for at, sort in enumerate(sorts)
        ]
        functions += selectors
        parts = "".join(f" ({each.names[0]} {spelled(each.result)})" for each in selectors)
        declared.append(f"(c{name}{number}{parts})")
    testers = tuple(f"(_ is {each.names[0]})" for each in constructors)
    functions.append(Signature(testers, (name,), "Bool"))
    return f"({' '.join(declared)})", constructors, functions


def _updates(functions: Sequence[Signature], theories: frozenset[str]) -> Iterator[Signature]:
    """Yield what replaces a field of a datatype, for each of its selectors."""
    for solver, word in (("cvc5", "update"), ("z3", "update-field")):
        for each in functions if solver in theories else ():
            (datatype,) = each.parameters
            if not each.names[0].startswith("("):
                yield Signature((f"(_ {word} {each.names[0]})",), (datatype, each.result), datatype)


def _declare_function(dice: Random, made: Vocabulary, name: str) -> None:
    parameters = tuple(dice.choice(made.sorts) for _ in range(dice.choice((1, 1, 2))))
    result = "Bool" if name == "p" else dice.choice(made.sorts)
    made.operators.append(Signature((name,), parameters, result))
    taken = " ".join(map(spelled, parameters))
    made.commands.append(f"(declare-fun {name} ({taken}) {spelled(result)})")
