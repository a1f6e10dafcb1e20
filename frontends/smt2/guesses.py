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
from reducekit.frontends.smt2.instances import instances
from reducekit.frontends.smt2.parser import parse
from reducekit.frontends.smt2.variants import MOVABLE, Piece, pieces
from reducekit.offers import Probe

_CORES = b"(set-option :produce-unsat-cores true)\n"
_NAMED = re.compile(rb""":named\s+(\|[^|]*\||[^\s()"|;:]+)\s*\)\s*\)\Z""")
_BODY = re.compile(rb"\(\s*assert\b")
_CORE = re.compile(rb"^unsat[ \t\r]*\n\(((?:\|[^|]*\||[^)|])*)\)", re.MULTILINE)
_NAME = re.compile(rb"\|[^|]*\||[^\s()|]+")
_QUANTIFIER = re.compile(rb"\(\s*(?:forall|exists)\b")


def guesses(text: bytes, good: Sequence[Probe], bad: Probe) -> list[bytes]:
    """Return parts of a script, the smallest first; none if no run tells of a core.

    Two runs are made where all goes well, one more for each that tells nothing.
    """
    script = pieces(text, 0)
    if script is None:
        return []
    core = next(filter(None, (_core(text, each) for each in good)), None)
    if core is None:
        return []
    counted = instances(text, bad) or {}
    instantiated = {place for place, count in counted.items() if count}
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
