"""Moves `next` lines to the end: after all values, each of them can refer to any value."""

from __future__ import annotations

from reducekit.change import Change, Edit
from reducekit.frontends.btor.model.builder import reordered
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.model.writer import canonical
from reducekit.passes import pass_
from reducekit.search.independent import independent
from reducekit.search.problem import Items


@pass_("next last")
def next_last(view: BtorView) -> Items | None:
    """Moves all `next` lines to the end of the file."""
    dag = view.dag
    first = next(dag.lines_of(Op.NEXT), len(dag))
    rest = range(first, len(dag))
    if dag.dialect is Dialect.BTOR_2007 or all(dag.op[line] >= Op.ROOT for line in rest):
        return None
    order = [line for line, code in enumerate(dag.op) if code not in (Op.NEXT, Op.SORT)]
    text = canonical(reordered(dag, [*order, *dag.lines_of(Op.NEXT)]))
    return independent([Change((Edit(0, (text,)),), "next last")])
