"""A circuit as a face draws it, and its picture: gates, inputs, latches and what they become.

A latch is a leaf, and its next state a root, so that there are no cycles. Literal 1 is the constant
true; the nodes of properties and next states are numbered after all literals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from reducekit.diagram import Diagram, Kind, Node
from reducekit.frontends.aiger.circuit import KINDS, Circuit

_NAMES = {"o": "output", "b": "bad", "c": "constraint", "j": "justice", "f": "fairness"}


class _Part(NamedTuple):
    """A node: its id, what it is, and the literals that it uses."""

    number: int
    label: str
    kind: Kind
    uses: tuple[int, ...] = ()


def _parts(circuit: Circuit) -> Iterator[_Part]:
    """Yield the variables from the constant on, then next states and properties."""

    def named(word: str, kind: str, at: int) -> str:
        symbol = circuit.symbols.get((kind, at), b"").decode("utf-8", "backslashreplace")
        return f"{word} {symbol}".rstrip()

    yield _Part(1, "true", "constant")
    for at in range(circuit.inputs):
        yield _Part(2 * at + 2, named("input", "i", at), "leaf")
    for at, variable in enumerate(range(circuit.first_latch, circuit.first_gate)):
        yield _Part(2 * variable, named("latch", "l", at), "leaf")
    gates = zip(circuit.left, circuit.right, strict=True)
    for variable, operands in enumerate(gates, circuit.first_gate):
        yield _Part(2 * variable, "and", "inner", operands)
    number = 2 * circuit.variables + 2
    for variable, latch in enumerate(circuit.latches, circuit.first_latch):
        begin = "either" if latch.reset is None else latch.reset
        yield _Part(number, f"next {2 * variable}, first {begin}", "root", (latch.next,))
        number += 1
    for kind in KINDS[2:]:
        for at, literal in enumerate(circuit.of_kind(kind)):
            uses = literal if isinstance(literal, tuple) else (literal,)
            yield _Part(number, named(f"{_NAMES[kind]} {at}", kind, at), "root", uses)
            number += 1


def diagram(circuit: Circuit, text: bytes) -> Diagram:
    """Return what the page draws. In a text file, a node is at its line."""
    parts = list(_parts(circuit))
    if not any(literal < 2 for part in parts for literal in part.uses):
        del parts[0]  # nothing uses the constant
    place = {part.number: at for at, part in enumerate(parts)}
    spans = {} if circuit.binary else _lines(circuit, text)
    nodes = []
    for part in parts:
        edges = [
            ~place[1] if literal == 0 else place[1] if literal == 1
            else ~place[literal - 1] if literal & 1 else place[literal]
            for literal in part.uses
        ]  # fmt: skip
        start, end = spans.get(part.number, (0, 0))
        nodes.append(Node(f"{part.number} {part.label}", "", part.kind, start, end, edges))
    return Diagram("graph", nodes)


def _lines(circuit: Circuit, text: bytes) -> dict[int, tuple[int, int]]:
    """Return where the lines of inputs, latches and gates begin and end, by literal."""
    names = circuit.names or range(circuit.variables + 1)
    literal = {2 * name: 2 * variable for variable, name in enumerate(names)}
    before = circuit.inputs + len(circuit.latches)
    properties = circuit.properties + sum(map(len, circuit.justice))
    found = {}
    start = text.find(b"\n") + 1
    for number in range(before + properties + len(circuit.left)):
        end = text.find(b"\n", start)
        end = len(text) if end < 0 else end
        if not before <= number < before + properties:
            found[literal[int(text[start:end].split()[0])]] = (start, end)
        start = end + 1
    return found
