"""Random scripts: declarations, assertions, and queries at open levels.

A quarter of them also have rare commands, which describe the script or ask for more than an answer:
models, cores, proofs, options. Errors that follow from the answer (no model after `unsat`) are not
bugs of the solver: `failures.rejects` knows them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from reducekit.frontends.smt2.generate.terms import Scope, Terms
from reducekit.frontends.smt2.generate.vocabulary import (
    ANY,
    DRAWN,
    Vocabulary,
    draw_vocabulary,
    spelled,
    theories_of,
)
from reducekit.frontends.smt2.language.operators import HEAP, HIGHER, RARE, RELATIONS, Signature

Lines = list[str]
_ASKED = 0.4
"""How often what depends on an answer may be asked for: without it, no answers are compared."""
_LONG = {
    "RNE": "roundNearestTiesToEven",
    "RNA": "roundNearestTiesToAway",
    "RTP": "roundTowardPositive",
    "RTN": "roundTowardNegative",
    "RTZ": "roundTowardZero",
    "(_ FloatingPoint 5 11)": "Float16",
    "(_ FloatingPoint 8 24)": "Float32",
}
_CHANGES = (1, 2, 2, 3)
"""How many kinds of such commands a script has."""
_DATATYPE = re.compile(r"\(declare-datatypes \(\((\w+) 0\)\) \((.*)\)\)\Z")
_DEFINED = re.compile(r"\(define-fun (\w+) \(\) (.*)\Z")


class _Script(NamedTuple):
    """A script: what it begins with, declarations, and assertions and queries."""

    head: Lines
    declared: Lines
    body: Lines


# Changes a script by one kind of rare commands.
_Change = Callable[[Random, Vocabulary, _Script], None]


def with_rare_commands(
    dice: Random, logic: str, vocabulary: Vocabulary, body: Sequence[str]
) -> Lines:
    """Return the commands of a script, some of them rare ones."""
    script = _Script([], [*vocabulary.commands], [*body])
    fitting = [
        each
        for each in _KINDS
        if (each not in _RECURSIVE or _recursive(vocabulary))
        and (each not in _DEPENDING or dice.random() < _ASKED)
    ]
    for each in dice.sample(fitting, dice.choice(_CHANGES)):
        each(dice, vocabulary, script)
    if "floats" in vocabulary.theories and dice.random() < 0.5:
        _spellings(dice, vocabulary, script)
    head = [f"(set-logic {logic})"]
    begin, end = [*script.head, *head, *script.declared, *script.body], Lines()
    if dice.random() < 0.1:
        end = ["(reset)", *head, "(declare-const b Bool)", "(assert (not b))", "(check-sat)"]
    return [*begin, *end, *(["(exit)"] if dice.random() < 0.3 else [])]


def _recursive(vocabulary: Vocabulary) -> bool:
    """Return whether a logic has integers, functions and quantifiers: for recursive functions."""
    theories = vocabulary.theories
    # z3 has none in logics such as AUFLIRA.
    return theories >= {"ints", "functions", "quantifiers"} and (
        "datatypes" in theories or "reals" not in theories
    )


def _option(script: _Script, name: str) -> None:
    line = f"(set-option :{name} true)"
    if line not in script.head:
        script.head.append(line)


def _queries(script: _Script) -> list[int]:
    return [at for at, line in enumerate(script.body) if line.startswith("(check-sat")]


def _asking(dice: Random, script: _Script, *lines: str) -> None:
    """Ask for something after a query, mostly the last one."""
    places = _queries(script)
    at = places[-1] if dice.random() < 0.7 else dice.choice(places)
    script.body[at + 1 : at + 1] = lines


def _models(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    _option(script, "produce-models")
    names = [name for sort in vocabulary.constants for name in vocabulary.constants[sort]]
    some = dice.sample(names, min(len(names), dice.randint(1, 3)))
    asked = [f"(get-value ({' '.join(some)}))", "(get-model)"] if some else ["(get-model)"]
    _asking(dice, script, dice.choice(asked))


def _asks(option: str, question: str, named: bool = False) -> _Change:
    def change(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
        _option(script, option)
        if named:
            for at, line in enumerate(script.body):
                if line.startswith("(assert ") and "(! " not in line and dice.random() < 0.6:
                    script.body[at] = f"(assert (! {line[8:-1]} :named n{at}))"
        _asking(dice, script, question)

    return change


def _assumptions(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    _option(script, "produce-unsat-assumptions")
    names = [each for each in vocabulary.constants.get("Bool", ()) if each.startswith("x")]
    assumed = [each if dice.random() < 0.5 else f"(not {each})" for each in names[:2]]
    at = _queries(script)[-1]
    script.body[at] = f"(check-sat-assuming ({' '.join(assumed)}))"
    script.body.insert(at + 1, "(get-unsat-assumptions)")


def _assertions(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    _option(script, "produce-assertions")
    script.body.insert(dice.randint(0, len(script.body)), "(get-assertions)")


def _told(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    """Say and ask what is no part of the problem."""
    script.head.append(
        dice.choice(("(set-info :source |random|)", '(set-info :category "random")'))
    )
    _option(script, "produce-models")
    some = ("(get-info :name)", "(get-info :version)", "(get-option :produce-models)")
    script.body.insert(dice.randint(0, len(script.body)), dice.choice(some))
    script.body.insert(dice.randint(0, len(script.body)), '(echo "here")')


def _reset(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    """Drop the assertions, and assert some again."""
    _option(script, "global-declarations")
    # What is named cannot be named again.
    again = [each for each in script.body if each.startswith("(assert ") and "(! " not in each]
    some = dice.sample(again, min(len(again), 3))
    script.body.extend(("(reset-assertions)", *some, "(check-sat)"))


def _other_declarations(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    """Declare and define the same by other commands."""
    for at, line in enumerate(script.declared):
        if found := _DATATYPE.match(line):
            script.declared[at] = f"(declare-datatype {found[1]} {found[2]})"
        elif found := _DEFINED.match(line):
            script.declared[at] = f"(define-const {found[1]} {found[2]}"
    _sorts(dice, vocabulary, script)


def _spellings(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    """Spell formats and modes of floats by their other names."""
    for lines in (script.declared, script.body):
        for at, line in enumerate(lines):
            for short, long in _LONG.items():
                line = re.sub(rf"(?<=[ (]){re.escape(short)}(?=[ )])", long, line)
            lines[at] = line


def _sorts(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    """Name a sort, and use the name in declarations."""
    text = spelled(dice.choice(vocabulary.sorts))
    ends = f" {text})"
    users = [
        at
        for at, line in enumerate(script.declared)
        if line.startswith("(declare-const ") and line.endswith(ends)
    ]
    if not users:
        return
    parameter = dice.random() < 0.3
    name = "(N0 Bool)" if parameter else "N0"
    for at in users:
        if dice.random() < 0.5 or at == users[0]:
            script.declared[at] = f"{script.declared[at].removesuffix(ends)} {name})"
    script.declared.insert(users[0], f"(define-sort N0 ({'T' if parameter else ''}) {text})")


def _function(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    """Define a recursive function that ends, and assert something of it."""
    step = dice.choice(("1", "2", "3"))
    script.declared.append(
        f"(define-fun-rec r0 ((n Int)) Int (ite (<= n 0) {dice.randrange(5)} "
        f"({dice.choice('+-')} (r0 (- n {step})) {dice.randrange(4)})))"
    )
    bound = dice.randrange(6)
    script.body.insert(0, f"(assert (> (r0 {dice.randrange(9)}) {bound}))")


def _functions(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    script.declared.append(
        "(define-funs-rec ((e0 ((n Int)) Bool) (o0 ((n Int)) Bool)) "
        "((ite (<= n 0) true (o0 (- n 1))) (ite (<= n 0) false (e0 (- n 1)))))"
    )
    script.body.insert(0, f"(assert ({dice.choice(('e0', 'o0'))} {dice.randrange(9)}))")


def _pattern(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    script.declared.append("(declare-fun w0 (Int) Int)")
    relation, bound = dice.choice(("<", ">=", "distinct")), dice.randrange(9)
    script.body.insert(
        0, f"(assert (forall ((q Int)) (! ({relation} (w0 q) {bound}) :pattern ((w0 q)))))"
    )


_DEPENDING = (
    _models,
    _asks("produce-unsat-cores", "(get-unsat-core)", named=True),
    _asks("produce-assignments", "(get-assignment)", named=True),
    _assumptions,
    _asks("produce-proofs", "(get-proof)"),
)
_RECURSIVE = (_function, _functions, _pattern)
_KINDS: tuple[_Change, ...] = (
    *_DEPENDING,
    _assertions,
    _told,
    _reset,
    _other_declarations,
    *_RECURSIVE,
)


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
    dice, scope = terms.dice, terms.vocabulary.constants
    checks = dice.randint(1, queries)
    after = {dice.randrange(asserts) for _ in range(checks - 1)}
    shape = dice.choice(_SHAPES)
    # What is asserted shares the atoms of its clauses, so that it constrains the same.
    drawn = (terms.atom(dice.randint(1, levels), scope) for _ in range(dice.choice(shape.atoms)))
    atoms = [*dict.fromkeys(drawn)]
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


def _clauses(dice: Random, atoms: Sequence[str], shape: _Shape) -> str:
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
