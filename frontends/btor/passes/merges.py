"""Replaces lines by others of the same sort, for all users at once."""

from __future__ import annotations

from reducekit.frontends.btor.model.dag import line_of
from reducekit.frontends.btor.model.operators import SYMMETRIC
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.line_graph import line_graph
from reducekit.frontends.btor.passes.redirections import Redirections
from reducekit.passes import pass_


@pass_("equal nodes")
def equal_nodes(view: BtorView) -> Redirections | None:
    """Merges operators that have the same operands."""
    # Lines with their twins; what only differs by twins is a twin itself.
    dag, graph = view.dag, line_graph(view)
    meaning = list(range(len(dag)))
    first: dict[object, int] = {}
    steps = []
    for line, code in enumerate(dag.op):
        arguments = dag.arguments(line)
        if not arguments or not graph.is_value(line):
            continue
        operands = [meaning[each] if each >= 0 else ~meaning[~each] for each in arguments]
        if code in SYMMETRIC:
            operands.sort()
        twin = first.setdefault(
            (code, dag.sort[line], tuple(operands), dag.numbers.get(line)), line
        )
        if twin != line and graph.fits(line, twin):
            meaning[line] = twin
            steps.append((line, twin))
    return Redirections(view, steps, "merge twins") if steps else None


class Others:
    """Replaces operators with several users by earlier lines, in small graphs.

    `most` is the maximum number of lines. For an operator with one user, redirecting its edge
    does the same (`References`).
    """

    name = "other nodes"

    def __init__(self, most: int) -> None:
        self.most = most

    def problem(self, view: BtorView) -> Redirections | None:
        """Return each such line with all lines of its sort above it."""
        dag = view.dag
        if len(dag) > self.most:
            return None
        graph = line_graph(view)
        uses = [0] * len(dag)
        for each in dag.args:
            uses[line_of(each)] += 1
        above: dict[int, list[int]] = {}
        steps = []
        for line, sort in enumerate(dag.sort):
            if not graph.is_value(line):
                continue
            others = above.setdefault(sort, [])
            if dag.arguments(line) and uses[line] > 1:
                steps += [(line, each) for each in others if graph.fits(line, each)]
            others.append(line)
        return Redirections(view, steps, "other node") if steps else None
