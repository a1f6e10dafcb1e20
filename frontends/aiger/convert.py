"""Circuits in another form (text, binary, and BTOR2), and what they are made of, for `show`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from reducekit.errors import UsageError
from reducekit.frontends.aiger.circuit import Circuit
from reducekit.frontends.aiger.files import HEADER, read, write
from reducekit.offers import Conversions, Converted, Inspection, Notation
from reducekit.text import without_mark

TEXT, BINARY, BTOR2 = "aag", "aig", "btor2"
_OWN = (Notation(TEXT, (".aag",)), Notation(BINARY, (".aig",)))
_BLANKS = re.compile(rb"[\s;]+")


def converted(text: bytes, source: str | None, target: str) -> Converted:
    """Return a file in another form. Raises ParseError or UsageError."""
    circuit = read(text)
    form = BINARY if circuit.binary else TEXT
    if source not in (None, form):
        raise UsageError(f"the file is {form}, not {source}")
    if target == BTOR2:
        return to_btor2(circuit)
    return Converted(in_form(circuit, target))


def in_form(circuit: Circuit, form: str) -> bytes:
    """Return a circuit as text or binary file. Binary files number variables without gaps."""
    binary = form == BINARY
    if binary != circuit.binary:
        circuit = replace(circuit, binary=binary, names=None, top=0)
    return write(circuit)


def to_btor2(circuit: Circuit) -> Converted:
    """Return the circuit in BTOR2: a line for each input, latch and gate, of one bit.

    Outputs of files without the properties of AIGER 1.9 are what model checkers look for, so they
    become `bad`.
    """
    out = [b"1 sort bitvec 1"]

    def line(operator: str, *words: object, kind: str = "", at: int = 0) -> int:
        """Write a line, with the symbol of what it is made of, and return its id."""
        symbol = _BLANKS.sub(b"_", circuit.symbols.get((kind, at), b"")) if kind else b""
        text = " ".join(map(str, (len(out) + 1, operator, *words))).encode()
        out.append(text + b" " + symbol if symbol else text)
        return len(out)

    ids = [line("zero", 1)]
    ids += (line("input", 1, kind="i", at=at) for at in range(circuit.inputs))
    for at, latch in enumerate(circuit.latches):
        state = line("state", 1, kind="l", at=at)
        ids.append(state)
        if latch.reset is not None:
            line("init", 1, state, -ids[0] if latch.reset else ids[0])

    def reference(literal: int) -> int:
        return -ids[literal >> 1] if literal & 1 else ids[literal >> 1]

    for one, other in zip(circuit.left, circuit.right, strict=True):
        ids.append(line("and", 1, reference(one), reference(other)))
    for at, latch in enumerate(circuit.latches):
        line("next", 1, ids[circuit.first_latch + at], reference(latch.next))
    old = circuit.properties == len(circuit.outputs)
    for kind, operator, literals in (
        ("o", "bad" if old else "output", circuit.outputs),
        ("b", "bad", circuit.bads),
        ("c", "constraint", circuit.constraints),
        ("f", "fair", circuit.fairness),
    ):
        for at, literal in enumerate(literals):
            line(operator, reference(literal), kind=kind, at=at)
    for at, several in enumerate(circuit.justice):
        if not several:
            raise UsageError(f"BTOR2 has no justice property without literals, as j{at} is")
        line("justice", len(several), *map(reference, several), kind="j", at=at)
    notes = ("outputs became bad states, as model checkers read AIGER 1.0",)
    return Converted(b"\n".join((*out, b"")), notes if old and circuit.outputs else ())


CONVERSIONS = Conversions(
    reads=_OWN,
    writes=(*_OWN, Notation(BTOR2, (".btor2",))),
    convert=converted,
    recognises=lambda text: HEADER.match(without_mark(text)) is not None,
)


def inspect(text: bytes, notation: str | None) -> Inspection:
    """Look into a file. Raises ParseError."""
    circuit = read(text)
    return Inspection(lambda: _lines(circuit))


def _lines(circuit: Circuit) -> Iterator[str]:
    yield (
        f"{'binary' if circuit.binary else 'text'}: {circuit.inputs:,} inputs, "
        f"{len(circuit.latches):,} latches, {len(circuit.left):,} gates"
    )
    found = [
        (circuit.outputs, "outputs"),
        (circuit.bads, "bad states"),
        (circuit.constraints, "constraints"),
        (circuit.justice, "justice properties"),
        (circuit.fairness, "fairness properties"),
    ]
    named = [f"{len(each):,} {what}" for each, what in found if each]
    yield "properties: " + (", ".join(named) or "none")
    yield f"depth: {depth(circuit):,} gates"
    reached = circuit.reached()
    for what, variables in (
        ("inputs", range(1, circuit.first_latch)),
        ("latches", range(circuit.first_latch, circuit.first_gate)),
        ("gates", range(circuit.first_gate, circuit.variables + 1)),
    ):
        useless = sum(not reached[each] for each in variables)
        if useless:
            yield f"{what} that no property depends on: {useless:,}"


def depth(circuit: Circuit) -> int:
    """Return the number of gates on the longest path."""
    first = circuit.first_gate
    depths = [0] * first
    for one, other in zip(circuit.left, circuit.right, strict=True):
        depths.append(1 + max(depths[one >> 1], depths[other >> 1]))
    return max(depths)
