"""What the calls of a trace returned, as a replay left it in memory: converted when looked at."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import overload

from reducekit.frontends.trace.language.calls import Call


class Results(Sequence[int | None]):
    """What each call returned, None where it returns nothing. Converted when looked at.

    Pointers are addresses in the child. A slice is of the same kind if it is a
    prefix.
    """

    def __init__(self, raw: bytes, calls: Sequence[Call], types: dict[str, str]) -> None:
        self._raw = raw
        self._calls = calls
        self._types = types

    def __len__(self) -> int:
        return len(self._raw) // 8

    @overload
    def __getitem__(self, index: int) -> int | None: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[int | None]: ...
    def __getitem__(self, index: int | slice) -> int | Sequence[int | None] | None:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if (start, step) == (0, 1):
                return Results(self._raw[: 8 * stop], self._calls, self._types)
            return [self[each] for each in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return _converted(self._raw, index, self._types.get(self._calls[index].name, ""))

    def __iter__(self) -> Iterator[int | None]:
        types = self._types
        for index, call in zip(range(len(self)), self._calls, strict=False):
            yield _converted(self._raw, index, types.get(call.name, ""))


def _converted(raw: bytes, index: int, result: str) -> int | None:
    """Return a result: of the register, only the bits of its type mean anything."""
    if result == "int":
        found: int = struct.unpack_from("<i", raw, 8 * index)[0]
        return found
    if result == "bool":
        return raw[8 * index] & 1
    if result in ("ptr", "handle"):
        address: int = struct.unpack_from("<Q", raw, 8 * index)[0]
        return address
    return None
