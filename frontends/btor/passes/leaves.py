"""Merges leaves: variables, states and constants of the same sort."""

from __future__ import annotations

from reducekit.frontends.btor.model.operators import CONSTANTS, Op
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.redirections import Redirections, below_inits

_LEAVES = CONSTANTS | {Op.INPUT, Op.STATE}
_NEAREST = 3


class Leaves:
    """Merges leaves with earlier ones of the same sort."""

    name = "leaves"

    def problem(self, view: BtorView) -> Redirections | None:
        """Return the leaves, each with the first of its sort and the nearest above it to become.

        The first ones come last, so that a search from the back tries to leave one leaf of
        each sort. Where there is an `init`, constants become constants only, and states
        that it depends on stay: no input may come below it.
        """
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
            if inits and code in CONSTANTS:
                fitting = [each for each in others if dag.op[each] in CONSTANTS]
            else:
                fitting = list(() if starting[line] else others)
            if fitting:
                first.append((line, fitting[0]))
                further += [(line, each) for each in fitting[:0:-1][:_NEAREST]]
            others.append(line)
        steps = [*further, *first]
        return Redirections(view, steps, "merge leaves") if steps else None
