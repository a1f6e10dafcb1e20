"""What may be changed in quantified circuits."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from reducekit.change import Change, Edit
from reducekit.format import pass_
from reducekit.frontends.common.items import NodeItems, WholeItems
from reducekit.frontends.common.statements import laid_out, neighbours, renamed
from reducekit.frontends.common.variables import Replaced, joined
from reducekit.frontends.qcir.reader import View
from reducekit.search.problem import IndependentChanges, Items


@pass_("unused")
def unused(view: View) -> Items | None:
    """Drops gates and variables that the output does not need: all at once."""
    gates = {each.defines: each for each in view.statements if each.defines}
    todo, used = [*view.outputs], set(view.outputs)
    while todo:
        gate = gates.get(todo.pop())
        if gate is not None:
            more = {abs(each) for each in (*gate.literals, gate.body)} - used
            used |= more
            todo += more
    edits = []
    for node, each in zip(view.nodes, view.statements, strict=True):
        if each.defines and each.defines not in used:
            edits.append(Edit(node, ()))
        elif not each.defines and not used.issuperset(map(abs, each.literals)):
            left = [literal for literal in each.literals if abs(literal) in used]
            text = view.written(each._replace(literals=left))
            edits.append(Edit(node, (text,) if left else ()))
    return IndependentChanges([Change(tuple(edits), "unused")]) if edits else None


@pass_("merges")
def merges(view: View) -> Items:
    """Replaces gates by their operands, and variables by those defined before."""
    pairs = neighbours(view)
    for gate in view.statements:
        inside = ((gate.defines, each) for each in (gate.body, *gate.literals) if each)
        pairs += (each for each in inside if gate.defines > abs(each[1]))
    return Replaced(view, view.replaced, pairs, joined, "merge variables")


@pass_("operands")
def operands(view: View) -> Items:
    """Drops operands of conjunctions and disjunctions."""
    found = [
        (at, place)
        for at, each in enumerate(view.statements)
        if each.kind in (b"and", b"or")
        for place in range(len(each.literals))
    ]

    def dropped(items: Sequence[int]) -> Change:
        gone = defaultdict[int, set[int]](set)
        for item in items:
            gone[found[item][0]].add(found[item][1])
        return Change(tuple(_shorter(view, gone.items())), "drop operands")

    return WholeItems(len(found), dropped)


def _shorter(view: View, gone: Iterable[tuple[int, set[int]]]) -> Iterable[Edit]:
    for at, places in gone:
        gate = view.statements[at]
        left = [each for place, each in enumerate(gate.literals) if place not in places]
        yield Edit(view.nodes[at], (view.written(gate._replace(literals=left)),))


@pass_("kinds")
def kinds(view: View) -> Items:
    """Makes gates disjunctions, and quantifiers existential."""
    gates = [each.start() for each in re.finditer(rb"g", view.kinds)]
    found = [
        each for each in (*gates, *view.of_kind(b"q"))
        if view.document.source(each) in (b"and", b"xor", b"ite", b"forall")
    ]  # fmt: skip

    def edit(node: int) -> Edit:
        return Edit(node, (b"or" if view.kinds[node] == b"g"[0] else b"exists",))

    return NodeItems(view.document, found, edit, "kinds")


@pass_("names")
def names(view: View) -> Items | None:
    """Names variables 1, 2, ... in the order in which they are defined: one item."""
    head = []
    if view.header >= 0:
        source = view.document.source(view.header)
        text = re.sub(rb"(?<=[ \t])[0-9]+", b"%d" % len(view.variables), source, count=1)
        head.append(Edit(view.header, (text,)))
    return renamed(view, b"", head)


@pass_("layout")
def layout(view: View) -> Items | None:
    """Writes one statement a line: all lines at once."""
    return laid_out(view, [view.written(each) for each in view.statements])
