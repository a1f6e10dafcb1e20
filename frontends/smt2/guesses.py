"""Guesses: small parts of a script that are likely to fail as the whole does.

Where a solver proves a query in one run and loses it in another, three kinds of assertions count:
those of the proof (an unsat core), those that distracted the other run (quantifiers with
instances), and the ground ones, which say what is asked. Measured on unstable queries of verifiers,
these parts often fail in the same way; where none does, that has cost a check each.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from reducekit.frontends.smt2.commands import read_commands, symbol
from reducekit.frontends.smt2.parser import parse
from reducekit.frontends.smt2.variants import MOVABLE, Piece, pieces
from reducekit.offers import Probe

_CORES = b"(set-option :produce-unsat-cores true)\n"
_PROFILE = b"(set-option :smt.qi.profile true)\n"
_NAMED = re.compile(rb""":named\s+(\|[^|]*\||[^\s()"|;:]+)\s*\)\s*\)\Z""")
_BODY = re.compile(rb"\(\s*assert\b")
_CORE = re.compile(rb"^unsat[ \t\r]*\n\(((?:\|[^|]*\||[^)|])*)\)", re.MULTILINE)
_NAME = re.compile(rb"\|[^|]*\||[^\s()|]+")
_INSTANCES = re.compile(rb"^\[quantifier_instances\] *(.*?) *: *([0-9]+) :", re.MULTILINE)
"""A line of z3's profile: the :qid of a quantifier, or `k!` and its line; its instances."""
_LINE = re.compile(rb"k!([0-9]+)")
_QUANTIFIER = re.compile(rb"\(\s*(?:forall|exists)\b")
_QID = re.compile(rb""":qid\s+(\|[^|]*\||[^\s()"|;:]+)""")


def guesses(text: bytes, good: Sequence[Probe], bad: Probe) -> list[bytes]:
    """Return parts of a script, the smallest first; none if no run tells of a core.

    Two runs are made where all goes well, one more for each good one that tells of no core.
    """
    script = pieces(text, 0)
    if script is None:
        return []
    core = next(filter(None, (_core(text, each) for each in good)), None)
    if core is None:
        return []
    instantiated = _instantiated(text, bad)
    ground = {
        each.place
        for each in script
        if each.head == b"assert" and _QUANTIFIER.search(each.text) is None
    }
    uses = read_commands(parse(text)).uses
    found = [_only(script, uses, part) for part in (core, core | instantiated | ground)]
    return sorted(set(found) - {_only(script, uses, range(len(script)))}, key=len)


def _only(script: Sequence[Piece], uses: Sequence[Sequence[int]], part: Collection[int]) -> bytes:
    """Return the script with a part of its assertions, and the declarations that these need."""
    kept = {
        each.place
        for each in script
        if (each.place in part if each.head == b"assert" else each.head not in MOVABLE)
    }
    todo = list(kept)
    while todo:
        new = set(uses[todo.pop()]) - kept
        kept |= new
        todo += new
    return b"".join(text for each in script if each.place in kept for text in each[2:]) + b"\n"


def _core(text: bytes, probe: Probe) -> set[int] | None:
    """Return the assertions that the solver names; None if it names none."""
    variant = pieces(text, probe.variant) or []
    last = max((at for at, each in enumerate(variant) if each.head.startswith(b"check-sat")),
               default=-1)  # fmt: skip
    parts, names = [_CORES], dict[bytes, int]()
    for at, each in enumerate(variant):
        written = each.text
        if each.head == b"assert" and at < last:
            named = _NAMED.search(written)
            name = b"reducekit!%d" % each.place if named is None else named[1]
            names[symbol(name)] = each.place
            if named is None:
                body = written[_BODY.match(written).end() : -1]  # type: ignore[union-attr]
                written = b"(assert (!%s :named %s))" % (body, name)
        parts += each.gap, written
        if at == last:
            parts.append(b"\n(get-unsat-core)\n")
            break
    found = _CORE.findall(probe.run(b"".join(parts)))
    core = _NAME.findall(found[-1]) if found else []
    return {names[symbol(each)] for each in core if symbol(each) in names} or None


def _instantiated(text: bytes, probe: Probe) -> set[int]:
    """Return the assertions whose quantifiers have instances, by z3's profile."""
    variant = pieces(text, probe.variant) or []
    parts, lines, line = [_PROFILE], list[range](), 2
    for each in variant:
        line += each.gap.count(b"\n")
        lines.append(range(line, line + each.text.count(b"\n") + 1))
        line = lines[-1].stop
        parts += each.gap, each.text, b"\n"
    counted = _INSTANCES.findall(probe.run(b"".join(parts)))
    used = {symbol(name) for name, count in counted if int(count)}
    places = {int(found[1]) for name in used if (found := _LINE.fullmatch(name)) is not None}
    return {
        each.place
        for each, where in zip(variant, lines, strict=True)
        if each.head == b"assert"
        and _QUANTIFIER.search(each.text) is not None
        and (
            not places.isdisjoint(where)
            or not used.isdisjoint(symbol(qid) for qid in _QID.findall(each.text))
        )
    }
