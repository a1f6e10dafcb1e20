"""What a circuit is made of, for `show`."""

from __future__ import annotations

from collections.abc import Iterator

from reducekit.frontends.aiger.circuit import Circuit
from reducekit.frontends.aiger.files import read
from reducekit.offers import Inspection


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
