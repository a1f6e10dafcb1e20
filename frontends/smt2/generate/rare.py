"""The commands that a quarter of the scripts have besides declarations, assertions and queries.

They say something of a script, or ask for more than an answer: models, cores, proofs, options. An
error because of the answer (no model after `unsat`) is none of the solver: `rejections` knows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from reducekit.frontends.smt2.generate.vocabulary import Vocabulary, spelled

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
_CONSTANT = re.compile(r"\(define-fun (\w+) \(\) (.*)\Z")


class _Script(NamedTuple):
    """A script: what it begins with, declarations, and assertions and queries."""

    head: Lines
    declared: Lines
    body: Lines


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


def _named(script: _Script, dice: Random) -> Lines:
    """Give names to some assertions; return them."""
    names = Lines()
    for at, line in enumerate(script.body):
        if line.startswith("(assert ") and "(! " not in line and dice.random() < 0.6:
            names.append(f"n{at}")
            script.body[at] = f"(assert (! {line[8:-1]} :named n{at}))"
    return names


def _cores(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    _option(script, "produce-unsat-cores")
    _named(script, dice)
    _asking(dice, script, "(get-unsat-core)")


def _assignments(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    _option(script, "produce-assignments")
    _named(script, dice)
    _asking(dice, script, "(get-assignment)")


def _assumptions(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    _option(script, "produce-unsat-assumptions")
    names = [each for each in vocabulary.constants.get("Bool", ()) if each.startswith("x")]
    assumed = [each if dice.random() < 0.5 else f"(not {each})" for each in names[:2]]
    at = _queries(script)[-1]
    script.body[at] = f"(check-sat-assuming ({' '.join(assumed)}))"
    script.body.insert(at + 1, "(get-unsat-assumptions)")


def _proofs(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    _option(script, "produce-proofs")
    _asking(dice, script, "(get-proof)")


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
        elif found := _CONSTANT.match(line):
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
    """Define two functions that call each other."""
    script.declared.append(
        "(define-funs-rec ((e0 ((n Int)) Bool) (o0 ((n Int)) Bool)) "
        "((ite (<= n 0) true (o0 (- n 1))) (ite (<= n 0) false (e0 (- n 1)))))"
    )
    script.body.insert(0, f"(assert ({dice.choice(('e0', 'o0'))} {dice.randrange(9)}))")


def _pattern(dice: Random, vocabulary: Vocabulary, script: _Script) -> None:
    """Assert something of all values of a function, with a pattern."""
    script.declared.append("(declare-fun w0 (Int) Int)")
    relation, bound = dice.choice(("<", ">=", "distinct")), dice.randrange(9)
    script.body.insert(
        0, f"(assert (forall ((q Int)) (! ({relation} (w0 q) {bound}) :pattern ((w0 q)))))"
    )


_KINDS: tuple[Callable[[Random, Vocabulary, _Script], None], ...] = (
    _models,
    _cores,
    _assignments,
    _assumptions,
    _proofs,
    _assertions,
    _told,
    _reset,
    _other_declarations,
    _function,
    _functions,
    _pattern,
)
_RECURSIVE = frozenset((_function, _functions, _pattern))
_DEPENDING = frozenset((_models, _cores, _assignments, _assumptions, _proofs))
