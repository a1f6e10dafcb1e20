"""ProbDD: delete the items that are the least likely to be needed, as many as promises most.

Wang, Shen, Chen, Xiong, Zhang: Probabilistic Delta Debugging, ESEC/FSE 2021, section 3. Each
item has a probability of being needed, the same for all at first. The next test leaves out the
items with the least probabilities, as many as maximise the expected gain: their number times
the chance that none of them is needed. If that fails, their probabilities go up by Bayes' rule;
an item that fails alone is needed for sure. There are neither complements nor second looks.

As in the paper: the first probability is 0.1, and the search ends when every item is gone or
known to be needed (the authors' prototype ends at 0.8 already). Items of equal probability go
in their order, where the prototype draws lots: to draw lots gains nothing (Zhang et al., Toward
a Better Understanding of Probabilistic Delta Debugging, ICSE 2025). Of two numbers that gain
the same, the greater is taken. The result of one run need not be 1-minimal.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reducekit.search.selecting import Selector
from reducekit.strategies.levels import by_selector

FIRST = 0.1
"""The probability of being needed at first (section 4)."""
# 1 / 0.1 may be 9.999...: without it a block would be one item shorter than in the paper.
_ROUNDING = 1 + 1e-12
"""What a quotient may be too small by."""


def best_size(probability: float) -> int:
    """Return how many items of one probability to leave out, if there are that many.

    This maximises s * (1 - p)**s: one more gains as long as s * (1 - p) >= s - 1, up to s = 1 / p.
    """
    return max(1, int(_ROUNDING / probability))


class Group(NamedTuple):
    """Items of one probability of being needed, in order."""

    probability: float
    items: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Estimates(Selector):
    """The state: the items that are neither gone nor known as needed, least probable first."""

    groups: tuple[Group, ...]

    def propose(self) -> Collection[int] | None:
        """Return the least probable items, as long as each adds to the expected gain."""
        found: list[int] = []
        for group in self.groups:
            fitting = len(found) + len(group.items)
            size = min(fitting, best_size(group.probability))
            found.extend(group.items[: max(0, size - len(found))])
            if len(found) < fitting:
                break
        return found or None

    def after(self, taken: Collection[int]) -> Estimates:
        """Forget what was taken; after a failure, raise the probabilities of what was tried."""
        tried, groups = self._cut()
        # The paper knows no dependences. What is required is taken along, and what has gone needs
        # no probability.
        if len(taken) > sum(len(items) for _, items in tried):  # others went along
            gone = frozenset(taken)
            left = (Group(p, tuple(i for i in items if i not in gone)) for p, items in groups)
            groups = [group for group in left if group.items]
        chance = _all_free(tried)
        # Bayes: P(needed | the test failed) = p / (1 - P(none needed)), as a needed item makes it
        # fail for sure.
        if not taken and sum(len(items) for _, items in tried) > 1:  # a single one is needed
            for probability, items in tried:
                _insert(groups, Group(probability / (1 - chance), items))
        return Estimates(tuple(groups))

    def chance(self) -> float | None:
        return _all_free(self._cut()[0])

    def _cut(self) -> tuple[list[Group], list[Group]]:
        """Return the proposed items and the others, by probabilities."""
        count = len(self.propose() or ())
        tried, left = [], []
        for probability, items in self.groups:
            some = items[:count]
            count -= len(some)
            if some:
                tried.append(Group(probability, some))
            if len(some) < len(items):
                left.append(Group(probability, items[len(some) :]))
        return tried, left


def _all_free(groups: Sequence[Group]) -> float:
    """Return how likely it is that none of the items is needed."""
    return math.prod((1 - probability) ** len(items) for probability, items in groups)


def _insert(groups: list[Group], new: Group) -> None:
    """Add items to the group of their probability, or make one in its place."""
    for at, group in enumerate(groups):
        # Groups of equal probability arise by different products, whose last bits differ.
        if math.isclose(group.probability, new.probability, rel_tol=1e-12):
            groups[at] = Group(group.probability, tuple(sorted((*group.items, *new.items))))
            return
        if group.probability > new.probability:
            groups.insert(at, new)
            return
    groups.append(new)


def selector(count: int) -> Selector:
    """Return ProbDD over `count` items."""
    return Estimates((Group(FIRST, tuple(range(count))),) if count else ())


probdd = by_selector("probdd", selector)
