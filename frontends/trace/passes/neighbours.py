"""All that is near a short trace, played many at a time: what one change leaves, and what two do.

Where each change by itself keeps the failure from happening, dropping one by
one ends: a literal may have to be negated, a variable put in another's place
or an option set for a clause to go. There are thousands of such pairs for ten
calls, too many to try by themselves; but a solver is made and taken down
within microseconds, so that a single replay goes through hundreds of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from reducekit.frontends.trace.calls import Call
from reducekit.frontends.trace.passes import drop
from reducekit.frontends.trace.passes.arguments import (
    Compact,
    Numbers,
    Signs,
    as_call,
    flipped,
    merged,
)
from reducekit.frontends.trace.passes.options import OptionMode, Values, lowered
from reducekit.frontends.trace.passes.substitutions import Substitutions, substitutions
from reducekit.frontends.trace.view import Alteration, TraceView

_NEAR = 100
"""Calls of a trace whose neighbours are tried: of 100, all drops alone are some 15,000 calls."""
_WORK = 100_000
"""Calls that are played for one such pass, five or six times those of a long recorded trace."""


class Neighbours:
    """The pass that goes to the smallest neighbour of a short trace that fails."""

    name = "neighbours"

    def __init__(self, options: OptionMode) -> None:
        self._options: OptionMode = options

    def problem(self, view: TraceView) -> Substitutions | None:
        """Return the one step, None if there is none."""
        if view.first_failing is None or len(view.calls) - len(view.options) > _NEAR:
            return None
        found: dict[object, tuple[tuple[int, int, int, bytes], Alteration, list[Call]]] = {}
        now = _size(view, view.bare)
        left = _WORK
        for each in _neighbours(view, self._options):
            gone = view.fallen(each)
            if gone is None:
                continue
            whole = {**each, **dict.fromkeys(gone, ())}
            trace = [new for index, old in enumerate(view.bare) for new in whole.get(index, (old,))]
            size = _size(view, trace)
            key = tuple((call.name, call.arguments) for call in trace)
            if size < now and key not in found:
                found[key] = size, whole, trace
                left -= len(trace)
                if left < 0:
                    break
        order = sorted(found.values(), key=lambda each: each[0])
        number = view.first_failing([trace for _, _, trace in order])
        return None if number is None else substitutions(view, [[order[number][1]]], self.name)


def _size(view: TraceView, calls: Sequence[Call]) -> tuple[int, int, int, bytes]:
    """Return the key of the order of traces."""
    options = sum(call.name == view.model.options.call for call in calls)
    text = view.text_of(calls)
    return len(calls) - options, options, len(text), text


def _neighbours(view: TraceView, options: OptionMode) -> Iterator[Alteration]:
    """Yield what to alter: the simplest and most likely first."""
    drops = [*_drops(view)]
    given: list[Alteration] = []
    if options != "none":
        given = [{index: ()} for index in view.options]
    yield from drops
    yield from given
    yield {index: () for each in given for index in each}
    for each in (Compact(), Signs(), Numbers(), *((Values(),) if given else ())):
        tree = each.problem(view)
        if tree is not None:
            for place in tree.places:
                yield from place
    yield from _both(given)
    calls = [*as_call(view)]
    yield from calls
    if options == "all":
        some = [*lowered(view, together=True)]
        yield from _with(drops, some)
        yield from _with(calls, some)
    yield from _both(drops)
    yield from _with((*drops, *given), (*merged(view), *flipped(view)))
    yield from _with(drops, calls)
    if options == "all":
        one = [*lowered(view, together=False)]
        yield from _with(calls, one)
        yield from _with(drops, one)


def _both(some: Sequence[Alteration]) -> Iterator[Alteration]:
    """Yield any two together."""
    for first, second in combinations(some, 2):
        yield {**first, **second}


def _with(drops: Iterable[Alteration], others: Iterable[Alteration]) -> Iterator[Alteration]:
    """Yield each of the others with each drop; what is dropped is dropped."""
    drops = [*drops]
    for other in others:
        for each in drops:
            yield {**other, **each}


def _drops(view: TraceView) -> Iterator[Alteration]:
    """Yield what may go: clauses, calls, and all that mentions a variable."""
    kept = {*view.options, *view.roles("init")}
    calls = ((index,) for index in range(len(view.calls)) if index not in kept)
    units = (*view.groups, *calls, *drop.variables(view))
    for unit in dict.fromkeys(tuple(unit) for unit in units):
        yield dict.fromkeys(unit, ())
