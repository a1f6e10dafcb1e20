"""The order of our own passes."""

from __future__ import annotations

from dataclasses import dataclass

from reducekit.frontend import Pass, Schedule
from reducekit.frontends.smt2.passes.datatypes import Members, Tactics
from reducekit.frontends.smt2.passes.drop import (
    BesideAssert,
    DropBackward,
    Runs,
    Scopes,
    SingleAssert,
)
from reducekit.frontends.smt2.passes.equal_terms import EqualTerms
from reducekit.frontends.smt2.passes.functions import Declare, Inline, Parameters, Recursive
from reducekit.frontends.smt2.passes.graph import (
    AsWritten,
    GraphPass,
    Kicked,
    Rare,
    Resorted,
    Restarted,
    is_too_large,
)
from reducekit.frontends.smt2.passes.layout import Layout
from reducekit.frontends.smt2.passes.lists import Attributes, QueriedTerms
from reducekit.frontends.smt2.passes.queries import Queries
from reducekit.frontends.smt2.passes.sorts import (
    Abbreviations,
    Instances,
    SortParameters,
    Sorts,
    Unused,
)
from reducekit.frontends.smt2.passes.spelling import Flatten, Literals, Spelling
from reducekit.frontends.smt2.passes.symbols import Merge, Rename, Variables
from reducekit.frontends.smt2.passes.term_tree import TermPass
from reducekit.frontends.smt2.passes.untyped import Untyped
from reducekit.frontends.smt2.passes.widths import Widths
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.problem import Problem

_MOST = 1 << 22
_RESTARTS = 2
_LAYOUT = 0.01
"""Layout comes first if it makes a script shorter by such a share; otherwise where a graph was
not printed, which brings it along."""


@dataclass(frozen=True)
class SizeLimited:
    """A pass that leaves scripts of more than `most` nodes alone.

    It looks at every use of every name, or at every term by itself: for so many
    that takes more memory than there may be. What makes a script smaller by
    much comes before it, and brings it back in the next round.
    """

    inner: Pass
    most: int = _MOST

    @property
    def name(self) -> str:
        """The name of the pass."""
        return self.inner.name

    def problem(self, view: ScriptView) -> Problem | None:
        """Return what there is to search; None if the script is too large."""
        return self.inner.problem(view) if len(view.document) <= self.most else None


@dataclass(frozen=True)
class LargeOnly:
    """A pass for scripts that are too large for a graph, whose moves include its changes."""

    inner: Pass

    @property
    def name(self) -> str:
        """The name of the pass."""
        return self.inner.name

    def problem(self, view: ScriptView) -> Problem | None:
        """Return what there is to search; None if the script is read as a graph."""
        return self.inner.problem(view) if is_too_large(view) else None


def own_schedule(*, unchecked: bool = False) -> Schedule:
    """Return the passes in the order in which they save most for the least checks.

    Unchecked, what is no script of well-sorted terms is tried too.

    What takes much away comes first. Names get short early, since a new name makes a new text of
    everything that has been refuted around it.
    """
    symbols = _size_limited(
        Inline(),
        Declare(),
        LargeOnly(Variables()),
        Parameters(),
        Recursive(),
        Members(),
        Attributes(),
        Queries(),
        QueriedTerms(),
        Merge(),
        Abbreviations(),
        Sorts(b"Int"),
        Sorts(b"Bool"),
        SortParameters(),
        Instances(),
        Unused(),
    )
    spelling = _size_limited(Spelling(), Literals(), Flatten(), Rename())
    graph = GraphPass()
    widths, short, equal_terms = _size_limited(Widths(), Rename(most=1000), EqualTerms())
    others: tuple[Pass, ...] = (*symbols, Tactics(), *spelling)
    cheap: tuple[Pass, ...] = (DropBackward(), Scopes(), *others)
    drop = _size_limited(DropBackward(last=True), Runs())
    last: tuple[Pass, ...] = (*drop, Scopes(close=False), *others)
    return Schedule(
        prepare=(Layout(least=_LAYOUT),),
        once=(
            SingleAssert(),
            BesideAssert(),
            DropBackward(),
            short,
            graph,
            Layout(),
            DropBackward(),
            *symbols,
            widths,
            *spelling,
        ),
        rounds=(*cheap, graph),
        closing=(
            *last,
            AsWritten(TermPass(thorough=True)),
            widths,
            AsWritten(equal_terms),
            SizeLimited(Resorted()),
            Untyped(unchecked=unchecked),
        ),
        sweep=(DropBackward(),),
        thorough=(
            SizeLimited(Rare()),
            Kicked(),
            *(Restarted(graph, number) for number in range(1, _RESTARTS + 1)),
        ),
    )


def _size_limited(*passes: Pass) -> tuple[Pass, ...]:
    return tuple(map(SizeLimited, passes))
