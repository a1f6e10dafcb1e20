"""Replaces lines by others of the same sort, for all users at once; removes negations."""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.change import Change, Edit
from reducekit.frontends.btor.model.dag import Array, Dag, line_of
from reducekit.frontends.btor.model.operators import CONSTANTS, SYMMETRIC, Op
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.line_graph import line_graph
from reducekit.frontends.btor.passes.redirections import Redirections, below_inits, word
from reducekit.passes import pass_
from reducekit.search.problem import IndependentChanges, independent


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
