"""Calls replaced by others, one alternative after the other, as a tree that is one level deep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reducekit.change import Change
from reducekit.frontends.trace.passes.view import Alteration, TraceView
from reducekit.search.problem import LeafTree, Move


class Substitutions(LeafTree):
    """Places, each with the alterations to try there, the first that does it is taken.

    What would break the contract by itself is not tried.
    """

    def __init__(self, view: TraceView, places: Sequence[Sequence[Alteration]], what: str) -> None:
        self.view = view
        self.places = places
        self.what = what

    @property
    def roots(self) -> Sequence[int]:
        return range(len(self.places))

    def weight(self, node: int) -> int:
        """Return the same for all: the last place comes first."""
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

    Each has what is tried first at each of the places, all at once. There are none where each
    candidate costs a run: most of them fail.
    """
    size = 2
    while view.first_failing is not None and size < 2 * len(places):
        for first in range(0, len(places) - 1, size):
            some = [each[0] for each in places[first : first + size] if each]
            yield [{at: calls for each in some for at, calls in each.items()}] if some else []
        size *= 2
