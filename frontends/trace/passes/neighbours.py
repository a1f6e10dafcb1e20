"""Plays the neighbours of a short trace, many at a time: the traces one or two changes away.

Dropping calls one by one gets stuck when each single change makes the failure
disappear: to drop a clause, a literal may have to be negated, a variable replaced
or an option set. Ten calls have thousands of such pairs, too many for a run each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain, combinations
from random import Random

from reducekit.frontends.trace.language.calls import Alteration, Call
from reducekit.frontends.trace.model.definition import CallModel, Type
from reducekit.frontends.trace.model.machine import Machine
from reducekit.frontends.trace.passes import drop
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
from reducekit.frontends.trace.passes.batches import repaired, smaller, step_to
from reducekit.frontends.trace.passes.items import Substitutions
from reducekit.frontends.trace.passes.options import (
    OptionMode,
    free_settings,
    lowered,
    settings,
    values,
)
from reducekit.frontends.trace.passes.view import TraceView

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


# The maximum number of walks; about one in three is useful.
_WALKS = 40_000
# Numbers of steps of a walk; a repeated number is more likely.
_STEPS = (1, 2, 2, 3, 3, 4, 5, 6)
# The probability that a step drops something.
_DROPS = 0.6
# The probability that a literal is 0, if 0 ends a clause.
_ENDS = 0.3
# The number of smallest values to try.
_NUMBERS = 3
_PLAIN = frozenset(("literal", "variable", "int"))
_APART = ("init", "release", "option")


def walks(view: TraceView, options: OptionMode) -> Iterator[Sequence[Call]]:
    """Yield the traces at the ends of random walks, always the same for the same trace.

    Where no one or two changes make a trace smaller, there often is a smaller one a few steps off:
    with another call in a call's place, a fresh variable for one that is used twice, a solve more
    and a clause less. There are too many such combinations to try them all, but some are among the
    first thousands that are made at random.

    No call breaks the contract; a new call is made only if that is certain without the solver.
    """
    walk, most, known = _Walk(view, options), len(view.bare), {*view.bare}
    for _ in range(_WALKS):
        calls = walk.end()
        if len(calls) < most and surely_lawful(view, calls, known):
            yield calls


def surely_lawful(view: TraceView, calls: Iterable[Call], known: Set[Call]) -> bool:
    """Return whether the contract is kept, whatever the calls that are not `known` return or find.

    Known ones are calls of a trace that was replayed: it is enough that they may be allowed.
    """
    machine, models = Machine(view.model), view.model.calls
    for call in calls:
        if call.name == "return":
            continue
        if machine.allowed(call) is not None:
            return False
        # Where the machine is in several states, only the solver knows; a call of the trace itself
        # was allowed in a replay.
        sure = call in known or not machine.mask & ~models[call.name].source
        if not sure or (call not in known and machine.careful(call) is not None):
            return False
        machine.after(call)
    return True


class _Walk:
    """The steps that there are from a trace."""

    def __init__(self, view: TraceView, options: OptionMode) -> None:
        self._bare = view.bare
        self._option = view.model.options.call
        self._chance = Random(view.document.text)
        self._by_name = {
            name: model
            for name, model in view.model.calls.items()
            if model.role not in _APART
            and not (model.rejected or model.produces)
            and all(each.type.kind in _PLAIN and not each.star for each in model.arguments)
        }
        self._models = [*self._by_name.values()]
        used = sorted({variable for _, variable in drop.mentions(view)})
        self._variables = [*used, max(used, default=0) + 1]
        self._given = settings(view) if options != "none" else ()
        self._free = free_settings(view) if options == "all" else ()
        kept = {*view.roles("init"), *(view.options if options == "none" else ())}
        singles = ((index,) for index in range(len(view.bare)) if index not in kept)
        self._units = [*singles, *view.groups, *drop.variables(view)]

    def end(self) -> list[Call]:
        chance = self._chance
        steps = chance.choice(_STEPS)
        gone: set[int] = set()
        while steps and chance.random() < _DROPS:
            gone.update(chance.choice(self._units))
            steps -= 1
        calls = [call for index, call in enumerate(self._bare) if index not in gone]
        for _ in range(steps):
            self._step(calls)
        return calls

    def _step(self, calls: list[Call]) -> None:
        chance = self._chance
        at, dice = chance.randint(1, len(calls)), chance.random()
        if dice < 0.1 or not self._models:
            if self._free:
                calls.insert(1, self._setting())
        elif at == len(calls) or dice < 0.35:
            calls.insert(at, self._call(chance.choice(self._models)))
        elif calls[at].name == self._option:
            if self._given:
                calls[at] = self._setting()
        elif dice < 0.5:
            calls.insert(chance.randrange(1, len(calls)), calls.pop(at))
        elif dice < 0.75:
            calls[at] = self._call(chance.choice(self._models))
        else:
            model = self._by_name.get(calls[at].name)
            if model is not None:
                calls[at] = self._call(model)

    def _call(self, model: CallModel) -> Call:
        return Call(model.name, tuple([self._value(each.type) for each in model.arguments]))

    def _value(self, kind: Type) -> int:
        chance = self._chance
        if kind.kind == "int":
            low = kind.low or 0
            value = low + chance.randrange(_NUMBERS)
            return value if kind.high is None else min(value, kind.high)
        if kind.zero and chance.random() < _ENDS:
            return 0
        variable = chance.choice(self._variables)
        return -variable if kind.kind == "literal" and chance.random() < 0.5 else variable

    def _setting(self) -> Call:
        """Return what sets an option, one of those that are set as often as any other."""
        chance = self._chance
        some = self._given if self._given and chance.random() < 0.5 else self._free or self._given
        setting = chance.choice(some)
        option = setting.option
        near = option.default + chance.choice((-1, 1))
        value = chance.choice((option.low, option.low, option.high, 0, 1, near))
        return setting.to(min(max(value, option.low), option.high))
