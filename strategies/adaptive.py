"""The default: backward, in runs whose length adapts; trees from the top down, heaviest first.

Why backward: in all our formats things are defined before they are used. From the front, an item
whose users are still there cannot go, so each definition is refuted once for nothing and has to be
tried again when its users are gone. From the back, users fall before what they use, and one way
through the items is enough. So the direction matters more than the algorithm: see the rows
"declared" of `benchmarks/results/strategies.md`, where all others go forward.

Why runs that adapt: when few items are needed, long runs go as one; when most are, every item needs
a check of its own. How many are needed is not known, but can be estimated from what was found so
far. A group is best tested as one if it fails every other time, which for needed items that lie
`gap` apart on average means runs of ln 2 of the gap. A run that fails is halved until one needed
item is found; the second half of a failing run need not be tested when the first half could go,
since together they are known to fail. That is Hwang's generalised binary splitting (A method for
detecting all defective members in a population by group testing, JASA 67, 1972). The number of
checks is about the number of needed items times the logarithm of the gap.

Where one run checks many candidates, one by one up to the first success (`in_a_row`), failures are
cheap and a success costs a run. So runs of items are longer then, and get shorter in small steps:
the first success takes nearly all that can go.

Trees are searched from the top down (`topdown`), and what a node can drop as
items, as above. With several workers the items are shared out (`pool`). Items that
no other needs may go in any order (`deferring`).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reducekit.search.problem import Items, Search, Tree, WeightedTree
from reducekit.search.selecting import (
    HALF,
    DivisibleSelector,
    IndexSet,
    Selecting,
    Selector,
    free,
    worth_parts,
)
from reducekit.search.strategy import Strategy

if TYPE_CHECKING:
    from reducekit.strategies.pool import Block, Pool

_NONE = IndexSet()
_FEW = 8
"""Fewer items are done with before the order matters."""
_LONG = 4.0
"""The size of a run in gaps, where failures are cheap; 2 or 8 take a tenth more runs."""
# More parts find a single needed item in fewer runs, but each success, which costs one, takes
# away less.
_STEPS = 2
"""Where failures are cheap, what cannot go as a whole is taken shorter by this many parts of
as many as a run has candidates: a run or two go down to a single item."""


@dataclass(frozen=True, slots=True)
class Backward(DivisibleSelector):
    """Take runs from the back: longer ones after a success, halves after a failure.

    The items below `top` are not decided yet but for those `gone`, which went along with others:
    `count` are left. `size` says how many of the last ones to take next. The last `suspect` of them
    (0: none) are known to hold a needed item. `run` counts what was taken since the last needed
    item; `gap` is its mean, from which the next run is guessed: a group is best tested as one when
    it fails every other time, so ln 2 of the gap. `needed` counts the needed items found. With
    `alone` it is not divided. A run checks `row` candidates, up to the first success.
    """

    top: int
    count: int
    size: int
    suspect: int = 0
    run: int = 0
    gap: float = 0.0
    gone: IndexSet = _NONE
    needed: int = 0
    alone: bool = False
    row: int = 1

    def propose(self) -> Collection[int] | None:
        """Return the next run, from the back."""
        return self.gone.holes(self.top, self.size) if self.count else None

    def implied(self, taken: Collection[int]) -> Collection[int]:
        """Return the last suspect, if the others went alone."""
        if not taken or self.suspect != self.size + 1:
            return ()
        first, *others = self.gone.holes(self.top, self.suspect)
        return () if first in taken or len(taken) != len(others) else (first,)

    def after(self, taken: Collection[int]) -> Backward:
        """Go on faster after a success; narrow the suspects down after a failure."""
        size, suspect = self.size, self.suspect
        if not taken:
            # A run that fails holds a needed item: narrow it down before anything else, as
            # nothing else is known so exactly.
            if size > 1:
                return replace(self, size=self._smaller(size), suspect=size)
            return self._needed()
        # The selection may have been closed: `taken` then holds more than was proposed, somewhere
        # further to the front.
        proposed = self.gone.holes(self.top, size)
        top = min(proposed, default=0)
        along = [item for item in taken if item < top and item not in self.gone]
        left = replace(
            self,
            top=top,
            count=self.count - len(proposed) - len(along),
            gone=self.gone.with_(along) if along else self.gone,
            run=self.run + len(taken),
        )
        # Nothing failed lately, so needed items are further apart than was thought: double the run.
        if not suspect:
            return replace(left, size=min(2 * size, left.count))
        # The last half of the suspects could go, so the needed item is in the first half, and
        # that need not be tested as a whole: it is known to fail (Hwang's saving).
        suspect -= size
        if left.count != self.count - size:
            # Other items went along: what was known of the suspects no longer holds.
            return replace(left, size=max(1, self._smaller(suspect)), suspect=0)
        if suspect > 1:
            return replace(left, size=self._smaller(suspect), suspect=suspect)
        return left._needed()  # the last suspect: known without a test

    def chance(self) -> float | None:
        if self.suspect:
            # One of the suspects is needed. Which half it is in is a toss-up, but there may be
            # one in each, so a bit less.
            return HALF
        return free(self.size, self.gap) if self.needed else None

    @property
    def left(self) -> int:
        return self.count

    def worth_dividing(self, parts: int) -> bool:
        """Return whether there is enough for several workers."""
        return not self.alone and worth_parts(self.count, self.needed, self.gap)

    def divide(self, parts: int) -> tuple[Pool, Block]:
        from reducekit.strategies.pool import Pool

        # What was learnt so far seeds the pool's estimate of the gap, so its blocks have the
        # right size from the start.
        needed = self.needed
        taken = self.gap * needed
        state = Pool(self, parts, self.top, self.count, (), self.gone, taken, needed)
        if self.size >= self.count:
            return state.divide(parts)
        state = replace(state, fresh=False)
        if not self.suspect:
            return state.divide(parts)
        # A run that failed is being narrowed down: the worker that gets it goes on from there.
        state, block = state.part(self.suspect)
        return state, replace(block, size=self.size, suspect=self.suspect)

    def undivided(self, items: Collection[int], needed: int, gap: float) -> Backward:
        """Return the search for what can go of these items, in which it stays undivided."""
        top = max(items, default=-1) + 1
        decided = IndexSet(set(range(top)).difference(items))
        size = _run(gap) if needed else len(items)
        return Backward(
            top,
            len(items),
            min(size, len(items)),
            gap=gap,
            gone=decided,
            needed=needed,
            alone=True,
        )

    def go_on(self, gone: IndexSet, needed: int, gap: float) -> Backward:
        """Return it after items behind these were searched, with which `gone` went."""
        count = len(gone.holes(self.top, self.count))
        size = min(_run(gap), count) if needed else count
        return replace(self, count=count, size=size, gap=gap, gone=gone, needed=needed)

    def in_a_row(self, count: int) -> Backward:
        return replace(self, row=count)

    def _smaller(self, size: int) -> int:
        """Return how many items to take of a run that cannot go as a whole.

        Half of them, which gives the most information; where failures are cheap, nearly all.
        """
        if size > self.row:
            return size // 2
        return min(size - 1, max(size // 2, size - max(1, _STEPS * size // self.row)))

    def _needed(self) -> Backward:
        """Go on without the last item, which has to stay."""
        last = self.gone.holes(self.top, 1)
        # A moving mean with half of the weight on the last gap: needed items come in clusters
        # (the assertions of a core, a declaration with its users), and the length of runs should
        # follow at once.
        gap = (self.gap + self.run) / 2
        return replace(
            self,
            top=min(last, default=0),
            count=self.count - len(last),
            size=_run(gap) if self.row == 1 else max(1, int(_LONG * gap)),
            suspect=0,
            run=0,
            gap=gap,
            needed=self.needed + 1,
        )


def _run(gap: float) -> int:
    """Return how many items to take as one: that many can go every other time."""
    return max(1, int(gap * math.log(2)))


def backward(count: int) -> Selector:
    """Return the selector over `count` items."""
    return Backward(count, count, max(1, count))


def selector(count: int, low: int) -> Selector:
    """Return the selector over `count` items; those from `low` on need no other."""
    free = count - low
    if free < _FEW:
        return backward(count)
    from reducekit.strategies.deferring import Deferring

    return Deferring(Backward(low, low, max(1, low)), low, count, free, free // 2, known=free)


def over_items(items: Items) -> Selecting:
    """Return the search over a sequence of items."""
    count = len(items.weights)
    return Selecting(items, selector(count, count if items.free is None else items.free))


def over_tree(tree: Tree) -> Search:
    """Return the search over a tree."""
    if isinstance(tree, WeightedTree):
        from reducekit.strategies.best_first import best_first

        return best_first(tree)
    from reducekit.strategies.topdown import top_down

    return top_down(tree, over_items)


adaptive = Strategy("adaptive", over_items, over_tree)
