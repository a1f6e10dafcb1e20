"""Searches a set of items with an algorithm that knows only indices."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple, Protocol, TypeGuard

from reducekit.change import Change
from reducekit.search.index_set import IndexSet
from reducekit.search.problem import Items

_NONE: frozenset[int] = frozenset()
_EMPTY = IndexSet()


class Selector(Protocol):
    """An algorithm over the indices 0 .. n-1: which of them to take next. Immutable."""

    def propose(self) -> Collection[int] | None:
        """Return the items to take next, beyond those taken; None when done."""

    def after(self, taken: Collection[int]) -> Selector:
        """Return what goes on when `taken` was taken: at least the proposed items, or none."""


class Part(Selector, Protocol):
    """A part of a divided algorithm."""

    @property
    def taken(self) -> Collection[int]:
        """The items that went while it was worked on."""


class DivisibleSelector(Selector, Protocol):
    """An algorithm that can give out parts, as a `Divisible` search does."""

    @property
    def left(self) -> int:
        """How many items can be given out; 0: none for now."""

    def worth_dividing(self, parts: int) -> bool:
        """Return whether so many are faster in parts than by looking ahead in the whole."""

    def divide(self, parts: int) -> tuple[DivisibleSelector, Part]:
        """Give out one of about so many parts; return the selector without it, and the part."""

    def join(self, part: Part) -> DivisibleSelector:
        """Take back a part that has ended, or is broken off."""

    def whole(self) -> Selector | None:
        """Return what goes on undivided, if parts are found to hinder each other."""


def _is_divisible(selector: Selector) -> TypeGuard[DivisibleSelector]:
    return hasattr(selector, "divide")


def _is_part(selector: Selector) -> TypeGuard[Part]:
    return hasattr(selector, "taken")


class Candidate(NamedTuple):
    """A closed selection: the items proposed with those needed, and the idle ones besides."""

    chosen: frozenset[int]
    idle: frozenset[int]


class Selecting:
    """The Search that takes items as a Selector says. Immutable.

    A selection is closed before it is tried: what it needs comes along, and
    what it leaves idle too. A selection that needs an item refuted on its own
    is not tried, for taking more than a refuted item would hardly do better.
    When a single item fails together with idle ones, it is tried once more
    without them (`bare`): an idle declaration may be what the failure is about.
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
        if self._proposed is not None:
            closure = items.close(self._proposed, taken)
            if refuted.isdisjoint(closure.needed):
                idle = _NONE if bare else frozenset(closure.idle - refuted)
                self._candidate = Candidate(self._proposed | closure.needed, idle)

    def propose(self) -> Change | None:
        """Return the change of the next selection."""
        if self._proposed is None:
            return None
        chosen, idle = self._candidate
        return self.items.change(chosen | idle, self.taken) if chosen else Change(())

    def after(self, ok: bool) -> Selecting:
        """Tell the selector what was taken, and remember single items that were refuted."""
        assert self._proposed is not None, "after() without a proposal"
        items, selector, taken, refuted = self.items, self.selector, self.taken, self._refuted
        chosen, idle = self._candidate
        if ok:
            chosen |= idle
            return Selecting(items, selector.after(chosen), taken.with_(chosen), refuted)
        if len(self._proposed) == 1:
            if idle:
                return Selecting(items, selector, taken, refuted, bare=True)
            refuted = refuted.with_(self._proposed)
        return Selecting(items, selector.after(()), taken, refuted)

    def chance(self) -> float | None:
        """Return how likely the next selection is to succeed, if the selector can say."""
        chance: Callable[[], float | None] | None = getattr(self.selector, "chance", None)
        return None if chance is None else chance()

    @property
    def left(self) -> int | None:
        """How many items can be given out in parts; None if the selector cannot."""
        return self.selector.left if _is_divisible(self.selector) else None

    def worth_dividing(self, parts: int) -> bool:
        """Return whether there is enough for so many parts."""
        return _is_divisible(self.selector) and self.selector.worth_dividing(parts)

    def divide(self, parts: int) -> tuple[Selecting, Selecting]:
        """Give out a part of the items."""
        assert _is_divisible(self.selector)
        selector, part = self.selector.divide(parts)
        items, taken, refuted = self.items, self.taken, self._refuted
        return (
            Selecting(items, selector, taken, refuted),
            Selecting(items, part, taken, refuted),
        )

    def join(self, part: Selecting) -> Selecting:
        """Take back a part, with all that was taken and refuted in it."""
        ended = part.selector
        assert _is_divisible(self.selector)
        assert _is_part(ended)
        selector, taken = self.selector.join(ended), self.taken.with_(ended.taken)
        return Selecting(self.items, selector, taken, self._refuted.with_(part._refuted))

    def whole(self) -> Selecting | None:
        """Return the search that goes on undivided, if parts are found to hinder each other."""
        assert _is_divisible(self.selector)
        selector = self.selector.whole()
        # What was refuted in parts may have been so for lack of what has gone since.
        return None if selector is None else Selecting(self.items, selector, self.taken)
