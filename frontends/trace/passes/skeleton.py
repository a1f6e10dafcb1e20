"""The first, coarse step: tries small parts of a long trace, in a few replays.

Most faults need only a few calls, at any position: the first clauses or the last, with or without
the other calls, with options or at default. All combinations of such halves, quarters and so on are
played in one or two replays, the smallest first. So an easy fault takes three runs, and a hard one
wastes two.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence

from reducekit.format import pass_
from reducekit.frontends.trace.passes.alterations import Alteration, Drops
from reducekit.frontends.trace.passes.batches import smaller, step_to
from reducekit.frontends.trace.passes.items import Substitutions, parts_of, substitutions
from reducekit.frontends.trace.passes.neighbours import repaired
from reducekit.frontends.trace.passes.options import OptionMode
from reducekit.frontends.trace.passes.view import TraceView

# Calls that are played: two replays.
_WORK = 40_000
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
    """Moves to the smallest failing part of a trace, among a few coarse ones."""

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
        return step_to(view, smaller(view, made, _WORK), self.name)

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
