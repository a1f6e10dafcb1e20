"""Passes mostly for BTOR2: properties, `init` and `next`, states, `justice`, symbols, comments.

Rules kept throughout (`rules.RULES`): ids increase; a state's id is greater than that of its
`init` value, which no input is part of; a `justice` has a condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reducekit.change import Change, Edit
from reducekit.frontends.btor.model.operators import Op
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.redirections import belonging, below_inits, dropped, idle
from reducekit.frontends.text.passes import NodeItems
from reducekit.passes import pass_
from reducekit.search.problem import IndependentChanges, IndependentItems, Items, Selection


class DropItems(IndependentItems):
    """Unreferenced lines as items; lines that only they used are dropped with them."""

    def __init__(self, view: BtorView, lines: Sequence[int], what: str) -> None:
        self.view = view
        self.lines = lines
        self.what = what
        self.weights: Sequence[int] = [1] * len(lines)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Drop the chosen lines, and the lines that become unused."""
        gone = {self.lines[item] for item in (*taken, *chosen)}
        lines = sorted({*gone, *idle(self.view, gone)})
        return Change(tuple(dropped(self.view, lines)), self.what)


class PropertyItems(DropItems):
    """Properties as items; one has to stay."""

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Drop the chosen properties, but not the last one."""
        if len(chosen) + len(taken) >= len(self.lines):
            return Change(())
        return super().change(chosen, taken)


@pass_("properties")
def properties(view: BtorView) -> PropertyItems | None:
    """Removes roots and properties: first outputs, constraints and lists."""
    # Properties, if there are several; a `root` that is an operand stays.
    dag = view.dag
    lines = [line for line in dag.roots if not view.users[line]]
    lines.sort(key=lambda line: (_LIKELY.get(dag.op[line], 0), line))
    return PropertyItems(view, lines, "drop properties") if len(lines) > 1 else None


_LIKELY: Mapping[int, int] = {Op.FAIR: 1, Op.JUSTICE: 2, Op.CONSTRAINT: 3, Op.OUTPUT: 4}


@pass_("transitions")
def transitions(view: BtorView) -> DropItems | None:
    """Removes `next` and `init` lines."""
    lines = list(view.dag.lines_of(Op.NEXT, Op.INIT))
    return DropItems(view, lines, "drop init and next") if lines else None


class StateItems(IndependentItems):
    """States as items, each to become an input, without `init` and `next`."""

    def __init__(self, view: BtorView, lines: Sequence[int]) -> None:
        self.view = view
        self.lines = lines
        self.weights: Sequence[int] = [1] * len(lines)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Return the new leaves, and the removal of their `init` and `next` lines."""
        view = self.view
        states = {self.lines[item] for item in (*taken, *chosen)}
        gone = {each for line in states for each in belonging(view, line)}
        lines = sorted({*gone, *idle(view, gone, kept=states)})
        # A state that is used only by its own next is removed as well.
        edits = [
            Edit(view.line_nodes[line] + 2, (b"input",)) for line in sorted(states - set(lines))
        ]
        return Change((*edits, *dropped(view, lines)), "state to input")


@pass_("states")
def states(view: BtorView) -> StateItems | None:
    """Replaces states by inputs, if no `init` depends on them."""
    dag = view.dag
    starting = below_inits(dag)
    lines = [line for line in dag.lines_of(Op.STATE) if not starting[line]]
    return StateItems(view, lines) if lines else None


class ConditionItems(IndependentItems):
    """The conditions of `justice` lines as items; each line keeps one."""

    def __init__(self, view: BtorView, conditions: Sequence[tuple[int, int]]) -> None:
        self.view = view
        self.conditions = conditions
        self.weights: Sequence[int] = [1] * len(conditions)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Rewrite the lines without these conditions."""
        view, dag = self.view, self.view.dag
        source = view.document.source
        out: dict[int, set[int]] = {}
        for item in (*taken, *chosen):
            line, position = self.conditions[item]
            out.setdefault(line, set()).add(position)
        edits = []
        for line, positions in sorted(out.items()):
            count = len(dag.arguments(line))
            if len(positions) >= count:
                return Change(())
            left = [
                source(view.argument_node(line, position))
                for position in range(count)
                if position not in positions
            ]
            words = [view.ids[line], b"justice", b"%d" % len(left), *left]
            edits.append(Edit(view.line_nodes[line], (b" ".join(words) + b"\n",)))
        return Change(tuple(edits), "shorten justice")


@pass_("justice")
def justice(view: BtorView) -> ConditionItems | None:
    """Removes conditions from `justice` lists."""
    dag = view.dag
    conditions = [
        (line, position)
        for line in dag.lines_of(Op.JUSTICE)
        if len(dag.arguments(line)) > 1
        for position in range(len(dag.arguments(line)))
    ]
    return ConditionItems(view, conditions) if conditions else None


@pass_("symbols")
def symbols(view: BtorView) -> IndependentChanges | None:
    """Removes symbols, comments and superfluous blanks."""
    document, dag = view.document, view.dag
    changes = []
    weights = []
    for line, node in enumerate(view.line_nodes):
        last = document.stop[node] - (line in dag.symbols)
        words = [document.source(each) for each in range(node + 1, last)]
        text = b" ".join(words) + b"\n"
        shorter = document.end[node] - document.start[node] - len(text)
        if shorter > 0:
            changes.append(Change((Edit(node, (text,)),), "symbols and comments"))
            weights.append(shorter)
    nodes = view.line_nodes
    options = view.option_nodes
    after = document.end[0] - document.end[nodes[-1]] - len(view.options) if nodes else 0
    if after:
        # What follows the last line belongs to the whole text only.
        changes.append(Change((Edit(0, (*nodes, *options)),), "symbols and comments"))
        weights.append(after)
    return IndependentChanges(changes, weights) if changes else None


@pass_("options", lambda view: bool(view.option_nodes))
def options(view: BtorView) -> Items:
    """Drops options for the program: comments such as `; option -rwl0`, after the last line."""
    return NodeItems(view.document, view.option_nodes, lambda node: Edit(node, ()), "drop options")
