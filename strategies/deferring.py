"""Items that no other item needs: first what can go in long runs, then the needed ones.

The backward search of `adaptive` narrows a run that fails down to a needed item before it goes on,
since users have to fall before what they use. So nothing goes in the first checks. Where no item
uses another, as with the assertions of a script, the order is free, and so is when to look for the
needed items. Here a failing run is set aside, and the search goes on with the items before it. The
largest of those set aside is halved when that promises more than another run: checks are compared
by how many items they are expected to remove. A run of as many items as can go every other time
removes half of them on average, a shorter one nearly all.

Needed items lie close together: those of a query near its goal, at the end, where the search
begins. And a failure may be one of chance, as that of an unstable query: it comes and goes with
every change, so that a run that fails says little. In both cases runs get short, though long ones
go elsewhere. So after some checks of short runs a *far* one is tried, a 16th of the items in
another place; until the first success also an 8th and a quarter. If it goes, the search goes on
from there, and what comes after is left for later; if not, the next one waits a little longer.

It takes about as many checks in all. Of 1,000 items with 10 needed ones, 167 are
left after 50 checks, and 528 if each run that fails is narrowed down at once
(`benchmarks/results/strategies.md`).
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from heapq import merge
from math import exp2
from typing import Protocol

from reducekit.search.selecting import (
    HALF,
    DivisibleSelector,
    IndexSet,
    Selector,
    free,
    worth_parts,
)
from reducekit.strategies.pool import Block, Origin, Pool

_NONE = IndexSet()
# A half goes every other time, too, so it removes a quarter of the run on average. Twice as much
# is best: on some 500 random cases of 40 to 1,000 items with 0.3 to 40 % of them needed, 0.25
# takes 2 % more checks in all than 0.5, and with 1 less is gone at every moment, in as many.
_HALF_OF_A_RUN = 0.5
"""The items that half of a failing run is taken to remove, in shares of the run."""

# Chosen by hand on eleven queries of verifiers and solvers' tests, by the bytes that 150 checks by
# plain `--oracle` leave (`benchmarks.side_by_side FOLDER`). It takes 1 to 3 % more checks in all
# where needed items lie anywhere, and 13 % where 50 of 1,000 lie together
# (`benchmarks/results/strategies.md`).
_FAR_RUNS = 16
"""How many far runs the items that are left make."""
_LENGTHS = 3
"""How many lengths are tried in turn until the first success, each twice the one before."""
_SHORT = 4
"""How many times as long a far run is as a short one, at least."""
_DUE = 4
"""How many checks of short runs come before the first far one."""
# A factor, such as 2, gives up too soon where one far run of five goes.
_LATER = 2
"""How many more come before the next far run after one that failed."""
# With 0, two workers leave 603 of 679 assertions of a query after 150 checks, with 3 they leave 339
# (`benchmarks.slow_cases`, version-dafny-power2div). On 240 random cases with 2 to 8 workers little
# changes; where most items are needed, it takes 0.4 to 2 % more time (by hand).
_TRIED = 3
"""How many far runs there are before workers share the items out, which ends them."""
_GOLDEN = (5**0.5 - 1) / 2
"""The distance from one far run to the next, in shares of the items: so no place is left out for
long."""


class Rest(Origin, Protocol):
    """The search for the items before those that no other needs."""

    def go_on(self, gone: IndexSet, needed: int, gap: float) -> Selector:
        """Return it after `needed` items were found needed, `gap` items apart, and others went."""


@dataclass(frozen=True, slots=True)
class Deferring(DivisibleSelector):
    """Take all, then runs from the back; set those aside that fail, and halve the largest at times.

    The items from `low` on below `top` without `gone` have not been in any run:
    `count` are left. Those in `back`, above, may be in a run again. `aside` are
    runs that failed, the shorter ones first. A run has `size` items, more after
    a success and fewer after a failure. Until the first success all runs are at
    the end: the last one that failed has `known` items. `taken` and `needed`
    count what was found.
    """

    rest: Rest
    """What comes in the end: the search for the items below `low`."""
    low: int
    top: int
    count: int
    size: int
    back: tuple[int, ...] = ()
    aside: tuple[tuple[int, ...], ...] = ()
    known: int | None = None
    """None: since the first success."""
    untried: bool = True
    """Whether nothing has been tried: first all are, those below `low` too."""
    failed: bool = False
    """Whether any run has failed. Before, all from `low` on together are only taken to fail, as
    hardly any failure needs none of the assertions."""
    gone: IndexSet = _NONE
    taken: int = 0
    needed: int = 0
    near: int = 0
    """How many checks of short runs there were since the last far one."""
    due: int = _DUE
    """How many there are before the next far one."""
    far: int = 0
    """How many far runs there were."""
    later: tuple[int, ...] = ()
    """The items after a far run that went: they come when nothing is left before them."""

    def propose(self) -> Collection[int] | None:
        """Return the next run, or half of one that was set aside."""
        if self.untried:
            return range(self.top)
        if self._goes_far():
            return self._far_run()[0]
        return self._half() if self._halves() else self._run()

    def _halves(self) -> bool:
        """Return whether a failing run is halved now."""
        if not self.aside:
            return False
        run = min(self.size, self.count + len(self.back))
        return _HALF_OF_A_RUN * len(self.aside[-1]) > run * exp2(-run / self.size)

    def _goes_far(self) -> bool:
        """Return whether a far run is next."""
        return self.near >= self.due and self.known is None and self._far_size() > 1

    def _far_size(self) -> int:
        # Where nothing has gone yet, no length is known to be the right one.
        parts = _FAR_RUNS if self.taken else _FAR_RUNS >> self.far % _LENGTHS
        return (self.count + len(self.back)) // parts

    def _far_run(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the next far run, and what comes after it."""
        items = self._last(self.count + len(self.back))
        size = self._far_size()
        start = int((len(items) - size) * ((self.far + 1) * _GOLDEN % 1))
        return items[start : start + size], items[start + size :]

    def _half(self) -> tuple[int, ...]:
        run = self.aside[-1]
        return run[-(len(run) // 2) :]

    def _other_half(self) -> tuple[int, ...]:
        run = self.aside[-1]
        return run[: -(len(run) // 2)]

    def _run(self) -> tuple[int, ...]:
        return self._last(self.size)

    def _last(self, size: int) -> tuple[int, ...]:
        """Return the last items that are not set aside, in order."""
        back = self.back[-size:]
        return (*self.gone.holes(self.top, min(size - len(back), self.count)), *back)

    def after(self, taken: Collection[int]) -> Selector:
        """Go on with longer runs after a success, and with shorter ones after a failure."""
        if self.untried:
            state = replace(self, untried=False)._without(taken, ())
        elif self._goes_far():
            state = self._far_went(taken) if taken else self._far_failed()
        else:
            halves = self._halves()
            short = len(self._half() if halves else self._run()) * _SHORT <= self._far_size()
            if halves:
                state = self._half_went(taken) if taken else self._half_failed()
            else:
                state = self._run_went(taken) if taken else self._run_failed()
            state = replace(state, near=self.near + short)
        if not state.count and not state.back:
            state = replace(state, back=state.later, later=())
        if state.count or state.back or state.aside:
            return state
        return self.rest.go_on(state.gone, state.needed, state.gap)

    def implied(self, taken: Collection[int]) -> Collection[int]:
        """Return the item that has to be what a run failed on, if there is only one left."""
        left: tuple[int, ...] = ()
        if self.untried or self._goes_far():
            return left
        if taken and self._halves():
            left = self._other_half()
        elif taken and self.known:
            left = self._last(self.known)[: -len(self._run())]
        return left if self.failed and len(left) == 1 and left[0] not in taken else ()

    def _far_went(self, taken: Collection[int]) -> Deferring:
        run, after = self._far_run()
        state = replace(
            self._cut(after)._cut(run),
            near=0,
            due=max(1, self.due // 2),
            far=self.far + 1,
            later=tuple(merge(self.later, after)),
            size=2 * len(run),
        )
        return state._without(taken, run)

    def _far_failed(self) -> Deferring:
        return replace(self, near=0, due=self.due + _LATER, far=self.far + 1)

    def _half_went(self, taken: Collection[int]) -> Deferring:
        # The needed item is in the other half, which need not be tested: the whole is known to
        # fail (Hwang's saving).
        state = replace(self, aside=self.aside[:-1])
        return state._set_aside(self._other_half())._without(taken, self._half())

    def _half_failed(self) -> Deferring:
        # Nothing is known of the other half any more.
        back = tuple(merge(self.back, self._other_half()))
        state = replace(self, aside=self.aside[:-1], back=back, failed=True)
        return state._set_aside(self._half())

    def _run_went(self, taken: Collection[int]) -> Deferring:
        run = self._run()
        state = self._cut(run)
        if self.known:
            # This was the end of a run that failed: so the part before it does.
            before = self._last(self.known)[: -len(run)]
            state = state._cut(before)._set_aside(before)
        if len(run) == self.size:  # else there are no more items, which says nothing
            state = replace(state, size=2 * self.size)
        return replace(state, known=None)._without(taken, run)

    def _run_failed(self) -> Deferring:
        run = self._run()
        size = max(1, len(run) // 2)
        if self.known is not None and len(run) > 1:
            # Half of the same run, not the one before it: so few checks tell how long runs can be.
            return replace(self, known=len(run), size=size, failed=True)
        return replace(self._cut(run), known=None, size=size, failed=True)._set_aside(run)

    def _cut(self, run: tuple[int, ...]) -> Deferring:
        """Take a run off the end of the items that are not set aside."""
        back = self.back[: max(0, len(self.back) - len(run))]
        more = len(run) - (len(self.back) - len(back))
        top = run[0] if more else self.top
        return replace(self, back=back, top=top, count=self.count - more)

    def _set_aside(self, run: tuple[int, ...]) -> Deferring:
        """Set a run aside that is known to fail; one of a single item is known to be needed."""
        if len(run) < 2 and not self.failed:
            return replace(self, back=tuple(merge(self.back, run)))
        if len(run) < 2:
            return replace(self, needed=self.needed + len(run))
        aside = list(self.aside)
        insort(aside, run, key=len)
        return replace(self, aside=tuple(aside))

    def _without(self, taken: Collection[int], proposed: Iterable[int]) -> Deferring:
        """Take note of what went: `proposed`, which is cut off already, and what went along."""
        along = frozenset(taken).difference(proposed)
        state = replace(self, taken=self.taken + len(taken))
        if not along:
            return state
        below = [item for item in along if item < self.top and item not in self.gone]
        back = _except(self.back, along)
        aside = []
        for run in self.aside:
            if along.isdisjoint(run):
                aside.append(run)
            else:  # what was known of it is no longer
                back = tuple(merge(back, _except(run, along)))
        return replace(
            state,
            count=self.count - sum(item >= self.low for item in below),
            gone=self.gone.with_(below),
            back=back,
            aside=tuple(aside),
            later=_except(self.later, along),
        )

    @property
    def gap(self) -> float:
        """The mean number of items between needed ones, as far as known."""
        return self.taken / (self.needed + len(self.aside) + 0.5)

    def chance(self) -> float | None:
        if self.untried:
            return None
        if self._goes_far():
            return free(self._far_size(), self.gap)
        if self._halves():
            return HALF
        return free(len(self._run()), self.gap) if self.needed or self.aside else None

    @property
    def left(self) -> int:
        return self.low + self.count + len(self.back) + len(self.later) + sum(map(len, self.aside))

    def worth_dividing(self, parts: int) -> bool:
        """Return whether there is enough for several workers."""
        # The blocks that workers get begin at the end, and are as short as runs are now.
        if self.far < _TRIED and len(self._run()) * _SHORT <= self._far_size():
            return False
        return worth_parts(self.left, self.needed, self.gap)

    def divide(self, parts: int) -> tuple[Pool, Block]:
        pool = Pool(self.rest, parts, self.top, len(self.gone.holes(self.top, self.top)))
        return replace(
            pool,
            back=tuple(merge(self.back, self.later, *self.aside)),
            gone=self.gone,
            taken=float(self.taken),
            needed=float(self.needed),
            fresh=self.untried,
        ).divide(parts)

    def in_a_row(self, count: int) -> Selector:
        """Return the search from the back where one run checks several candidates.

        Failures are cheap then, so there is nothing to gain by setting them aside.
        """
        if count == 1:
            return self
        first = self.gone.holes(self.top, self.top)
        items = list(merge(first, self.back, self.later, *self.aside))
        return self.rest.undivided(items, self.needed, self.gap).in_a_row(count)


def _except(items: tuple[int, ...], along: Collection[int]) -> tuple[int, ...]:
    """Return the items without those removed as dependencies."""
    # Mostly declarations go along, which stand before all these items.
    if not items or max(along) < items[0]:
        return items
    return tuple(item for item in items if item not in along)
