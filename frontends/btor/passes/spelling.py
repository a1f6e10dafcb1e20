"""Rewrites a whole file: simplified, or only shorter."""

from __future__ import annotations

from reducekit.change import Change, Edit
from reducekit.frontends.btor.model.dag import Dag
from reducekit.frontends.btor.model.operators import Dialect
from reducekit.frontends.btor.model.simplify import simplify_dag
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.model.writer import canonical
from reducekit.passes import pass_
from reducekit.search.independent import independent
from reducekit.search.problem import Items

_MOST = 20_000


@pass_("spelling")
def spelling(view: BtorView) -> Items | None:
    """Renumbers the lines from 1 and removes comments."""
    return _whole(view, view.dag)


@pass_("simplify")
def simplified(view: BtorView) -> Items | None:
    """Applies all simplification rules everywhere, in one step."""
    # One change, if a rule applies; None for very many lines.
    dag = view.dag
    if len(dag) > _MOST or dag.dialect is Dialect.BTOR_2007:
        return None
    simple = simplify_dag(dag)
    return _whole(view, simple) if len(simple) < len(dag) else None


def _whole(view: BtorView, dag: Dag) -> Items | None:
    if dag.dialect is Dialect.BTOR_2007 and dag.text is None:
        return None
    text = canonical(dag)
    if text == view.document.text:
        return None
    return independent([Change((Edit(0, (text,)),), "written anew")])
