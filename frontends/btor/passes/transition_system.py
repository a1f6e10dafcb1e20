"""Passes mostly for BTOR2: properties, `init` and `next`, states, `justice`, symbols, comments.

Rules kept throughout (`rules.RULES`): ids increase; a state's id is greater than that of its
`init` value, which no input is part of; a `justice` has a condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reducekit.change import Change, Edit
from reducekit.format import pass_
from reducekit.frontends.btor.model.operators import Op
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.merges import dropped, idle
from reducekit.frontends.common.items import NodeItems, WholeItems
from reducekit.search.problem import IndependentChanges, Items


def _dropped(view: BtorView, lines: Sequence[int], what: str, least: int = 0) -> WholeItems:
    """Return unreferenced lines as items; lines that only they used are dropped with them.

    At least that many have to stay.
    """

    def drop(items: Sequence[int]) -> Change:
        if len(items) > len(lines) - least:
            return Change(())
        gone = {lines[item] for item in items}
        return Change(tuple(dropped(view, sorted({*gone, *idle(view, gone)}))), what)

    return WholeItems(len(lines), drop)


@pass_("properties")
def properties(view: BtorView) -> WholeItems | None:
    """Removes roots and properties: first outputs, constraints and lists."""
    # Properties, if there are several; a `root` that is an operand stays.
    dag = view.dag
    lines = [line for line in dag.roots if not view.users[line]]
    # Search starts at the end, with what a failure is least likely to need.
    lines.sort(key=lambda line: (_LIKELY.get(dag.op[line], 0), line))
    return _dropped(view, lines, "drop properties", least=1) if len(lines) > 1 else None


_LIKELY: Mapping[int, int] = {Op.FAIR: 1, Op.JUSTICE: 2, Op.CONSTRAINT: 3, Op.OUTPUT: 4}


@pass_("transitions")
def transitions(view: BtorView) -> WholeItems | None:
    """Removes `next` and `init` lines."""
    lines = list(view.dag.lines_of(Op.NEXT, Op.INIT))
    return _dropped(view, lines, "drop init and next") if lines else None


@pass_("states")
def states(view: BtorView) -> WholeItems | None:
    """Replaces states by inputs, if no `init` depends on them."""
    found = [line for line in view.dag.lines_of(Op.STATE) if line not in view.starting]

    # An init value must not depend on an input, so states below one stay states.
    def free(items: Sequence[int]) -> Change:
        chosen = {found[item] for item in items}
        gone = {each for line in chosen for each in view.belongs.get(line, ())}
        lines = sorted({*gone, *idle(view, gone, kept=chosen)})
        # A state that is used only by its own next is removed as well.
        edits = [
            Edit(view.line_nodes[line] + 2, (b"input",)) for line in sorted(chosen - set(lines))
        ]
        return Change((*edits, *dropped(view, lines)), "state to input")

    return WholeItems(len(found), free) if found else None


@pass_("justice")
def justice(view: BtorView) -> WholeItems | None:
    """Removes conditions from `justice` lists."""
    dag, source = view.dag, view.document.source
    conditions = [
        (line, position)
        for line in dag.lines_of(Op.JUSTICE)
        if len(dag.arguments(line)) > 1
        for position in range(len(dag.arguments(line)))
    ]

    def shorten(items: Sequence[int]) -> Change:
        out: dict[int, set[int]] = {}
        for item in items:
            line, position = conditions[item]
            out.setdefault(line, set()).add(position)
        edits = []
        for line, positions in sorted(out.items()):
            left = sorted({*range(len(dag.arguments(line)))} - positions)
            if not left:
                return Change(())
            conditions_left = (source(view.argument_node(line, at)) for at in left)
            words = [view.ids[line], b"justice", b"%d" % len(left), *conditions_left]
            edits.append(Edit(view.line_nodes[line], (b" ".join(words) + b"\n",)))
        return Change(tuple(edits), "shorten justice")

    return WholeItems(len(conditions), shorten) if conditions else None


@pass_("symbols")
def symbols(view: BtorView) -> IndependentChanges | None:
    """Removes symbols, comments and superfluous blanks."""
    document, dag = view.document, view.dag
    changes = []
    weights = []
    for line, node in enumerate(view.line_nodes):
        # A symbol is the last word of a line.
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
