"""The backward search of `adaptive` for several workers: each takes a block from the back.

A block that can be taken is done with; one that fails is halved by its worker
until one needed item is found, and the rest of it goes back to the pool. So a
block is never cut short by a border between workers, and users still fall
before what they use. Before the first block all items are tried at once.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from heapq import merge

from reducekit.search.index_set import IndexSet

_NONE = IndexSet()
_FIRST = 0.6
"""The size of the first blocks, in shares of what falls to each worker."""
_MEMORY = 0.9
"""What counts of earlier finds when another needed item is found."""
HALF = 0.47
"""How likely one half of a failing run is to be free of needed items."""


def free(size: int, gap: float) -> float:
    """Return how likely a run of so many items is to be free of needed ones."""
    return min(0.97, max(0.03, math.exp(-size / max(gap, 0.1))))


@dataclass(frozen=True, slots=True)
class Block:
    """A run of items, taken from the back: all of them, then halves until one is known as needed.

    The last `suspect` of `items` (0: none) are known to hold a needed item.
    `taken` are the items that went, those that went along included. A `whole`
    block is only tried as one.
    """

    items: tuple[int, ...]
    size: int
    suspect: int = 0
    taken: tuple[int, ...] = ()
    needed: bool = False
    whole: bool = False
    gap: float | None = None
    """Items between needed ones, as far as known."""
    done: bool = False

    def propose(self) -> Collection[int] | None:
        """Return the last items, as many as the size says."""
        return None if self.done else self.items[-self.size :]

    def chance(self) -> float | None:
        """Return how likely the proposed items are to go; None if there is nothing to say."""
        if self.suspect:
            return HALF
        if self.gap is None:
            return None
        return free(self.size, self.gap)

    def after(self, taken: Collection[int]) -> Block:
        """Narrow the suspects down after a failure; end when one is known, or all went."""
        if not taken:
            if self.whole:
                return replace(self, done=True)
            if self.size > 1:
                return replace(self, size=self.size // 2, suspect=self.size)
            return replace(self, items=self.items[:-1], needed=True, done=True)
        gone = frozenset(taken)
        left = tuple(item for item in self.items if item not in gone)
        suspect = self.suspect - self.size
        state = replace(self, items=left, suspect=0, taken=(*self.taken, *taken))
        if len(left) != len(self.items) - self.size or suspect < 1:
            return replace(state, done=True)  # nothing is known of what is left
        if suspect > 1:
            return replace(state, size=suspect // 2, suspect=suspect)
        return replace(state, items=left[:-1], needed=True, done=True)


@dataclass(frozen=True, slots=True)
class Pool:
    """The items that no worker has: those below `top` without `gone`, and those given `back`.

    `taken` and `needed` count what was found of either kind, the latest most.
    """

    top: int
    count: int
    back: tuple[int, ...] = ()
    gone: IndexSet = _NONE
    taken: float = 0.0
    needed: float = 0.0
    fresh: bool = True

    def propose(self) -> Collection[int] | None:
        """Return None: only blocks propose."""
        return None

    def after(self, taken: Collection[int]) -> Pool:
        """Return itself; never needed."""
        return self

    @property
    def left(self) -> int:
        """How many items are in the pool."""
        return self.count + len(self.back)

    def divide(self, parts: int) -> tuple[Pool, Block]:
        """Give out a block, for one of so many workers."""
        if self.fresh:
            items = tuple(self.gone.holes(self.top, self.count))
            return replace(self, fresh=False), Block(items, len(items), whole=True)
        gap = self.gap
        size = math.ceil(_FIRST * self.left / parts) if gap is None else int(gap * math.log(2))
        return self.part(max(1, min(size, self.left)))

    def part(self, size: int) -> tuple[Pool, Block]:
        """Give out a block of so many items."""
        items = self.back[len(self.back) - min(size, len(self.back)) :]
        back = self.back[: len(self.back) - len(items)]
        more = tuple(self.gone.holes(self.top, size - len(items))) if len(items) < size else ()
        pool = replace(
            self,
            back=back,
            top=more[0] if more else self.top,
            count=self.count - len(more),
        )
        items = more + items
        return pool, Block(items, len(items), gap=self.gap)

    def join(self, block: Block) -> Pool:
        """Take back what is left of a block."""
        gone = frozenset(block.taken)
        along = [item for item in gone if item < self.top and item not in self.gone]
        back = tuple(item for item in self.back if item not in gone)
        if not block.whole:
            left = (i for i in block.items if not (i < self.top and i in self.gone))
            back = tuple(merge(back, left))
        return replace(
            self,
            back=back,
            count=self.count - len(along),
            gone=self.gone.with_(along) if along else self.gone,
            taken=(self.taken * _MEMORY if block.needed else self.taken) + len(gone),
            needed=self.needed * _MEMORY + 1 if block.needed else self.needed,
        )

    @property
    def gap(self) -> float | None:
        """The mean number of items between needed ones; None before the first."""
        return self.taken / (self.needed + 0.5) if self.needed else None
