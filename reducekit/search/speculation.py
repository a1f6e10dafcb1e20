"""Keeps several candidates of a search in flight without letting timing decide anything.

While the verdict on a candidate is out, the search is followed as if it failed,
so the next candidates are known and can run already. Verdicts are taken in the
order of the candidates. A success voids all that was proposed behind it: so
the result is that of one worker, byte for byte, whatever the number.
"""

from __future__ import annotations

from collections import deque

from reducekit.change import Change
from reducekit.search.problem import Search


class Speculation:
    """A search and the candidates in flight, first to last, each assuming that the earlier fail."""

    def __init__(self, search: Search) -> None:
        self._flight: deque[Search] = deque()
        self._tail = search

    def extend(self) -> Change | None:
        """Return one more candidate; None if there is none as far as can be seen."""
        change = self._tail.propose()
        if change is not None:
            self._flight.append(self._tail)
            self._tail = self._tail.after(False)
        return change

    def settle(self, ok: bool) -> int:
        """Take the verdict on the first candidate; return how many others it made void."""
        first = self._flight.popleft()
        if not ok:
            return 0
        void = len(self._flight)
        self._flight.clear()
        self._tail = first.after(True)
        return void
