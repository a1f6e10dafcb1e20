"""The search of lglddtrace, the reducer for API traces that comes with Lingeling.

Described in Artho, Biere, Seidl, Model-based testing for verification back-ends
(TAP 2013), section 4.3, and done by its code: blocks of half the items, then of
half that size while it is above 4, then of one less each time; each size is one
sweep from left to right, and a block that was taken is not looked at again.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from reducekit.search.problem import Items, Strategy
from reducekit.search.selecting import Selecting, Selector
from reducekit.strategies.topdown import top_down

_FINE = 4
"""Up to this size, blocks get smaller by one."""


@dataclass(frozen=True, slots=True)
class Sweeps:
    """The state: items left, the block size, and where the next block begins."""

    left: tuple[int, ...]
    size: int
    begin: int = 0

    def propose(self) -> Collection[int] | None:
        """Return the next block."""
        if not self.left or not self.size:
            return None
        return self.left[self.begin : self.begin + self.size]

    def after(self, taken: Collection[int]) -> Sweeps:
        """Go on behind the block, or with smaller blocks at the end."""
        left, begin = self.left, self.begin + self.size
        if taken:
            gone = frozenset(taken)
            begin -= sum(item in gone for item in left[:begin])
            left = tuple(item for item in left if item not in gone)
        if begin >= len(left):
            return Sweeps(left, smaller(min(self.size, max(1, len(left)))))
        return Sweeps(left, self.size, begin)


def smaller(size: int) -> int:
    """Return the block size that follows; 0 at the end."""
    return size // 2 if size > _FINE else size - 1


def selector(count: int) -> Selector:
    """Return the algorithm over `count` items."""
    return Sweeps(tuple(range(count)), max(1, count // 2))


def over_items(items: Items) -> Selecting:
    """Return the algorithm over a sequence of items."""
    return Selecting(items, selector(len(items.weights)))


lglddtrace = Strategy("lglddtrace", over_items, lambda tree: top_down(tree, over_items))
