"""The order of our own passes."""

from __future__ import annotations

from reducekit.frontend import Pass, Schedule
from reducekit.frontends.smt2.passes.datatypes import Members, Tactics
from reducekit.frontends.smt2.passes.drop import DropBackward, Scopes
from reducekit.frontends.smt2.passes.functions import Declare, Inline, Parameters
from reducekit.frontends.smt2.passes.layout import Layout
from reducekit.frontends.smt2.passes.lists import Asked, Attributes
from reducekit.frontends.smt2.passes.spelling import Flatten, Literals, Spelling
from reducekit.frontends.smt2.passes.symbols import Merge, Rename, Sorts, Variables
from reducekit.frontends.smt2.passes.term_tree import TermPass
from reducekit.frontends.smt2.passes.twins import Twins
from reducekit.frontends.smt2.passes.untyped import Untyped
from reducekit.frontends.smt2.passes.widths import Widths


def own_schedule() -> Schedule:
    """Return the passes in the order in which they save most for the least checks.

    What takes much away comes first. Names get short early, since a new name
    makes a new text of everything that has been refuted around it.
    """
    symbols: tuple[Pass, ...] = (
        Inline(),
        Declare(),
        Variables(),
        Parameters(),
        Members(),
        Attributes(),
        Asked(),
        Merge(),
        Sorts(b"Int"),
        Sorts(b"Bool"),
    )
    spelling: tuple[Pass, ...] = (Spelling(), Literals(), Flatten(), Rename())
    cheap: tuple[Pass, ...] = (DropBackward(), Scopes(), *symbols, Tactics(), *spelling)
    return Schedule(
        prepare=(Layout(),),
        once=(
            DropBackward(),
            Rename(most=1000),
            TermPass(),
            DropBackward(),
            *symbols,
            Widths(),
            *spelling,
        ),
        rounds=(*cheap, TermPass()),
        closing=(*cheap, TermPass(thorough=True), Widths(), Twins(), Untyped()),
        sweep=(DropBackward(),),
    )
