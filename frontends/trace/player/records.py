"""Calls as records: what a child of the fork server plays, without looking at any Python object.

The layout is described in `server.py`. A record does not depend on where things
are in memory, nor on the other calls, so each call is encoded once for all the
candidates of a reduction, and a candidate is put together by one join.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.player.prototypes import (
    CONTRACT_STATUS,
    TAKEN,
    Interface,
    Step,
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
from reducekit.oracle.limits import Limits

_ARGUMENTS = 6
_REMEMBERED = 1 << 18  # encoded calls to remember: 32 to 64 bytes each, and the key
_UNLIMITED = (1 << 64) - 1
_RLIMIT_CPU, _RLIMIT_FSIZE, _RLIMIT_CORE, _RLIMIT_AS = 0, 1, 4, 9  # Linux, asm-generic/resource.h
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9
_RLIMITS = struct.Struct("<8Q")
_ONE = struct.Struct("<Q")  # what is written to an event counter, and read from one
_OBJECT = 0  # the object's cell
_COPY = CELLS - 1  # the cell of the process that was forked to be asked
_KEPT_CELL = CELLS - 2  # the cell of `%`
_ARRAY, _BEHIND = CELLS - 3, CELLS - 4  # cells of an array that is made, and of where it ends
_KEPT = {"$": _OBJECT, "%": _KEPT_CELL, "%%": CELLS - 5}
_LAST_CELL = CELLS - 5
_FAILED = "API usage error: %s\n"
_NOT_ASKED = -1  # no wait status
_OF_OBJECT = frozenset(("$", "~$", "self", "~self"))
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


def _slots(data: bytes) -> bytes:
    """Return data that stands between records, filled up to the size of whole ones."""
    return data + bytes(-len(data) % RECORD.size)


def _counted(records: bytes) -> bytes:
    """Return records of which the first is one at which a call of the trace begins."""
    function, flags, *rest = RECORD.unpack_from(records)
    return RECORD.pack(function, flags | COUNTS, *rest) + records[RECORD.size :]


def _ends(words: Iterable[str]) -> bool:
    """Return whether a C call with these arguments leaves the object dead."""
    return any(word.startswith("~") for word in words)


def _unguarded(steps: list[Step]) -> list[Step]:
    """Return the C calls after the last `if`."""
    first = max((at + 1 for at, step in enumerate(steps) if step.result == "if"), default=0)
    return steps[first:]


class Encoder:
    """Encodes the calls of one API for one library; remembers what it has encoded.

    `symbols` are the functions that records refer to, by index; `strings` what
    they refer to by offset, of which the first `reserved` bytes are set for
    each child. `done` ends a child, `pause` makes it wait for the event counter
    GO, `report` raises DONE. `missing` are functions that the library does not have:
    calls that need them are unknown.
    `begins` and `ends` are the calls that make the object, and that take it down, `free` those
    that need none.
    """

    def __init__(self, interface: Interface) -> None:
        self.interface = interface
        self.symbols = list(_HELPERS)
        self.missing: frozenset[str] = frozenset()
        # The limits are set anew for each child, and the room for what is read.
        self.reserved = _RLIMITS.size + _ONE.size
        self.strings = bytearray(self.reserved) + _ONE.pack(1)
        self._offsets: dict[bytes, int] = {}
        self._cells: dict[str, int] = {}
        self._encoded: dict[tuple[str, tuple[Value, ...]], bytes] = {}
        self._played: dict[int, bytes] = {}  # by the id of a call that is kept alive
        self._alive: list[Call] = []
        self._indices = {symbol: index for index, symbol in enumerate(self.symbols)}
        self._steps = {name: self._parsed(text) for name, text in interface.calls.items()}
        self.results = {name: steps[-1].result for name, steps in self._steps.items()}
        self.begins = [
            name for name, steps in self._steps.items() if any(s.stores == "$" for s in steps)
        ]
        self.ends = [
            name for name, steps in self._steps.items() if any(_ends(s.arguments) for s in steps)
        ]
        self.free = [
            name
            for name, steps in self._steps.items()
            if name not in self.begins
            and not any(_OF_OBJECT.intersection(step.arguments) for step in steps)
        ]
        self._fails = b"" if interface.error is None else self._failing(interface.error)
        self.done = self._call("_exit", 0)
        self.pause = self._event("read", GO, _RLIMITS.size)
        self.report = self._event("write", DONE, self.reserved)
        self._broken = self._call("_exit", CONTRACT_STATUS)

    @property
    def separable(self) -> bool:
        """Whether traces that a process plays one after the other know nothing of each other.

        A name of a result goes on to mean what it did.
        """
        return not any(each in ("handle", "ptr") for each in self.results.values())

    def playable(self, name: str) -> bool:
        """Return whether the library has all functions of a call."""
        steps = self._steps.get(name)
        if steps is None:
            return name == "return"
        return not any(step.function in self.missing for step in steps)

    def _index(self, symbol: str) -> int:
        if symbol not in self._indices:
            self._indices[symbol] = len(self.symbols)
            self.symbols.append(symbol)
        return self._indices[symbol]

    def _parsed(self, text: str) -> list[Step]:
        found = []
        for step in steps_of(text):
            words = step.arguments
            assert len(words) <= _ARGUMENTS, text
            for word in words:
                if word.startswith("&"):
                    self._index(word[1:])
            self._index(step.function)
            found.append(step)
        return found

    def prologue(self, limits: Limits, address_space: int) -> tuple[bytes, bytes]:
        """Return the limits of a child as strings and as records that set them.

        `address_space` are the bytes that a child has from the start; they are
        not counted.
        """
        cpu = _UNLIMITED if limits.cpu is None else max(1, math.ceil(limits.cpu))
        memory = _UNLIMITED if limits.memory is None else limits.memory + address_space
        grace = cpu if cpu == _UNLIMITED else cpu + 1
        strings = _RLIMITS.pack(
            cpu, grace, memory, memory, limits.output, limits.output, 0, 0
        )  # fmt: skip
        records = [
            self._call("prctl", _PR_SET_PDEATHSIG, _SIGKILL, counts=False),
            self._call("close", 0, counts=False),
        ]
        kinds = (_RLIMIT_CPU, _RLIMIT_AS, _RLIMIT_FSIZE, _RLIMIT_CORE)
        for place, which in enumerate(kinds):
            records.append(
                RECORD.pack(
                    self._indices["setrlimit"], STRING << 2, 0, which, 16 * place, 0, 0, 0, 0
                )
            )
        return strings, b"".join(records)

    def _call(self, helper: str, *numbers: int, counts: bool = True) -> bytes:
        """Return a record that calls a helper, as a call of the trace or as none."""
        padded = (*numbers, *[0] * (_ARGUMENTS - len(numbers)))
        return RECORD.pack(self._indices[helper], COUNTS if counts else KEEPS, 0, *padded)

    def _event(self, helper: str, fd: int, offset: int) -> bytes:
        """Return a record that reads or writes an event counter, from or to a string."""
        return RECORD.pack(
            self._indices[helper], KEEPS | STRING << 2, 0, fd, offset, _ONE.size, 0, 0, 0
        )

    def each(self, name: str, numbers: Sequence[int], distance: int) -> bytes:
        """Return records that make a call for each number; it does not count, nor has results.

        `distance` is how far after the strings the records are going to be.
        """
        data = _slots(array("i", numbers).tobytes())
        jump = self._skipping("getppid", KEEPS, 0, len(data))
        return jump + data + self._each(name, distance + RECORD.size, len(numbers))

    def ask(self, name: str, literals: Sequence[int], distance: int) -> tuple[bytes, int]:
        """Return records that make a call for each literal in a copy of the process.

        The process itself is none the wiser. Besides, where in these records the
        answer is going to be (see `answered`). `distance` is that of `each`.
        """
        data = _slots(array("i", (_NOT_ASKED, *literals)).tobytes())
        start = (5 + len(_unguarded(self._steps[name]))) * RECORD.size
        where = distance + start
        copied = (
            self._call("prctl", _PR_SET_PDEATHSIG, _SIGKILL, counts=False)
            + self._call("close", 1, counts=False)
            + self._call("close", 2, counts=False)
            + self._each(name, where + array("i").itemsize, len(literals))
            + self._call("_exit", 0, counts=False)
            + data
        )
        fork = self._skipping("fork", KEEPS | STORES, _COPY, len(copied))
        wait = RECORD.pack(
            self._indices["waitpid"], KEEPS | CELL | STRING << 2, 0, _COPY, where, 0, 0, 0, 0
        )
        return fork + copied + wait, start

    def answered(self, name: str, answer: bytes) -> list[int] | None:
        """Return what a call returned for each literal; None if that is not known.

        `answer` is what stands where `ask` said, 4 bytes for each literal and 4 more.
        """
        status, *values = array("i", answer)
        if status:
            return None
        return [value & 1 for value in values] if self.results[name] == "bool" else values

    def _each(self, name: str, numbers: int, count: int) -> bytes:
        """Return records that make a call, of the object and a number, for many numbers.

        The C calls of it are made for all numbers one after the other, each with what the one
        before returned.
        """
        steps = _unguarded(self._steps[name])
        return b"".join(self._one_of_each(step, numbers, count) for step in steps)

    def _one_of_each(self, step: Step, numbers: int, count: int) -> bytes:
        assert step.arguments[:2] in (("$", "int"), ("$", "%")), step
        last = int(step.arguments[2]) if len(step.arguments) > 2 else 0
        kinds, function = CELL | FUNCTION << 2 | STRING << 4, self._indices[step.function]
        return RECORD.pack(
            self._indices[EACH], KEEPS | kinds, 0, _OBJECT, function, numbers, count, last, 0
        )

    def _skipping(self, helper: str, flags: int, cell: int, size: int) -> bytes:
        """Return a record that skips this many bytes unless the helper returns 0."""
        flags |= SKIPS
        return RECORD.pack(self._indices[helper], flags, cell, 0, 0, 0, 0, 0, size // RECORD.size)

    def encode(self, calls: Sequence[Call]) -> tuple[bytes, Illegal | None]:
        """Return the records of the calls, and a call that cannot be legal, if there is one.

        That is a call that lacks its live object, or one that makes a second: the
        library could not even tell, so the records end before it. The record
        after the last call ends the child. Raises UnplayableCall.
        """
        parts = self._parts(calls)
        illegal = self._illegal(calls)
        if illegal is None:
            return b"".join([*parts, self.done]), None
        return b"".join([*parts[: illegal.index], self._broken]), illegal

    def plain(self, calls: Sequence[Call]) -> bytes:
        """Return the records of calls, wherever they stand. Raises UnplayableCall.

        To be fast, the same call ought to be the same object each time.
        """
        parts = list(map(self._played.get, map(id, calls)))
        if None in parts:
            missing = [index for index, part in enumerate(parts) if part is None]
            fresh = [calls[index] for index in missing]
            try:
                found = self._parts(fresh)
            except UnplayableCall as error:
                raise UnplayableCall(missing[error.index], str(error)) from None
            if len(self._alive) > _REMEMBERED:
                self._alive.clear()
                self._played.clear()
            # An object that is kept alive is the only one that has its id.
            self._alive += fresh
            self._played.update(zip(map(id, fresh), found, strict=True))
            for index, part in zip(missing, found, strict=True):
                parts[index] = part
        return b"".join(parts)  # type: ignore[arg-type]  # none of them is None

    def _parts(self, calls: Sequence[Call]) -> list[bytes]:
        encoded = self._encoded
        parts = [encoded.get((call.name, call.arguments), b"") for call in calls]
        if b"" in parts:
            if len(encoded) > _REMEMBERED:
                encoded.clear()
            for index, call in enumerate(calls):
                try:
                    parts[index] = parts[index] or self._remembered(call)
                except ValueError as error:
                    raise UnplayableCall(index, str(error)) from None
        return parts

    def _illegal(self, calls: Sequence[Call]) -> Illegal | None:
        names = [call.name for call in calls]
        changes = sum(map(names.count, [*self.begins, *self.ends]))
        if (
            names
            and names[0] in self.begins
            and (changes == 1 or (changes == 2 and names[-1] in self.ends))
        ):
            return None  # the usual case, without a look at each call
        live = False
        for index, name in enumerate(names):
            if name in self.begins:
                if live:
                    return Illegal(index, "there is a live object already")
                live = True
            elif name != "return" and name not in self.free:
                if not live:
                    return Illegal(index, "there is no live object")
                live = name not in self.ends
        return None

    def _remembered(self, call: Call) -> bytes:
        key = (call.name, call.arguments)
        part = self._encoded.get(key) or self._encode(call)
        if self.results.get(call.name) != "handle":  # there the result's name takes part
            self._encoded[key] = part
        return part

    def _encode(self, call: Call) -> bytes:
        """Return the records of a call. Raises ValueError with what was expected."""
        if call.name == "return":
            return self._call("getppid")
        steps = self._steps.get(call.name)
        if steps is None:
            raise ValueError(f"there is no call {call.name!r} in the API {self.interface.api}")
        guarded = _unguarded(steps)
        first = len(steps) - len(guarded)
        guards, (steps, many) = steps[:first], spread(guarded, len(call.arguments))
        places = [word for step in steps for word in step.arguments if taken(word)]
        most = sum(map(taken, places))
        needed = most - places.count("word") - places.count("skip")
        if takes_any(guarded):
            most = max(needed, len(call.arguments))
        if not needed <= len(call.arguments) <= most:
            expected = " ".join([call.name, *places])
            raise ValueError(
                f"{call.name!r} has {len(call.arguments)} arguments; expected: {expected}"
            )
        given = iter(call.arguments)
        records = [self._record(step, given, call, 0, many=many) for step in steps]
        if guards:
            # Each `if` jumps to what is guarded; the record before that jumps over it.
            jumps = [
                self._record(
                    step,
                    iter(call.arguments),
                    call,
                    KEEPS | (SKIPS if step.result == "if" else 0),
                    first - place,
                )
                for place, step in enumerate(guards)
            ]
            over = self._skipping("getppid", KEEPS, 0, sum(map(len, records)))
            records = [*jumps, over, *records]
        told = self.missing.isdisjoint(self.interface.error or ())
        return _counted(b"".join(records) + (self._fails if told else b""))

    def _array(self, names: Sequence[Value]) -> bytes:
        """Return records that make an array of what names stand for."""
        records = [
            RECORD.pack(
                self._indices["calloc"], KEEPS | STORES, _ARRAY, len(names) or 1, 8, 0, 0, 0, 0
            )
        ]
        at = _ARRAY
        for name in names:
            kinds, cell = CELL | CELL << 2, self._cell(str(name))
            records.append(
                RECORD.pack(
                    self._indices[PUT], KEEPS | STORES | kinds, _BEHIND, at, cell, 0, 0, 0, 0
                )
            )
            at = _BEHIND
        return b"".join(records)

    def _failing(self, error: tuple[str, str]) -> bytes:
        """Return records that end the process if the last call has failed."""
        asked, said = map(self._index, error)
        text = self._string(_FAILED)
        kinds = KEEPS | STRING << 2 | CELL << 4
        ends = (
            RECORD.pack(said, KEEPS | STORES, _KEPT_CELL, 0, 0, 0, 0, 0, 0)
            + RECORD.pack(self._indices["dprintf"], kinds, 0, 2, text, _KEPT_CELL, 0, 0, 0)
            + self._call("_exit", CONTRACT_STATUS, counts=False)
        )
        over = self._skipping("getppid", KEEPS, 0, len(ends))
        return RECORD.pack(asked, KEEPS | SKIPS, 0, 0, 0, 0, 0, 0, 1) + over + ends

    def _record(
        self,
        step: Step,
        given: Iterator[Value],
        call: Call,
        flags: int,
        last: int = 0,
        many: int = 0,
    ) -> bytes:
        """Return the record of a C call; `last` is the sixth argument of one with fewer.

        `many` is how many arguments are left for an array, the records of which come before.
        """
        before = b""
        if step.function in self.missing:
            raise ValueError(f"the library cannot play {call.name!r}: it has no {step.function}")
        cell = _OBJECT
        if step.stores:
            flags |= STORES
            cell = _KEPT[step.stores]
        elif step.result == "handle" and call.result is not None:
            flags |= STORES
            cell = self._cell(str(call.result))
        values: list[int] = []
        for word in step.arguments:
            if word == "skip":
                next(given, None)
                continue
            place = len(values)
            if word == "handle*":
                before = self._array([*islice(given, many)])
                kind, value = CELL, _ARRAY
            elif word == "#":
                kind, value = NUMBER, many
            else:
                kind, value = self._argument(word, given, call)
            flags |= kind << 2 * place
            values.append(value)
        values += [0] * (_ARGUMENTS - len(values))
        values[-1] = values[-1] or last
        return before + RECORD.pack(self._indices[step.function], flags, cell, *values)

    def _argument(self, word: str, given: Iterator[Value], call: Call) -> tuple[int, int]:
        if word in ("$", "~$"):
            return CELL, _OBJECT
        if word in _KEPT:
            return CELL, _KEPT[word]
        if word.startswith("&"):
            return FUNCTION, self._indices[word[1:]]
        if word.startswith("'"):
            return STRING, self._string(word.strip("'"))
        if word.startswith("["):
            return STRING, self._numbers([*islice(given, taken(word))])
        if word == "room":
            self.strings += bytes(8)
            return STRING, len(self.strings) - 8
        if word not in TAKEN:
            return NUMBER, int(word)
        value = next(given, None)
        if word in ("self", "~self"):
            return CELL, _OBJECT
        if value is None:
            return NUMBER, 0
        if word == "handle":
            # One that no call before returned is a null pointer: its cell stays empty.
            return CELL, self._cell(str(value))
        if word in ("str", "word"):
            return STRING, self._string(str(value))
        if not isinstance(value, int):
            raise ValueError(f"{call.name!r} wants a number, not {value!r}")
        if not -(2**31) < value < 2**31:
            raise ValueError(f"{value} is too large: numbers have 32 bits")
        return NUMBER, value

    def _string(self, text: str) -> int:
        return self._data(text.encode("utf-8", "surrogateescape") + b"\0")

    def _numbers(self, values: Sequence[Value]) -> int:
        numbers = [each for each in values if isinstance(each, int) and 0 <= each < 2**32]
        if len(numbers) < len(values):
            raise ValueError(f"expected numbers from 0 to {2**32 - 1}, found {values}")
        return self._data(array("I", numbers).tobytes())

    def _data(self, data: bytes) -> int:
        if data not in self._offsets:
            self._offsets[data] = len(self.strings)
            self.strings += data
        return self._offsets[data]

    def _cell(self, name: str) -> int:
        if name not in self._cells:
            if len(self._cells) + 1 >= _LAST_CELL:
                raise ValueError(f"more than {_LAST_CELL - 1} names of results")
            self._cells[name] = len(self._cells) + 1
        return self._cells[name]
