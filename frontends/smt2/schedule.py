"""The order of the passes of reducekit's own strategy."""

from __future__ import annotations

from reducekit.format import Pass, Schedule, when
from reducekit.frontends.smt2.passes import (
    declarations,
    drop,
    graph,
    lists,
    sorts,
    spelling,
    syntax,
    thorough,
)

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
        declarations.inline,
        declarations.declare,
        declarations.parameters,
        declarations.recursive,
        declarations.members,
        *names(lists.attributes),
        lists.pattern_terms,
        lists.queries,
        lists.queried_terms,
        sorts.abbreviations,
        sorts.Sorts(b"Int"),
        sorts.Sorts(b"Bool"),
        sorts.sort_parameters,
        sorts.instances,
        sorts.unused,
    )
    texts = size_limited(spelling.spelling, *names(spelling.Rename()))
    # Reaches what a define-fun spells, where the graph stops.
    (narrow,) = size_limited(spelling.widths)
    others: tuple[Pass, ...] = (*symbols, lists.tactics, *texts)
    cheap: tuple[Pass, ...] = (drop.DropBackward(), drop.Scopes(), *others)
    last = (*size_limited(drop.DropBackward(last=True), drop.runs), drop.Scopes(close=False))
    return Schedule(
        prepare=(spelling.Layout(least=_LAYOUT),),
        once=(
            drop.blocks,
            drop.idle,
            drop.single_assert,
            drop.beside_assert,
            *when(lambda _: by_chance, drop.assertions),
            drop.DropBackward(),
            *names(spelling.Rename(most=1000)),
            graph.graph_pass,
            spelling.Layout(),
            drop.DropBackward(),
            *symbols,
            narrow,
            *texts,
        ),
        rounds=(*cheap, graph.graph_pass),
        closing=(
            *last,
            *others,
            graph.fine_graph,
            narrow,
            *size_limited(spelling.numerals),
            graph.resorted,
            syntax.Untyped(unchecked=unchecked),
            spelling.Layout(),  # removed text that is not a command leaves its line breaks
        ),
        sweep=(drop.DropBackward(),),
        thorough=(thorough.rare_moves, thorough.kicks),
    )
