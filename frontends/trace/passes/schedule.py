"""The order of the passes over traces."""

from __future__ import annotations

from reducekit.frontend import Pass, Schedule
from reducekit.frontends.trace.passes import drop
from reducekit.frontends.trace.passes.arguments import (
    Compact,
    Fold,
    Merge,
    Numbers,
    Shorten,
    Signs,
)
from reducekit.frontends.trace.passes.drop import Begin, RandomDrops, Truncate, Units
from reducekit.frontends.trace.passes.formulas import RandomFormulas
from reducekit.frontends.trace.passes.handles import Handles
from reducekit.frontends.trace.passes.neighbours import Neighbours, Sideways
from reducekit.frontends.trace.passes.options import (
    Default,
    Import,
    Lower,
    OptionMode,
    Unset,
    Values,
)
from reducekit.frontends.trace.passes.skeleton import Halves, Skeleton
from reducekit.frontends.trace.view import TraceView
from reducekit.search.problem import Problem

_FOLDED = 16
"""Variables, fewer than which are merged one by one.

Folding is worth its runs: on 40 generated traces, each with a fault at a random
instruction of another function, about 380 calls are left with it after 8,400
runs, and 930 without it after 11,300.
"""
_TIMES = 5
"""So often a trace is halved, as long as that helps."""
_STEPS = 3
"""So many steps to neighbours come first, where the calls are few enough by then. On 63 of the
harder faults of the tuning and choosing thirds that takes 0.96 of the replays, for the same
sizes."""
_TOGETHER = 2
"""Options that are set to their least together, neighbours in the solver's table.

On four of the hardest faults of the tuning third (`python -m benchmarks.faults reduce`), one by
one leaves 104 calls after 1,844 runs, two at a time 83 after 1,662, eight at a time 81 after
1,323. But what eight leave varies most: on another fault 9 calls, where one or two leave 5.
"""
_SHORT = 25
"""Calls, up to which the neighbours of a trace are all played in a few replays.

All drops of 25 calls, some 35 clauses, calls and variables, and all pairs of
drops are 600 traces of at most 25 calls: one replay.
"""
_TINY = 8
"""Calls, up to which options are left as they are where each trace costs a run of its own.

There is little that options at their least could still help to drop.
"""

OPTION_MODES: tuple[OptionMode, ...] = ("none", "explicit", "all")


def own_schedule(options: OptionMode) -> Schedule:
    """Return the passes in the order in which they save most for the least runs.

    First comes the skeleton: most faults need a few calls, and no options. What is still long then
    begins anew from a random formula, if a small one fails too, and some end near it. Options are
    set to their least, since with most of them off everything that follows gets smaller; when the
    calls are few, they are brought back to default. What is long after a round is often a matter of
    luck: so many calls are dropped at a time, drawn at random. Each pass is followed by what drops
    the calls after the failure: that costs no run. Where neighbours are played, variables are
    numbered anew at the very end: these are new then.
    """
    prepare: tuple[Pass, ...] = (Begin(), Skeleton(options), Truncate())
    neighbours = Neighbours(options)
    prepare += _truncated(_Long(RandomFormulas(options)), *[neighbours] * _STEPS)
    prepare += _truncated(*[Halves()] * _TIMES)
    if options == "all":
        prepare += (_Long(Import(), _TINY),)
    if options != "none":
        prepare += (_Long(Lower(_TOGETHER), _TINY), Truncate(), Unset())
    calls = _truncated(
        _Long(Units("kinds", drop.kinds)),
        _Long(Units("rounds", drop.rounds)),
        _Long(Units("solves", drop.solves)),
        Fold(_FOLDED),
        _Long(Units("variables", drop.variables)),
        _Long(Units("clauses", drop.clauses)),
        Handles(),
        _Long(Units("singles", drop.singles, "drop calls")),
        _Long(Shorten()),
        _Long(Units("pieces", drop.pieces, "drop literals")),
        _Long(Merge()),
        Handles(rank=1),
        _Long(RandomDrops()),
    )
    reduced = options != "none"
    return Schedule(
        prepare=prepare,
        rounds=calls,
        closing=(
            *((Default(), Truncate()) if reduced else ()),
            _WithoutNeighbours(Compact()),
            _Long(Numbers()),
            _Long(Signs()),
            *((_Long(Values()),) if reduced else ()),
            neighbours,
            Truncate(),
        ),
        sweep=(
            Compact(),
            Units("calls", drop.every_call),
            *((Default(),) if reduced else ()),
        ),
        thorough=(Sideways(options), Truncate()),
        alone=frozenset((Skeleton.name, RandomFormulas.name, Neighbours.name, Sideways.name)),
        drawn=frozenset((RandomDrops.name,)),
    )


def careful_schedule(options: OptionMode) -> Schedule:
    """Return the passes that leave the right answer of the last call as it is.

    For a wrong result there is no other sign than the `return` line: a smaller
    formula may well have another answer, and that would be no failure.
    """
    passes = (Units("calls", drop.harmless), *((Default(),) if options != "none" else ()))
    return Schedule(prepare=(Begin(),), rounds=(*passes, Compact()), sweep=passes)


class _Long:
    """A pass over traces whose neighbours are not all played anyway.

    Where they cannot be played, it is one over traces of more than `least` calls.
    """

    def __init__(self, each: Pass, least: int = 0) -> None:
        self.inner = each
        self.name = each.name
        self._least = least

    def problem(self, view: TraceView) -> Problem | None:
        """Return what the pass does; None for a short trace."""
        most = _SHORT if view.first_failing else self._least
        short = len(view.calls) - len(view.options) <= most
        return None if short else self.inner.problem(view)


class _WithoutNeighbours:
    """A pass where neighbours cannot be played: it does what they would do."""

    def __init__(self, each: Pass) -> None:
        self.inner = each
        self.name = each.name

    def problem(self, view: TraceView) -> Problem | None:
        """Return what the pass does; None where neighbours are played."""
        return None if view.first_failing else self.inner.problem(view)


def _truncated(*passes: Pass) -> tuple[Pass, ...]:
    return tuple(each for one in passes for each in (one, Truncate()))
