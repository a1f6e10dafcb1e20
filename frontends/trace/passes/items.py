"""Alterations of calls as items; what the contract of the API asks for goes along."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TypeVar

from reducekit.change import Change, Edit
from reducekit.frontends.trace.calls import Call
from reducekit.frontends.trace.view import Alteration, TraceView
from reducekit.search.problem import NOTHING, Closure, Items, Selection

T = TypeVar("T")


class CallItems(Items):
    """Units, each an alteration of some calls, as items.

    Whatever calls the model does not allow once units are taken are dropped
    along with them: so no candidate breaks the contract as far as the model
    knows it, before any run. Those calls are items too, beyond the units and so
    never proposed by themselves. Units that alter the same call must be drops.
    """

    def __init__(self, view: TraceView, units: Sequence[Alteration], what: str) -> None:
        self.view = view
        self.units = units
        self.what = what

    @cached_property
    def weights(self) -> Sequence[int]:
        """How many calls each unit alters."""
        return [len(unit) for unit in self.units]

    @cached_property
    def _drops(self) -> dict[int, list[int]]:
        """The units that do nothing but drop, by the calls they drop."""
        found: dict[int, list[int]] = {}
        for number, unit in enumerate(self.units):
            if not any(unit.values()):
                for index in unit:
                    found.setdefault(index, []).append(number)
        return found

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        """Add the calls that the model does not allow any more."""
        altered = self._altered(sorted(taken))
        altered.update(self._altered(sorted(chosen)))
        gone = self.view.contract_closure(altered)
        if gone is None:
            # Cannot be mended: everything is what has to go.
            gone = frozenset(range(len(self.view.calls)))
        gone = frozenset(index for index in gone if altered.get(index, (None,)) != ())
        if not gone:
            return Closure(NOTHING, NOTHING)
        count = len(self.units)
        needed: set[int] = set()
        for index in gone:
            needed.add(count + index)
            for number in self._drops.get(index, ()):
                if number not in chosen and number not in taken:
                    unit = self.units[number]
                    if all(each in gone or altered.get(each) == () for each in unit):
                        needed.add(number)
        return Closure(frozenset(needed - chosen - taken), NOTHING)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Alter the calls; what is dropped is dropped, whatever else is to become of it."""
        view = self.view
        altered = self._altered(sorted(taken))
        before = dict(altered)
        for index, calls in self._altered(sorted(chosen)).items():
            altered[index] = () if altered.get(index, (None,)) == () else calls
        edits = [
            Edit(index + 1, (view.text_of(calls),) if calls else ())
            for index, calls in sorted(altered.items())
            if before.get(index) != calls
        ]
        return Change(tuple(edits), self.what)

    def _altered(self, items: Iterable[int]) -> dict[int, tuple[Call, ...]]:
        """Return what becomes of calls by some items, in order."""
        count = len(self.units)
        found: dict[int, tuple[Call, ...]] = {}
        for item in items:
            if item >= count:
                found[item - count] = ()
                continue
            for index, calls in self.units[item].items():
                found[index] = () if found.get(index, (None,)) == () else calls
        return found


def parts_of(some: Sequence[T], count: int) -> list[Sequence[T]]:
    """Return so many parts of a sequence, one after the other, as long as each other or by one."""
    size = len(some)
    return [some[at * size // count : (at + 1) * size // count] for at in range(count)]


def dropped(indices: Iterable[int]) -> Alteration:
    """Return the alteration that drops calls."""
    return dict.fromkeys(indices, ())


def items(view: TraceView, units: Iterable[Alteration], what: str) -> CallItems | None:
    """Return the units that alter anything as items, None if there are none."""
    found = [unit for unit in units if unit]
    return CallItems(view, found, what) if found else None
