"""dd: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, TSE 28(2), 2002.

Section 4.2, figure 8: between a passing and a failing configuration, both move. The difference of
the two is cut into n subsets; what is tried is the passing side with a subset more, and the failing
side with a subset less. Whatever fails is the new failing side, whatever passes the new passing
one; only where all is unresolved, n is doubled. Without unresolved outcomes that is binary search.

The figure looks for the best of four cases among all 2 n tests first. Here the first test that says
anything is used: what it says is about the same difference, and costs a test instead of 2 n.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from reducekit.change import Change
from reducekit.search.problem import Search

Chunks = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Dd(Search):
    """The state of dd: the difference as n chunks of changes, and the number of the next test.

    Tests `0 .. n-1` undo all chunks but one, which adds that chunk to the passing side; tests
    `n .. 2n-1` undo one chunk. The paper leaves their order open: they begin where the last one
    said something, as those before it were unresolved, and half of them are still the same texts.
    """

    change: Callable[[Sequence[int]], Change]
    """Makes the change that undoes changes."""
    bounds: tuple[int, ...]
    """The numbers at which hunks begin: chunks are cut there first."""
    chunks: Chunks
    first: int = 0
    """The number of the first test of these chunks."""
    tried: int = 0
    """How many tests of these chunks were unresolved."""

    @property
    def _test(self) -> int:
        return (self.first + self.tried) % (2 * len(self.chunks))

    def propose(self) -> Change | None:
        """Return the change of the next test; None if each is unresolved, or one change is left."""
        n, test = len(self.chunks), self._test
        if n < 2 or self.tried >= 2 * n:
            return None
        if test >= n:
            return self.change(self.chunks[test - n])
        return self.change((*chain(*self.chunks[:test], *self.chunks[test + 1 :]),))

    def after(self, ok: bool) -> Dd:
        """Return the search where the candidate is the new failing side, or the passing one."""
        n, test = len(self.chunks), self._test
        one = test % n
        # Adding one chunk and failing leaves that chunk; so does removing it and passing.
        if ok == (test < n):
            return self._on(self._halved(self.chunks[one : one + 1]))
        left = self.chunks[:one] + self.chunks[one + 1 :]
        if n == 2:
            return self._on(self._halved(left))
        first = one % (n - 1) + (n - 1) * (test >= n)
        return self._on(left, first)

    def unresolved(self) -> Dd:
        """Return the search with the next test, on smaller chunks where there is none."""
        n, tried = len(self.chunks), self.tried + 1
        # With two chunks, to add one is to remove the other.
        if tried < (2 if n == 2 else 2 * n):
            return replace(self, tried=tried)
        finer = self._halved(self.chunks)
        return self._on(finer) if len(finer) > n else replace(self, tried=2 * n)

    def _on(self, chunks: Chunks, first: int = 0) -> Dd:
        return replace(self, chunks=chunks, first=first, tried=0)

    def chance(self) -> float:
        """Return how likely the candidate is to fail: as a half is, of one change that matters."""
        n = len(self.chunks)
        return 1 / n if self._test < n else 1 - 1 / n

    def _halved(self, chunks: Chunks) -> Chunks:
        """Cut each chunk in two, between hunks where it has several."""
        return tuple(part for chunk in chunks for part in self._halves(chunk) if part)

    def _halves(self, chunk: tuple[int, ...]) -> Chunks:
        middle = len(chunk) // 2
        starts = [at for at in range(1, len(chunk)) if self._cut_between(chunk[at - 1], chunk[at])]
        if starts:
            middle = min(starts, key=lambda at: abs(at - middle))
        return chunk[:middle], chunk[middle:]

    def _cut_between(self, before: int, number: int) -> bool:
        """Return whether another hunk begins after the change `before`, up to that number."""
        at = bisect_left(self.bounds, before + 1)
        return at < len(self.bounds) and self.bounds[at] <= number


def search(count: int, bounds: Sequence[int], change: Callable[[Sequence[int]], Change]) -> Dd:
    """Return dd over `count` changes, of which hunks begin at `bounds`."""
    whole = Dd(change, tuple(bounds), (tuple(range(count)),))
    return replace(whole, chunks=whole._halved(whole.chunks))
