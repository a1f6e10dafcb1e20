"""The order of the passes on traces; and those of lglddtrace, as a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reducekit.change import Change
from reducekit.format import Pass, Schedule, pass_, when
from reducekit.frontends.trace.language.calls import dropped
from reducekit.frontends.trace.passes import arguments, drop
from reducekit.frontends.trace.passes.batches import RandomFormulas, Skeleton, halves
from reducekit.frontends.trace.passes.drop import Begin, Units, random_drops, truncate
from reducekit.frontends.trace.passes.handles import Handles
from reducekit.frontends.trace.passes.neighbours import Neighbours, Sideways
from reducekit.frontends.trace.passes.options import (
    Lower,
    OptionMode,
    Setting,
    default,
    import_options,
    settings,
    unset,
    values,
)
from reducekit.frontends.trace.passes.view import TraceView
from reducekit.search.problem import IndependentItems, LeafTree, Move, Selection

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
            Units("kinds", drop.kinds), Units("rounds", drop.rounds), Units("solves", drop.solves)
        ),
        arguments.Fold(_FOLDED),
        *_long(Units("variables", drop.variables), Units("clauses", drop.clauses)),
        Handles(),
        *_long(
            Units("singles", drop.singles, "drop calls"),
            arguments.shorten,
            Units("pieces", drop.pieces, "drop literals"),
            arguments.merge,
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
            *when(
                lambda view: view.first_failing is None, arguments.compact
            ),  # neighbours replace it
            *_long(arguments.numbers, arguments.signs, *((values,) if reduced else ())),
            neighbours,
            truncate,
        ),
        sweep=(
            arguments.compact,
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
    return Schedule(prepare=(Begin(),), rounds=(*passes, arguments.compact), sweep=passes)


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


# Options with fewer values are lowered step by step.
_SMALL = 10
_APART = ("init", "solve", "release")


class Blocks(IndependentItems):
    """Sets of calls as items, dropped regardless of the contract."""

    def __init__(self, view: TraceView, blocks: Sequence[Sequence[int]], what: str) -> None:
        self.view = view
        self.blocks = blocks
        self.what = what
        self.weights: Sequence[int] = [len(block) for block in blocks]

    def change(self, chosen: Selection, taken: Selection) -> Change:
        drops = dropped(index for item in chosen for index in self.blocks[item])
        return Change(self.view.edits(drops), self.what)


class Granularity:
    """Removes runs of the same call (2), clauses (1), or single calls (0)."""

    def __init__(self, level: int) -> None:
        self.level = level
        self.name = f"granularity {level}"

    def problem(self, view: TraceView) -> Blocks | None:
        """Return the blocks as items."""
        if self.level == 2:
            blocks = _runs(view)
        elif self.level == 1:
            blocks = view.groups
        else:
            blocks = [(index,) for index in range(len(view.calls))]
        return Blocks(view, blocks, self.name) if blocks else None


def _runs(view: TraceView) -> Sequence[Sequence[int]]:
    """Return the maximal runs of the same call; init, solve and release calls are runs of one."""
    models = view.model.calls
    found: list[list[int]] = []
    last = ""
    for index, call in enumerate(view.calls):
        model = models.get(call.name)
        apart = model is not None and model.role in _APART
        if apart or call.name != last:
            found.append([])
        found[-1].append(index)
        last = "" if apart else call.name
    return found


class Descent(LeafTree):
    """Lowers options one by one: to the minimum, or else towards it, stepwise or by bisection.

    A node is an option with two of its values: the lower one is too low, and
    the upper one is the current one.
    """

    def __init__(self, view: TraceView, options: Sequence[Setting]) -> None:
        self.view = view
        self.options = options
        self._nodes: list[tuple[int, int, int]] = []
        self._numbers: dict[tuple[int, int, int], int] = {}
        # The value below the minimum counts as too low: the first step tries the minimum.
        self.roots: Sequence[int] = [
            self._node(number, each.option.low - 1, each.value)
            for number, each in reversed([*enumerate(options)])
        ]

    def weight(self, node: int) -> int:
        return 1

    def moves(self, node: int) -> Sequence[Move]:
        number, low, _high = self._nodes[node]
        given = self.options[number]
        value = self._next(node)
        if value is None:
            return ()
        call = given.to(value)
        change = Change(self.view.edits({given.at: (call,)}), "option values")
        return [Move(change, self._rest(number, low, value))]

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        """Return what remains to be tried above a value that is too low."""
        number, low, high = self._nodes[node]
        value = self._next(node)
        if value is None:
            return ()
        option = self.options[number].option
        # An option with few values goes down by ones, and stops at the first that fails.
        if option.high - option.low < _SMALL and low >= option.low:
            return ()  # a step down failed
        return self._rest(number, value, high)

    def _next(self, node: int) -> int | None:
        number, low, high = self._nodes[node]
        option = self.options[number].option
        if high - low < 2:
            return None
        if low < option.low:
            return option.low
        return high - 1 if option.high - option.low < _SMALL else low + (high - low) // 2

    def _rest(self, number: int, low: int, high: int) -> tuple[int, ...]:
        return (self._node(number, low, high),) if high - low >= 2 else ()

    def _node(self, number: int, low: int, high: int) -> int:
        key = number, low, high
        if key not in self._numbers:
            self._numbers[key] = len(self._nodes)
            self._nodes.append(key)
        return self._numbers[key]


@pass_("lower each option")
def lower_each(view: TraceView) -> Descent | None:
    """Lowers options one by one."""
    found = [each for each in settings(view) if each.value > each.option.low]
    return Descent(view, found) if found else None


def paper_schedule(options: str) -> Schedule:
    """Return the passes of lglddtrace; with all options, these are imported after the first round.

    Where they are not, calls that set an option are calls like any other.

    Bugs of the original are fixed (a CPU limit of zero, calls that it does not know or confuses
    with others, signals treated as equal). Features that it lacks are left out: candidates may
    break the contract, and imported options stay.
    """
    calls: Iterable[Pass] = (arguments.compact, Granularity(2), Granularity(1), Granularity(0))
    if options != "all":
        return Schedule(prepare=(drop.Begin(cut=False),), rounds=(*calls,))
    return Schedule(
        prepare=(drop.Begin(cut=False), *calls, import_options, lower_each),
        rounds=(*calls, lower_each),
    )
