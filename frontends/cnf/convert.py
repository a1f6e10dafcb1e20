"""Clauses in another format (DIMACS, ICNF and SMT-LIB), and what they are made of, for `show`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args

from reducekit.diagram import Diagram
from reducekit.errors import UsageError
from reducekit.frontends.cnf.reader import Format, Line, View, problems, recognises, write
from reducekit.frontends.common import drawing
from reducekit.frontends.common.variables import joined
from reducekit.offers import Conversions, Converted, Inspection, Notation

_SUFFIXES = {
    name: (f".{name}", ".dimacs") if name == "cnf" else (f".{name}",) for name in get_args(Format)
}
_MORE = {"wcnf": "weights", "xcnf": "parities", "knf": "cardinalities"}


def converted(text: bytes, source: str | None, target: str) -> Converted:
    """Return a file in another format. Raises ParseError or UsageError."""
    view = View(text)
    if source not in (None, view.format) and view.format != "cnf":
        raise UsageError(f"the file is {view.format}, not {source}")
    if target == "smt2":
        return Converted(b"\n".join((*_script(view), b"")))
    if target == "icnf":
        query = [Line(b"a", ())] if view.format == "cnf" else []
        return Converted(write("icnf", [*_clauses(view, "icnf"), *query]))
    return _to_cnf(view)


def _clauses(view: View, what: str) -> list[Line]:
    """Return the clauses. Raises UsageError if there are weights, quantifiers or the like."""
    if view.format not in ("cnf", "icnf"):
        name = _MORE.get(view.format, "quantifiers")
        raise UsageError(f"{what} has no {name}: convert to smt2, or remove them")
    return [line for line in view.lines() if line.prefix in (b"", b"a")]


def _to_cnf(view: View) -> Converted:
    """Return the clauses up to the last query, whose assumptions become clauses of their own."""
    lines = _clauses(view, "cnf")
    queries = [at for at, line in enumerate(lines) if line.prefix]
    if not queries:
        return Converted(write("cnf", lines, view.header[0] if view.header else 0))
    last = queries[-1]
    clauses = [line for line in lines[:last] if not line.prefix]
    clauses += [Line(b"", (literal,)) for literal in lines[last].literals]
    notes = [] if len(queries) == 1 else [f"of {len(queries)} queries only the last one is written"]
    return Converted(write("cnf", clauses), tuple(notes))


def _literal(literal: int) -> bytes:
    return b"v%d" % literal if literal > 0 else b"(not v%d)" % -literal


def _clause(literals: Sequence[int]) -> bytes:
    words = list(map(_literal, literals))
    return b"false" if not words else words[0] if len(words) == 1 else b"(or %s)" % b" ".join(words)


def _constraint(line: Line) -> bytes:
    """Return a clause, a parity or a cardinality as a term."""
    prefix, literals = line
    if prefix[:1] == b"x" and literals:
        words = b" ".join(map(_literal, literals))
        return b"(xor %s)" % words if len(literals) > 1 else words
    if prefix[:1] == b"k":
        words = b" ".join(b"(ite %s 1 0)" % _literal(each) for each in literals)
        return b"(>= (+ 0 0 %s) %s)" % (words, prefix[2:])
    return _clause(literals)


def _script(view: View) -> Iterator[bytes]:
    if view.format == "dqdimacs":
        raise UsageError("smt2 has no dependency sets: remove the lines with d")
    if view.format == "qdimacs":
        yield from _quantified(view)
        return
    yield b"(set-logic %s)" % (b"ALL" if view.format in ("wcnf", "knf") else b"QF_UF")
    yield from (b"(declare-const v%d Bool)" % each for each in view.variables)
    asked = False
    for line in view.lines():
        prefix, literals = line
        if prefix[:1] in (b"", b"x", b"k") or (view.format == "wcnf" and view.is_hard(prefix)):
            yield b"(assert %s)" % _constraint(line)
        elif view.format == "icnf" and prefix == b"a":
            asked = True
            yield b"(check-sat-assuming (%s))" % b" ".join(map(_literal, literals))
        elif view.format == "wcnf":
            yield b"(assert-soft %s :weight %s)" % (_clause(literals), prefix)
    if not asked:
        yield b"(check-sat)"


def _quantified(view: View) -> Iterator[bytes]:
    """Yield a script with one assertion: quantifiers around the conjunction of the clauses.

    Free variables are bound outermost, as the format says.
    """
    blocks = [(each.prefix, each.literals) for each in view.lines() if each.prefix in (b"a", b"e")]
    bound = set[int]().union(*(literals for _, literals in blocks))
    yield b"(set-logic ALL)"
    yield from (b"(declare-const v%d Bool)" % each for each in view.variables if each not in bound)
    opened = []
    for prefix, literals in blocks:
        names = b" ".join(b"(v%d Bool)" % each for each in literals)
        if names:
            opened.append(b"(%s (%s)" % (b"forall" if prefix == b"a" else b"exists", names))
    clauses = [_clause(line.literals) for line in view.lines() if not line.prefix]
    body = b"(and true %s)" % b" ".join(clauses) if clauses else b"true"
    yield b"(assert %s)" % b" ".join((*opened, body + b")" * len(opened)))
    yield b"(check-sat)"


CONVERSIONS = Conversions(
    reads=tuple(Notation(name, suffixes) for name, suffixes in _SUFFIXES.items()),
    writes=(
        Notation("cnf", _SUFFIXES["cnf"]),
        Notation("icnf", _SUFFIXES["icnf"]),
        Notation("smt2", (".smt2",)),
    ),
    convert=converted,
    recognises=recognises,
)


def inspect(text: bytes, notation: str | None) -> Inspection:
    """Look into a file. Raises ParseError."""
    view = View(text)
    return Inspection(lambda: _lines(view), {".svg": lambda: matrix(view)})


def matrix(view: View) -> bytes:
    """Return a picture of clauses by variables."""
    clauses = [view.line(at).literals for at in range(len(view)) if view.counts(at)]
    return drawing.matrix(clauses, view.variables, "clauses")


def diagram(view: View) -> Diagram:
    """Return clauses as roots over variables."""
    counted = filter(view.counts, range(len(view)))
    parts = (
        drawing.Part(
            f"clause {number}", view.prefixes[at].decode(), "root", view.nodes[at],
            view.line(at).literals,
        )
        for number, at in enumerate(counted, 1)
    )  # fmt: skip
    leaves = {each: (str(each), "variable") for each in view.variables}
    return drawing.diagram(view.document, leaves, parts)


def _lines(view: View) -> Iterator[str]:
    yield (
        f"{view.format}: {view.clauses:,} clauses, {len(view.literals):,} literals, "
        f"{len(view.variables):,} variables"
    )
    sizes = Counter(
        view.first[at + 1] - view.first[at] for at in range(len(view)) if view.counts(at)
    )
    if sizes:
        yield "clauses by length: " + ", ".join(f"{n}: {sizes[n]:,}" for n in sorted(sizes))
    begin = Counter(each[:1].decode() for each in view.prefixes)
    for letter in "haedxk":
        if begin[letter]:
            yield f"lines with {letter}: {begin[letter]:,}"
    used = set(view.literals)
    clauses = [view.line(at) for at in range(len(view)) if view.counts(at)]
    pure = sum(-each not in used for each in used)
    if pure:
        yield f"variables of one sign only: {pure:,}"
    image = joined((abs(each), abs(line.literals[0])) for line in clauses for each in line.literals)
    parts = Counter(image.get(each, each) for each in view.variables).values()
    if len(parts) > 1:
        yield f"independent parts: {len(parts):,}; variables of the largest: {max(parts):,}"
    yield from problems(view)
