"""Plays many small variants of a trace in batches: coarse parts of it, and random formulas.

Creating and releasing a solver takes microseconds, so a single replay can play hundreds of small
traces. The smallest one that fails is taken.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random

from reducekit.format import pass_
from reducekit.frontends.trace.language.calls import Alteration, Call, Drops
from reducekit.frontends.trace.model.check import first_violation
from reducekit.frontends.trace.model.definition import CallModel
from reducekit.frontends.trace.passes.items import Substitutions, parts_of, substitutions
from reducekit.frontends.trace.passes.options import OptionMode
from reducekit.frontends.trace.passes.view import TraceView

# The maximum number of calls in a batch, which is one replay.
_BATCH = 20_000

# Above this number of calls a trace is long: each search of its neighbours takes several replays.
_LONG = 25

Key = tuple[int, int, int, bytes]
"""Orders traces: calls, options, bytes, text."""


def smaller(view: TraceView, traces: Iterable[Sequence[Call]], work: int) -> Sequence[Call] | None:
    """Return one of the traces that is smaller and fails; None if there is none.

    A long trace must have fewer calls or options: a merely shorter text is not worth playing
    all its neighbours again. Only smaller traces are played, each once, up to `work` calls in
    total. `traces` is consumed lazily, so those most likely to fail should come first.
    """
    assert view.first_failing is not None
    for batch in _batches(view, traces, work):
        batch.sort(key=lambda each: each[0])
        # One replay plays a batch in order of size, so the first that fails is the smallest in it.
        number = view.first_failing([calls for _, calls in batch])
        if number is not None:
            return batch[number][1]
    return None


def step_to(view: TraceView, calls: Sequence[Call] | None, what: str) -> Substitutions | None:
    """Return the step to a trace; None if there is none."""
    return None if calls is None else substitutions(view, [[_difference(view.bare, calls)]], what)


def repaired(view: TraceView, neighbours: Iterable[Alteration]) -> Iterator[Sequence[Call]]:
    """Yield the altered traces, without the calls that the contract no longer allows."""
    for each in neighbours:
        whole = view.repaired(each)
        if whole is not None:
            yield view.after(whole)


def _batches(
    view: TraceView, traces: Iterable[Sequence[Call]], work: int
) -> Iterator[list[tuple[Key, Sequence[Call]]]]:
    """Yield batches of the traces worth playing, with their keys, each for one replay."""
    option = view.model.options.call
    given, text = len(view.options), view.text_of(view.bare)
    now = len(view.bare) - given, given, len(text), text
    what_counts = 2 if now[0] > _LONG else 3
    seen: set[object] = set()
    batch: list[tuple[Key, Sequence[Call]]] = []
    room = min(_BATCH, work)
    for calls in traces:
        given = sum([call.name == option for call in calls])
        if (len(calls) - given, given) > now[:2]:
            continue
        key = tuple([(call.name, call.arguments) for call in calls])
        if key in seen:
            continue
        seen.add(key)
        text = view.text_of(calls)
        size = len(calls) - given, given, len(text), text
        if size[:what_counts] >= now[:what_counts] or not view.keeps(calls):
            continue
        # Traces in one replay share a process, each with a solver of its own.
        cost = len(calls) + 1  # the solver is released after it
        if cost > room:
            yield batch
            batch = []
            work -= _BATCH
            room = min(_BATCH, work)
        if cost > room:
            return
        batch.append((size, calls))
        room -= cost
    if batch:
        yield batch


def _difference(before: Sequence[Call], after: Sequence[Call]) -> Alteration:
    """Return the alteration that turns one trace into another: all after their common prefix."""
    same = 0
    while same < len(after) and before[same] == after[same]:
        same += 1
    rest = dict.fromkeys(range(same + 1, len(before)), ())
    return {**rest, same: tuple(after[same:])}


# Calls that are played: two replays.
_COARSE = 40_000
# If each part takes its own run, each part is larger than the one before it by this factor.
_STEP = 8
# Parts that are tried there: what is worth more is found by the passes that follow.
_MOST = 12
# Calls of a trace that is worth halving. A dozen shorter ones share a replay anyway; and what is
# left of those that were halved further may be larger, while they take as many replays.
_HALVED = 1000
# Calls of a trace that is as good as a skeleton.
_LEAST = 12


class Skeleton:
    """Moves to the smallest failing part of a trace, among a few coarse ones.

    Most faults need only a few calls, at any position: the first clauses or the last, with or
    without the other calls, with options or at default. All combinations of such halves, quarters
    and so on are played in one or two replays, the smallest first. So an easy fault takes three
    runs, and a hard one wastes two.
    """

    name = "skeleton"

    def __init__(self, options: OptionMode) -> None:
        self._options: OptionMode = options

    def problem(self, view: TraceView) -> Substitutions | None:
        """Return the one step, None if there is none."""
        if len(view.calls) - len(view.options) < _LEAST:
            return None
        alone = view.first_failing is None
        factor = _STEP if alone else 2
        parts = _parts(view, factor, drops_options=self._options != "none")
        # Of a long trace, all parts at once would take gigabytes: each is made again in its turn.
        # What drops most comes first: the smallest part that fails is the one that is wanted.
        order = sorted(parts, key=lambda make: len(make()), reverse=True)
        if alone:
            return self._one_by_one(view, (make() for make in order))
        made = repaired(view, (make() for make in order))
        return step_to(view, smaller(view, made, _COARSE), self.name)

    def _one_by_one(self, view: TraceView, parts: Iterable[Alteration]) -> Substitutions | None:
        """Return the parts as candidates, for interpreters that play one trace at a time."""
        found: list[Alteration] = []
        for each in parts:
            whole = view.repaired(each)
            if whole and whole not in found:
                found.append(whole)
            if len(found) == _MOST:
                break
        return substitutions(view, [found], self.name) if found else None


@pass_("halves")
def halves(view: TraceView) -> Substitutions | None:
    """Removes half, a quarter or an eighth of a long trace, in one step.

    Some failures take many calls, but none in particular, and are rare once the options are at
    their least. And the shorter a trace is, the more of its parts share a replay from then on.
    """
    if len(view.calls) - len(view.options) < _HALVED:
        return None
    found = [whole for each in _chunks(view) if (whole := view.repaired(each)) is not None]
    return substitutions(view, [found], "halves")


def _chunks(view: TraceView) -> Iterator[Alteration]:
    """Yield what to drop: halves of the calls, quarters and eighths, the last one first.

    No eighths where each of them costs a run.
    """
    kept = {*view.roles("init"), *view.options, len(view.bare) - 1}
    inside = {index: group for group in view.groups for index in group}
    units = [*dict.fromkeys(inside.get(index, (index,)) for index in range(len(view.bare)))]
    units = [unit for unit in units if kept.isdisjoint(unit)]
    for count in (2, 4) if view.first_failing is None else (2, 4, 8):
        for some in reversed(parts_of(units, count)):
            yield {index: () for unit in some for index in unit}


def _parts(view: TraceView, factor: int, *, drops_options: bool) -> list[Callable[[], Drops]]:
    """Return what drops all but each part. The call that fails is the last one, and stays."""
    count = len(view.bare)
    kinds = bytearray([_OTHER]) * count
    for kind, indices in ((_OPTION, view.options), (_SOLVE, view.roles("solve"))):
        for index in indices:
            kinds[index] = kind
    firsts = array("i")  # the first call of each clause
    for group in view.groups:
        if group[-1] == count - 1:
            kind = _LAST
        else:
            kind = _CLAUSE
            firsts.append(group[0])
        for index in group:
            kinds[index] = kind
    for index in (*view.roles("init"), count - 1):
        kinds[index] = _KEPT
    found: list[Callable[[], Drops]] = []
    # Clauses with and without options, solves and other calls.
    options = [_OPTION] if _OPTION in kinds and drops_options else []
    for without in (options, []) if options else ([],):
        for left in ([_SOLVE, _OTHER], [_SOLVE], []):
            most = _dropping(kinds, [*without, *left, _CLAUSE])
            least = _dropping(kinds, [*without, *left])
            found += _ends(firsts, count, factor, most, least)
        most = _dropping(kinds, [*without, _CLAUSE, _LAST, _SOLVE, _OTHER])
        least = _dropping(kinds, without)
        singles = array("i", (i for i, kind in enumerate(kinds) if kind not in (_KEPT, _OPTION)))
        found += _ends(singles, count, factor, most, least)
    return found


_KEPT, _OPTION, _CLAUSE, _LAST, _SOLVE, _OTHER = range(6)
"""What a call is: `_LAST` is part of the clause in which the trace ends."""


def _dropping(kinds: bytearray, dropped: Iterable[int]) -> bytes:
    """Return a mark for each call, 1 for calls of these kinds."""
    table = bytearray(256)
    for kind in dropped:
        table[kind] = 1
    return bytes(kinds.translate(table))


def _ends(
    firsts: Sequence[int], count: int, factor: int, most: bytes, least: bytes
) -> Iterator[Callable[[], Drops]]:
    """Yield what drops most if 0, 1, `factor`, its square, ... units are kept at either end.

    A unit has the calls from its first one up to the first one of the next.
    """
    # The marks of a part are put together from two, as bytes: copying them costs next to nothing.
    yield lambda: Drops(most)
    size = 1
    while size < len(firsts):
        yield lambda at=firsts[size]: Drops(least[:at] + most[at:])  # type: ignore[misc]
        yield lambda at=firsts[-size]: Drops(most[:at] + least[at:])  # type: ignore[misc]
        size *= factor
    yield lambda: Drops(least)


# The number of calls played without options, and again with those of the trace: a replay each.
_DRAWN = 20_000
# The number of calls generated for that: some break the contract, or are duplicates.
_MADE = 2 * _DRAWN
# Numbers of calls in a formula. Each size gets the same total number of calls.
_SIZES = (8, 16, 32, 64, 128, 256)
# Lengths of a formula's clauses; a repeated one is more likely. Or those of the trace.
_LENGTHS = ((3,), (2, 3), (2, 2, 3, 3, 4))
# The maximum number of clauses per variable; the minimum is one.
_RATIO = 8.0
# Half of the formulas are followed by up to this number of other calls, such as assumptions.
_OTHERS = 3


class RandomFormulas:
    """Replaces all clauses of a long trace by a small random formula.

    Dropping calls from a long trace takes many successful steps. But a failure that needs a hundred
    clauses mostly needs none in particular: the solver only has to have work left when it reaches a
    certain step. About one in a hundred random formulas of that size has the same effect, and
    hundreds of them can be played in one replay.
    """

    name = "random formulas"

    def __init__(self, options: OptionMode) -> None:
        self._options: OptionMode = options

    def problem(self, view: TraceView) -> Substitutions | None:
        """Return the one step, None if there is none."""
        call = _clause_call(view)
        if view.first_failing is None or call is None:
            return None
        chance = Random(view.document.text)
        found = None
        for options in self._heads(view):
            traces = _traces(view, call, options, chance)
            found = found or smaller(view, traces, _DRAWN)
        return step_to(view, found, self.name)

    def _heads(self, view: TraceView) -> Sequence[Sequence[Call]]:
        """Return what options are set before the formula: first none, if these may go."""
        given = [view.bare[index] for index in view.options]
        return ((), given) if given and self._options != "none" else (given, given)


def _clause_call(view: TraceView) -> CallModel | None:
    """Return the call that most of the trace's literals are added by, if a 0 ends its clauses."""
    for name, _ in Counter(view.bare[index].name for index in view.roles("clause")).most_common():
        model = view.model.calls[name]
        if model.group and len(model.arguments) == 1 and model.arguments[0].type.zero:
            return model
    return None


