"""The substitution algorithm of ddSMT (Niemetz and Biere, SMT 2013, figure 8), as deltabtor has it.

All items at once, then blocks of half the size, down to one; within a size each block once, from
front to back, and a block that was taken is not looked at again. No complements and no restart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from reducekit.search.selecting import Selector
from reducekit.strategies.levels import by_selector


def half(size: int, left: int) -> int:
    """Return half a block size, however many items are left; 0 after the last."""
    return size // 2


@dataclass(frozen=True, slots=True)
class Sweeps(Selector):
    """Sweeps over blocks that get smaller: items left, block size, and where the next begins."""

    left: tuple[int, ...]
    size: int
    smaller: Callable[[int, int], int]
    """Gives the block size of the next sweep by the last one and the number of items left; 0 at
    the end."""
    begin: int = 0

    def propose(self) -> Collection[int] | None:
        if not self.left or not self.size:
            return None
        return self.left[self.begin : self.begin + self.size]

    def after(self, taken: Collection[int]) -> Sweeps:
        """Go on after the block, or with smaller blocks at the end."""
        left, begin = self.left, self.begin + self.size
        if taken:
            gone = frozenset(taken)
            begin -= sum(item in gone for item in left[:begin])
            left = tuple(item for item in left if item not in gone)
        if begin < len(left):
            return replace(self, left=left, begin=begin)
        return Sweeps(left, self.smaller(self.size, len(left)), self.smaller)


def selector(count: int) -> Selector:
    """Return the algorithm over `count` items."""
    return Sweeps(tuple(range(count)), count, half)


halving = by_selector("halving", selector)
