"""The passes of thorough effort: rare moves, kicks, restarts."""

from __future__ import annotations

from binascii import crc32
from dataclasses import dataclass, replace

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.graph.analysis import Analysis
from reducekit.frontends.smt2.graph.build import build
from reducekit.frontends.smt2.graph.closing import RARE
from reducekit.frontends.smt2.graph.descent import Descent, Place, start
from reducekit.frontends.smt2.graph.functions import named_terms
from reducekit.frontends.smt2.graph.listing import Listing, list_commands
from reducekit.frontends.smt2.graph.printing import Style, Unprintable
from reducekit.frontends.smt2.graph.site import Material, Site
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.passes.graph import ClosingMoves, GraphPass, as_printed, without_names
from reducekit.frontends.smt2.thorough.kicks import Ground, Kicking, Kicks, is_smaller
from reducekit.search.problem import FixedSearch, Problem, Search

_ROOT = 0
"""The root node of a document."""


@dataclass(frozen=True, slots=True)
class Restart(Search):
    """Another descent from the first graph, with its nodes in another order.

    The local minimum that a descent reaches depends on what is replaced first. A restart reaches
    another one in about as many checks, and sometimes a smaller one. Every candidate is a whole
    script, and it is reported only when it is smaller than the best one.

    The state: the descent, None once the search has ended, and whether its initial graph is known
    to fail.
    """

    descent: Descent | None
    proved: bool = False

    def propose(self) -> Change | None:
        if self.descent is None:
            return None
        here = self.descent.steps.listing
        if not self.proved:
            return _whole(here, "restart")
        step, printed = self.descent.current()
        if step is None:
            return None
        if printed is None or not is_smaller(printed, here):
            return Change(())
        return _whole(printed, step.candidate.what)

    def after(self, ok: bool) -> Restart:
        if self.proved and self.descent is not None:
            return replace(self, descent=self.descent.after(ok))
        return replace(self, proved=True) if ok else replace(self, descent=None)


def _whole(listing: Listing, what: str) -> Change:
    return Change((Edit(_ROOT, (listing.whole(),)),), what, probe=True)


_MOST_KICKED = 2000
"""Scripts with more nodes are not kicked: most random steps on them are useless."""


class Kicked:
    """Escapes local minima by random steps that may first make the script larger."""

    name = "kicks"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def problem(self, view: ScriptView) -> Problem | None:
        """Return the search; None if the script is large or not in a style of the graph."""
        if len(view.document) > _MOST_KICKED:
            return None
        found = as_printed(view)
        if found is None:
            return None
        graph, printed = found
        size = len(printed.listing.whole())
        ground = Ground(graph, Material(view.terms), printed.listing, printed.style, size)
        return FixedSearch(Kicking(Kicks(ground, self.seed), size))


class Restarted:
    """Restarts the descent from the first graph, with its nodes in another order."""

    def __init__(self, graph: GraphPass, number: int) -> None:
        self.name = f"restart {number}"
        self.graph = graph
        self.number = number

    def problem(self, view: ScriptView) -> Problem | None:
        """Return the search; None if the script is not in a style of the graph.

        Each new best script gets its own restart.
        """
        first = self.graph.first
        found = as_printed(view) if len(view.document) <= _MOST_KICKED else None
        if first is None or found is None:
            return None
        graph = build(first)
        style = found[1].style
        if style is not Style.AS_INPUT:
            graph = replace(graph, bound=frozenset())
        material = Material(first.terms, crc32(view.document.text, self.number) | 1)
        best = Site(found[0], Material(view.terms))
        in_place = None if named_terms(best)[0] else without_names(graph, material, style)
        try:
            graph, listing = in_place or (graph, list_commands(graph, style))
        except Unprintable:
            return None
        place = Place(style, styled=Analysis(graph).total)
        return FixedSearch(Restart(start(graph, material, place, listing)))


class Rare(ClosingMoves):
    """Tries moves that rarely help."""

    def __init__(self) -> None:
        super().__init__("rare moves", RARE)
