"""What may be changed in pseudo-Boolean constraints; each change brings the header along."""

import re
from bisect import bisect
from collections import Counter
from collections.abc import Sequence

from reducekit.change import Change, Edit
from reducekit.format import pass_
from reducekit.frontends.common.items import Least, NodeItems, WholeItems
from reducekit.frontends.common.statements import laid_out, renamed, without
from reducekit.frontends.common.variables import Dropped
from reducekit.frontends.opb.reader import View, problems
from reducekit.search.problem import FixedSearch, IndependentChanges, Items


@pass_("constraints")
def constraints(view: View) -> Items:
    """Drops constraints, and the objective."""
    stop = view.document.stop
    return Dropped(view, [stop[node] - node for node in view.nodes], "drop constraints")


@pass_("terms")
def terms(view: View) -> Items:
    """Drops terms; a constraint without any goes, too."""
    spans = [each.span() for each in re.finditer(rb"n?v+", view.kinds)]
    owners = [bisect(view.nodes, first) - 1 for first, _ in spans]
    whole = Counter(owners)

    def dropped(items: Sequence[int]) -> Change:
        chosen = Counter(owners[item] for item in items)
        gone = {each for each, n in chosen.items() if n == whole[each] and view.counts(each)}
        edits = [Edit(view.nodes[each], ()) for each in gone]
        for item in items:
            if owners[item] not in gone:
                edits += (Edit(node, ()) for node in range(*spans[item]))
        return Change((*view.head(len(gone)), *edits), "drop terms")

    return WholeItems(len(spans), dropped)


@pass_("factors")
def factors(view: View) -> Items:
    """Drops literals of products, but for the first ones."""
    return without(view, [at.start() for at in re.finditer(rb"(?<=v)v", view.kinds)], "factors")


def _numbers(view: View) -> dict[int, int]:
    """Return the nodes of costs, coefficients and degrees of more than one, and their values."""
    found = {each: int(view.document.source(each).strip(b"[] \t")) for each in view.of_kind(b"nw")}
    return {each: value for each, value in found.items() if abs(value) > 1}


def _number(view: View, node: int, value: int) -> Edit:
    return Edit(node, (b"[%d]" % value if view.kinds[node] == b"w"[0] else b"%d" % value,))


@pass_("simpler")
def simpler(view: View) -> Items:
    """Makes soft constraints hard, relations `>=`, and numbers 1 or -1."""
    numbers = _numbers(view)

    def edit(node: int) -> Edit:
        if view.kinds[node] == b"n"[0]:
            return _number(view, node, 1 if numbers[node] > 0 else -1)
        return Edit(node, (b">=",) if view.kinds[node] == b"r"[0] else ())

    found = [
        each for each in view.of_kind(b"wrn")
        if each in numbers or (view.kinds[each] != b"n"[0] and view.document.source(each) != b">=")
    ]  # fmt: skip
    return NodeItems(view.document, found, edit, "simpler")


@pass_("largest number")
def largest(view: View) -> FixedSearch | None:
    """Makes all numbers above some limit that limit: a search by halving."""
    found = _numbers(view)
    if not found:
        return None

    def limited(most: int) -> list[Edit]:
        return [
            _number(view, node, most if value > 0 else -most)
            for node, value in found.items() if abs(value) > most
        ]  # fmt: skip

    return FixedSearch(Least(limited, "numbers", 1, 0, max(map(abs, found.values()))))


@pass_("halves")
def halves(view: View) -> Items:
    """Makes numbers half as large."""
    found = _numbers(view)

    def edit(node: int) -> Edit:
        value = found[node]
        return _number(view, node, value // 2 if value > 0 else -(-value // 2))

    return NodeItems(view.document, [*found], edit, "numbers")


@pass_("names")
def names(view: View) -> Items | None:
    """Names variables x1, x2, ... in the order in which they appear: one item."""
    return renamed(view, b"x", view.head(0, len(view.variables)))


@pass_("header")
def header(view: View) -> Items | None:
    """Corrects the header."""
    if not problems(view):
        return None
    return IndependentChanges([Change(tuple(view.head(0, view.largest)), "header")])


@pass_("layout")
def layout(view: View) -> Items | None:
    """Writes one statement a line, without needless blanks: all lines at once."""
    lines = [view.written(view.statement(at)) for at in range(len(view.nodes))]
    return laid_out(view, lines, lambda header: b" ".join(header.split()))
