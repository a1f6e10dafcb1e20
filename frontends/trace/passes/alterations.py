"""What to alter in a trace: which calls become which others, or go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reducekit.frontends.trace.language.calls import Call

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
        """Return nothing, for a call that is dropped."""
        if self._marks[index]:
            return ()
        raise KeyError(index)

    def __contains__(self, index: object) -> bool:
        return isinstance(index, int) and bool(self._marks[index])

    def get(self, index: int, default: Any = None) -> Any:
        """Return nothing for a call that is dropped."""
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
