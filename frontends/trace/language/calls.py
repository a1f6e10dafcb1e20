"""API traces as plain data: calls, and the trace that they stand in.

A call keeps the bytes it was read from. So a trace that is only cut down prints its calls byte by
byte, and a call that was altered or made afresh (`raw` empty) is spelled by its format
(`reducekit.frontends.trace.formats`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, overload

T = TypeVar("T", covariant=True)
Value = int | str
"""An argument or result: a number, or else the word as written in the file."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the API.

    `line` counts from 1; 0 for a call that was read from no file. `result` is
    what the recording says that the call returned, None where it says nothing;
    in the lgl, Murxla and Boolector formats it stands in the `return` line that
    follows (several results are one string, parted by blanks). A `return` line
    that follows no call, or another `return` line, is a call named `return`.

    `raw` are the bytes of the call in the file, ends of lines, `return` line, and blank lines and
    comments before it included; empty if the call has to be spelled by its format.
    """

    name: str
    arguments: tuple[Value, ...]
    line: int = 0
    result: Value | None = None
    raw: bytes = b""

    def __str__(self) -> str:
        """Return the call as messages show it: name and arguments, at most 80 characters."""
        text = " ".join([self.name, *map(str, self.arguments)])
        return text if len(text) <= 80 else text[:77] + "..."

    @property
    def place(self) -> str:
        """The call as messages name it, after its line if it was read from a file."""
        return f"line {self.line}: {self}" if self.line else str(self)


@dataclass(frozen=True, slots=True)
class Trace:
    """A sequence of calls as it was read.

    `format` is a name in `reducekit.frontends.trace.language.text.FORMATS`. `text` are the bytes of
    the file, unpacked if it was compressed; `tail` what stands after the last call. `text` is the
    concatenation of `raw` of all calls, and `tail`.
    """

    calls: Sequence[Call]
    format: str
    text: bytes
    tail: bytes = b""
    head: bytes = b""


class Lazy(Sequence[T]):
    """A sequence of `count` elements, each made by a function of its index when it is asked for."""

    __slots__ = ("_count", "_make")

    def __init__(self, count: int, make: Callable[[int], T]) -> None:
        self._count = count
        self._make = make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [*map(self._make, range(*at.indices(self._count)))]
        return self._make(range(self._count)[at])


class Interned(Lazy[Call]):
    """Calls that are few kinds of call over and over: four bytes a call."""

    __slots__ = ("distinct", "kinds")

    def __init__(self, kinds: array[int], distinct: Sequence[Call]) -> None:
        super().__init__(len(kinds), lambda index: distinct[kinds[index]])
        self.kinds = kinds
        self.distinct = distinct

    def __iter__(self) -> Iterator[Call]:
        return map(self.distinct.__getitem__, self.kinds)


class LongTrace(Lazy[Call]):
    """The calls of a long text, each made when it is asked for: 12 bytes a call.

    `plain` are the calls without their places and bytes; call i has the bytes up to `ends[i]`,
    the first one from `begin` on, and stands in line `lines[i]`.
    """

    __slots__ = ("begin", "ends", "plain", "text")

    def __init__(
        self, text: bytes, plain: Interned, begin: int, ends: array[int], lines: array[int]
    ) -> None:
        def made(index: int) -> Call:
            call = plain[index]
            raw = text[ends[index - 1] if index else begin : ends[index]]
            return Call(call.name, call.arguments, lines[index], call.result, raw)

        super().__init__(len(ends), made)
        self.text = text
        self.begin = begin
        self.plain = plain
        self.ends = ends


def plain(calls: Sequence[Call]) -> Sequence[Call]:
    """Return the calls to walk through: those of a long trace have no bytes and no lines."""
    return calls.plain if isinstance(calls, LongTrace) else calls


def raws(calls: Sequence[Call]) -> Iterator[bytes]:
    """Yield the bytes of each call."""
    if not isinstance(calls, LongTrace):
        yield from (call.raw for call in calls)
        return
    text, begin = calls.text, calls.begin
    for end in calls.ends:
        yield text[begin:end]
        begin = end


def mapped(calls: Sequence[Call], change: Callable[[Call], Call]) -> Sequence[Call]:
    """Return `plain` calls, each changed in the same way wherever it stands."""
    calls = plain(calls)
    if isinstance(calls, Interned):
        return Interned(calls.kinds, [*map(change, calls.distinct)])
    return [*map(change, calls)]


def differing(calls: Sequence[Call]) -> Iterable[Call]:
    """Return the calls of a trace; of a long one, each call that differs once, in any order."""
    calls = plain(calls)
    if isinstance(calls, Interned):
        return map(calls.distinct.__getitem__, {*calls.kinds})
    return calls


def marks(calls: Sequence[Call], mark: Callable[[Call], int]) -> bytes:
    """Return a byte for each call; calls that do not differ have the same."""
    calls = plain(calls)
    if isinstance(calls, Interned):
        table = bytes(map(mark, calls.distinct))
        return bytes(map(table.__getitem__, calls.kinds))
    return bytes(map(mark, calls))


def altered(call: Call, name: str | None = None, arguments: Iterable[Value] | None = None) -> Call:
    """Return the call with another name or other arguments, without its bytes."""
    return replace(
        call,
        name=call.name if name is None else name,
        arguments=call.arguments if arguments is None else tuple(arguments),
        raw=b"",
    )


def with_argument(call: Call, place: int, value: Value) -> Call:
    """Return the call with another argument at one place."""
    return altered(call, arguments=(*call.arguments[:place], value, *call.arguments[place + 1 :]))


def with_result(call: Call, result: Value | None) -> Call:
    """Return the call with another recorded result, or without one.

    A call whose result stays as it is keeps its bytes.
    """
    return call if call.result == result else replace(call, result=result, raw=b"")


Alteration = Mapping[int, tuple[Call, ...]]
"""By index of a call: the calls that replace it; empty for a dropped call."""


def dropped(indices: Iterable[int]) -> Alteration:
    """Return the alteration that drops calls."""
    return dict.fromkeys(indices, ())


class Drops(Alteration):
    """An alteration that only drops calls, a byte for each call of the trace: 1 drops it."""

    def __init__(self, marks: bytes | bytearray) -> None:
        self._marks = marks

    def __len__(self) -> int:
        return self._marks.count(1)

    def __bool__(self) -> bool:
        return 1 in self._marks

    def __iter__(self) -> Iterator[int]:
        return self._found(1, 0)

    def __getitem__(self, index: int) -> tuple[Call, ...]:
        if self._marks[index]:
            return ()
        raise KeyError(index)

    def __contains__(self, index: object) -> bool:
        return isinstance(index, int) and bool(self._marks[index])

    def get(self, index: int, default: Any = None) -> Any:
        """Return () for a call that is dropped, as it has no calls in its place."""
        return () if self._marks[index] else default

    def __eq__(self, other: object) -> bool:
        return self._marks == other._marks if isinstance(other, Drops) else super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # as a dictionary

    def others(self, start: int) -> Iterator[int]:
        """Yield the calls from one on that are not dropped."""
        return self._found(0, start)

    def between(self, begin: int, end: int) -> Sequence[int]:
        """Return the calls from one up to another, exclusive, that are dropped."""
        marks = self._marks
        count = marks.count(1, begin, end)
        if count in (0, end - begin):
            return range(begin, begin + count)
        return [index for index in range(begin, end) if marks[index]]

    def with_(self, more: Iterable[int]) -> Drops:
        """Return what drops these calls too."""
        marks = bytearray(self._marks)
        for index in more:
            marks[index] = 1
        return Drops(marks)

    def without(self, kept: Iterable[int]) -> Drops:
        """Return what leaves these calls."""
        marks = bytearray(self._marks)
        for index in kept:
            marks[index] = 0
        return Drops(marks)

    def _found(self, mark: int, start: int) -> Iterator[int]:
        find = self._marks.find
        index = find(mark, start)
        while index >= 0:
            yield index
            index = find(mark, index + 1)
