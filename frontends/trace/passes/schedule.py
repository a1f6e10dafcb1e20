"""The order of the passes on traces."""

from __future__ import annotations

from reducekit.format import Pass, Schedule, when
from reducekit.frontends.trace.passes import drop
from reducekit.frontends.trace.passes.arguments import (
    Fold,
    compact,
    merge,
    numbers,
    shorten,
    signs,
)
from reducekit.frontends.trace.passes.batches import RandomFormulas, Skeleton, halves
from reducekit.frontends.trace.passes.drop import Begin, Units, random_drops, truncate
from reducekit.frontends.trace.passes.handles import Handles
from reducekit.frontends.trace.passes.neighbours import Neighbours, Sideways
from reducekit.frontends.trace.passes.options import (
    Lower,
    OptionMode,
    default,
    import_options,
    unset,
    values,
)
from reducekit.frontends.trace.passes.view import TraceView

# Variables, fewer than which are merged one by one.
#
# Folding is worth its runs: on 40 generated traces, each with a fault at a random instruction of
# another function, about 380 calls are left with it after 8,400 runs, and 930 without it after
# 11,300.
_FOLDED = 16
# The maximum number of times that a trace is halved.
_TIMES = 5
# The number of steps to neighbours that come first, if the trace is short enough. On 63 of the
# harder faults of the tuning and choosing thirds this takes 0.96 of the replays, for the same
# sizes.
_STEPS = 3
# The number of adjacent options in the solver's table that are set to their minimum together.
#
# On four of the hardest faults of the tuning third (`python -m benchmarks.faults reduce`), one by
# one leaves 104 calls after 1,844 runs, two at a time 83 after 1,662, eight at a time 81 after
# 1,323. But what eight leave varies most: on another fault 9 calls, where one or two leave 5.
_TOGETHER = 2
# Calls, up to which the neighbours of a trace are all played in a few replays.
#
# All drops of 25 calls, some 35 clauses, calls and variables, and all pairs of drops are 600 traces
# of at most 25 calls: one replay.
_SHORT = 25
# Calls, up to which options are left as they are where each trace costs a run of its own.
#
# There is little that options at their least could still help to drop.
_TINY = 8

OPTION_MODES: tuple[OptionMode, ...] = ("none", "explicit", "all")


def own_schedule(options: OptionMode) -> Schedule:
    """Return the passes in the order that removes the most with the fewest runs.

    First comes the skeleton: most faults need a few calls, and no options. A trace that is still
    long is replaced by a small random formula, if one fails. Options are set to their minimum,
    since with most of them off all later steps remove more; once few calls are left, they are
    reset to their defaults. A trace that is still long after a round often fails by chance, so
    large random sets of calls are dropped at once. Each pass is followed by one that drops the
    calls after the failure, which takes no run. If neighbours are played, variables are
    renumbered at the very end, which gives new neighbours.
    """
    prepare: tuple[Pass, ...] = (Begin(), Skeleton(options), truncate)
    neighbours = Neighbours(options)
    prepare += _truncated(*_long(RandomFormulas(options)), *[neighbours] * _STEPS)
    # Halving goes on where the small formulas and the skeleton have failed.
    prepare += _truncated(*[halves] * _TIMES)
    if options == "all":
        prepare += _long(import_options, least=_TINY)
    if options != "none":
        prepare += (*_long(Lower(_TOGETHER), least=_TINY), truncate, unset)
    calls = _truncated(
        *_long(
            Units("kinds", drop.kinds),
            Units("rounds", drop.rounds),
            Units("solves", drop.solves),
        ),
        Fold(_FOLDED),
        *_long(Units("variables", drop.variables), Units("clauses", drop.clauses)),
        Handles(),
        *_long(
            Units("singles", drop.singles, "drop calls"),
            shorten,
            Units("pieces", drop.pieces, "drop literals"),
            merge,
        ),
        Handles(rank=1),
        *_long(random_drops),
    )
    reduced = options != "none"
    return Schedule(
        prepare=prepare,
        rounds=calls,
        closing=(
            *((default, truncate) if reduced else ()),
            *when(lambda view: view.first_failing is None, compact),  # neighbours replace it
            *_long(numbers, signs, *((values,) if reduced else ())),
            neighbours,
            truncate,
        ),
        sweep=(
            compact,
            Units("calls", drop.every_call),
            *((default,) if reduced else ()),
        ),
        thorough=(Sideways(options), truncate),
        alone=frozenset((Skeleton.name, RandomFormulas.name, Neighbours.name, Sideways.name)),
        drawn=frozenset((random_drops.name,)),
    )


def careful_schedule(options: OptionMode) -> Schedule:
    """Return the passes that leave the right answer of the last call as it is.

    For a wrong result there is no other sign than the `return` line: a smaller
    formula may well have another answer, and that would be no failure.
    """
    passes = (Units("calls", drop.harmless), *((default,) if options != "none" else ()))
    return Schedule(prepare=(Begin(),), rounds=(*passes, compact), sweep=passes)


def _long(*passes: Pass, least: int = 0) -> tuple[Pass, ...]:
    """Return passes for traces too long to play all their neighbours.

    If neighbours cannot be played at all, for traces of more than `least` calls.
    """

    def is_long(view: TraceView) -> bool:
        most = _SHORT if view.first_failing else least
        return len(view.calls) - len(view.options) > most

    return when(is_long, *passes)


def _truncated(*passes: Pass) -> tuple[Pass, ...]:
    return tuple(each for one in passes for each in (one, truncate))
