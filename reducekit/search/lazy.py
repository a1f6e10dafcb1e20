"""Sequences that are made while they are read, for what is expensive and often not needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

Item = TypeVar("Item", covariant=True)


class Lazy(Sequence[Item]):
    """The items of an iterator, each made when it is first looked at. The same for all who look.

    To ask for an item beyond the end is cheaper than to ask for the length, which makes all.
    """

    def __init__(self, items: Iterator[Item]) -> None:
        self._items = items
        self._made: list[Item] = []

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        made = self._made
        if isinstance(index, slice) or index < 0:
            made.extend(self._items)
            return made[index]
        while index >= len(made):
            try:
                made.append(next(self._items))
            except StopIteration:
                raise IndexError(index) from None
        return made[index]

    def __len__(self) -> int:
        self._made.extend(self._items)
        return len(self._made)
