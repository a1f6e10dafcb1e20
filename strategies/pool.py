"""The backward search of `adaptive` for several workers: each takes a block from the back.

A block that can be taken is done with; one that fails is halved by its worker
until one needed item is found, and the rest of it goes back to the pool. So a
block is never cut short by a border between workers, and users still fall
before what they use. Before the first block all items are tried at once.

Where users depend on items and the pass does not know it, an item fails as long as a block nearer
to the end holds a user of it: workers further to the front only lose time then. To notice that,
some of the items that were found needed while such a block was at work are tried again when it has
given up items. If one can go, the parts conflict, and the search turns back to one that goes
strictly from the back.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from heapq import merge
from typing import NamedTuple, Protocol

from reducekit.search.selecting import HALF, DivisibleSelector, IndexSet, Part, Selector, free

_NONE = IndexSet()
# Below 1, so that a worker whose block ends early finds more in the pool; not far below, as each
# block costs at least a check. Nothing is known of the gap yet. By hand.
_FIRST = 0.6
"""The size of the first blocks, in shares of what falls to each worker."""
# The last ten or so needed items count. A longer memory estimates better where needed items are
# spread evenly, a shorter one adapts where they are not. By hand; `adaptive`, with one worker,
# remembers only about two.
_MEMORY = 0.9
"""What counts of earlier finds when another needed item is found."""
_ENOUGH_WORKERS = 32
"""This many workers are faster in parts than together from the back even if parts conflict:
then they need 10 to 20 times the runs, and looking ahead only makes twice as fast
(`python -m benchmarks.scaling`, "unknown needs")."""
# Each is a run that will most likely fail. Three are enough to notice a conflict soon, as the one
# nearest to the end is tried first.
_RETRY_CANDIDATES = 3
"""Items that wait for a second try, at most."""


@dataclass(frozen=True, slots=True)
class Block(Part):
    """A run of items, taken from the back: all of them, then halves until one is known as needed.

    The last `suspect` of `items` (0: none) are known to hold a needed item.
    `taken` are the items that went, those that went along included. A block
    that is tried `once` is not halved; with `again`, it was refuted before.
    """

    items: tuple[int, ...]
    size: int
    last: int
    """The last item at the start: of several blocks each has another."""
    suspect: int = 0
    taken: tuple[int, ...] = ()
    needed: int | None = None
    """The item that has to stay, once it is found."""
    once: bool = False
    again: bool = False
    gap: float | None = None
    """Items between needed ones, as far as known."""
    done: bool = False

    def propose(self) -> Collection[int] | None:
        """Return the last items, as many as the size says."""
        return None if self.done else self.items[-self.size :]

    def chance(self) -> float | None:
        if self.suspect:
            return HALF
        if self.gap is None:
            return None
        return free(self.size, self.gap)

    def after(self, taken: Collection[int]) -> Block:
        """Narrow the suspects down after a failure; end when one is known, or all went."""
        if not taken:
            # All items at once, or a second try of one: a failure says all that was asked.
            if self.once:
                return replace(self, done=True)
            if self.size > 1:
                return replace(self, size=self.size // 2, suspect=self.size)
            # One needed item ends a block, though more may be left: the pool gives the rest out
            # in a size that fits what is known by now.
            return replace(self, items=self.items[:-1], needed=self.items[-1], done=True)
        gone = frozenset(taken)
        left = tuple(item for item in self.items if item not in gone)
        suspect = self.suspect - self.size
        state = replace(self, items=left, suspect=0, taken=(*self.taken, *taken))
        # Items went along that were not proposed, perhaps the needed one among them.
        if len(left) != len(self.items) - self.size or suspect < 1:
            return replace(state, done=True)  # nothing is known of the rest
        if suspect > 1:
            return replace(state, size=suspect // 2, suspect=suspect)
        return replace(state, items=left[:-1], needed=left[-1], done=True)


class Origin(Protocol):
    """The search that was divided."""

    def undivided(self, items: Collection[int], needed: int, gap: float) -> Selector:
        """Return the search for what can go of these items, in which it stays undivided."""


class RetryCandidate(NamedTuple):
    """An item found needed while later ones were undecided; whether some of those have `gone`."""

    item: int
    gone: bool


@dataclass(frozen=True, slots=True)
class Pool(DivisibleSelector):
    """The items that no worker has: those below `top` without `gone`, and those given `back`.

    `taken` and `needed` count what was found of either kind, the latest most.
    `out` has the last items of the blocks at work. `retry_queue` are the items found
    needed that are tried again, `tried` counts those that stayed, and `parts_conflict`
    says that one went: each was refuted only because of later ones.
    """

    origin: Origin
    workers: int
    top: int
    count: int
    back: tuple[int, ...] = ()
    gone: IndexSet = _NONE
    taken: float = 0.0
    needed: float = 0.0
    fresh: bool = True
    out: frozenset[int] = frozenset()
    retry_candidates: tuple[RetryCandidate, ...] = ()
    retry_queue: tuple[int, ...] = ()
    found: int = 0
    tried: int = 0
    parts_conflict: bool = False

    def propose(self) -> Collection[int] | None:
        return None

    def after(self, taken: Collection[int]) -> Pool:
        return self

    @property
    def left(self) -> int:
        return 0 if self.parts_conflict else self.count + len(self.back) + len(self.retry_queue)

    def worth_dividing(self, parts: int) -> bool:
        return True

    def divide(self, parts: int) -> tuple[Pool, Block]:
        if self.fresh:
            # All at once: in a pass where nothing is needed, this is the only run.
            items = tuple(self.gone.holes(self.top, self.count))
            return replace(self, fresh=False), Block(items, len(items), items[-1], once=True)
        if self.retry_queue:
            item, *rest = self.retry_queue
            return replace(self, retry_queue=tuple(rest)), Block(
                (item,), 1, item, once=True, again=True
            )
        gap = self.gap
        # ln 2 of the gap: the size that goes every other time, as in `adaptive`.
        size = math.ceil(_FIRST * self.left / parts) if gap is None else int(gap * math.log(2))
        return self.part(max(1, min(size, self.left)))

    def part(self, size: int) -> tuple[Pool, Block]:
        """Give out a block of `size` items."""
        # First what was given back: it is nearer to the end, and users have to fall before what
        # they use.
        items = self.back[len(self.back) - min(size, len(self.back)) :]
        back = self.back[: len(self.back) - len(items)]
        more = tuple(self.gone.holes(self.top, size - len(items))) if len(items) < size else ()
        items = more + items
        pool = replace(
            self,
            back=back,
            top=more[0] if more else self.top,
            count=self.count - len(more),
            out=self.out | {items[-1]},
        )
        return pool, Block(items, len(items), items[-1], gap=self.gap)

    def join(self, block: Block) -> Pool:
        gone = frozenset(block.taken)
        along = [item for item in gone if item < self.top and item not in self.gone]
        back = tuple(item for item in self.back if item not in gone)
        state = self
        if block.again and block.done:
            state = replace(
                self, tried=self.tried + 1, parts_conflict=self.parts_conflict or bool(gone)
            )
        elif not block.once:
            state = self._with_retries(block)
            left = (i for i in block.items if not (i < self.top and i in self.gone))
            back = tuple(merge(back, left))
        needed = block.needed is not None
        return replace(
            state,
            back=back,
            count=self.count - len(along),
            gone=self.gone.with_(along) if along else self.gone,
            taken=(self.taken * _MEMORY if needed else self.taken) + len(gone),
            needed=self.needed * _MEMORY + 1 if needed else self.needed,
        )

    def _with_retries(self, block: Block) -> Pool:
        """Note whether what a block has found is to be tried again, and what is by now."""
        out = self.out - {block.last}
        retry_queue, retry_candidates = list(self.retry_queue), []
        # The last item that no one has decided. Candidates for a second try wait until all behind
        # them is decided: before that, the same refutation may come again.
        undecided = max(out | set(self.back[-1:]) | set(block.items[-1:]), default=-1)
        for each in self.retry_candidates:
            gone = each.gone or (bool(block.taken) and block.last > each.item)
            if undecided > each.item:
                retry_candidates.append(RetryCandidate(each.item, gone))
            elif gone:
                retry_queue.append(each.item)
        found = self.found
        if self.workers < _ENOUGH_WORKERS and block.needed is not None and undecided > block.needed:
            # The second tries are runs: after n that changed nothing, one of 2**n is worth one.
            if found % (1 << (self.tried + len(retry_queue))) == 0:
                # What is further back can be tried again sooner.
                retry_candidates = sorted([*retry_candidates, RetryCandidate(block.needed, False)])[
                    -_RETRY_CANDIDATES:
                ]
            found += 1
        return replace(
            self,
            out=out,
            retry_queue=tuple(retry_queue),
            retry_candidates=tuple(retry_candidates),
            found=found,
        )

    def whole(self) -> Selector | None:
        """Return the undivided search, if parts are found to conflict.

        By then all that were given out have to be back.
        """
        if not self.parts_conflict:
            return None
        # They were found needed while others were undecided, so the search that goes on looks at
        # them again.
        candidates = (*(each.item for each in self.retry_candidates), *self.retry_queue)
        items = sorted({*self.gone.holes(self.top, self.count), *self.back, *candidates})
        return self.origin.undivided(items, round(self.needed), self.gap or 0.0)

    @property
    def gap(self) -> float | None:
        """The mean number of items between needed ones; None before the first."""
        return self.taken / (self.needed + 0.5) if self.needed else None