def _traces(
    view: TraceView, clause: CallModel, options: Sequence[Call], chance: Random
) -> Iterator[Sequence[Call]]:
    """Yield what makes a solver, sets options, adds a formula, and ends as the trace does."""
    bare = view.bare
    init, end = [bare[index] for index in view.roles("init")], bare[-1:]
    solves = [bare[index] for index in view.roles("solve") if index < len(bare) - 1]
    # The failure may be in the call after a solve, so that solve is there in half of the traces.
    ends = [end, [*solves[-1:], *end]]
    own = [len(group) - 1 for group in view.groups]
    others = _others(view)
    made = 0
    while made < _MADE:
        # As many calls of each size, so that small formulas are drawn more often.
        for size in _SIZES:
            for _ in range(_SIZES[-1] // size):
                formula = _formula(chance, size, chance.choice((*_LENGTHS, own)))
                literals = [each for some in formula for each in (*some, 0)]
                calls = [
                    *init,
                    *options,
                    *(Call(clause.name, (each,)) for each in literals),
                    *_some(chance, others, max(literals)),
                    *chance.choice(ends),
                ]
                made += len(calls)
                if first_violation(calls, view.model) is None:
                    yield calls


def _formula(chance: Random, size: int, lengths: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield clauses with a total of about `size` literals and clause ends."""
    count = max(1, round(size / (1 + sum(lengths) / len(lengths))))
    variables = max(1, round(count / _RATIO ** chance.random()))
    for _ in range(count):
        length = min(chance.choice(lengths), variables)
        clause = chance.sample(range(1, variables + 1), length)
        yield [chance.choice((each, -each)) for each in clause]


def _others(view: TraceView) -> Sequence[CallModel]:
    """Return the calls of a trace that take a literal and are neither clauses nor queries."""
    names = {call.name for call in view.bare}
    return [
        model
        for name, model in view.model.calls.items()
        if name in names
        and model.role not in ("clause", "query")
        and len(model.arguments) == 1
        and model.arguments[0].type.kind in ("literal", "variable")
        and not model.arguments[0].star
    ]


def _some(chance: Random, models: Sequence[CallModel], variables: int) -> Iterator[Call]:
    """Yield a few calls with any of the variables, for one of two formulas."""
    if models and variables > 0 and chance.random() < 0.5:
        for _ in range(chance.randint(1, _OTHERS)):
            model, variable = chance.choice(models), chance.randint(1, variables)
            negated = model.arguments[0].type.kind == "literal" and chance.random() < 0.5
            yield Call(model.name, (-variable if negated else variable,))
