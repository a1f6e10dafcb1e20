"""Random scripts: declarations, assertions, and queries at open levels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from reducekit.frontends.smt2.generate.logic import ANY, DRAWN, theories_of
from reducekit.frontends.smt2.generate.rare import with_rare_commands
from reducekit.frontends.smt2.generate.terms import Scope, Terms
from reducekit.frontends.smt2.generate.vocabulary import draw_vocabulary, spelled
from reducekit.frontends.smt2.language.operators import HEAP, HIGHER, RARE, RELATIONS, Signature


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a script is drawn by: its logic (or `ANY`), and the most of each."""

    logic: str
    asserts: int
    levels: int
    """Of a term, above its leaves."""
    symbols: int
    """Constants of each sort."""
    queries: int
    extensions: str | None = None
    """Whose operators are drawn, too: one of `EXTENSIONS`."""


_CONSTANT = re.compile(r"^\(declare-const (\S+) ", re.MULTILINE)
_FREE = 0.15
"""How often an assertion is any term; otherwise it is made of clauses."""


_RARE = 0.25
"""How often a script may have operators and commands that few scripts have."""


_HEAPS, _HIGHER, _RELATIONS = 0.1, 0.2, 0.4
"""How often scripts of cvc5 have separation logic, functions as values, relations and tables."""


class _Shape(NamedTuple):
    """How the clauses of a script are drawn.

    The choices for the number of atoms that they share, of clauses of an assertion, and of literals
    of a clause.
    """

    atoms: Sequence[int]
    clauses: Sequence[int]
    literals: Sequence[int]


_SHAPES = (
    _Shape((4, 6, 8), (1, 1, 2, 3), (2, 3, 3, 3, 4)),
    _Shape((3, 4, 5), (3, 4, 6), (1, 2, 2, 2, 3)),
)
"""Loose clauses are mostly satisfiable, tight ones mostly not.

Random clauses are hardest near the ratio to atoms at which half of them are satisfiable (Mitchell,
Selman and Levesque, AAAI 1992).
"""


def generate_script(parameters: Parameters, seed: int) -> str:
    """Return the script of a seed. Raises UsageError for a logic that there is not."""
    dice = Random(seed)
    logic = dice.choice(DRAWN) if parameters.logic == ANY else parameters.logic
    rare = Random(f"rare {seed}")
    is_rare = rare.random() < _RARE
    theories = theories_of(logic) | (RARE if is_rare else set())
    queries = parameters.queries
    if parameters.extensions is not None:
        # No other logic has them.
        logic, theories = "ALL", theories | {parameters.extensions}
    if parameters.extensions == "cvc5":
        logic, theories = _parts_of_cvc5(Random(f"cvc5 {seed}"), theories)
        # cvc5 has no separation logic where it may be asked again.
        is_rare, queries = is_rare and HEAP not in theories, 1 if HEAP in theories else queries
    vocabulary = draw_vocabulary(dice, theories, parameters.symbols)
    levels = dice.randint(1, parameters.levels)
    for number in range(dice.randrange(4)):
        _define(Terms(dice, vocabulary), f"d{number}", levels)
    body = _body(Terms(dice, vocabulary), dice.randint(1, parameters.asserts), levels, queries)
    if HEAP in theories:
        body[-1] = "(check-sat)"
    if is_rare:
        lines = with_rare_commands(rare, logic, vocabulary, body)
    else:
        lines = [f"(set-logic {logic})", *vocabulary.commands, *body]
    text = "\n".join((*lines, ""))
    # Solvers of the time before SMT-LIB 2.5 know no other way.
    is_old = Random(f"declared {seed}").random() < 0.5
    return _CONSTANT.sub(r"(declare-fun \1 () ", text) if is_old else text


def _parts_of_cvc5(dice: Random, theories: frozenset[str]) -> tuple[str, frozenset[str]]:
    """Return the logic of a script, and its theories with those that few scripts of cvc5 have."""
    drawn = dice.random()
    if drawn < _HEAPS:
        return "QF_ALL", (theories | {HEAP}) - {"quantifiers"}
    if dice.random() < _RELATIONS:
        theories |= {RELATIONS}
    if drawn < _HEAPS + _HIGHER:
        return "HO_ALL", theories | {HIGHER}
    return "ALL", theories


def _define(terms: Terms, name: str, levels: int) -> None:
    """Define a function, perhaps one without parameters: a term that others share."""
    dice, vocabulary = terms.dice, terms.vocabulary
    sort = dice.choice(vocabulary.sorts)
    taken = [dice.choice(vocabulary.sorts) for _ in range(dice.choice((0, 0, 1, 2)))]
    scope = {each: list(names) for each, names in vocabulary.constants.items()}
    parameters = [(f"{name}p{at}", each) for at, each in enumerate(taken)]
    for parameter, each in parameters:
        scope.setdefault(each, []).append(parameter)
    body = terms.term(sort, levels, scope)
    listed = " ".join(f"({parameter} {spelled(each)})" for parameter, each in parameters)
    vocabulary.commands.append(f"(define-fun {name} ({listed}) {spelled(sort)} {body})")
    if taken:
        vocabulary.operators.append(Signature((name,), tuple(taken), sort))
    else:
        vocabulary.constants.setdefault(sort, []).append(name)


def _body(terms: Terms, asserts: int, levels: int, queries: int) -> list[str]:
    """Return assertions, and queries between them."""
    dice, scope = terms.dice, terms.vocabulary.constants
    checks = dice.randint(1, queries)
    after = {dice.randrange(asserts) for _ in range(checks - 1)}
    shape = dice.choice(_SHAPES)
    atoms = _atoms(terms, levels, scope, dice.choice(shape.atoms))
    lines: list[str] = []
    opened = 0
    for number in range(asserts):
        if checks > 1 and dice.random() < 0.2:
            lines.append("(push 1)")
            opened += 1
        if dice.random() < _FREE:
            lines.append(f"(assert {terms.term('Bool', levels, scope)})")
        else:
            lines.append(f"(assert {_clauses(dice, atoms, shape)})")
        if number in after:
            lines.append(_query(terms, scope))
            if opened and dice.random() < 0.5:
                lines.append("(pop 1)")
                opened -= 1
    return [*lines, _query(terms, scope)]


def _atoms(terms: Terms, levels: int, scope: Scope, count: int) -> list[str]:
    """Draw the atoms of clauses: what is asserted shares them, so that it constrains the same."""
    drawn = (terms.atom(terms.dice.randint(1, levels), scope) for _ in range(count))
    return [*dict.fromkeys(drawn)]


def _clauses(dice: Random, atoms: Sequence[str], shape: _Shape) -> str:
    """Return a conjunction of disjunctions of atoms and their negations."""
    clauses = []
    for _ in range(dice.choice(shape.clauses)):
        some = dice.sample(atoms, min(len(atoms), dice.choice(shape.literals)))
        literals = [each if dice.random() < 0.5 else f"(not {each})" for each in some]
        clauses.append(literals[0] if len(literals) == 1 else f"(or {' '.join(literals)})")
    return clauses[0] if len(clauses) == 1 else f"(and {' '.join(clauses)})"


def _query(terms: Terms, scope: Scope) -> str:
    names = [each for each in scope["Bool"] if each.startswith("x")]
    if terms.dice.random() < 0.8:
        return "(check-sat)"
    some = terms.dice.sample(names, min(2, len(names)))
    assumed = (each if terms.dice.random() < 0.5 else f"(not {each})" for each in some)
    return f"(check-sat-assuming ({' '.join(assumed)}))"
