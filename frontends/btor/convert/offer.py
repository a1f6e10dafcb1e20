"""What BTOR offers to `convert`: its dialects, SMT-LIB v2 over bit-vectors and arrays, AIGER."""

from __future__ import annotations

import re

from reducekit.frontends.btor.convert.conversion import convert
from reducekit.frontends.btor.convert.from_smtlib import from_smtlib
from reducekit.frontends.btor.convert.to_smtlib import to_smtlib
from reducekit.frontends.btor.model.operators import Dialect
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.writer import canonical
from reducekit.offers import Conversions, Converted, Notation

SMTLIB = "smt2"
_AIGER = ("aag", "aig")
_FIRST = re.compile(rb"\A(?:\s|;[^\n]*(?:\n|\Z))*([(0-9])")
"""What a script or a file of BTOR begins with, after comments, which both write alike."""


def converted(text: bytes, source: str | None, target: str) -> Converted:
    """Return a file in another dialect or language. Raises ParseError or UsageError."""
    if source == SMTLIB or (source is None and _begin(text) == b"("):
        dag = from_smtlib(text)
    else:
        dag = read(text, None if source is None else Dialect(source))
    if target == SMTLIB:
        return Converted(to_smtlib(dag))
    if target in _AIGER:
        from reducekit.frontends.btor.convert.to_aiger import aiger_of

        return aiger_of(convert(dag, Dialect.BTOR2), target)
    return Converted(canonical(convert(dag, Dialect(target))))


def _begin(text: bytes) -> bytes:
    found = _FIRST.match(text)
    return b"" if found is None else found[1]


CONVERSIONS = Conversions(
    reads=(
        *(Notation(each.value, (".btor", ".btor2", ".btr")) for each in Dialect),
        Notation(SMTLIB, (".smt2",)),
    ),
    writes=(
        Notation(Dialect.BTOR1.value, (".btor",)),
        Notation(Dialect.BTOR2.value, (".btor2",)),
        Notation(Dialect.OLD.value),
        Notation(Dialect.FUN.value),
        Notation(SMTLIB, (".smt2",)),
        *(Notation(each, (f".{each}",)) for each in _AIGER),
    ),
    convert=converted,
    recognises=lambda text: _begin(text) != b"",
)
