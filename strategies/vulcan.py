"""Vulcan: what is tried where Perses ends (Xu, Tian, Zhang, Zhao, Jiang, Sun, OOPSLA 2023).

From a local minimum of the main reducer on, an identifier is replaced by another one, a
sub-tree by another one, and in a window that moves over the text all that may be left out
together is left out, exhaustively. As soon as one of these helps, the main reducer continues.
The passes of the format say what identifiers and sub-trees there are; where a format knows
items only, these are minimised by ddmin, and then window by window.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from reducekit.search.problem import Items
from reducekit.search.selecting import Selecting, Selector
from reducekit.search.strategy import Strategy
from reducekit.strategies.ddmin import ddmin
from reducekit.strategies.ddmin import selector as main_selector
from reducekit.strategies.levels import items_by
from reducekit.strategies.perses import perses

# There are 2 ** 3 = 8 sets for each first item, and each item more doubles the tests.
WINDOW = 4
"""Items in a window."""


@dataclass(frozen=True, slots=True)
class Windows(Selector):
    """Every set of items within a window: for each item those that begin with it, small ones first.

    `number` is that of the set, of those that begin with item `at`.
    """

    items: tuple[int, ...]
    size: int = WINDOW
    at: int = 0
    number: int = 0

    def propose(self) -> Collection[int] | None:
        if self.at >= len(self.items):
            return None
        first, *others = self.items[self.at : self.at + self.size]
        # All sets of that many bits as numbers, the small ones first.
        masks = sorted(range(1 << len(others)), key=lambda each: (each.bit_count(), each))
        mask = masks[self.number]
        return [first, *(each for bit, each in enumerate(others) if mask >> bit & 1)]

    def after(self, taken: Collection[int]) -> Windows:
        """Go on; after a success with the first window that what went was in."""
        if taken:
            gone = frozenset(taken)
            left = tuple(each for each in self.items if each not in gone)
            # The windows before hold other items now, so they are tried again; all further back
            # is as it was.
            return replace(self, items=left, at=max(0, self.at - self.size + 1), number=0)
        others = min(self.size, len(self.items) - self.at) - 1
        if self.number + 1 < 1 << others:
            return replace(self, number=self.number + 1)
        return replace(self, at=self.at + 1, number=0)


@dataclass(frozen=True, slots=True)
class Vulcan(Selector):
    """A main algorithm, and when that ends, the windows over what it has left."""

    main: Selector
    items: tuple[int, ...]

    def propose(self) -> Collection[int] | None:
        return self.main.propose()

    def after(self, taken: Collection[int]) -> Selector:
        """Go on with the main algorithm, or with the windows."""
        gone = frozenset(taken)
        left = tuple(each for each in self.items if each not in gone) if gone else self.items
        main = self.main.after(taken)
        return Windows(left) if main.propose() is None else Vulcan(main, left)


def selector(count: int) -> Selector:
    """Return ddmin over `count` items, then the windows."""
    return Vulcan(main_selector(count), tuple(range(count)))


def over_windows(items: Items) -> Selecting:
    """Return the search over items that an algorithm has left, window by window."""
    return Selecting(items, Windows(tuple(range(len(items.weights)))))


def one_by_one(items: Items) -> Selecting:
    """Return the search that takes items one at a time: they are other ways for the same thing."""
    return Selecting(items, Windows(tuple(range(len(items.weights))), size=1))


vulcan = Strategy("vulcan", items_by(selector), perses.tree, ddmin.graph, "exhaustive")
