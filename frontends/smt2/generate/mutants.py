"""What SMT-LIB offers to `generate` and `hunt`: random scripts of a logic, and mutants.

Mutants are small changes that keep scripts well sorted, near what solvers are tested with.

The operators exchange what type-aware mutation does (Park et al., "Generative Type-Aware Mutation
for Testing SMT Solvers", OOPSLA 2021): other operators of the same rank, other terms of the same
sort, and operators around terms; two scripts are joined as in fusion (Winterer et al., PLDI 2020).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

from reducekit.change import Template
from reducekit.errors import ParseError, UsageError
from reducekit.frontends.mutation import TRIES, Mutants
from reducekit.frontends.smt2.generate.scripts import Parameters, generate_script
from reducekit.frontends.smt2.generate.terms import chosen, literal, with_result
from reducekit.frontends.smt2.generate.vocabulary import ANY, theories_of
from reducekit.frontends.smt2.language.operators import (
    EXTENSIONS,
    Signature,
    of_one_rank,
    signatures,
    theories_in,
)
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.sorts import Sort
from reducekit.frontends.smt2.language.validity import problems
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.solver_options import in_commands, read_options
from reducekit.offers import FormatOption, Generated, Generation, InputGenerator, words_of

_DROPPED = (b"set-option", b"set-info", b"exit", b"get-info", b"get-option", b"echo")
"""Commands of seeds that say how a solver is to be run, or what its answer is."""
_FLAWS = 5
"""The number of problems by the standard that a seed may have."""
_ROUNDS = 6
"""How often a seed is changed, at most: later changes reach into what earlier ones made."""
_ENDS = 0.5
"""How often a round is the last one."""
_WIDE = 0.25
"""How often a mutant may have operators that its logic lacks: it is in ALL then."""
_LOGIC = re.compile(rb"\(\s*set-logic\s+([^()\s]+)\s*\)")


@dataclass(frozen=True, slots=True)
class Seed:
    """A script, ready to be changed."""

    view: ScriptView
    terms: tuple[int, ...]
    """The terms with a sort."""
    closed: dict[Sort, list[int]]
    """Terms by sort that use no bound variables."""
    flaws: int
    """The number of its problems by the standard, such as `(push)`: a mutant has no others."""
    logic: str
    """Most solvers refuse what their logic lacks. ALL where none is set, or an unknown one."""


def seed_of(text: bytes, *, options: bool = False) -> Seed | None:
    """Return a script as a seed, without its options and status unless these are asked for.

    None if it cannot be used: it does not parse, is mostly ill-sorted, or asks nothing.
    """
    try:
        view = ScriptView(parse(text))
        if not options:
            document = view.document
            kept = [
                document.source(node)
                for node, name in zip(view.script.commands, view.script.names, strict=True)
                if name not in _DROPPED
            ]
            view = ScriptView(parse(b"\n".join([*kept, b""])))
    except ParseError:
        return None
    script = view.script
    if not {b"assert", b"check-sat", b"check-sat-assuming"} & {*script.names}:
        return None
    flaws = len(problems(view, extensions=True))
    return _prepared(view, flaws) if flaws <= _FLAWS else None


def _prepared(view: ScriptView, flaws: int) -> Seed:
    document = view.document
    script, stop = view.script, document.stop
    bound = [
        each.kind in ("let", "quantifier", "parameter", "pattern") for each in script.definitions
    ]
    # How many uses of bound variables come before each node.
    before, count = [], 0
    for ref in script.refs:
        before.append(count)
        count += ref >= 0 and bound[ref]
    before.append(count)
    terms = []
    closed: dict[Sort, list[int]] = {}
    for node, sort in enumerate(script.sort):
        # A pattern must stay where its quantifier is, and a name where it is given.
        annotated = stop[node] > node + 1 and document.source(node + 1) == b"!"
        if sort is not None and script.is_term[node] and not annotated:
            terms.append(node)
            if before[node] == before[stop[node]]:
                closed.setdefault(sort, []).append(node)
    found = _LOGIC.search(document.text)
    logic = "ALL" if found is None else found[1].decode("ascii", "replace")
    if theories_in(logic) is None:
        logic = "ALL"
    return Seed(view, tuple(terms), closed, flaws, logic)


def changed(dice: Random, seed: Seed, other: Seed | None) -> bytes | None:
    """Return a changed seed, joined with the other one if that can be; None if it has new flaws."""
    if other is not None:
        seed = joined(seed, other) or seed
    wide = dice.random() < _WIDE
    if wide:
        seed = replace(seed, logic="ALL")
    found = None
    for _ in range(_ROUNDS):
        text = _changed(dice, seed)
        if wide:
            text = _LOGIC.sub(b"(set-logic ALL)", text, count=1)
        try:
            view = ScriptView(parse(text))
        except ParseError:
            break
        if len(problems(view, extensions=True)) > seed.flaws:
            break
        found = text
        if dice.random() < _ENDS:
            break
        seed = _prepared(view, seed.flaws)
    return found


def _changed(dice: Random, seed: Seed) -> bytes:
    document = seed.view.document
    stop = document.stop
    edits: dict[int, Template] = {}
    for _ in range(TRIES):
        if len(edits) == 3 or (edits and dice.random() < 0.4) or not seed.terms:
            break
        node = dice.choice(seed.terms)
        change = dice.choice(_CHANGES)(dice, seed, node)
        if change is not None:
            at, new = change
            if not any(each < stop[at] and at < stop[each] for each in edits):
                edits[at] = (new,)
    return document.render(edits)


def _operator(dice: Random, seed: Seed, node: int) -> tuple[int, bytes] | None:
    """Exchange the operator of a term for another one of its rank."""
    document = seed.view.document
    head = node + 1
    if head >= document.stop[node]:
        return None
    name = document.source(head)
    others = [each for each in of_one_rank(theories_of(seed.logic)).get(name, ()) if each != name]
    return (head, dice.choice(others)) if others else None


def _term(dice: Random, seed: Seed, node: int) -> tuple[int, bytes] | None:
    """Exchange a term for another one of its sort, or for a literal."""
    sort = seed.view.script.sort[node]
    assert sort is not None
    new = _any(dice, seed, sort)
    return None if new in (None, seed.view.document.source(node)) else (node, new or b"")


def _applied(dice: Random, seed: Seed, node: int, keep: bool) -> tuple[int, bytes] | None:
    """Exchange a term for an application, of any terms of the script, or one of them the term.

    None if there is no operator, no argument, or none that fits what is kept.
    """
    document, sort = seed.view.document, seed.view.script.sort[node]
    assert sort is not None
    operators = [each for each in _operators(seed.logic) if each.parameters]
    fitting = with_result(operators, sort)
    if not fitting:
        return None
    operator, bindings = dice.choice(fitting)
    parts = []
    used = not keep
    for at, parameter in enumerate(operator.parameters):
        known = chosen(dice, parameter, bindings, seed.closed)
        if known is None:
            return None
        if not used and known == sort and at not in operator.literals:
            parts.append(document.source(node))
            used = True
            continue
        part = None  # a literal where the operator takes nothing else
        if at in operator.literals and (found := literal(dice, known)) is not None:
            part = found.encode()
        part = part or _any(dice, seed, known)
        if part is None:
            return None
        parts.append(part)
    if not used:
        return None
    name = dice.choice(operator.names).encode()
    return node, b"(%s %s)" % (name, b" ".join(parts))


_CHANGES = (_operator, _term, partial(_applied, keep=True), partial(_applied, keep=False))


def _any(dice: Random, seed: Seed, sort: Sort) -> bytes | None:
    """Return a term of a sort from the script, or a literal."""
    nodes = seed.closed.get(sort)
    if nodes and dice.random() < 0.8:
        return seed.view.document.source(dice.choice(nodes))
    found = literal(dice, sort)
    return None if found is None else found.encode()


def joined(first: Seed, second: Seed) -> Seed | None:
    """Return a script that asserts what both do; None if that is not well sorted.

    The names of the second get a suffix, so they are different symbols.
    """
    lines = [*_commands(first, drop=(b"check-sat", b"check-sat-assuming", b"set-logic"))]
    lines += _commands(second, drop=(b"set-logic",), suffix=b"!2")
    try:
        view = ScriptView(parse(b"\n".join([b"(set-logic ALL)", *lines, b""])))
    except ParseError:
        return None
    flaws = len(problems(view, extensions=True))
    return _prepared(view, flaws) if flaws <= first.flaws + second.flaws else None


def _commands(seed: Seed, *, drop: Sequence[bytes], suffix: bytes = b"") -> list[bytes]:
    """Return the commands of a script, with a suffix to all names that it introduces."""
    document, script = seed.view.document, seed.view.script
    named = {each.node for each in script.definitions}
    found = []
    for command, name in zip(script.commands, script.names, strict=True):
        if name in drop or name.startswith(b"get-"):
            continue
        if not suffix:
            found.append(document.source(command))
            continue
        parts, pos = [], document.start[command]
        for node in range(command, document.stop[command]):
            if node in named or script.refs[node] >= 0:
                end = document.end[node]
                quoted = document.text[end - 1 : end] == b"|"
                parts += [document.text[pos : end - quoted], suffix, b"|" * quoted]
                pos = end
        parts.append(document.text[pos : document.end[command]])
        found.append(b"".join(parts))
    return found


@cache
def _operators(logic: str) -> tuple[Signature, ...]:
    return tuple(signatures(theories_of(logic)))


def _most(name: str, default: int, text: str, most: int) -> FormatOption:
    return FormatOption(name, text, "whole", default, metavar="N", least=1, most=most)


OPTIONS: tuple[FormatOption, ...] = (
    FormatOption(
        "logic",
        "The logic, such as QF_LIA or ALL; any: a different one for each file. (Without it: "
        "bit-vector graphs, as for btor.)",
        metavar="NAME",
        default=None,
    ),
    _most("asserts", 8, "Maximum number of assertions of a script of --logic.", 100_000),
    _most("levels", 5, "Maximum depth of its terms.", 12),
    _most("symbols", 5, "Maximum number of constants of each sort.", 10_000),
    FormatOption(
        "mutate",
        "Change this script, or the scripts of this folder; with --logic also random scripts.",
        "path",
        metavar="PATH",
    ),
    FormatOption(
        "mix",
        "Share of mutants with both --mutate and --logic.",
        "decimal",
        0.5,
        metavar="P",
        least=0.0,
        most=1.0,
        rare=True,
    ),
    FormatOption(
        "seed_options", "Keep the options and :status of the scripts.", "flag", False, rare=True
    ),
    FormatOption(
        "solver_options",
        "Set one to three options of a solver in each script: z3, cvc5, yices, or a file of lines "
        "`name = values`.",
        metavar="WHICH",
        default=None,
    ),
    FormatOption(
        "extensions",
        "With --logic: also sorts and operators of one solver, such as sets; the logic is ALL.",
        "choice",
        None,
        EXTENSIONS,
        rare=True,
    ),
    _most("queries", 2, "Maximum number of check-sat commands; above 1 also push and pop.", 10_000),
)


class ScriptGenerator(InputGenerator):
    """Makes random scripts by the same parameters, mutants of scripts, or some of each."""

    suffix = ".smt2"

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = {each.name: values[each.name] for each in OPTIONS}
        names = [each.name for each in fields(Parameters)]
        self._parameters = Parameters(**{each: values[each] for each in names})
        if values["extensions"] is not None and values["logic"] is None:
            raise UsageError("`extensions` requires `logic`")
        if self._parameters.logic not in (ANY, None):
            theories_of(self._parameters.logic)  # is there such a logic?
        self._mutants: Mutants[Seed] | None = None
        if values["mutate"] is not None:
            self.well_formed = False
            keep = values["seed_options"]
            self._mutants = Mutants(
                Path(values["mutate"]),
                (".smt2",),
                "SMT-LIB scripts that declare what they use, and have a check-sat",
                partial(seed_of, options=keep),
                changed,
            )
            self.files = self._mutants.files
        self._options = read_options(values["solver_options"], "smt2")

    def generate(self, seed: int) -> Generated:
        dice = Random(seed)
        if self._mutants is None or (
            self._parameters.logic is not None and dice.random() >= self._values["mix"]
        ):
            made = generate_script(self._parameters, seed).encode()
        else:
            made = self._mutants.mutant(dice)
        # First in the script: some options cannot be set once there is a logic.
        return Generated(in_commands(dice, self._options) + made)

    def words(self, seed: int) -> Sequence[str]:
        return ["--seed", str(seed), *words_of(OPTIONS, self._values)]


GENERATION = Generation(
    ScriptGenerator,
    OPTIONS,
    "With --logic, well-sorted scripts of all theories of a logic: Booleans, integers, reals, "
    "bit-vectors, floating-point numbers, arrays, strings, sequences, datatypes, uninterpreted "
    "functions, and quantifiers.",
    default_seed=1,
    asked_by=("logic", "mutate"),
    changes="mutate",
    presets={
        "any logic": {"logic": "any"},
        "bit-vectors": {"logic": "QF_ABV"},
        "strings": {"logic": "QF_SLIA"},
        "quantifiers": {"logic": "UFLIA"},
        "many queries": {"logic": "any", "queries": 20},
    },
)
