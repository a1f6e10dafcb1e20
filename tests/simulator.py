"""Runs a search against a made-up oracle over sets of items, and counts the oracle's runs exactly.

For tests and for comparing algorithms: counts are exact and repeatable, and no
process is started.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from reducekit.change import Change, Edit, Template
from reducekit.search.pass_search import Task
from reducekit.search.problem import NOTHING, Closure, IndependentItems, Items, Selection
from reducekit.search.scheduler import Scheduler
from reducekit.search.selecting import Selector
from reducekit.search.strategy import Strategy


@dataclass(frozen=True, slots=True)
class Simulated:
    """What a simulated reduction came to."""

    left: frozenset[int]
    """The items that stay."""
    runs: int
    """Oracle runs; a set that was tested before costs none."""
    tested: tuple[frozenset[int], ...]
    """The sets tested, in order, without repetitions."""


def simulate(
    start: Callable[[int], Selector],
    count: int,
    interesting: Callable[[frozenset[int]], bool],
    *,
    repeat: bool = False,
) -> Simulated:
    """Reduce the items 0 .. count-1 to a smaller set that is still interesting.

    `start(n)` gives the algorithm over n items. With `repeat` it is started
    again on what is left until that no longer shrinks.
    """
    left: tuple[int, ...] = tuple(range(count))
    verdicts: dict[frozenset[int], bool] = {}

    def verdict(kept: frozenset[int]) -> bool:
        if kept not in verdicts:
            verdicts[kept] = interesting(kept)
        return verdicts[kept]

    while True:
        base = left
        present = set(range(len(base)))
        selector = start(len(base))
        while (chosen := selector.propose()) is not None:
            ok = verdict(frozenset(base[i] for i in present.difference(chosen)))
            taken: Collection[int] = chosen if ok else ()
            present.difference_update(taken)
            selector = selector.after(taken)
        left = tuple(base[i] for i in sorted(present))
        if not repeat or len(left) == len(base):
            return Simulated(frozenset(left), len(verdicts), tuple(verdicts))


class Dropped:
    """What candidates build on here: the set of items that are dropped. Immutable."""

    __slots__ = ("items",)

    def __init__(self, items: frozenset[int] = frozenset()) -> None:
        self.items = items

    def with_(self, more: Mapping[int, Template]) -> Dropped:
        """Drop more items."""
        return Dropped(self.items.union(more))


class Droppable(IndependentItems):
    """Items that are dropped by an edit of their number; `users` fall with what they use."""

    def __init__(self, count: int, users: Mapping[int, Collection[int]] | None = None) -> None:
        self.weights: Sequence[int] = [1] * count
        self.users = users or {}

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        """Return all users of the chosen items, and theirs."""
        needed: set[int] = set()
        work = list(chosen)
        while work:
            for user in self.users.get(work.pop(), ()):
                if user not in needed and user not in chosen and user not in taken:
                    needed.add(user)
                    work.append(user)
        return Closure(frozenset(needed), NOTHING)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Drop the chosen items."""
        return Change(tuple(Edit(item, ()) for item in sorted(chosen)), "drop")


@dataclass(frozen=True, slots=True)
class Parallel:
    """What a simulated reduction with several workers came to."""

    left: frozenset[int]
    runs: int
    steps: int
    """The time it takes, in oracle runs: all take equally long."""


def simulate_parallel(
    items: Items,
    strategy: Strategy,
    width: int,
    interesting: Callable[[frozenset[int]], bool],
    *,
    in_a_row: bool = False,
) -> Parallel:
    """Drop items with `width` workers until a pass drops none.

    `interesting` is given the items that stay. A set that was tested before
    costs nothing. If `in_a_row`, there is one worker, who looks in each step at `width`
    sets, one by one up to the first that is interesting.
    """
    everything = frozenset(range(len(items.weights)))
    verdicts: dict[frozenset[int], bool] = {}
    best: frozenset[int] = frozenset()
    steps = 0
    while True:
        scheduler = Scheduler[Dropped, None].on(width, Dropped(best), in_a_row=in_a_row)
        left = [item for item in sorted(everything) if item not in best]
        search = strategy.start(Subset(items, left))
        scheduler.add(None, search.in_a_row(width) if in_a_row else search)
        flight: deque[tuple[Task[Dropped, None], int]] = deque()
        looked_at: set[frozenset[int]] = set()
        while True:
            while len(flight) < width and (task := scheduler.next()) is not None:
                gone = _gone(task)
                if gone == best or gone in verdicts:
                    scheduler.settle(task, verdicts.get(gone, False))
                    continue
                verdicts[gone] = interesting(everything - gone)
                flight.append((task, steps + 1))
            if not flight:
                break
            if in_a_row and _gone(flight[0][0]) not in looked_at:
                steps += 1
                for waiting, _ in flight:
                    looked_at.add(_gone(waiting))
                    if verdicts[_gone(waiting)]:
                        break
            task, end = flight.popleft()
            steps = steps if in_a_row else max(steps, end)
            gone = _gone(task)
            scheduler.settle(task, verdicts[gone])
            for each in [each for each in flight if each[0].obsolete]:
                flight.remove(each)
                scheduler.settle(each[0], False)
        if scheduler.merging.accepted.items == best:
            return Parallel(everything - best, len(verdicts), steps)
        best = scheduler.merging.accepted.items


def _gone(task: Task[Dropped, None]) -> frozenset[int]:
    """Return what a candidate drops in all."""
    assert task.base is not None
    return task.base.with_(task.edits).items


class Subset(Items):
    """Some of the items; the edits are those of the items themselves."""

    def __init__(self, items: Items, chosen: Sequence[int]) -> None:
        self.items = items
        self.chosen = chosen
        self.number = {item: number for number, item in enumerate(chosen)}
        self.weights: Sequence[int] = [items.weights[item] for item in chosen]

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        """Close the selection among these items."""
        closure = self.items.close(self._outer(chosen), self._outer(taken))
        return Closure(self._inner(closure.required), self._inner(closure.orphaned))

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Return the change of the items themselves."""
        return self.items.change(self._outer(chosen), self._outer(taken))

    def _outer(self, numbers: Selection) -> frozenset[int]:
        return frozenset(self.chosen[number] for number in numbers)

    def _inner(self, items: Selection) -> frozenset[int]:
        return frozenset(self.number[item] for item in items if item in self.number)
