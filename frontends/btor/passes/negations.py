"""Removes superfluous negations: complements of operands, and `not` nodes."""

from __future__ import annotations

from reducekit.change import Change, Edit
from reducekit.frontends.btor.model.operators import Op
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.redirections import Redirections, word
from reducekit.passes import pass_
from reducekit.search.independent import IndependentChanges, independent


@pass_("negations")
def negations(view: BtorView) -> IndependentChanges | None:
    """Removes complements of operands."""
    dag = view.dag
    changes = [
        Change((Edit(view.argument_node(line, position), (word(view, ~each),)),), "negations")
        for line in range(len(dag))
        for position, each in enumerate(dag.arguments(line))
        if each < 0
    ]
    return independent(changes)


@pass_("nots")
def nots(view: BtorView) -> Redirections | None:
    """Removes `not` and `proxy` nodes: their users get the complement or the operand."""
    dag = view.dag
    steps = [
        (line, dag.arguments(line)[0] if dag.op[line] == Op.PROXY else ~dag.arguments(line)[0])
        for line in dag.lines_of(Op.NOT, Op.PROXY)
    ]
    return Redirections(view, steps, "drop not") if steps else None
