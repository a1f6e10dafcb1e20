"""The order of the passes over traces."""

from __future__ import annotations

from typing import Literal

from reducekit.frontend import Pass, Schedule
from reducekit.frontends.trace.passes import drop
from reducekit.frontends.trace.passes.arguments import (
    Compact,
    Fold,
    Merge,
    Numbers,
    Shorten,
    Signs,
    Twist,
)
from reducekit.frontends.trace.passes.drop import Begin, Pairs, Truncate, Units
from reducekit.frontends.trace.passes.options import Default, Import, Lower, Shake, Values

OptionMode = Literal["none", "explicit", "all"]
"""Which options are reduced: none, those that the trace sets, all that the model knows."""
_PAIRS = 8
"""Calls of which any two are tried."""
_TWISTS = 7
"""Calls of which each is tried with a change elsewhere."""
_FOLDED = 16
"""Variables, fewer than which are merged one by one."""
_SHAKEN, _STRIDES = 9, 16
"""Calls of which each clause is tried without with so many sets of options."""
OPTION_MODES: tuple[OptionMode, ...] = ("none", "explicit", "all")


def own_schedule(options: OptionMode) -> Schedule:
    """Return the passes in the order in which they save most for the least runs.

    Options come before all else, since with most of them off everything that
    follows gets smaller; and once more when the calls are few, to bring them
    back to default. Each pass is followed by what drops the calls behind the
    failure: that costs no run.
    """
    prepare: tuple[Pass, ...] = (Begin(),)
    if options == "all":
        prepare += (Import(),)
    if options != "none":
        prepare += (Lower(), Truncate())
    calls = _truncated(
        Units("kinds", drop.kinds),
        Units("rounds", drop.rounds),
        Units("solves", drop.solves),
        Fold(_FOLDED),
        Units("variables", drop.variables),
        Units("clauses", drop.clauses),
        Units("singles", drop.singles, "drop calls"),
        Shorten(),
        Units("pieces", drop.pieces, "drop literals"),
        Merge(),
    )
    names: tuple[Pass, ...] = (Compact(), Numbers(), Signs())
    reduced = options != "none"
    return Schedule(
        prepare=prepare,
        rounds=calls,
        closing=(
            *((Default(), Truncate()) if reduced else ()),
            *names,
            *((Values(),) if reduced else ()),
            Pairs(_PAIRS),
            Twist(_TWISTS),
            Truncate(),
        ),
        sweep=(
            Units("calls", drop.every_call),
            *((Default(),) if reduced else ()),
            *((Shake(_SHAKEN, _STRIDES),) if options == "all" else ()),
        ),
    )


def careful_schedule(options: OptionMode) -> Schedule:
    """Return the passes that leave the right answer of the last call as it is.

    For a wrong result there is no other sign than the `return` line: a smaller
    formula may well have another answer, and that would be no failure.
    """
    passes = (Units("calls", drop.harmless), *((Default(),) if options != "none" else ()))
    return Schedule(prepare=(Begin(),), rounds=(*passes, Compact()), sweep=passes)


def _truncated(*passes: Pass) -> tuple[Pass, ...]:
    return tuple(each for one in passes for each in (one, Truncate()))
