"""Unsat cores: which assertions a solver names, and the script that has these only."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from reducekit.frontends.smt2.answers.variants import MOVABLE, Piece, pieces
from reducekit.frontends.smt2.language.commands import read_commands, symbol
from reducekit.frontends.smt2.language.parser import parse
from reducekit.offers import Probe

_CORES = b"(set-option :produce-unsat-cores true)\n"
_NAMED = re.compile(rb""":named\s+(\|[^|]*\||[^\s()"|;:]+)\s*\)\s*\)\Z""")
_BODY = re.compile(rb"\(\s*assert\b")
_CORE = re.compile(rb"^unsat[ \t\r]*\n\(((?:\|[^|]*\||[^)|])*)\)", re.MULTILINE)
_NAME = re.compile(rb"\|[^|]*\||[^\s()|]+")


def only(script: Sequence[Piece], uses: Sequence[Sequence[int]], part: Collection[int]) -> bytes:
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


def part_of(text: bytes, part: Collection[int]) -> bytes:
    """Return the same of a text. Raises ParseError if that is no script."""
    return only(pieces(text, 0) or [], read_commands(parse(text)).uses, part)


def core_of(text: bytes, probe: Probe) -> set[int] | None:
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
