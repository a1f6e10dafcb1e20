"""The first, coarse step: what little of a long trace may be enough, played in a few replays.

The idea is that most faults need a few calls only, wherever these stand: the first clauses or the
last, with the other calls or without, with options or at default. All that is made of such halves,
quarters and so on is played in one or two replays, the smallest first. So an easy fault is found
in three runs, and for a hard one two runs are lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reducekit.frontends.trace.passes.batches import smaller, step_to
from reducekit.frontends.trace.passes.items import parts_of
from reducekit.frontends.trace.passes.neighbours import mended
from reducekit.frontends.trace.passes.options import OptionMode
from reducekit.frontends.trace.passes.substitutions import Substitutions, substitutions
from reducekit.frontends.trace.view import Alteration, TraceView

_WORK = 40_000
"""Calls that are played: two replays."""
_STEP = 8
"""Where each part costs a run, a part is so many times as large as the one before it."""
_MOST = 12
"""Parts that are tried there: what is worth more is found by the passes that follow."""
_HALVED = 1000
"""Calls of a trace that is worth halving. A dozen shorter ones share a replay anyway; and what is
left of those that were halved further may be larger, while they take as many replays."""
_LEAST = 12
"""Calls of a trace that is as good as a skeleton."""


class Skeleton:
    """The pass that goes to the smallest part of a trace, of those that are tried, that fails."""

    name = "skeleton"

    def __init__(self, options: OptionMode) -> None:
        self._options: OptionMode = options

    def problem(self, view: TraceView) -> Substitutions | None:
        """Return the one step, None if there is none."""
        if len(view.calls) - len(view.options) < _LEAST:
            return None
        alone = view.first_failing is None
        factor = _STEP if alone else 2
        found = _parts(view, factor, drops_options=self._options != "none")
        parts = sorted(found, key=len, reverse=True)
        if alone:
            return self._one_by_one(view, parts)
        return step_to(view, smaller(view, mended(view, parts), _WORK), self.name)

    def _one_by_one(self, view: TraceView, parts: Sequence[Alteration]) -> Substitutions | None:
        """Return the parts as candidates, for interpreters that play one trace at a time."""
        found: list[Alteration] = []
        for each in parts:
            whole = view.mended(each)
            if whole and whole not in found:
                found.append(whole)
        return substitutions(view, [found[:_MOST]], self.name) if found else None


class Halves:
    """The pass that drops half of a long trace, a quarter or an eighth, as a whole.

    Some failures take many calls, but none in particular, and are rare once the options are at
    their least. And the shorter a trace is, the more of its parts share a replay from then on.
    """

    name = "halves"

    def problem(self, view: TraceView) -> Substitutions | None:
        """Return the one step; None for a short trace."""
        if len(view.calls) - len(view.options) < _HALVED:
            return None
        found = [whole for each in _chunks(view) if (whole := view.mended(each)) is not None]
        return substitutions(view, [found], self.name)


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


def _parts(view: TraceView, factor: int, *, drops_options: bool) -> Iterator[Alteration]:
    """Yield what to drop for each part. The call that fails is the last one, and stays."""
    end = len(view.bare) - 1
    kept = {*view.roles("init"), end}
    options = [index for index in view.options if index not in kept]
    clauses = [group for group in view.groups if end not in group]
    inside = {index for group in view.groups for index in group}
    others = [
        index
        for index in range(end)
        if index not in inside and index not in kept and index not in set(options)
    ]
    solves = [index for index in view.roles("solve") if index != end]
    for without in (options, ()) if options and drops_options else ((),):
        some = dict.fromkeys(without, ())
        for left in (others, solves, ()):
            rest = {**some, **dict.fromkeys(left, ())}
            for dropped in _ends(clauses, factor):
                yield {**rest, **{index: () for group in dropped for index in group}}
        singles = [(index,) for index in range(end) if index not in {*kept, *options}]
        for calls in _ends(singles, factor):
            yield {**some, **{index: () for group in calls for index in group}}


def _ends(units: Sequence[Iterable[int]], factor: int) -> Iterator[Sequence[Iterable[int]]]:
    """Yield what is dropped if 0, 1, `factor`, its square, ... units are kept at either end."""
    yield units
    size = 1
    while size < len(units):
        yield units[size:]
        yield units[:-size]
        size *= factor
    yield ()
