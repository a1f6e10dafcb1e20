"""The passes of lglddtrace, as a baseline.

Bugs of the original are fixed (a CPU limit of zero, calls that it does not know
or confuses with others, signals treated as equal). Features that it lacks are
left out: candidates may break the contract, and imported options stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reducekit.change import Change
from reducekit.format import Pass, Schedule
from reducekit.frontends.trace.language.calls import dropped
from reducekit.frontends.trace.passes import drop
from reducekit.frontends.trace.passes.arguments import compact
from reducekit.frontends.trace.passes.options import Setting, import_options, settings
from reducekit.frontends.trace.passes.view import TraceView
from reducekit.search.problem import IndependentItems, LeafTree, Move, Selection

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


class LowerEach:
    """Lowers options one by one."""

    name = "lower each option"

    def problem(self, view: TraceView) -> Descent | None:
        """Return the options above their least values as a tree."""
        found = [each for each in settings(view) if each.value > each.option.low]
        return Descent(view, found) if found else None


def paper_schedule(options: str) -> Schedule:
    """Return the passes; with all options, they are imported after the first time round.

    Where they are not, calls that set an option are calls like any other.
    """
    calls: Iterable[Pass] = (compact, Granularity(2), Granularity(1), Granularity(0))
    if options != "all":
        return Schedule(prepare=(drop.Begin(cut=False),), rounds=(*calls,))
    lower = LowerEach()
    return Schedule(
        prepare=(drop.Begin(cut=False), *calls, import_options, lower), rounds=(*calls, lower)
    )
