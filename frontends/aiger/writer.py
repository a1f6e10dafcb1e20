"""Writes a circuit as an AIGER file, text or binary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from reducekit.frontends.aiger.circuit import KINDS, Circuit


def write(circuit: Circuit) -> bytes:
    """Return the file; gates stand in an order in which operands come first."""
    return b"".join((*_head(circuit), _gates(circuit), *_tail(circuit)))


def _spelling(circuit: Circuit) -> Callable[[int], int]:
    """Return how a literal is written."""
    names = circuit.names
    if names is None or circuit.binary:
        return lambda literal: literal
    return lambda literal: 2 * names[literal >> 1] + (literal & 1)


def _head(circuit: Circuit) -> Iterator[bytes]:
    """Yield the header, and all lines before the gates."""
    binary, spelled = circuit.binary, _spelling(circuit)
    top = circuit.variables
    if not binary:
        top = max(top if circuit.names is None else max(circuit.names), circuit.top)
    numbers = [top, circuit.inputs, len(circuit.latches), len(circuit.outputs), len(circuit.left)]
    numbers += (len(circuit.of_kind(kind)) for kind in "bcjf")
    while len(numbers) > 5 and not numbers[-1]:
        numbers.pop()
    yield b"%s %s\n" % (b"aig" if binary else b"aag", b" ".join(b"%d" % each for each in numbers))
    if not binary:
        yield from (b"%d\n" % spelled(2 * each) for each in range(1, circuit.inputs + 1))
    for variable, latch in enumerate(circuit.latches, circuit.first_latch):
        own = spelled(2 * variable)
        words = [spelled(latch.next)] if binary else [own, spelled(latch.next)]
        if latch.reset != 0:
            words.append(own if latch.reset is None else latch.reset)
        yield b"%s\n" % b" ".join(b"%d" % each for each in words)
    before = (circuit.outputs, circuit.bads, circuit.constraints)
    yield from _lines(map(spelled, chain(*before)))
    yield from _lines(map(len, circuit.justice))
    yield from _lines(map(spelled, chain(*circuit.justice, circuit.fairness)))


def _lines(numbers: Iterable[int]) -> Iterator[bytes]:
    return (b"%d\n" % each for each in numbers)


def _gates(circuit: Circuit) -> bytes:
    left, right, first = circuit.left, circuit.right, circuit.first_gate
    if circuit.binary:
        return _deltas(circuit)
    names = circuit.names
    if names is None:
        triples: Iterable[tuple[int, int, int]] = zip(
            range(2 * first, 2 * (circuit.variables + 1), 2), left, right, strict=True
        )
    else:
        doubled = [2 * each for each in names]
        triples = (
            (own, doubled[one >> 1] | one & 1, doubled[other >> 1] | other & 1)
            for own, one, other in zip(doubled[first:], left, right, strict=True)
        )
    return b"".join([b"%d %d %d\n" % each for each in triples])


def _deltas(circuit: Circuit) -> bytes:
    """Return the differences of literals in groups of seven bits, the lowest first."""
    out = bytearray()
    own = 2 * circuit.first_gate
    for one, other in zip(circuit.left, circuit.right, strict=True):
        if one < other:
            one, other = other, one
        for delta in (own - one, one - other):
            while delta > 0x7F:
                out.append(delta & 0x7F | 0x80)
                delta >>= 7
            out.append(delta)
        own += 2
    return bytes(out)


def _tail(circuit: Circuit) -> Iterator[bytes]:
    """Yield the symbols, and the comment."""
    symbols = sorted(circuit.symbols.items(), key=lambda each: (KINDS.index(each[0][0]), each[0]))
    for (kind, position), name in symbols:
        yield b"%s%d %s\n" % (kind.encode(), position, name)
    if circuit.comment is not None:
        yield b"c\n" + circuit.comment
