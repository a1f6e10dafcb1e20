"""Reads and writes AIGER files, text (`aag`) and binary (`aig`), of versions 1.0 and 1.9."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from reducekit.document import Document
from reducekit.errors import ParseError
from reducekit.frontends.aiger.circuit import (
    KINDS,
    LIMIT,
    Circuit,
    CycleError,
    Latch,
    ordered,
)
from reducekit.text import without_mark

HEADER = re.compile(rb"(aag|aig)((?: [0-9]{1,18}){5,9})[ \t\r]*(?:\n|\Z)")
"""The first line: the format, then M I L O A and up to four numbers B C J F."""
_SYMBOL = re.compile(rb"([ilobcjf])(0|[1-9][0-9]{0,17}) ([^\n]*)")
_NAMES = {
    "i": "inputs", "l": "latches", "o": "outputs", "b": "bad states", "c": "constraints",
    "j": "justice properties", "f": "fairness properties",
}  # fmt: skip
_SHIFT = 35  # of the last byte of a difference; numbers have 32 bits, and some writers pad them


class View:
    """A parsed file: its circuit. The document has no nodes but the whole text."""

    def __init__(self, text: bytes) -> None:
        text = without_mark(text)
        self.circuit = read(text)
        self.document = Document(text, array("i", [0]), array("i", [len(text)]), array("i", [1]))


def read(text: bytes) -> Circuit:
    """Return the circuit of a file. Raises ParseError with the place and what was expected."""
    return _Reader(without_mark(text)).read()


def counts(text: bytes) -> list[int]:
    """Return the nine numbers of the header; an empty list if there is none."""
    found = HEADER.match(text)
    if found is None:
        return []
    numbers = list(map(int, found[2].split()))
    return numbers + [0] * (9 - len(numbers))


class _Reader:
    """Reads line by line; `at` is where the next one begins, `here` where the last one did."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.at = self.here = 0

    def read(self) -> Circuit:
        text = self.text
        found = HEADER.match(text)
        if found is None:
            what = "expected 'aag M I L O A' or 'aig M I L O A', then up to four numbers B C J F"
            raise ParseError(what, text, 0)
        self.binary = found[1] == b"aig"
        self.top, inputs, latches, outputs, gates, *more = counts(text)
        total = inputs + latches + gates
        if self.top >= LIMIT or self.top < total or (self.binary and self.top != total):
            wanted = f"{total} = I + L + A" + ("" if self.binary else " or more")
            if self.top >= LIMIT:
                wanted = f"a number below {LIMIT}"
            raise ParseError(f"expected M to be {wanted}, found {self.top}", text, 4)
        # Each thing takes a byte at least, but for the inputs of a binary file.
        needed = sum((0 if self.binary else inputs, latches, outputs, gates, *more))
        if needed > len(text):
            what = f"the header promises {needed} lines and gates or more: the file ends too early"
            raise ParseError(what, text, len(text))
        self.at = found.end()
        self.numbers = [outputs, *more]
        read = self._binary if self.binary else self._text
        return read(inputs, latches, gates)

    # Lines.

    def fail(self, message: str) -> ParseError:
        """Return the error for the line that was read last."""
        return ParseError(message, self.text, self.here)

    def line(self, what: str) -> bytes:
        """Return the next line."""
        self.here = self.at
        if self.at >= len(self.text):
            raise self.fail(f"expected {what}, found the end")
        end = self.text.find(b"\n", self.at)
        if end < 0:
            end = len(self.text)
        self.at = end + 1
        return self.text[self.here : end]

    def numbers_of(self, what: str, least: int, most: int) -> list[int]:
        """Return the numbers of the next line, which are literals or sizes."""
        line = self.line(what)
        words = line.split()
        if not least <= len(words) <= most or not b"".join(words).isdigit() or len(line) > 99:
            raise self.fail(f"expected {what}, found {_shown(line)}")
        return list(map(int, words))

    def literal(self, what: str) -> int:
        """Return the literal of a line."""
        (found,) = self.numbers_of(what, 1, 1)
        self.require(found)
        return found

    def require(self, literal: int) -> None:
        """Raise ParseError for a literal above the header's maximum."""
        if literal > 2 * self.top + 1:
            most = f"{2 * self.top + 1} = 2 * M + 1"
            raise self.fail(f"expected a literal of at most {most}, found {literal}")

    def reset(self, words: Sequence[int], own: int) -> int | None:
        """Return how a latch begins, from what stands behind its next state."""
        if not words or words[0] in (0, 1):
            return words[0] if words else 0
        if words[0] != own:
            raise self.fail(f"expected the reset 0, 1 or {own} (the latch), found {words[0]}")
        return None

    def properties(self) -> dict[str, list[int]]:
        """Read the properties; those of justice are sizes (`sizes`) and literals (`j`)."""
        outputs, bads, constraints, justice, fairness = self.numbers

        def some(count: int, what: str) -> list[int]:
            return [self.literal(what) for _ in range(count)]

        found = {
            "o": some(outputs, "the literal of an output"),
            "b": some(bads, "the literal of a bad state"),
            "c": some(constraints, "the literal of a constraint"),
        }
        what = "the number of literals of a justice property"
        found["sizes"] = [self.numbers_of(what, 1, 1)[0] for _ in range(justice)]
        if sum(found["sizes"]) > len(self.text):
            raise self.fail("the justice properties have more literals than the file has bytes")
        found["j"] = some(sum(found["sizes"]), "a literal of a justice property")
        found["f"] = some(fairness, "the literal of a fairness property")
        return found

    def circuit(
        self, inputs: int, latches: Sequence[Latch], gates: tuple[array[int], array[int]],
        properties: dict[str, list[int]],
    ) -> Circuit:  # fmt: skip
        """Return the circuit, after reading what follows the gates."""
        literals = iter(properties["j"])
        justice = [tuple(next(literals) for _ in range(size)) for size in properties["sizes"]]
        symbols, comment = self._tail(inputs, len(latches))
        return Circuit(
            self.binary, inputs, latches, *gates, properties["o"], properties["b"],
            properties["c"], justice, properties["f"], symbols, comment,
        )  # fmt: skip

    def _tail(self, inputs: int, latches: int) -> tuple[dict[tuple[str, int], bytes], bytes | None]:
        """Read the symbols and the comment."""
        counted = dict(zip(KINDS, (inputs, latches, *self.numbers), strict=True))
        symbols: dict[tuple[str, int], bytes] = {}
        while self.at < len(self.text):
            line = self.line("a symbol").rstrip(b"\r")
            if line == b"c":
                return symbols, self.text[self.at :]
            found = _SYMBOL.fullmatch(line)
            if found is None:
                what = "a symbol such as 'i0 NAME', or 'c' before comments"
                raise self.fail(f"expected {what}, found {_shown(line)}")
            kind, position = found[1].decode(), int(found[2])
            if position >= counted[kind]:
                only = f"there are only {counted[kind]} {_NAMES[kind]}"
                raise self.fail(f"{only}, not {position + 1}")
            if (kind, position) in symbols:
                raise self.fail(f"{kind}{position} has two symbols")
            symbols[kind, position] = found[3]
        return symbols, None

    # The two formats.

    def _binary(self, inputs: int, latches: int, gates: int) -> Circuit:
        states = []
        for own in range(2 * inputs + 2, 2 * (inputs + latches) + 2, 2):
            words = self.numbers_of("the next state of a latch, and its reset if it is not 0", 1, 2)
            self.require(words[0])
            states.append(Latch(words[0], self.reset(words[1:], own)))
        properties = self.properties()
        return self.circuit(inputs, states, self._deltas(inputs + latches + 1, gates), properties)

    def _deltas(self, first: int, gates: int) -> tuple[array[int], array[int]]:
        """Read the gates of a binary file."""
        text, at, size = self.text, self.at, len(self.text)
        left, right = array("i"), array("i")
        for own in range(2 * first, 2 * (first + gates), 2):
            rest = own
            for operands in (left, right):
                begin, delta, shift = at, 0, 0
                while at < size and text[at] & 0x80 and shift <= _SHIFT:
                    delta |= (text[at] & 0x7F) << shift
                    shift += 7
                    at += 1
                if at >= size:
                    raise ParseError(f"byte {at}: expected gate {own}, found the end", text, size)
                delta |= text[at] << shift
                at += 1
                if delta > rest or (delta == 0 and operands is left) or shift > _SHIFT:
                    wanted = "1" if operands is left else "0"
                    found = delta if shift <= _SHIFT else f"a number of over {_SHIFT + 7} bits"
                    what = f"expected a difference of {wanted} to {rest} for an operand"
                    raise ParseError(
                        f"byte {begin}: {what} of gate {own}, found {found}", text, begin
                    )
                rest -= delta
                operands.append(rest)
        self.at = at
        return left, right

    def _text(self, inputs: int, latches: int, gates: int) -> Circuit:
        places: dict[int, int] = {0: 0}
        """The number of each variable in the circuit; until all are known, in file order."""
        names = array("i", [0])

        def define(literal: int, what: str) -> None:
            self.require(literal)
            if literal & 1 or not literal:
                raise self.fail(f"expected an even literal of {what}, 2 or more, found {literal}")
            if literal >> 1 in places:
                raise self.fail(f"literal {literal} is defined twice")
            places[literal >> 1] = len(places)
            names.append(literal >> 1)

        for _ in range(inputs):
            define(self.numbers_of("the literal of an input", 1, 1)[0], "an input")
        states: list[tuple[int, int | None]] = []
        begin = self.at
        for _ in range(latches):
            words = self.numbers_of("a latch, its next state, and its reset if it is not 0", 2, 3)
            define(words[0], "a latch")
            self.require(words[1])
            states.append((words[1], self.reset(words[2:], words[0])))
        properties = self.properties()
        gates_at = self.at
        left, right = array("i"), array("i")
        for _ in range(gates):
            own, one, other = self.numbers_of("a gate: its literal and two operands", 3, 3)
            define(own, "a gate")
            self.require(max(one, other))
            left.append(one)
            right.append(other)

        def placed(literals: Iterable[int]) -> list[int]:
            return [2 * places[each >> 1] + (each & 1) for each in literals]

        try:
            left, right = array("i", placed(left)), array("i", placed(right))
            following = placed(each for each, _ in states)
            for kind in "obcjf":
                properties[kind] = placed(properties[kind])
        except KeyError as error:
            raise self._undefined(places, (begin, latches, gates_at)) from error
        read = [Latch(now, reset) for now, (_, reset) in zip(following, states, strict=True)]
        circuit = self.circuit(inputs, read, (left, right), properties)
        try:
            circuit = ordered(replace(circuit, names=names, top=self.top))
        except CycleError as error:
            self.at = gates_at
            lines = [self.line("a gate") for _ in range(error.gate + 1)]
            gate = lines[-1].split()[0].decode()
            raise self.fail(f"gate {gate} depends on itself") from error
        # Files that are numbered as circuits are: no names.
        plain = circuit.names == array("i", range(len(names)))
        return replace(circuit, names=None) if plain else circuit

    def _undefined(self, places: dict[int, int], where: tuple[int, int, int]) -> ParseError:
        """Return the error for the first literal that nothing defines."""
        begin, latches, gates_at = where
        self.at = begin
        sizes = self.numbers[3]
        plain = sum(self.numbers[:3])
        number = 0
        while True:
            words = self.line("a literal").split()
            number += 1
            after = number - latches - plain
            if self.here < gates_at and 0 < after <= sizes:
                continue  # the size of a justice property
            used = words if self.here < gates_at else words[1:]
            for each in words[1:2] if number <= latches else used:
                if int(each) >> 1 not in places:
                    what = f"literal {each.decode()} is undefined"
                    return self.fail(f"{what}: no input, latch or gate")


def _shown(line: bytes) -> str:
    return repr(line[:40].decode("ascii", "backslashreplace"))


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
