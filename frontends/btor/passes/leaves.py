"""Merges leaves: variables, states and constants of the same sort."""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.frontends.btor.model.dag import Dag
from reducekit.frontends.btor.model.operators import CONSTANTS, Op
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.redirections import Redirections, below_inits
from reducekit.passes import pass_

_LEAVES = CONSTANTS | {Op.INPUT, Op.STATE}
_NEAREST = 3


@pass_("leaves")
def leaves(view: BtorView) -> Redirections | None:
    """Merges leaves with earlier ones of the same sort."""
    # Leaves, each with the first of its sort and the nearest above it to become. The first ones
    # come last, so that a search from the back tries to leave one leaf of each sort. Where
    # there is an `init`, constants become constants only, and states that it depends on stay:
    # no input may come below it.
    dag = view.dag
    starting = below_inits(dag)
    inits = any(True for _ in dag.lines_of(Op.INIT))
    above: dict[int, list[int]] = {}
    first: list[tuple[int, int]] = []
    further: list[tuple[int, int]] = []
    for line, code in enumerate(dag.op):
        if code not in _LEAVES:
            continue
        others = above.setdefault(dag.sort[line], [])
        fitting = _fitting(dag, line, others, starting) if inits else others
        if fitting:
            first.append((line, fitting[0]))
            further += [(line, each) for each in fitting[:0:-1][:_NEAREST]]
        others.append(line)
    # A line is in `further` only if it is in `first`, too.
    return Redirections(view, [*further, *first], "merge leaves") if first else None


def _fitting(dag: Dag, line: int, others: Sequence[int], starting: Sequence[int]) -> Sequence[int]:
    """Return the leaves that may take another one's place in a file with inits."""
    if dag.op[line] in CONSTANTS:
        return [each for each in others if dag.op[each] in CONSTANTS]
    return () if starting[line] else others
