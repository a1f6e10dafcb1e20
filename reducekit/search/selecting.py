"""Searches a set of items with an algorithm that knows only indices."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol

from reducekit.change import Change
from reducekit.search.problem import NOTHING, Items, Selection


class Selector(Protocol):
    """An algorithm over the indices 0 .. n-1: which of them to take next. Immutable."""

    def propose(self) -> Collection[int] | None:
        """Return the items to take next, beyond those taken; None when done."""

    def after(self, taken: Collection[int]) -> Selector:
        """Return what goes on when `taken` was taken: at least the proposed items, or none."""


class Candidate(NamedTuple):
    """A closed selection: the items proposed with those needed, and the idle ones besides."""

    chosen: Selection
    idle: Selection


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
        taken: Selection = NOTHING,
        refuted: Selection = NOTHING,
        *,
        bare: bool = False,
    ) -> None:
        self.items = items
        self.selector = selector
        self.taken = taken
        self._refuted = refuted
        proposed = selector.propose()
        self._proposed: Selection | None = None if proposed is None else frozenset(proposed)
        self._candidate = Candidate(NOTHING, NOTHING)
        if self._proposed is not None:
            closure = items.close(self._proposed, taken)
            if refuted.isdisjoint(closure.needed):
                idle = NOTHING if bare else closure.idle - refuted
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
            return Selecting(items, selector.after(chosen), taken | chosen, refuted)
        if len(self._proposed) == 1:
            if idle:
                return Selecting(items, selector, taken, refuted, bare=True)
            refuted |= self._proposed
        return Selecting(items, selector.after(()), taken, refuted)
