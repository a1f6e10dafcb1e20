"""Random terms of a sort, from the top down: an operator with that result, then its arguments.

The leaves are symbols, or random literals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random

from reducekit.frontends.smt2.generate.vocabulary import Vocabulary, spelled
from reducekit.frontends.smt2.language.operators import Signature
from reducekit.frontends.smt2.language.sorts import Sort, is_open, is_variable, substitute

ROUNDING = ("RNE", "RNA", "RTP", "RTN", "RTZ")
_LETTERS = 'ab01 -A"'
_CODES = (r"\u{0}", r"\u{7f}", r"\u{2ffff}", r"\u0041")


def literal(dice: Random, sort: Sort) -> str | None:
    """Return a literal, or the nearest that the sort has to one; None for a sort without.

    Small and extreme values are frequent, as solvers treat them as special cases.
    """
    if sort == "Bool":
        return dice.choice(("true", "false"))
    if sort == "Int":
        return _signed(dice, str(_whole(dice)))
    if sort == "Real":
        return _signed(dice, positive(dice, "Real") if dice.random() < 0.8 else "0.0")
    if sort == "String":
        return _string(dice)
    if sort == "RegLan":
        return f"(str.to_re {_string(dice)})"
    if sort == "RoundingMode":
        return dice.choice(ROUNDING)
    if isinstance(sort, str):
        return None
    return _compound(dice, sort)


def positive(dice: Random, sort: Sort) -> str:
    """Return a literal: of a number one above 0 without a sign, of Char a string of one letter."""
    if sort == "Int":
        return str(max(1, _whole(dice)))
    if sort == "Real":
        return f"{max(1, _whole(dice))}.{dice.choice((0, 0, 5, 25, 125))}"
    if sort == "Char":
        return f'"{dice.choice(_LETTERS[:-1])}"'
    found = literal(dice, sort)
    assert found is not None, sort
    return found


def _whole(dice: Random) -> int:
    if dice.random() < 0.9:
        return dice.randrange(11)
    return 2 ** dice.choice((8, 31, 32, 63, 64)) + dice.randrange(-1, 2)


def _signed(dice: Random, text: str) -> str:
    return text if dice.random() < 0.7 else f"(- {text})"


def _string(dice: Random) -> str:
    letters = [dice.choice(_LETTERS) for _ in range(dice.choice((0, 1, 1, 2, 3, 5)))]
    if dice.random() < 0.1:
        letters.append(dice.choice(_CODES))
    return '"' + "".join(letters).replace('"', '""') + '"'


def _compound(dice: Random, sort: tuple[int | Sort, ...]) -> str | None:
    name, *inside = sort
    if name == "BitVec":
        assert isinstance(inside[0], int)
        return bits(dice, inside[0])
    if name == "FloatingPoint":
        exponent, significand = inside
        assert isinstance(exponent, int)
        assert isinstance(significand, int)
        if dice.random() < 0.5:
            special = dice.choice(("+oo", "-oo", "+zero", "-zero", "NaN"))
            return f"(_ {special} {exponent} {significand})"
        parts = (bits(dice, 1), bits(dice, exponent), bits(dice, significand - 1))
        return f"(fp {' '.join(parts)})"
    if name == "Seq":
        return f"(as seq.empty {spelled(sort)})"
    if name in ("Set", "Bag"):
        return f"(as {str(name).lower()}.empty {spelled(sort)})"
    if name == "FiniteField":
        assert isinstance(inside[0], int)
        return f"(as ff{dice.randrange(inside[0])} {spelled(sort)})"
    return None


def bits(dice: Random, width: int) -> str:
    """Return a literal of a bit-vector."""
    most = 2**width - 1
    extremes = (0, 1, most, 2 ** (width - 1), most >> 1)
    value = min(most, dice.choice((*extremes, dice.randint(0, most), dice.randint(0, most))))
    if width % 4 == 0 and dice.random() < 0.5:
        return f"#x{value:0{width // 4}x}"
    return f"#b{value:0{width}b}"


# Names by sort: the constants of a script, and the variables that are bound around a term.
Scope = Mapping[Sort, list[str]]

_STOPS = 0.07
"""How often a term ends above the lowest level."""
_LETS = 0.05
_QUANTIFIERS = 0.1
_MATCHES = 0.05
_LAMBDAS = 0.2
"""How often a function that is a value, or an array of z3, is drawn as a lambda."""
_TRIES = 8
"""How often an atom is drawn again that is made of Booleans only."""
_AGAIN = 4
"""How often an argument is drawn again that another one equals."""
_INDEXED = 0.25
"""How often an operator with indices is drawn, where there are some for the sort."""
_SYMBOLS = 0.8
"""How often a leaf is a constant or variable, where there is one; else it is a literal."""
_TRUTHS = 0.04
"""How often a Boolean leaf is `true` or `false`: they decide most of what is around them."""


class Terms:
    """Draws the terms of a command, out of what was declared and defined by then.

    Each has at most the levels asked for, which bounds the recursion.
    """

    def __init__(self, dice: Random, vocabulary: Vocabulary) -> None:
        self.dice = dice
        self.vocabulary = vocabulary
        self._fitting: dict[Sort, list[tuple[Signature, dict[str, Sort | int]]]] = {}
        self._bound = 0
        self._open = 0
        """Counts symbols that were drawn: a term for which it did not grow has a known value."""

    def term(self, sort: Sort, levels: int, scope: Scope) -> str:
        """Return a term of a sort with at most this many levels above its leaves."""
        dice = self.dice
        if levels <= 0 or dice.random() < _STOPS:
            return self._leaf(sort, scope)
        if dice.random() < _LETS:
            return self._let(sort, levels, scope)
        if (
            sort == "Bool"
            and "quantifiers" in self.vocabulary.theories
            and dice.random() < _QUANTIFIERS
        ):
            return self._quantified(levels, scope)
        if self.vocabulary.constructors and sort != "RegLan" and dice.random() < _MATCHES:
            return self._match(sort, levels, scope)
        lambdas = ("->", "Array") if "z3" in self.vocabulary.theories else ("->",)
        if isinstance(sort, tuple) and sort[0] in lambdas and dice.random() < _LAMBDAS:
            return self._lambda(sort, levels, scope)
        drawn = self._difference(sort, scope) or self._application(sort)
        if drawn is None:
            return self._leaf(sort, scope)
        if isinstance(drawn, str):
            return drawn
        head, arguments, literals = drawn
        if not arguments:
            return head
        return f"({head} {' '.join(self._arguments(arguments, literals, levels, scope))})"

    def atom(self, levels: int, scope: Scope) -> str:
        """Return a Boolean term that relates terms of other sorts, if there are any."""
        for _ in range(_TRIES):
            drawn = self._application("Bool")
            if drawn is None or all(each == "Bool" for each in drawn[1]):
                continue
            head, sorts, literals = drawn
            return f"({head} {' '.join(self._arguments(sorts, literals, levels, scope))})"
        return self.term("Bool", levels, scope)

    def _arguments(
        self, sorts: Sequence[Sort], literals: frozenset[int], levels: int, scope: Scope
    ) -> list[str]:
        """Draw arguments of these sorts, not all of them literals, and no two the same.

        Otherwise most applications have a known value, such as `(= x x)`, and so have those around.
        """
        before, parts = self._open, list[str]()
        for at, each in enumerate(sorts):
            if at in literals:
                parts.append(positive(self.dice, each))
                continue
            part = self.term(each, levels - 1, scope)
            for _ in range(_AGAIN):
                if part in parts:
                    part = self.term(each, levels - 1, scope)
            parts.append(part)
        if self._open == before and not literals.issuperset(range(len(sorts))):
            places = [at for at, each in enumerate(sorts) if at not in literals and scope.get(each)]
            if places:
                at = self.dice.choice(places)
                parts[at] = self._symbol(scope[sorts[at]])
        return parts

    def _symbol(self, names: Sequence[str]) -> str:
        self._open += 1
        return self.dice.choice(names)

    def _leaf(self, sort: Sort, scope: Scope) -> str:
        dice, names = self.dice, scope.get(sort)
        differences = self.vocabulary.theories & {"int differences", "real differences"}
        often = 1 - _TRUTHS if sort == "Bool" else _SYMBOLS
        if names and ((sort in ("Int", "Real") and differences) or dice.random() < often):
            return self._symbol(names)
        found = literal(dice, sort)
        if found is not None:
            return found
        if names:
            return self._symbol(names)
        # A sort without literals, and nothing is declared that has it.
        name = f"x{sum(map(len, self.vocabulary.constants.values()))}"
        self.vocabulary.declare(name, sort)
        self._open += 1
        return name

    def _application(self, sort: Sort) -> tuple[str, tuple[Sort, ...], frozenset[int]] | None:
        """Draw an operator with this result: its head, its sorts, which of them are literals."""
        dice, vocabulary = self.dice, self.vocabulary
        if vocabulary.draws and dice.random() < _INDEXED:
            found = dice.choice(vocabulary.draws)(dice, sort, vocabulary.sorts)
            if found is not None:
                return (*found, frozenset())
        fitting = self._fitting.get(sort)
        if fitting is None:
            fitting = self._fitting[sort] = with_result(self.vocabulary.operators, sort)
        if not fitting:
            return None
        operator, bindings = dice.choice(fitting)
        bindings, sorts = dict(bindings), list[Sort]()
        for parameter in operator.parameters:
            known = chosen(dice, parameter, bindings, vocabulary.sorts)
            if known is None:
                return None
            sorts.append(known)
        return dice.choice(operator.names), tuple(sorts), operator.literals

    def _difference(self, sort: Sort, scope: Scope) -> str | None:
        """Draw an atom of difference logic, where there is no other arithmetic."""
        theories = self.vocabulary.theories
        number = "Int" if "int differences" in theories else "Real"
        if sort != "Bool" or f"{number.lower()} differences" not in theories:
            return None
        dice, names = self.dice, scope[number]
        if dice.random() < 0.5:
            return None
        relation = dice.choice(("<", "<=", ">", ">=", "="))
        value = literal(dice, number)
        self._open += 1
        first, second = dice.sample(names, 2) if len(names) > 1 else (names[0], names[0])
        return f"({relation} (- {first} {second}) {value})"

    def _let(self, sort: Sort, levels: int, scope: Scope) -> str:
        inner = self.dice.choice(self.vocabulary.sorts)
        value = self.term(inner, levels - 1, scope)
        name = self._new()
        return f"(let (({name} {value})) {self.term(sort, levels - 1, _with(scope, inner, name))})"

    def _quantified(self, levels: int, scope: Scope) -> str:
        bound = []
        for _ in range(self.dice.choice((1, 1, 2))):
            inner, name = self.dice.choice(self.vocabulary.sorts), self._new()
            bound.append(f"({name} {spelled(inner)})")
            scope = _with(scope, inner, name)
        kind = self.dice.choice(("forall", "exists"))
        return f"({kind} ({' '.join(bound)}) {self.term('Bool', levels - 1, scope)})"

    def _lambda(self, sort: Sort, levels: int, scope: Scope) -> str:
        assert isinstance(sort, tuple)
        _, inner, result = sort
        assert not isinstance(inner, int)
        assert not isinstance(result, int)
        name = self._new()
        body = self.term(result, levels - 1, _with(scope, inner, name))
        return f"(lambda (({name} {spelled(inner)})) {body})"

    def _match(self, sort: Sort, levels: int, scope: Scope) -> str:
        """Draw a term for each constructor of a datatype, with its fields as variables."""
        datatype = self.dice.choice(list(self.vocabulary.constructors))
        value = self.term(datatype, levels - 1, scope)
        cases = []
        for each in self.vocabulary.constructors[datatype]:
            inner, pattern = scope, [*each.names]
            for field in each.parameters:
                pattern.append(self._new())
                inner = _with(inner, field, pattern[-1])
            listed = " ".join(pattern)
            shown = f"({listed})" if each.parameters else listed
            cases.append(f"({shown} {self.term(sort, levels - 1, inner)})")
        return f"(match {value} ({' '.join(cases)}))"

    def _new(self) -> str:
        self._bound += 1
        return f"v{self._bound}"


def with_result(
    operators: Iterable[Signature], sort: Sort
) -> list[tuple[Signature, dict[str, Sort | int]]]:
    """Return the operators with this result, each with the sorts of its sort variables."""
    found = []
    for each in operators:
        bindings: dict[str, Sort | int] = {}
        if fits(each.result, sort, bindings):
            found.append((each, bindings))
    return found


def chosen(
    dice: Random, parameter: Sort, bindings: dict[str, Sort | int], sorts: Iterable[Sort]
) -> Sort | None:
    """Return the sort of an argument; where it has variables, bind them to one of `sorts`.

    None if none of them fits.
    """
    known = substitute(parameter, bindings)
    assert known is not None, parameter
    if not is_open(known):
        return known
    some = [each for each in sorts if fits(known, each, {})]
    if not some:
        return None
    result = dice.choice(some)
    fits(known, result, bindings)
    return result


def fits(pattern: Sort | int, sort: Sort | int, bindings: dict[str, Sort | int]) -> bool:
    """Return whether a sort is an instance of a pattern, and bind its variables.

    Other than `sorts.match`, no Int is a Real, and no String a sequence. No variable stands for
    RegLan, whose terms are no values: cvc5 refuses an `ite` of them.
    """
    if isinstance(pattern, tuple):
        return (
            isinstance(sort, tuple)
            and len(sort) == len(pattern)
            and all(fits(p, s, bindings) for p, s in zip(pattern, sort, strict=True))
        )
    if isinstance(pattern, str) and is_variable(pattern):
        return sort != "RegLan" and bindings.setdefault(pattern, sort) == sort
    return pattern == sort


def _with(scope: Scope, sort: Sort, name: str) -> Scope:
    return {**scope, sort: [*scope.get(sort, ()), name]}
