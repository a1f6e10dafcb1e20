"""Immutable sets of indices, a byte an index: a copy with more in it is one copy of memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Any


class IndexSet(Set[int]):
    """A set of indices from 0 on that only grows, by copies. For many indices close together.

    A `frozenset` of a million takes 30 times the memory and the time of a copy.
    """

    __slots__ = ("_count", "_marks")

    def __init__(self, items: Iterable[int] = ()) -> None:
        self._marks, self._count = IndexSet._grown(b"", 0, items)

    def __contains__(self, item: object) -> bool:
        marks = self._marks
        return isinstance(item, int) and 0 <= item < len(marks) and marks[item] == 1

    def __iter__(self) -> Iterator[int]:
        find = self._marks.find
        item = find(1)
        while item >= 0:
            yield item
            item = find(1, item + 1)

    def __len__(self) -> int:
        return self._count

    def __hash__(self) -> int:
        return hash((self._count, self._marks.rstrip(b"\0")))

    def with_(self, items: Iterable[int]) -> IndexSet:
        """Return the set with these items in it too."""
        more = IndexSet()
        more._marks, more._count = IndexSet._grown(self._marks, self._count, items)
        return more

    def holes(self, below: int, count: int) -> range | list[int]:
        """Return the last `count` indices below `below` that are not in the set, in order.

        Fewer if there are no more.
        """
        first = max(0, below - count)
        marks = self._marks
        # The usual case, for a search that goes from the back: nothing is taken there, so the
        # answer is a range and takes no memory.
        if marks.find(1, first, below) < 0:
            return range(first, below)
        # What is beyond the marks was never taken.
        found = list(range(len(marks), below))[-count:]
        at = min(below, len(marks))
        while len(found) < count and (at := marks.rfind(0, 0, at)) >= 0:
            found.append(at)
        return sorted(found)

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Any:
        """Return the result of a set operation: a set like any other."""
        return frozenset(it)

    @staticmethod
    def _grown(marks: bytes, count: int, items: Iterable[int]) -> tuple[bytes, int]:
        if not isinstance(items, (frozenset, range, list, tuple)):
            items = list(items)
        highest = max(items, default=-1)
        if highest < 0:
            return marks, count
        # The copy is one memcpy, whatever is in it; a persistent tree would save that, and cost
        # more for each look-up, of which there are far more.
        grown = bytearray(max(len(marks), highest + 1))
        grown[: len(marks)] = marks
        for item in items:
            count += not grown[item]
            grown[item] = 1
        return bytes(grown), count
