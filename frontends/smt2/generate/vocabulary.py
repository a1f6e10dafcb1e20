"""What the terms of one script are built of: sorts, functions and constants, drawn at random.

The name of a logic says of which theories they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from reducekit.errors import UsageError
from reducekit.frontends.smt2.generate.indexed import Draw, indexed
from reducekit.frontends.smt2.language.logics import theories_in
from reducekit.frontends.smt2.language.operators import (
    HEAP,
    HIGHER,
    RARE,
    RELATIONS,
    Signature,
    signatures,
)
from reducekit.frontends.smt2.language.sorts import Sort, print_sort

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

    Raises UsageError for a name that is none.
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


def _arrays(dice: Random, sorts: Sequence[Sort]) -> list[Sort]:
    """Draw sorts of arrays, as the logics name them: from integers to integers, and so on."""
    inside = [each for each in sorts if each != "RoundingMode"]
    return [
        ("Array", dice.choice(inside), dice.choice(inside)) for _ in range(dice.choice((1, 1, 2)))
    ]


def _declare_constants(dice: Random, vocabulary: Vocabulary, most: int) -> None:
    """Declare up to `most` constants of each sort."""
    number = 0
    for each in vocabulary.sorts:
        for _ in range(dice.randint((most + 1) // 2, most)):
            vocabulary.declare(f"x{number}", each)
            number += 1


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
        sorts += _arrays(dice, base or sorts)
    sorts = list(dict.fromkeys((*sorts, "Bool")))
    vocabulary = Vocabulary(
        theories, tuple(sorts), operators, tuple(indexed(theories)), {}, commands, constructors
    )
    _declare_constants(dice, vocabulary, symbols)
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
