"""Circuits in another form: text, binary, and BTOR2."""

from __future__ import annotations

import re
from dataclasses import replace

from reducekit.errors import UsageError
from reducekit.frontends.aiger.circuit import Circuit
from reducekit.frontends.aiger.files import HEADER, read, write
from reducekit.frontends.btor.model.dag import Builder
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.writer import canonical
from reducekit.offers import Conversions, Converted, Notation
from reducekit.text import without_mark

TEXT, BINARY = "aag", "aig"
_SUFFIXES = {TEXT: (".aag",), BINARY: (".aig",)}
_BLANKS = re.compile(rb"[\s;]+")


def converted(text: bytes, source: str | None, target: str) -> Converted:
    """Return a file in another form. Raises ParseError or UsageError."""
    circuit = read(text)
    form = BINARY if circuit.binary else TEXT
    if source not in (None, form):
        raise UsageError(f"the file is {form}, not {source}")
    if target == Dialect.BTOR2:
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
    builder = Builder(Dialect.BTOR2)
    bit = builder.table.bitvec(1)
    constant = builder.add(Op.ZERO, bit)
    lines = [constant]
    lines += (
        builder.add(Op.INPUT, bit, symbol=_symbol(circuit, "i", at)) for at in range(circuit.inputs)
    )
    for at, latch in enumerate(circuit.latches):
        state = builder.add(Op.STATE, bit, symbol=_symbol(circuit, "l", at))
        lines.append(state)
        if latch.reset is not None:
            builder.add(Op.INIT, bit, (state, ~constant if latch.reset else constant))

    def reference(literal: int) -> int:
        line = lines[literal >> 1]
        return ~line if literal & 1 else line

    for one, other in zip(circuit.left, circuit.right, strict=True):
        lines.append(builder.add(Op.AND, bit, (reference(one), reference(other))))
    for at, latch in enumerate(circuit.latches):
        builder.add(Op.NEXT, bit, (lines[circuit.first_latch + at], reference(latch.next)))
    old = circuit.properties == len(circuit.outputs)
    for kind, code, literals in (
        ("o", Op.BAD if old else Op.OUTPUT, circuit.outputs),
        ("b", Op.BAD, circuit.bads),
        ("c", Op.CONSTRAINT, circuit.constraints),
        ("f", Op.FAIR, circuit.fairness),
    ):
        for at, literal in enumerate(literals):
            builder.add(code, -1, (reference(literal),), symbol=_symbol(circuit, kind, at))
    for at, several in enumerate(circuit.justice):
        if not several:
            raise UsageError(f"BTOR2 has no justice property without literals, as j{at} is")
        args = tuple(map(reference, several))
        builder.add(Op.JUSTICE, -1, args, symbol=_symbol(circuit, "j", at))
    notes = ("outputs became bad states, as model checkers read AIGER 1.0",)
    return Converted(canonical(builder.dag()), notes if old and circuit.outputs else ())


def _symbol(circuit: Circuit, kind: str, at: int) -> bytes:
    return _BLANKS.sub(b"_", circuit.symbols.get((kind, at), b""))


CONVERSIONS = Conversions(
    reads=tuple(Notation(name, suffixes) for name, suffixes in _SUFFIXES.items()),
    writes=(
        *(Notation(name, suffixes) for name, suffixes in _SUFFIXES.items()),
        Notation(Dialect.BTOR2.value, (".btor2",)),
    ),
    convert=converted,
    recognises=lambda text: HEADER.match(without_mark(text)) is not None,
)
