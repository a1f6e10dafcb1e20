"""Does the failure show as often on the result as on the input, on variants that no check used?

The idea: a search keeps what passes on the variants that it asks, and so it also keeps texts that
pass on few others; of a cost it keeps what only just has it. Neither the size nor the last check
shows that, but fresh variants do. A result on which the failure is much rarer than on the input is
given up for an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol, TypeVar

from reducekit.oracle.also import innermost
from reducekit.oracle.command import Command, Vary
from reducekit.oracle.criterion import Criterion, verdict
from reducekit.oracle.flips import Flips
from reducekit.oracle.outcome import Outcome

Often = TypeVar("Often", bound="Frequency")
FRESH = 16
"""Number of fresh variants.

A solver with a chance of 1 in 4 answers 4 of them, give or take 1.7.
"""
_OFTEN = 0.5
_SHOWN = 0.75
_CHANCE = 3
"""Rarer means less than this share, and by at least that many: 7 and 5 of 16 may well be chance."""


class Frequency(Protocol):
    """How often a failure shows on the fresh variants of a text."""

    def rarer_than(self, other: Frequency) -> bool:
        """Return whether it is rarer than on another text."""


def _rarer(own: int, other: int, share: float = _OFTEN) -> bool:
    return own < share * other and own + _CHANCE <= other


class Ends(NamedTuple):
    """How many of the fresh variants were answered, and how many were lost."""

    good: int
    bad: int

    def rarer_than(self, other: Frequency) -> bool:
        """Return whether the rarer of the two ends has become rare, or being lost has.

        A query that is nearly always lost may be so by chance on the variants of the checks, and
        solved on all others.
        """
        assert isinstance(other, Ends)
        pairs = ((min(self), min(other)), (self.bad, other.bad))
        return any(_rarer(own, others) for own, others in pairs)


class Shown(NamedTuple):
    """On how many of the fresh variants the failure shows, where no check runs on several."""

    shown: int

    def rarer_than(self, other: Frequency) -> bool:
        """Return whether it shows on less than three quarters as many.

        More than half: of 16 that is told from less than half of all variants.
        """
        assert isinstance(other, Shown)
        return _rarer(self.shown, other.shown, _SHOWN)


def on_fresh(commands: Sequence[Command], vary: Vary) -> tuple[Command, ...]:
    """Return the commands of a check on the candidate alone, on each of the fresh variants."""
    return tuple(
        replace(each, variant=number, vary=vary)
        for number in range(1, FRESH + 1)
        for each in commands
    )


def frequency(outcomes: Sequence[Outcome], criterion: Criterion) -> Ends | Shown:
    """Count by runs on fresh variants, with the criterion of the checks."""
    inner = innermost(criterion)
    if isinstance(inner, Flips):
        return Ends(*inner.ends(outcomes))
    size = len(outcomes) // FRESH
    runs = [outcomes[at : at + size] for at in range(0, len(outcomes), size)]
    return Shown(sum(verdict(criterion, run) for run in runs))


def as_often(
    texts: Sequence[bytes], result: bytes, often: Callable[[bytes], Often]
) -> tuple[bytes, Often, Often]:
    """Return a result on which the failure is not rarer than on the input, and the counts of both.

    That is `result` if possible, otherwise the last such of `texts`, which begin with the input,
    found by bisection: the failure gets rarer along the way. If only the input itself qualifies,
    `result` is returned all the same.
    """
    first, last = often(texts[0]), often(result)
    if not last.rarer_than(first):
        return result, first, last
    found = result
    low, high = 0, len(texts)
    while high - low > 1:
        middle = (low + high) // 2
        there = often(texts[middle])
        if there.rarer_than(first):
            high = middle
        else:
            low, found, last = middle, texts[middle], there
    return found, first, last


def in_words(before: Ends | Shown, after: Ends | Shown, used: int, *, went_back: bool) -> str:
    """Return a sentence on the counts of input and result; checks use `used` variants."""
    rarer = after.rarer_than(before)
    if isinstance(before, Shown) or isinstance(after, Shown):
        said = (
            f"on {FRESH} variants that no check used, the input shows the failure {before[0]} "
            f"times, the result {after[0]} times"
        )
        if went_back:
            return f"{said}; the last steps were taken back, as it was rarer there"
        return (
            f"{said}: it is rarer. Ask for three seeds: write {{seed}} in the command"
            if rarer
            else said
        )
    said = (
        f"on {FRESH} variants that no check used, the input is solved {before.good} times and lost "
        f"{before.bad} times, the result {after.good} and {after.bad} times"
    )
    often = max(1, min(before) * (used + FRESH) // FRESH // 2)
    better = f"try `unstable` {used + FRESH} with `good` {often} and `bad` {often}"
    if went_back:
        return f"{said}; the last steps were taken back, as it was rarer there. For less, {better}"
    return f"{said}: it is rarer. {better.capitalize()}" if rarer else said
