"""Calls as records: what a child of the fork server plays, without looking at any Python object.

The layout is described in `server.py`. A record does not depend on where things are in memory,
nor on the other calls, so each call is encoded once for all the candidates of a reduction, and a
candidate is put together by one join.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.player.prototypes import (
    CONTRACT_STATUS,
    Interface,
    Step,
    bound,
    spread,
    steps_of,
    taken,
    takes_any,
)
from reducekit.frontends.trace.player.server import (
    CELL,
    CELLS,
    COUNTS,
    DONE,
    EACH,
    FUNCTION,
    GO,
    KEEPS,
    NUMBER,
    PUT,
    RECORD,
    SKIPS,
    STORES,
    STRING,
)
from reducekit.run import Limits

_ARGUMENTS = 6
_REMEMBERED = 1 << 18  # encoded calls to remember: 32 to 64 bytes each, and the key
_UNLIMITED = (1 << 64) - 1
_RLIMIT_CPU, _RLIMIT_FSIZE, _RLIMIT_CORE, _RLIMIT_AS = 0, 1, 4, 9  # Linux, asm-generic/resource.h
DIE_WITH_PARENT = (1, 9)  # PR_SET_PDEATHSIG, SIGKILL
_RLIMITS = struct.Struct("<8Q")
_ONE = struct.Struct("<Q")  # what is written to an event counter, and read from one
# Bytes of the strings that are set for each child: its limits, and room for what it reads.
RESERVED = _RLIMITS.size + _ONE.size

# The cells of names grow from below, those with a fixed purpose lie at the end.
OBJECT = 0
COPY = CELLS - 1  # the process that was forked to be asked
_ARRAY, _BEHIND = CELLS - 3, CELLS - 4  # an array that is made, and where it ends
_KEPT = {"$": OBJECT, "%": CELLS - 2, "%%": CELLS - 5}
_LAST_CELL = CELLS - 5

# As `contract` of the interface finds it.
_FAILED = "API usage error: %s\n"
_OF_OBJECT = frozenset(("$", "~$", "self", "~self"))
# Functions of the C library, and two of the player's, that records call for a child's own needs.
_HELPERS = (
    "_exit", "getppid", "prctl", "close", "setrlimit", "read", "write", "fork", "waitpid", "calloc",
    "dprintf", EACH, PUT,
)  # fmt: skip


class UnplayableCall(ValueError):
    """A call that the library does not have, or that has the wrong arguments.

    `index` counts calls from 0; the message says what was expected.
    """

    def __init__(self, index: int, message: str) -> None:
        self.index = index
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Illegal:
    """A call that breaks the contract of any API: its index, and why."""

    index: int
    why: str


@dataclass(slots=True)
class Tables:
    """What records refer to by number: functions, cells of names, offsets into the strings.

    `missing` are functions that the library does not have: calls that need them are unknown.
    """

    symbols: dict[str, int] = field(default_factory=lambda: {n: i for i, n in enumerate(_HELPERS)})
    cells: dict[str, int] = field(default_factory=dict)
    offsets: dict[bytes, int] = field(default_factory=dict)
    strings: bytearray = field(default_factory=lambda: bytearray(RESERVED) + _ONE.pack(1))
    missing: frozenset[str] = frozenset()

    def symbol(self, name: str) -> int:
        """Return the number of a function."""
        return self.symbols.setdefault(name, len(self.symbols))

    def cell(self, name: str) -> int:
        """Return the cell of what a name stands for. Raises ValueError if there are no more."""
        if name not in self.cells and len(self.cells) + 1 >= _LAST_CELL:
            raise ValueError(f"more than {_LAST_CELL - 1} names of results")
        return self.cells.setdefault(name, len(self.cells) + 1)

    def string(self, text: str) -> int:
        """Return the offset of a text, ended by a zero."""
        return self.data(text.encode("utf-8", "surrogateescape") + b"\0")

    def data(self, data: bytes) -> int:
        """Return the offset of bytes; the same bytes are kept once."""
        if data not in self.offsets:
            self.offsets[data] = len(self.strings)
            self.strings += data
        return self.offsets[data]


def kinds(*each: int) -> int:
    """Return the kinds of the first arguments of a record as its flags have them."""
    return sum(kind << 2 * place for place, kind in enumerate(each))


def record(
    tables: Tables, function: str, *numbers: int, flags: int = KEEPS, cell: int = 0
) -> bytes:
    """Return a record; `flags` include the kinds of its arguments (default: all are numbers)."""
    padding = [0] * (_ARGUMENTS - len(numbers))
    return RECORD.pack(tables.symbols[function], flags, cell, *numbers, *padding)


def skipping(
    tables: Tables, size: int, helper: str = "getppid", flags: int = 0, cell: int = 0
) -> bytes:
    """Return a record that skips this many bytes unless the helper returns 0."""
    numbers = (0, 0, 0, 0, 0, size // RECORD.size)
    return record(tables, helper, *numbers, flags=KEEPS | SKIPS | flags, cell=cell)


def prologue(tables: Tables, limits: Limits, address_space: int) -> tuple[bytes, bytes]:
    """Return the limits of a child as strings and as records that set them.

    `address_space` are the bytes that a child has from the start; they are not counted.
    """
    # The system counts whole seconds; the server watches parts of one. After the soft limit comes
    # SIGXCPU, which names the reason, after the hard one SIGKILL.
    cpu = _UNLIMITED if limits.cpu is None else max(1, math.ceil(limits.cpu))
    memory = _UNLIMITED if limits.memory is None else limits.memory + address_space
    grace = cpu if cpu == _UNLIMITED else cpu + 1
    strings = _RLIMITS.pack(cpu, grace, memory, memory, limits.output, limits.output, 0, 0)
    records = record(tables, "prctl", *DIE_WITH_PARENT) + record(tables, "close", 0)
    for place, which in enumerate((_RLIMIT_CPU, _RLIMIT_AS, _RLIMIT_FSIZE, _RLIMIT_CORE)):
        flags = KEEPS | kinds(NUMBER, STRING)
        records += record(tables, "setrlimit", which, 16 * place, flags=flags)
    return strings, records


def first_illegal(
    names: Sequence[str], begins: Sequence[str], ends: Sequence[str], free: Container[str]
) -> Illegal | None:
    """Return the first call that lacks its live object, or makes a second; None if all are legal.

    `begins` and `ends` are the calls that make the object, and that take it down, `free` those
    that need none.
    """
    # The usual case, without a look at each call: one object, made first and taken down last.
    changes = sum(map(names.count, [*begins, *ends]))
    if names and names[0] in begins and (changes == 1 or (changes == 2 and names[-1] in ends)):
        return None
    live = False
    for index, name in enumerate(names):
        if name in begins:
            if live:
                return Illegal(index, "there is a live object already")
            live = True
        elif name != "return" and name not in free:
            if not live:
                return Illegal(index, "there is no live object")
            live = name not in ends
    return None


def after_guards(steps: Sequence[Step]) -> Sequence[Step]:
    """Return the C calls after the last `if`."""
    return steps[max((at + 1 for at, step in enumerate(steps) if step.result == "if"), default=0) :]


class Encoder:
    """Encodes the calls of one API for one library; remembers what it has encoded.

    `steps` are the C calls of each call, `results` the type of its result. `begins` and `ends`
    are the calls that make the object, and that take it down, `free` those that need none.
    `done` ends a child, `pause` makes it wait for the event counter GO, `report` raises DONE.
    """

    def __init__(self, interface: Interface) -> None:
        self.interface = interface
        self.tables = tables = Tables()
        self.steps = {name: [*steps_of(text)] for name, text in interface.calls.items()}
        for steps in self.steps.values():
            for step in steps:
                assert len(step.arguments) <= _ARGUMENTS, step
                for word in step.arguments:
                    if word.startswith("&"):
                        tables.symbol(word[1:])
                tables.symbol(step.function)
        # The last C call of a call gives its result.
        self.results = {name: steps[-1].result for name, steps in self.steps.items()}
        words = {
            name: {word for step in steps for word in step.arguments}
            for name, steps in self.steps.items()
        }
        self.begins = [n for n, steps in self.steps.items() if any(s.stores == "$" for s in steps)]
        self.ends = [name for name, used in words.items() if used & {"~$", "~self"}]
        self.free = [
            name
            for name, used in words.items()
            if name not in self.begins and not used & _OF_OBJECT
        ]
        self._fails = b"" if interface.error is None else _failing(tables, *interface.error)
        event = KEEPS | kinds(NUMBER, STRING)
        self.done = record(tables, "_exit", 0, flags=COUNTS)
        self.pause = record(tables, "read", GO, _RLIMITS.size, _ONE.size, flags=event)
        self.report = record(tables, "write", DONE, RESERVED, _ONE.size, flags=event)
        self._encoded: dict[tuple[str, tuple[Value, ...]], bytes] = {}

    @property
    def separable(self) -> bool:
        """Whether traces that a process plays one after the other do not affect each other.

        The name of a handle keeps its meaning in the next trace.
        """
        return not any(each in ("handle", "ptr") for each in self.results.values())

    def playable(self, name: str) -> bool:
        """Return whether the library has all functions of a call."""
        steps = self.steps.get(name)
        if steps is None:
            return name == "return"
        return not any(step.function in self.tables.missing for step in steps)

    def encode(self, calls: Sequence[Call]) -> tuple[bytes, Illegal | None]:
        """Return the records of the calls, and a call that cannot be legal, if there is one.

        The records end before that call, as the library could not notice it. The last record ends
        the child. Raises UnplayableCall.
        """
        parts = self._parts(calls)
        illegal = first_illegal([call.name for call in calls], self.begins, self.ends, self.free)
        if illegal is None:
            return b"".join([*parts, self.done]), None
        broken = record(self.tables, "_exit", CONTRACT_STATUS, flags=COUNTS)
        return b"".join([*parts[: illegal.index], broken]), illegal

    def plain(self, calls: Sequence[Call]) -> bytes:
        """Return the records of calls, wherever they stand. Raises UnplayableCall."""
        return b"".join(self._parts(calls))

    def _parts(self, calls: Sequence[Call]) -> list[bytes]:
        encoded = self._encoded
        parts = [encoded.get((call.name, call.arguments), b"") for call in calls]
        if b"" in parts:
            if len(encoded) > _REMEMBERED:
                encoded.clear()
            for index, call in enumerate(calls):
                if parts[index]:
                    continue
                key = (call.name, call.arguments)
                try:
                    parts[index] = encoded.get(key) or self._encode(call)
                except ValueError as error:
                    raise UnplayableCall(index, str(error)) from None
                # Of a call that returns a handle, the result's name takes part.
                if self.results.get(call.name) != "handle":
                    encoded[key] = parts[index]
        return parts

    def _encode(self, call: Call) -> bytes:
        if call.name == "return":
            # It counts as a call, as an index of a call is one in the trace; it does nothing.
            return record(self.tables, "getppid", flags=COUNTS)
        steps = self.steps.get(call.name)
        if steps is None:
            raise ValueError(f"there is no call {call.name!r} in the API {self.interface.api}")
        records = encoded(self.tables, steps, call)
        if self.tables.missing.isdisjoint(self.interface.error or ()):
            records += self._fails
        # The call begins with its first record, whatever C calls it makes.
        function, flags, *rest = RECORD.unpack_from(records)
        return RECORD.pack(function, flags | COUNTS, *rest) + records[RECORD.size :]


def encoded(tables: Tables, steps: Sequence[Step], call: Call) -> bytes:
    """Return the records of the C calls that a call makes. Raises ValueError if it cannot be."""
    guarded = after_guards(steps)
    guards = steps[: len(steps) - len(guarded)]
    made, many = spread(guarded, len(call.arguments))
    places = [word for step in made for word in step.arguments if taken(word)]
    most = sum(map(taken, places))
    needed = most - places.count("word") - places.count("skip")
    if takes_any(guarded):
        most = max(needed, len(call.arguments))
    if not needed <= len(call.arguments) <= most:
        expected = " ".join([call.name, *places])
        raise ValueError(f"{call.name!r} has {len(call.arguments)} arguments; expected: {expected}")
    # The C calls share the arguments: each takes the next ones.
    given = iter(call.arguments)
    records = b"".join(_step(tables, step, given, call, many=many) for step in made)
    if not guards:
        return records
    # Each `if` jumps to what is guarded; the record before that jumps over it. Each reads the
    # arguments from the first.
    jumps = b""
    for place, step in enumerate(guards):
        flags = KEEPS | (SKIPS if step.result == "if" else 0)
        last = len(guards) - place
        jumps += _step(tables, step, iter(call.arguments), call, flags, last)
    return jumps + skipping(tables, len(records)) + records


def _step(
    tables: Tables,
    step: Step,
    given: Iterator[Value],
    call: Call,
    flags: int = 0,
    last: int = 0,
    many: int = 0,
) -> bytes:
    """Return the record of a C call; `last` is the sixth argument of one with fewer.

    `many` is how many arguments are left for an array; its records come before.
    """
    if step.function in tables.missing:
        raise ValueError(f"the library cannot play {call.name!r}: it has no {step.function}")
    before = b""
    cell = OBJECT
    if step.stores:
        flags |= STORES
        cell = _KEPT[step.stores]
    elif step.result == "handle" and call.result is not None:
        flags |= STORES
        cell = tables.cell(str(call.result))
    values: list[int] = []
    for argument, value in bound(step, given, many):
        if argument == "names":
            before = _array(tables, value)
        kind, number = _argument(tables, argument, value, call)
        flags |= kind << 2 * len(values)
        values.append(number)
    # The sixth argument of an `if` says how far to jump: no function that is asked has as many.
    values += [0] * (_ARGUMENTS - len(values))
    values[-1] = values[-1] or last
    return before + record(tables, step.function, *values, flags=flags, cell=cell)


def _argument(tables: Tables, argument: str, value: Any, call: Call) -> tuple[int, int]:
    """Return the kind of an argument in a record, and the number that stands for it."""
    if argument == "object":
        return CELL, OBJECT
    if argument == "kept":
        return CELL, _KEPT[value]
    if argument == "names":
        return CELL, _ARRAY
    if argument == "numbers":
        numbers = [each for each in value if isinstance(each, int) and 0 <= each < 2**32]
        if len(numbers) < len(value):
            raise ValueError(f"expected numbers from 0 to {2**32 - 1}, found {value}")
        return STRING, tables.data(array("I", numbers).tobytes())
    if argument == "room":
        # Of its own: two calls may have what the library returned at a time.
        tables.strings += bytes(8)
        return STRING, len(tables.strings) - 8
    if value is None:
        return NUMBER, 0
    if argument == "function":
        return FUNCTION, tables.symbols[value]
    if argument == "handle":
        # One that no call before returned is a null pointer: its cell stays empty.
        return CELL, tables.cell(str(value))
    if argument == "string":
        return STRING, tables.string(str(value))
    if not isinstance(value, int):
        raise ValueError(f"{call.name!r} wants a number, not {value!r}")
    if not -(2**31) < value < 2**31:
        raise ValueError(f"{value} is too large: numbers have 32 bits")
    return NUMBER, value


def _array(tables: Tables, names: Sequence[Value]) -> bytes:
    records = record(tables, "calloc", len(names) or 1, 8, flags=KEEPS | STORES, cell=_ARRAY)
    # PUT returns where the next element goes; a cell of its own leaves the beginning as it is.
    at = _ARRAY
    for name in names:
        flags = KEEPS | STORES | kinds(CELL, CELL)
        records += record(tables, PUT, at, tables.cell(str(name)), flags=flags, cell=_BEHIND)
        at = _BEHIND
    return records


def _failing(tables: Tables, asked: str, said: str) -> bytes:
    """Return records that end the process if the last call has failed.

    The function `asked` says whether it has, `said` what about.
    """
    tables.symbol(asked)
    tables.symbol(said)
    kept, flags = _KEPT["%"], KEEPS | kinds(NUMBER, STRING, CELL)
    ends = (
        record(tables, said, flags=KEEPS | STORES, cell=kept)
        + record(tables, "dprintf", 2, tables.string(_FAILED), kept, flags=flags)
        + record(tables, "_exit", CONTRACT_STATUS)
    )
    # Not 0: the call has failed, and the record behind, which jumps over the end, is skipped.
    over = skipping(tables, len(ends))
    return skipping(tables, RECORD.size, asked) + over + ends
