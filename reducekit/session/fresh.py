"""Is the result as unstable as the input on variants that no check used?

The idea: a search keeps what passes on the variants that it asks, and so it also keeps texts that
pass on few others. Neither the size nor the last check shows that, but fresh variants do. A result
on which the failure is much rarer than on the input is given up for an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from reducekit.oracle.also import innermost
from reducekit.oracle.criterion import Criterion
from reducekit.oracle.flips import Flips
from reducekit.oracle.outcome import Outcome

FRESH = 16
"""Number of fresh variants.

A solver with a chance of 1 in 4 answers 4 of them, give or take 1.7.
"""
_OFTEN = 0.5
_CHANCE = 3
"""Rarer means less than this share, and by at least that many: 7 and 5 of 16 may well be chance."""


class Ends(NamedTuple):
    """How many of the fresh variants were answered, and how many were lost."""

    good: int
    bad: int

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], criterion: Criterion) -> Ends:
        """Count them, with the criterion of the checks telling good runs from bad ones."""
        criterion = innermost(criterion)
        assert isinstance(criterion, Flips)
        return cls(*criterion.ends(outcomes))

    def rarer_than(self, other: Ends) -> bool:
        """Return whether the rarer of the two ends has become rare, or being lost has.

        A query that is nearly always lost may be so by chance on the variants of the checks, and
        solved on all others.
        """
        pairs = ((min(self), min(other)), (self.bad, other.bad))
        return any(own < _OFTEN * others and own + _CHANCE <= others for own, others in pairs)


def as_unstable(
    texts: Sequence[bytes], result: bytes, ends: Callable[[bytes], Ends]
) -> tuple[bytes, Ends, Ends]:
    """Return a result on which the failure is not rarer than on the input, and the counts of both.

    That is `result` if possible, otherwise the last such of `texts`, which begin with the input,
    found by bisection: the failure gets rarer along the way. If only the input itself qualifies,
    `result` is returned all the same.
    """
    first, last = ends(texts[0]), ends(result)
    if not last.rarer_than(first):
        return result, first, last
    found = result
    low, high = 0, len(texts)
    while high - low > 1:
        middle = (low + high) // 2
        there = ends(texts[middle])
        if there.rarer_than(first):
            high = middle
        else:
            low, found, last = middle, texts[middle], there
    return found, first, last


def in_words(before: Ends, after: Ends, used: int, *, went_back: bool) -> str:
    """Return a sentence on the counts of input and result; checks use `variants` variants."""
    said = (
        f"on {FRESH} variants that no check used, the input is solved {before.good} times and lost "
        f"{before.bad} times, the result {after.good} and {after.bad} times"
    )
    often = max(1, min(before) * (used + FRESH) // FRESH // 2)
    better = f"try `unstable` {used + FRESH} with `good` {often} and `bad` {often}"
    if went_back:
        return f"{said}; the last steps were taken back, as it was rarer there. For less, {better}"
    return f"{said}: it is rarer. {better.capitalize()}" if after.rarer_than(before) else said
