"""Items drawn at random, as many at a time as promises most.

Where memory is corrupted, whether a candidate fails is a matter of luck: a hundred items at a time
may go as often as two or five, and hardly ever one alone. The idea is to learn how often drops of
each size help, and to try the size that promises most: its number of items times that share.
Halves come first, then quarters and so on, and what has helped once is tried for long. The search
ends when no size promises much: the result is not 1-minimal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from reducekit.search.selecting import IndexSet, Selector

# Half a success in one try, for each size: optimistic on purpose, so that an untried size
# promises more than one that has failed, and each is tried before the search ends (optimistic
# initial values: Sutton and Barto, Reinforcement Learning, section 2.6). A larger prior tries
# hopeless sizes for longer.
_PRIOR = 0.5
"""Successes of each size that are counted in advance, in one try."""
# This decides when the search ends. Higher leaves more to the passes that follow, which take one
# item a check at best; lower takes more runs for few items. By hand.
_LEAST = 0.3
"""Items a check that are worth it. Less comes of single items, too."""
_NONE = IndexSet()


class Tally(NamedTuple):
    """How often samples of a size were tried, and how often they helped."""

    tried: int = 0
    helped: int = 0

    @property
    def share(self) -> float:
        """How often one more is expected to help."""
        return min(1.0, (self.helped + _PRIOR) / (self.tried + 1))


@dataclass(frozen=True, slots=True)
class Sampling(Selector):
    """The state: the items that are gone, and what is known of samples of a half, a quarter, ..."""

    count: int
    seed: int
    gone: IndexSet = _NONE
    tallies: tuple[Tally, ...] = ()

    def propose(self) -> Collection[int] | None:
        """Return a sample of the size that promises most; None if none promises much."""
        size, at = self._best()
        if size * self._tally(at).share < _LEAST:
            return None
        left = self.gone.holes(self.count, self.count - len(self.gone))
        # A generator of its own for each sample, seeded by what was tried: the same sample on
        # every machine, also for a search that is looked ahead to.
        tries = sum(tally.tried for tally in self.tallies)
        return Random(f"{self.seed} {tries}").sample(left, size)

    def after(self, taken: Collection[int]) -> Sampling:
        _, at = self._best()
        tried, helped = self._tally(at)
        tallies = [self._tally(each) for each in range(max(at + 1, len(self.tallies)))]
        tallies[at] = Tally(tried + 1, helped + bool(taken))
        # What goes along may be beyond the items that are drawn from.
        gone = self.gone.with_(item for item in taken if item < self.count)
        return replace(self, gone=gone, tallies=tuple(tallies))

    def chance(self) -> float | None:
        return self._tally(self._best()[1]).share

    def _sizes(self) -> Iterator[tuple[int, int]]:
        """Yield a half of the items that are left, a quarter and so on, with their numbers."""
        size, at = (self.count - len(self.gone)) // 2, 0
        while size > 1:
            yield size, at
            size, at = size // 2, at + 1

    def _best(self) -> tuple[int, int]:
        """Return the size that promises most, and its number; size 0 if too few items are left."""
        # Sizes are parts of the remaining items: all shrink with them, and keep their tallies.
        promising = [(size * self._tally(at).share, size, at) for size, at in self._sizes()]
        _, size, at = max(promising, default=(0.0, 0, 0))
        return size, at

    def _tally(self, at: int) -> Tally:
        return self.tallies[at] if at < len(self.tallies) else Tally()
