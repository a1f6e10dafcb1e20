"""The default: backward, in runs whose length adapts; trees from the top down, heaviest first.

Where things are defined before they are used, the direction of a search matters
more than its algorithm: from back to front, users fall before what they use.
The runs follow Hwang's generalised binary splitting (Hwang, A method for
detecting all defective members in a population by group testing, JASA 67, 1972):
a run that fails is halved until one needed item is found, and a half need not
be tested when the other half was taken, since the whole is known to fail.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

from reducekit.search.problem import Items, Strategy
from reducekit.search.selecting import Selecting, Selector
from reducekit.strategies.topdown import top_down


@dataclass(frozen=True, slots=True)
class Backward:
    """Take runs from the back: longer ones after a success, halves after a failure.

    `left` are the items not decided yet, `size` says how many of the last ones
    to take next. The last `suspect` of them (0: none) are known to hold a
    needed item. `run` counts what was taken since the last needed item; `gap`
    is its mean, from which the next run is guessed: a group is best tested as
    one when it fails every other time, so ln 2 of the gap.
    """

    left: tuple[int, ...]
    size: int
    suspect: int = 0
    run: int = 0
    gap: float = 0.0

    def propose(self) -> Collection[int] | None:
        """Return the next run from the back of what is left."""
        return self.left[-self.size :] if self.left else None

    def after(self, taken: Collection[int]) -> Backward:
        """Go on faster after a success; narrow the suspects down after a failure."""
        left, size, suspect = self.left, self.size, self.suspect
        if not taken:
            if size > 1:
                return replace(self, size=size // 2, suspect=size)
            return self._needed(left[:-1], self.run)
        gone = frozenset(taken)
        left = tuple(item for item in left if item not in gone)
        run = self.run + len(gone)
        if not suspect:
            return replace(self, left=left, size=min(2 * size, len(left)), run=run)
        suspect -= size
        if len(left) != len(self.left) - size:
            # Other items went along: what was known of the suspects is void.
            return replace(self, left=left, size=max(1, suspect // 2), suspect=0, run=run)
        if suspect > 1:
            return replace(self, left=left, size=suspect // 2, suspect=suspect, run=run)
        return self._needed(left[:-1], run)  # the last suspect: known without a test

    def _needed(self, left: tuple[int, ...], run: int) -> Backward:
        gap = (self.gap + run) / 2
        return Backward(left, max(1, int(gap * math.log(2))), gap=gap)


def backward(count: int) -> Selector:
    """Return the selector over `count` items."""
    return Backward(tuple(range(count)), max(1, count))


def over_items(items: Items) -> Selecting:
    """Return the search over a sequence of items."""
    return Selecting(items, backward(len(items.weights)))


adaptive = Strategy("adaptive", over_items, lambda tree: top_down(tree, over_items))
