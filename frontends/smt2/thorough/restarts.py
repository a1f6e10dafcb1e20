"""Restarts: another descent from the first graph, with its nodes in another order.

The local minimum that a descent reaches depends on what is replaced first. A restart reaches
another one in about as many checks, and sometimes a smaller one. Every candidate is a whole
script, and it is reported only when it is smaller than the best one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.graph.descent import Descent
from reducekit.frontends.smt2.graph.listing import Listing
from reducekit.frontends.smt2.thorough.kicks import is_smaller
from reducekit.search.problem import Search

_ROOT = 0
"""The root node of a document."""


@dataclass(frozen=True, slots=True)
class Restart(Search):
    """The state: the descent, and whether its initial graph is known to fail."""

    descent: Descent
    proved: bool = False

    def propose(self) -> Change | None:
        """Return the graph itself, then the steps of the descent, as whole scripts."""
        if not self.proved:
            return _whole(self.descent.steps.listing, "restart")
        step, printed = self.descent.current()
        if step is None:
            return None
        if printed is None or not is_smaller(printed, self.descent.steps.listing):
            return Change(())
        return _whole(printed, step.candidate.what)

    def after(self, ok: bool) -> Search:
        """Continue the descent; give up if the graph itself does not fail."""
        if self.proved:
            return replace(self, descent=self.descent.after(ok))
        return replace(self, proved=True) if ok else Ended()


@dataclass(frozen=True, slots=True)
class Ended(Search):
    """A search that has ended."""

    def propose(self) -> Change | None:
        return None

    def after(self, ok: bool) -> Search:
        """Return this search: there is nothing left to try."""
        return self


def _whole(listing: Listing, what: str) -> Change:
    return Change((Edit(_ROOT, (listing.whole(),)),), what, probe=True)
