"""Mutants of scripts: small changes that keep them well sorted, near what solvers are tested with.

The operators exchange what type-aware mutation does (Park et al., "Generative Type-Aware Mutation
for Testing SMT Solvers", OOPSLA 2021): other operators of the same rank, other terms of the same
sort, and operators around terms; two scripts are joined as in fusion (Winterer et al., PLDI 2020).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from random import Random

from reducekit.errors import ParseError
from reducekit.frontends.mutation import TRIES
from reducekit.frontends.smt2.generate.terms import chosen, literal, with_result
from reducekit.frontends.smt2.generate.vocabulary import theories_of
from reducekit.frontends.smt2.language.operators import Signature, signatures, theories_in
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.sorts import Sort
from reducekit.frontends.smt2.language.validity import problems
from reducekit.frontends.smt2.language.view import ScriptView

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
    changes: list[tuple[int, int, bytes]] = []
    for _ in range(TRIES):
        if len(changes) == 3 or (changes and dice.random() < 0.4) or not seed.terms:
            break
        node = dice.choice(seed.terms)
        change = dice.choice(_CHANGES)(dice, seed, node)
        if change is None or any(a < change[1] and change[0] < b for a, b, _ in changes):
            continue
        changes.append(change)
    text = document.text
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _operator(dice: Random, seed: Seed, node: int) -> tuple[int, int, bytes] | None:
    """Exchange the operator of a term for another one of its rank."""
    document = seed.view.document
    head = node + 1
    if head >= document.stop[node]:
        return None
    name = document.source(head)
    others = [each for each in _alike(seed.logic).get(name, ()) if each != name]
    if not others:
        return None
    return document.start[head], document.end[head], dice.choice(others)


def _term(dice: Random, seed: Seed, node: int) -> tuple[int, int, bytes] | None:
    """Exchange a term for another one of its sort, or for a literal."""
    document, sort = seed.view.document, seed.view.script.sort[node]
    assert sort is not None
    new = _any(dice, seed, sort)
    old = document.source(node)
    return None if new in (None, old) else (document.start[node], document.end[node], new or b"")


def _applied(dice: Random, seed: Seed, node: int, keep: bool) -> tuple[int, int, bytes] | None:
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
    return document.start[node], document.end[node], b"(%s %s)" % (name, b" ".join(parts))


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


@cache
def _alike(logic: str) -> dict[bytes, tuple[bytes, ...]]:
    ranks: dict[object, list[bytes]] = {}
    for each in _operators(logic):
        kind = (each.parameters, each.result, each.literals)
        ranks.setdefault(kind, []).extend(name.encode() for name in each.names)
    found: dict[bytes, tuple[bytes, ...]] = {}
    for names in ranks.values():
        for name in names:
            found[name] = (*found.get(name, ()), *names)
    return found
