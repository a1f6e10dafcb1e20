"""The order of the passes of reducekit's own strategy."""

from __future__ import annotations

from reducekit.format import Pass, Schedule, when
from reducekit.frontends.smt2.passes.declarations import (
    declare,
    inline,
    members,
    parameters,
    recursive,
)
from reducekit.frontends.smt2.passes.drop import (
    DropBackward,
    Scopes,
    assertions,
    beside_assert,
    blocks,
    idle,
    runs,
    single_assert,
)
from reducekit.frontends.smt2.passes.graph import fine_graph, graph_pass, resorted
from reducekit.frontends.smt2.passes.lists import (
    attributes,
    pattern_terms,
    queried_terms,
    queries,
    tactics,
)
from reducekit.frontends.smt2.passes.sorts import (
    Sorts,
    abbreviations,
    instances,
    sort_parameters,
    unused,
)
from reducekit.frontends.smt2.passes.spelling import Layout, Rename, numerals, spelling, widths
from reducekit.frontends.smt2.passes.syntax import Untyped
from reducekit.frontends.smt2.passes.thorough import kicks, rare_moves

_MOST = 1 << 22
_LAYOUT = 0.01
"""The layout pass runs first if it removes this share of a script; otherwise it runs later, for
scripts that are not printed from a graph, which normalises the layout anyway."""


def size_limited(*passes: Pass, most: int = _MOST) -> tuple[Pass, ...]:
    """Return passes for scripts of at most `most` nodes.

    Such a pass considers every use of every name, or every single term, and may
    run out of memory on a larger script. The passes that remove the most come
    before it, so that it can run in a later round.
    """
    return when(lambda view: len(view.document) <= most, *passes)


def own_schedule(
    *, unchecked: bool = False, keep_names: bool = False, by_chance: bool = False
) -> Schedule:
    """Return the passes in the order that removes the most with the fewest checks.

    With `unchecked`, ill-sorted candidates are tried, too. With `keep_names`, nothing is renamed,
    and no attribute goes alone. `by_chance`: parts fail or not as if by chance.

    The most productive passes come first. Names are shortened early, since a new name changes
    the text of every refuted candidate that contains it.
    """

    def names(*passes: Pass) -> tuple[Pass, ...]:
        return when(lambda _: not keep_names, *passes)

    symbols = size_limited(
        inline,
        declare,
        parameters,
        recursive,
        members,
        *names(attributes),
        pattern_terms,
        queries,
        queried_terms,
        abbreviations,
        Sorts(b"Int"),
        Sorts(b"Bool"),
        sort_parameters,
        instances,
        unused,
    )
    texts = size_limited(spelling, *names(Rename()))
    (narrow,) = size_limited(widths)  # reaches what a define-fun spells, where the graph stops
    others: tuple[Pass, ...] = (*symbols, tactics, *texts)
    cheap: tuple[Pass, ...] = (DropBackward(), Scopes(), *others)
    drop = size_limited(DropBackward(last=True), runs)
    last: tuple[Pass, ...] = (*drop, Scopes(close=False), *others)
    return Schedule(
        prepare=(Layout(least=_LAYOUT),),
        once=(
            blocks,
            idle,
            single_assert,
            beside_assert,
            *when(lambda _: by_chance, assertions),
            DropBackward(),
            *names(Rename(most=1000)),
            graph_pass,
            Layout(),
            DropBackward(),
            *symbols,
            narrow,
            *texts,
        ),
        rounds=(*cheap, graph_pass),
        closing=(
            *last,
            fine_graph,
            narrow,
            *size_limited(numerals),
            resorted,
            Untyped(unchecked=unchecked),
            Layout(),  # removed text that is not a command leaves its line breaks
        ),
        sweep=(DropBackward(),),
        thorough=(rare_moves, kicks),
    )
