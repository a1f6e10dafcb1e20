"""Alterations of calls for a search: items, and places with one alternative after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

from reducekit.change import Change
from reducekit.frontends.trace.language.calls import Alteration, Call
from reducekit.frontends.trace.passes.view import TraceView
from reducekit.search.problem import NOTHING, Closure, Items, LeafTree, Move, Selection

T = TypeVar("T")


class CallItems(Items):
    """Units, each an alteration of some calls, as items.

    Calls that the model no longer allows once units are taken are dropped with
    them, so no candidate breaks the contract, as far as the model knows it
    without a run. Those calls are items too, numbered after the units and so
    never proposed on their own. Units that alter the same call must be drops.
    """

    def __init__(self, view: TraceView, units: Sequence[Alteration], what: str) -> None:
        self.view = view
        self.units = units
        self.what = what

    @cached_property
    def weights(self) -> Sequence[int]:
        return [len(unit) for unit in self.units]

    @cached_property
    def _drops(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, unit in enumerate(self.units):
            if not any(unit.values()):
                for index in unit:
                    found.setdefault(index, []).append(number)
        return found

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        """Add the calls that the model no longer allows."""
        # In order of their numbers: of two that alter the same call, the same one wins each time.
        altered = self._altered(sorted(taken))
        altered.update(self._altered(sorted(chosen)))
        gone = self.view.contract_closure(altered)
        if gone is None:
            # Dropping calls cannot restore the contract: everything would have to go.
            gone = frozenset(range(len(self.view.calls)))
        gone = frozenset(index for index in gone if altered.get(index, (None,)) != ())
        if not gone:
            return Closure(NOTHING, NOTHING)
        # A call that has to go is an item of its own. A unit all of whose calls go is taken as
        # well: it would alter nothing later on.
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
        """Alter the calls; a drop overrides any other alteration of a call."""
        view = self.view
        altered = self._altered(sorted(taken))
        before = dict(altered)
        for index, calls in self._altered(sorted(chosen)).items():
            altered[index] = () if altered.get(index, (None,)) == () else calls
        return Change(view.edits(altered, before), self.what)

    def _altered(self, items: Iterable[int]) -> dict[int, tuple[Call, ...]]:
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
    """Split a sequence into `count` consecutive parts whose lengths differ by at most one."""
    size = len(some)
    return [some[at * size // count : (at + 1) * size // count] for at in range(count)]


def items(view: TraceView, units: Iterable[Alteration], what: str) -> CallItems | None:
    """Return the units that alter anything as items; None if there are none."""
    found = [unit for unit in units if unit]
    return CallItems(view, found, what) if found else None


class Substitutions(LeafTree):
    """Places, each with the alterations to try there, the first that does it is taken.

    What would break the contract is not tried.
    """

    def __init__(self, view: TraceView, places: Sequence[Sequence[Alteration]], what: str) -> None:
        self.view = view
        self.places = places
        self.what = what

    @property
    def roots(self) -> Sequence[int]:
        return range(len(self.places))

    def weight(self, node: int) -> int:
        return 1

    def moves(self, node: int) -> Sequence[Move]:
        """Return the alterations of a place that keep to the contract."""
        return [
            Move(Change(self.view.edits(each), self.what), ())
            for each in self.places[node]
            if self.view.contract_closure(each) == frozenset()
        ]


def substitutions(
    view: TraceView, places: Sequence[Sequence[Alteration]], what: str
) -> Substitutions | None:
    """Return the places that have anything to try, None if there are none."""
    found = [each for each in places if each]
    return Substitutions(view, found, what) if found else None


def together(
    view: TraceView, places: Sequence[Sequence[Alteration]]
) -> Iterator[Sequence[Alteration]]:
    """Yield places for some at a time, halves, quarters and so on: those that come last, first.

    Each has what is tried first at each of the places, all at once. None where each
    candidate costs a run: most of them fail.
    """
    # Twice as many each time: from pairs to all of them, which are tried first.
    size = 2
    while view.first_failing is not None and size < 2 * len(places):
        for first in range(0, len(places) - 1, size):
            some = [each[0] for each in places[first : first + size] if each]
            yield [{at: calls for each in some for at, calls in each.items()}] if some else []
        size *= 2
