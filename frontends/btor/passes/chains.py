"""Shortens chains of writes and array conditionals, and lets reads bypass them."""

from __future__ import annotations

from reducekit.frontends.btor.model.dag import Array
from reducekit.frontends.btor.model.operators import Op
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.redirections import Redirections
from reducekit.passes import pass_


@pass_("chains")
def chains(view: BtorView) -> Redirections | None:
    """Replaces writes and array conditionals by one of their arrays.

    A read of a write may also become the written value. A run of a chain is removed in one
    step: the search over items bisects long runs.
    """
    dag = view.dag
    steps: list[tuple[int, int]] = []
    further: list[tuple[int, int]] = []
    for line, code in enumerate(dag.op):
        if code == Op.WRITE:
            source = dag.arguments(line)[0]
            if dag.sort[source] == dag.sort[line]:
                steps.append((line, source))
        elif code == Op.ITE and isinstance(dag.sorts[dag.sort[line]], Array):
            _, yes, no = dag.arguments(line)
            for each, into in ((yes, steps), (no, further)):
                if dag.sort[each] == dag.sort[line]:
                    into.append((line, each))
        elif code == Op.READ:
            source = dag.arguments(line)[0]
            if dag.op[source] == Op.WRITE:
                further.append((line, dag.arguments(source)[2]))
    found = [*further, *steps]
    return Redirections(view, found, "shorten chains") if found else None
