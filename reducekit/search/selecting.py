"""Searches a set of items with an algorithm that knows only indices."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Protocol

from reducekit.change import Change
from reducekit.search.problem import NOTHING, Items, Selection


class Selector(Protocol):
    """An algorithm over the indices 0 .. n-1: which of them to take next. Immutable."""

    def propose(self) -> Collection[int] | None:
        """Return the items to take next, beyond those taken; None when done."""

    def after(self, taken: Collection[int]) -> Selector:
        """Return what goes on when `taken` was taken: at least the proposed items, or none."""


@dataclass(frozen=True, slots=True)
class Selecting:
    """The Search that takes items as a Selector says.

    A selection is closed before it is tried: what it needs comes along, and
    what it leaves idle too. A selection that needs an item refuted on its own
    is not tried, for taking more than a refuted item would hardly do better.
    When a single item fails together with idle ones, it is tried once more
    without them: an idle declaration may be what the failure is about.
    """

    items: Items
    selector: Selector
    taken: Selection = NOTHING
    refuted: Selection = NOTHING
    bare: bool = False

    def _chosen(self) -> tuple[Selection, Selection] | None:
        """The items of the next candidate: proposed and needed, and idle ones."""
        proposed = self.selector.propose()
        if proposed is None:
            return None
        chosen = frozenset(proposed)
        closure = self.items.close(chosen, self.taken)
        if not self.refuted.isdisjoint(closure.needed):
            return NOTHING, NOTHING
        idle = NOTHING if self.bare else closure.idle - self.refuted
        return chosen | closure.needed, idle

    def propose(self) -> Change | None:
        """Return the change of the next selection."""
        parts = self._chosen()
        if parts is None:
            return None
        chosen, idle = parts
        if not chosen:
            return Change(())
        return self.items.change(chosen | idle, self.taken)

    def after(self, ok: bool) -> Selecting:
        """Tell the selector what was taken, and remember single items that were refuted."""
        parts = self._chosen()
        assert parts is not None
        chosen, idle = parts
        if ok:
            all_chosen = chosen | idle
            return replace(
                self,
                selector=self.selector.after(all_chosen),
                taken=self.taken | all_chosen,
                bare=False,
            )
        proposed = self.selector.propose()
        assert proposed is not None
        if len(proposed) > 1:
            return replace(self, selector=self.selector.after(()), bare=False)
        if idle:
            return replace(self, bare=True)
        return replace(
            self,
            selector=self.selector.after(()),
            refuted=self.refuted.union(proposed),
            bare=False,
        )
