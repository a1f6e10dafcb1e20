"""Searches a set of items with an algorithm that knows only indices."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Set
from typing import Any, NamedTuple

from reducekit.change import Change
from reducekit.search.problem import Dividing, Divisible, Items


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
        # more for each look-up, and these are far more frequent.
        grown = bytearray(max(len(marks), highest + 1))
        grown[: len(marks)] = marks
        for item in items:
            count += not grown[item]
            grown[item] = 1
        return bytes(grown), count


_NONE: frozenset[int] = frozenset()
_EMPTY = IndexSet()


class Selector(ABC):
    """An algorithm over the indices 0 .. n-1: which of them to take next. Immutable."""

    __slots__ = ()

    @abstractmethod
    def propose(self) -> Collection[int] | None:
        """Return the items to take next, beyond those taken; None when done."""

    @abstractmethod
    def after(self, taken: Collection[int]) -> Selector:
        """Return the selector after `taken` was taken: at least the proposed items, or none."""

    def implied(self, taken: Collection[int]) -> Collection[int]:
        """Return the items that this verdict shows to be needed, without a check of their own."""
        return ()

    def chance(self) -> float | None:
        """Return how likely the next items are to go, from 0 to 1; None: nothing is known."""
        return None

    def in_a_row(self, count: int) -> Selector:
        """Return the algorithm for runs that check `count` candidates, up to the first success."""
        return self


class Part(Selector):
    """A part of a divided algorithm."""

    __slots__ = ()

    taken: Collection[int]
    """The items that went while it was worked on."""


class DivisibleSelector(Selector, Dividing["DivisibleSelector"]):
    """An algorithm that can give out parts, as a `Divisible` search does."""

    __slots__ = ()

    def join(self, part: Any) -> DivisibleSelector:
        raise NotImplementedError("a part is joined to the pool that gave it out")


class Candidate(NamedTuple):
    """A closed selection: the items proposed with those required, and the orphaned ones."""

    chosen: frozenset[int]
    orphaned: frozenset[int]


class Selecting(Divisible):
    """The Search that takes items as a Selector says. Immutable.

    A selection is closed before it is tried: what it requires comes along, and what it orphans too.
    A selection that requires an item refuted on its own is not tried, for taking more than a
    refuted item would hardly do better. When a single item fails together with orphaned ones, it is
    tried once more without them (`bare`): an orphaned declaration may be what the failure is about.

    It can be divided if its selector can.
    """

    __slots__ = ("_candidate", "_proposed", "_refuted", "items", "selector", "taken")

    def __init__(
        self,
        items: Items,
        selector: Selector,
        taken: IndexSet = _EMPTY,
        refuted: IndexSet = _EMPTY,
        *,
        bare: bool = False,
    ) -> None:
        self.items = items
        self.selector = selector
        self.taken = taken
        self._refuted = refuted
        proposed = selector.propose()
        self._proposed: frozenset[int] | None = None if proposed is None else frozenset(proposed)
        self._candidate = Candidate(_NONE, _NONE)
        # Nothing is refuted at first, when all of a large input is proposed.
        blocked = bool(refuted) and items.blocked(self._proposed or _NONE, taken, refuted)
        if self._proposed is not None and not blocked:
            closure = items.close(self._proposed, taken)
            # Otherwise the candidate stays empty, which counts as a failure and costs no run.
            if refuted.isdisjoint(closure.required):
                orphaned = _NONE if bare else frozenset(closure.orphaned - refuted)
                self._candidate = Candidate(self._proposed | closure.required, orphaned)

    def propose(self) -> Change | None:
        if self._proposed is None:
            return None
        chosen, orphaned = self._candidate
        return self.items.change(chosen | orphaned, self.taken) if chosen else Change(())

    def after(self, ok: bool) -> Selecting:
        """Pass what was taken to the selector, and record single items that were refuted."""
        assert self._proposed is not None, "after() without a proposal"
        items, selector, taken, refuted = self.items, self.selector, self.taken, self._refuted
        chosen, orphaned = self._candidate
        if ok:
            chosen |= orphaned
            refuted = refuted.with_(selector.implied(chosen))
            return Selecting(items, selector.after(chosen), taken.with_(chosen), refuted)
        if len(self._proposed) == 1:
            # Perhaps the item may go and only its orphans are needed. One more run is worth it
            # for a single item: for a group, its halves will tell.
            if orphaned and items.bare:
                return Selecting(items, selector, taken, refuted, bare=True)
            # Only single items are refuted for good. A group that fails says that one of it is
            # needed, not which one.
            refuted = refuted.with_(self._proposed)
        return Selecting(items, selector.after(()), taken, refuted)

    def chance(self) -> float | None:
        """Return how likely the next selection is to succeed, if the selector can say."""
        return self.selector.chance()

    def divisible(self) -> Selecting | None:
        return self if isinstance(self.selector, DivisibleSelector) else None

    def in_a_row(self, count: int) -> Selecting:
        return Selecting(self.items, self.selector.in_a_row(count), self.taken, self._refuted)

    @property
    def _parts(self) -> DivisibleSelector:
        assert isinstance(self.selector, DivisibleSelector), "see divisible()"
        return self.selector

    @property
    def left(self) -> int:
        return self._parts.left

    def worth_dividing(self, parts: int) -> bool:
        return self._parts.worth_dividing(parts)

    def divide(self, parts: int) -> tuple[Selecting, Selecting]:
        selector, part = self._parts.divide(parts)
        items, taken, refuted = self.items, self.taken, self._refuted
        return (
            Selecting(items, selector, taken, refuted),
            Selecting(items, part, taken, refuted),
        )

    def join(self, part: Selecting) -> Selecting:
        ended = part.selector
        assert isinstance(ended, Part)
        selector, taken = self._parts.join(ended), self.taken.with_(ended.taken)
        return Selecting(self.items, selector, taken, self._refuted.with_(part._refuted))

    def whole(self) -> Selecting | None:
        selector = self._parts.whole()
        # What was refuted in parts may have been so for lack of what has gone since.
        return None if selector is None else Selecting(self.items, selector, self.taken)


# If a failing run held needed items at random, `m` on average, one half would be free with chance
# 1 / (1 + e ** (m / 2)): 0.41 for runs that go every other time (m = ln 2), and 0.5 if a single
# one is expected. 0.47 lies between; it only orders what is looked ahead to.
HALF = 0.47
"""How likely one half of a failing run is to be free of needed items."""


# So many items take hundreds of checks even if few are needed: in parts, these run side by side
# from the start. Chosen by hand; `python -m benchmarks.scaling` shows what dividing is worth.
_MANY = 2000
"""This many items are worth dividing, whatever comes of them."""
# With fewer needed items than workers, parts without one end at once, and their workers idle:
# looking ahead in one search is as fast then, and loses no runs at borders between parts.
_NEEDED = 16
"""Fewer are worth it if this many needed ones are to be expected among them."""


def worth_parts(left: int, needed: int, gap: float) -> bool:
    """Return whether `left` items are worth dividing, `needed` having been found `gap` apart.

    A search for a few needed items goes no faster in parts than by looking ahead.
    """
    # Even before a needed item is known: the first block tries all items at once anyway.
    return left >= _MANY or (needed >= 2 and left >= _NEEDED * max(1.0, gap))


def free(size: int, gap: float) -> float:
    """Return how likely a run of `size` items is to be free of needed ones."""
    # Poisson: needed items at random, one per `gap`, leave a run of `size` free with e ** (-size
    # / gap). Never quite certain, so that the other verdict is still worth a look ahead.
    return min(0.97, max(0.03, math.exp(-size / max(gap, 0.1))))
