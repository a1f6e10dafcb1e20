"""Runs a search against a made-up oracle over sets of items, and counts the oracle's runs exactly.

For tests and for comparing algorithms: counts are exact and repeatable, and no
process is started.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from reducekit.search.selecting import Selector


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
