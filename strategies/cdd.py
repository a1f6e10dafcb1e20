"""CDD: rounds over blocks whose size depends on nothing but the number of the round.

Zhang, Xu, Tian, Cheng, Sun: Toward a Better Understanding of Probabilistic Delta Debugging,
ICSE 2025, section 5. In ProbDD all probabilities rise by about the same factor, 1 / (1 - 1/e),
each time a test with the item failed; so they do the work of a counter. CDD has that counter
alone: in round r the probability is p0 / (1 - 1/e)**r, and blocks have the size that is best
for it. Each round tries each block once, from the front; the last has blocks of one item.

With p0 = 0.1, as in the paper, the sizes are 10, 6, 3, 2, 1. One run need not be 1-minimal.
"""

from __future__ import annotations

import math

from reducekit.search.selecting import Selector
from reducekit.strategies.halving import Sweeps
from reducekit.strategies.levels import by_selector
from reducekit.strategies.probdd import FIRST, best_size


def sizes(first: float = FIRST) -> tuple[int, ...]:
    """Return the block size of each round, down to 1, by the probability before the first."""
    found: list[int] = []
    while not found or found[-1] > 1:
        # The expected factor by which Bayes' rule raises a probability when a block of the best
        # size, which is free with chance 1/e, has failed.
        probability = min(1.0, first / (1 - 1 / math.e) ** len(found))
        found.append(best_size(probability))
    return tuple(found)


_SIZES = sizes()


def smaller(size: int, left: int) -> int:
    """Return the block size of the next round; 0 after the last."""
    return next((each for each in _SIZES if each < size), 0)


def selector(count: int) -> Selector:
    """Return CDD over `count` items."""
    return Sweeps(tuple(range(count)), _SIZES[0], smaller)


cdd = by_selector("cdd", selector)
