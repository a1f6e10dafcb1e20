"""ddmin: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, TSE 28(2), 2002.

Section 3.3, figure 5: test each of n subsets alone, then each complement; reduce to what fails,
otherwise double n. Duplicates (for n = 2 the complements are the subsets) are the cache's business.
The paper takes for granted that the empty configuration does not fail; here it is tested when one
element is left, so that the result is 1-minimal without assumptions.

Over graphs as in Vida 2008, chapter 4.1.1. The listing there sets the number of partitions to
max(size, 2 * partitions): min is meant.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from reducekit.search.selecting import Selector
from reducekit.strategies.levels import by_selector, items_by

Chunks = tuple[tuple[int, ...], ...]


def halve(chunks: Chunks) -> Chunks:
    """Cut each chunk of two or more elements in two."""
    return tuple(
        half
        for chunk in chunks
        for half in (chunk[: len(chunk) // 2], chunk[len(chunk) // 2 :])
        if half
    )


@dataclass(frozen=True, slots=True)
class Ddmin(Selector):
    """The state of ddmin: the configuration as n chunks, and the number of the next test.

    Tests `0 .. n-1` keep one chunk each, tests `n .. 2n-1` one complement each. The paper leaves
    the order open: both begin with the chunk after the one that went last, as neighbours tend to
    go together, and a chunk keeps its elements, so a repeated test is the same set, and is free.
    """

    chunks: Chunks
    test: int = 0
    first: int = 0

    def propose(self) -> Collection[int] | None:
        """Return what the next test leaves out of the configuration."""
        chunks, n = self.chunks, len(self.chunks)
        if self.test >= 2 * n:
            return None
        at = (self.first + self.test) % n
        # A complement: it leaves one chunk out.
        if self.test >= n or n == 1:
            return chunks[at]
        return [item for i, chunk in enumerate(chunks) if i != at for item in chunk]

    def after(self, taken: Collection[int]) -> Ddmin:
        """Reduce to the chunk or complement that failed, else go on, finer when none is left."""
        chunks, n = self.chunks, len(self.chunks)
        if taken:
            gone = frozenset(taken)
            left = tuple(tuple(item for item in chunk if item not in gone) for chunk in chunks)
            chunks = tuple(chunk for chunk in left if chunk)
            if len(chunks) == 1:
                return Ddmin(halve(chunks))
            # The chunks alone have been tested, unless the configuration is a new one.
            first = (self.first + self.test) % n % max(1, len(chunks))
            return Ddmin(chunks, len(chunks) if self.test >= n else 0, first)
        if n == 1:
            return Ddmin(chunks, 2)
        if self.test + 1 < 2 * n:
            return replace(self, test=self.test + 1)
        # All subsets and complements have been tested: double n, until the chunks are single
        # elements.
        finer = halve(chunks)
        return Ddmin(finer) if len(finer) > n else Ddmin(chunks, 2 * n)


def selector(count: int) -> Selector:
    """Return ddmin over `count` items."""
    return Ddmin(halve((tuple(range(count)),)))


over_items = items_by(selector)
ddmin = by_selector("ddmin", selector)
