"""Replaces lines by others of the same sort, for all users at once; removes negations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from reducekit.change import Change, Edit
from reducekit.format import pass_
from reducekit.frontends.btor.model.dag import ROOTS, Array, line_of, moved
from reducekit.frontends.btor.model.operators import CONSTANTS, SYMMETRIC, Op
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.line_graph import line_graph
from reducekit.frontends.common.items import Alternatives
from reducekit.search.problem import IndependentChanges, Selection, independent

_LASTING = frozenset({*map(int, ROOTS), int(Op.SORT)})


def dropped(view: BtorView, lines: Iterable[int]) -> list[Edit]:
    """Return the edits that drop lines."""
    return [Edit(view.line_nodes[line], ()) for line in lines]


def idle(view: BtorView, gone: Collection[int], kept: Collection[int] = ()) -> list[int]:
    """Return the lines that become unused when the lines `gone` are removed.

    Lines used only by unused lines are unused, too. So is a state, with its `init` and `next`,
    if these are its last users. Lines in `kept` (they get new users), roots and sorts are not.
    """
    dag, belongs = view.dag, view.belongs
    out = set(gone)
    found: list[int] = []
    left: dict[int, int] = {}  # users that stay, apart from the line's own init and next
    # Count down the users of each operand; a line without users is itself a user that goes.
    work = list(out)
    while work:
        user = work.pop()
        for line in set(map(line_of, dag.arguments(user))):
            if line in out:
                continue
            own = belongs.get(line, ())
            if line not in left:
                left[line] = sum(each not in own for each in view.users[line])
            left[line] -= user not in own
            if left[line] or line in kept or dag.op[line] in _LASTING:
                continue
            new = [each for each in (line, *own) if each not in out]
            out.update(new)
            found += new
            work += new
    return sorted(found)


class Redirections(Alternatives):
    """Replacements of lines by others, as items; a replaced line is removed.

    Each of `steps` is a line and its replacement, a reference of the same sort to a line above
    it. If the replacement is itself replaced, users follow. `weights` are 1, as each step removes
    one node.
    """

    def __init__(self, view: BtorView, steps: Sequence[tuple[int, int]], what: str) -> None:
        super().__init__(line for line, _ in steps)
        self.view = view
        self.steps = steps
        self.what = what
        self.weights: Sequence[int] = [1] * len(steps)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Return the edits of all steps that are chosen or taken.

        Lines that were unused and are needed again are restored.
        """
        _, before = self._edits(taken)
        edits, gone = self._edits([*taken, *chosen])
        nodes = self.view.line_nodes
        # A line that an earlier step left unused may have got a user again.
        back = [Edit(nodes[line], (nodes[line],)) for line in sorted(before - gone)]
        return Change((*edits, *back, *dropped(self.view, sorted(gone))), self.what)

    def _edits(self, items: Collection[int]) -> tuple[list[Edit], set[int]]:
        """Return the edits of users, and all removed lines."""
        view, dag = self.view, self.view.dag
        meaning: dict[int, int] = {}
        for item in sorted(items, reverse=True):
            line, target = self.steps[item]
            meaning.setdefault(line, target)
        gone = set(meaning)
        for line in meaning:
            gone.update(view.belongs.get(line, ()))
        edits: list[Edit] = []
        kept: set[int] = set()
        for line in meaning:
            for user in view.users[line]:
                if user in gone:
                    continue
                for position, found in enumerate(dag.arguments(user)):
                    if line_of(found) != line:
                        continue
                    # Each step leads up, so this terminates.
                    while line_of(found) in meaning:
                        found = moved(found, meaning)
                    kept.add(line_of(found))
                    edits.append(Edit(view.argument_node(user, position), (view.word(found),)))
        gone.update(idle(view, gone, kept))
        return edits, gone


def _redirections(
    view: BtorView, steps: Sequence[tuple[int, int]], what: str
) -> Redirections | None:
    return Redirections(view, steps, what) if steps else None


@pass_("equal nodes")
def equal_nodes(view: BtorView) -> Redirections | None:
    """Merges operators that have the same operands."""
    # Lines with their twins; what only differs by twins is a twin itself.
    dag, graph = view.dag, line_graph(view)
    # Operands come first, so each line sees the twins of its operands.
    meaning = list(range(len(dag)))
    first: dict[object, int] = {}
    steps = []
    for line, code in enumerate(dag.op):
        arguments = dag.arguments(line)
        if not arguments or graph.fixed[line]:
            continue
        operands = [moved(each, meaning) for each in arguments]
        if code in SYMMETRIC:
            operands.sort()
        twin = first.setdefault(
            (code, dag.sort[line], tuple(operands), dag.numbers.get(line)), line
        )
        if twin != line and graph.fits(line, twin):
            meaning[line] = twin
            steps.append((line, twin))
    return _redirections(view, steps, "merge twins")


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
            if graph.fixed[line]:
                continue
            others = above.setdefault(sort, [])
            # Those with one user are left to `References`.
            if dag.arguments(line) and uses[line] > 1:
                steps += [(line, each) for each in others if graph.fits(line, each)]
            others.append(line)
        return _redirections(view, steps, "other node")


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
    # A search from the back begins with `steps`, each of which keeps the rest of its chain.
    found = [*further, *steps]
    return _redirections(view, found, "shorten chains")


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
    inits = any(True for _ in dag.lines_of(Op.INIT))
    above: dict[int, list[int]] = {}
    first: list[tuple[int, int]] = []
    further: list[tuple[int, int]] = []
    for line, code in enumerate(dag.op):
        if code not in _LEAVES:
            continue
        others = above.setdefault(dag.sort[line], [])
        fitting = _fitting(view, line, others) if inits else others
        if fitting:
            first.append((line, fitting[0]))
            further += [(line, each) for each in fitting[:0:-1][:_NEAREST]]
        others.append(line)
    # A line is in `further` only if it is in `first`, too.
    return _redirections(view, [*further, *first], "merge leaves")


def _fitting(view: BtorView, line: int, others: Sequence[int]) -> Sequence[int]:
    """Return the leaves that may take another one's place in a file with inits."""
    op = view.dag.op
    if op[line] in CONSTANTS:
        return [each for each in others if op[each] in CONSTANTS]
    return () if line in view.starting else others


@pass_("negations")
def negations(view: BtorView) -> IndependentChanges | None:
    """Removes complements of operands."""
    dag = view.dag
    changes = [
        Change((Edit(view.argument_node(line, position), (view.word(~each),)),), "negations")
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
    return _redirections(view, steps, "drop not")
