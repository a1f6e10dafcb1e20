"""Plays the neighbours of a short trace, many at a time: the traces one or two changes away.

Dropping calls one by one gets stuck when each single change makes the failure
disappear: to drop a clause, a literal may have to be negated, a variable replaced
or an option set. Ten calls have thousands of such pairs, too many for a run each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations
from random import Random

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.passes import drop
from reducekit.frontends.trace.passes.alterations import Alteration
from reducekit.frontends.trace.passes.arguments import (
    as_call,
    compact,
    exchanged,
    flipped,
    merged,
    moved,
    numbers,
    replaced,
    signs,
    swapped,
    tidied,
    without_gaps,
)
from reducekit.frontends.trace.passes.batches import smaller, step_to
from reducekit.frontends.trace.passes.items import Substitutions
from reducekit.frontends.trace.passes.options import OptionMode, lowered, values
from reducekit.frontends.trace.passes.view import TraceView
from reducekit.frontends.trace.passes.walks import surely_lawful, walks

# Neighbours are tried up to this number of calls: for 100, dropping each call alone already takes
# some 15,000 calls.
_NEAR = 100
# The number of calls played in one such pass: four replays. Of 20 steps on the tuning third, 17 are
# found in the first replay, and one each in the second, the third and the fifth.
_WORK = 80_000
# The number of random drops of several units at a time.
_SAMPLES = 200
# The average number of units beyond two in such a drop.
_AT_ONCE = 3
# Calls of a trace that is as good as searched by its neighbours.
_FEW = 5
# Calls of a trace from which no random walks are made: any option in a call's place is tried.
_SHORT = 8
# Of a trace with more calls, few changes leave one that fails. Each look around costs 50 to 80
# replays.
_MANY = 30
# The number of traces of the same length whose neighbours are searched.
_SIDES = 3
# Calls that are played of what is near each of these, and of the walks from it.
_SIDE_WORK = 40_000


class Neighbours:
    """Moves to a smaller failing neighbour of a short trace.

    A trace without failing neighbours is not searched again, even if its variables are renumbered.
    """

    name = "neighbours"

    def __init__(self, options: OptionMode) -> None:
        self._options: OptionMode = options
        self._searched: set[bytes] = set()
        """Traces without failing neighbours, with variables numbered without gaps."""

    def problem(self, view: TraceView) -> Substitutions | None:
        """Return the one step, None if there is none."""
        if view.first_failing is None or len(view.calls) - len(view.options) > _NEAR:
            return None
        # Renumbering the variables makes no new neighbours, so it is no reason to search again.
        key = view.text_of(without_gaps(view))
        if key in self._searched:
            return None
        found = smaller(view, repaired(view, _neighbours(view, self._options)), _WORK)
        if found is None:
            self._searched.add(key)
        return step_to(view, found, self.name)


class Sideways:
    """Searches the neighbours of other failing traces of the same length.

    Such a trace differs in a literal, in one call, or in the position of a call. Its neighbours,
    or the end of a random walk from it, may be smaller even if the trace itself cannot be
    reduced in a few steps. On 98 traces of the tuning third (`python -m benchmarks.faults
    reduce`) this takes 362 replays, a sixth of all, and leaves 7 calls less of three of them, so
    it is for thorough effort only.
    """

    name = "sideways"

    def __init__(self, options: OptionMode) -> None:
        self._options: OptionMode = options

    def problem(self, view: TraceView) -> Substitutions | None:
        """Return the step, None if there is none."""
        first_failing, count = view.first_failing, len(view.calls) - len(view.options)
        if first_failing is None or not _FEW < count <= _MANY:
            return None
        # Traces of the same length that fail as well: from one of them, a step down may exist.
        like = [*repaired(view, chain(replaced(view), flipped(view), exchanged(view), moved(view)))]
        known = {*view.bare}
        like = [
            calls
            for calls in like
            if len(calls) == len(view.bare) and surely_lawful(view, calls, known)
        ]
        Random(view.document.text).shuffle(like)
        for _ in range(_SIDES):
            number = first_failing(like)
            if number is None:
                return None
            side = view.of(like[number])
            found = None
            if count > _SHORT:
                found = smaller(side, walks(side, self._options), _SIDE_WORK)
            if found is None:
                near = repaired(side, _close(side, self._options))
                found = smaller(side, near, _SIDE_WORK)
            if found is not None:
                return step_to(view, found, self.name)
            like = like[number + 1 :]
        return None


def repaired(view: TraceView, neighbours: Iterable[Alteration]) -> Iterator[Sequence[Call]]:
    """Yield the altered traces, without the calls that the contract no longer allows."""
    for each in neighbours:
        whole = view.repaired(each)
        if whole is not None:
            yield view.after(whole)


def _neighbours(view: TraceView, options: OptionMode) -> Iterator[Alteration]:
    """Yield what to alter: the simplest and most likely first."""
    # All share a budget of calls, and the first replay finds nearly all that is found. So what
    # drops one thing comes first, then what makes a call simpler, then pairs. What costs no call by
    # itself (another literal, another order) is worth it only together with a drop.
    drops, given = [*_drops(view)], _given(view, options)
    yield from drops
    yield from given
    yield from _runs(given)
    yield from _samples(view, [*drops, *given])
    yield from tidied(view)
    for each in (compact, signs, numbers, *((values,) if given else ())):
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
    others = [*merged(view), *flipped(view)]
    yield from _with((*drops, *given), others)
    yield from _with(drops, calls)
    rest = [*exchanged(view), *swapped(view), *replaced(view), *moved(view)]
    yield from _with(given, rest)
    if options == "all":
        one = [*lowered(view, together=False)]
        yield from _with([*_both(given)], one)
        yield from _with(calls, one)
        yield from _with(drops, one)
    yield from _with(drops, rest)


def _close(view: TraceView, options: OptionMode) -> Iterator[Alteration]:
    """Yield the neighbours that are most likely to be smaller than a trace that was reduced."""
    drops, given = [*_drops(view)], _given(view, options)
    yield from drops
    yield from given
    yield from _both(drops)
    yield from _with((*drops, *given), (*merged(view), *flipped(view), *replaced(view)))
    if options == "all" and len(view.calls) - len(view.options) <= _SHORT:
        yield from _with(drops, [*lowered(view, together=True)])


def _both(some: Sequence[Alteration]) -> Iterator[Alteration]:
    """Yield any two together."""
    for first, second in combinations(some, 2):
        yield {**first, **second}


def _samples(view: TraceView, some: Sequence[Alteration]) -> Iterator[Alteration]:
    """Yield some at a time, at random, always the same for the same trace: many and few.

    The smallest that fails is taken, so a trace that can lose much takes fewer steps.
    """
    chance = Random(view.document.text)
    for _ in range(_SAMPLES if len(some) > _FEW else 0):
        size = min(len(some), 2 + int(chance.expovariate(1 / _AT_ONCE)))
        yield {at: new for each in chance.sample(some, size) for at, new in each.items()}


def _with(drops: Iterable[Alteration], others: Iterable[Alteration]) -> Iterator[Alteration]:
    """Yield each of the others with each drop; what is dropped is dropped."""
    drops = [*drops]
    for other in others:
        for each in drops:
            yield {**other, **each}


def _given(view: TraceView, options: OptionMode) -> list[Alteration]:
    """Return what drops each option, if options may be changed."""
    return [] if options == "none" else [{index: ()} for index in view.options]


def _runs(some: Sequence[Alteration]) -> Iterator[Alteration]:
    """Yield all together, halves, quarters and so on, down to two."""
    size = len(some)
    while size > 1:
        for first in range(0, len(some), size):
            yield {at: new for each in some[first : first + size] for at, new in each.items()}
        size = (size + 1) // 2 if size > 2 else 1


def _drops(view: TraceView) -> Iterator[Alteration]:
    """Yield what may go: clauses, calls, and all that mentions a variable."""
    kept = {*view.options, *view.roles("init")}
    calls = ((index,) for index in range(len(view.calls)) if index not in kept)
    units = (*view.groups, *calls, *drop.variables(view), *drop.rounds(view))
    for unit in dict.fromkeys(tuple(unit) for unit in units):
        yield dict.fromkeys(unit, ())
