"""What may be changed in a file of clauses.

Clauses and literals are items to be dropped, and weights are made smaller. A variable can be
eliminated by resolution, which keeps both answers (Davis & Putnam 1960; here only where it does not
grow the formula, as in Eén & Biere, SAT 2005), or replaced (`variables`). Every change brings the
header along.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import product
from math import ceil, floor

from reducekit.change import Change, Edit
from reducekit.format import pass_
from reducekit.frontends.cnf.reader import Line, View
from reducekit.frontends.common.items import Least, NodeItems, WholeItems
from reducekit.frontends.common.variables import Dropped
from reducekit.search.problem import (
    NOTHING,
    FixedSearch,
    IndependentChanges,
    Items,
)

_WEIGHTED = ("wcnf", "knf")
_MANY = 4000
"""Of a formula with more clauses, no variable is eliminated: each candidate looks at all."""


@pass_("clauses", lambda view: len(view) > 0)
def clauses(view: View) -> Items:
    """Drops clauses, and lists of variables."""
    first = view.first
    weights = [1 + first[clause + 1] - first[clause] for clause in range(len(view))]
    return Dropped(view, weights, "drop clauses")


def only(view: View, kept: Sequence[int], *, once: bool = False) -> bytes:
    """Return the text with some clauses only; `once`: each literal once in a clause."""
    dropped = frozenset(range(len(view))).difference(kept)
    edits = {
        each.node: each.template for each in Dropped(view, (), "").change(dropped, NOTHING).edits
    }
    for clause in kept if once else ():
        nodes = view.literal_nodes(clause)
        last = {*dict(zip(view.line(clause).literals, nodes, strict=True)).values()}
        edits |= {node: () for node in nodes if node not in last}
    return view.document.render(edits)


@pass_("literals", lambda view: bool(view.literals))
def literals(view: View) -> Items:
    """Drops literals."""
    nodes = array("i")
    for clause in range(len(view)):
        # The first one of a dependency set is the variable itself.
        nodes.extend(view.literal_nodes(clause)[view.prefixes[clause] == b"d" :])
    return NodeItems(view.document, nodes, lambda node: Edit(node, ()), "drop literals")


@pass_("names")
def names(view: View) -> Items | None:
    """Numbers variables from 1 without gaps, in the header, too: one item."""
    image = {each: at for at, each in enumerate(view.variables, 1)}
    edits = view.head(0, len(image))
    for clause in range(len(view)):
        line = view.line(clause)
        renamed = Line(
            line.prefix, [image[each] if each > 0 else -image[-each] for each in line.literals]
        )
        if renamed != line:
            edits.append(Edit(view.nodes[clause], (bytes(renamed),)))
    same = view.header is None or len(view.header) < 2 or view.header[0] == len(image)
    if same and len(edits) == len(view.head(0)):
        return None
    return IndependentChanges([Change(tuple(edits), "number variables")])


def _eliminated(view: View, variables: Sequence[int]) -> Change:
    """Return the change that eliminates variables: their clauses become their resolvents."""
    clauses: list[Sequence[int]] = [line.literals for line in view.lines()]
    places = list(range(len(clauses)))
    before = list(filter(view.counts, range(len(view))))
    alive = dict.fromkeys(before)
    for variable in variables:
        resolved = _resolvents(variable, [(each, clauses[each]) for each in alive], places)
        if resolved is None:
            return Change(())
        gone, new = resolved
        for each in gone:
            del alive[each]
        alive.update(dict.fromkeys(range(len(clauses), len(clauses) + len(new))))
        clauses += new
        places += new.values()
    added: dict[int, list[bytes]] = {each: [] for each in before if each not in alive}
    if not added:
        return Change(())
    for each in alive:
        if each >= len(view):
            added[places[each]].append(bytes(Line(b"", clauses[each])))
    edits = (
        Edit(view.nodes[each], (b"\n".join(lines),) if lines else ())
        for each, lines in added.items()
    )
    head = view.head(len(added) - sum(map(len, added.values())))
    return Change((*head, *edits), "eliminate variables")


def _resolvent(variable: int, both: Iterable[int]) -> tuple[int, ...] | None:
    """Return two clauses without a variable as one; None if that is always true."""
    literals = {each for each in both if abs(each) != variable}
    if any(-each in literals for each in literals):
        return None
    return tuple(sorted(literals, key=lambda each: (abs(each), each)))


def _resolvents(
    variable: int, clauses: Sequence[tuple[int, Sequence[int]]], places: Sequence[int]
) -> tuple[list[int], dict[tuple[int, ...], int]] | None:
    """Return the clauses of a variable, and what is there without it; None if that is more.

    A resolvent stands in the place of the later of its clauses: a query between the two that has
    seen only the first one does not know it.
    """
    both = [(at, each) for at, each in clauses if variable in each or -variable in each]
    # A clause with both literals is true: nothing follows from it.
    positive = [(at, each) for at, each in both if -variable not in each]
    negative = [(at, each) for at, each in both if variable not in each]
    if not 0 < len(positive) * len(negative) <= 16:
        return None
    before = len(both) + sum(len(each) for _, each in both)
    found: dict[tuple[int, ...], int] = {}
    for (one_at, one), (other_at, other) in product(positive, negative):
        resolvent = _resolvent(variable, (*one, *other))
        if resolvent is not None:
            place = max(places[one_at], places[other_at])
            found[resolvent] = min(place, found.get(resolvent, place))
    if sum(map(len, found)) + len(found) >= before:
        return None
    return [at for at, _ in both], found


@pass_("eliminations", lambda view: view.format in ("cnf", "icnf") and len(view) <= _MANY)
def eliminations(view: View) -> Items | None:
    """Eliminates variables: their clauses become the resolvents, if these are shorter."""
    listed: set[int] = set()
    inside: dict[int, list[tuple[int, Sequence[int]]]] = {}
    for at, (prefix, literals) in enumerate(view.lines()):
        variables = set(map(abs, literals))
        if prefix:
            listed |= variables
        for variable in () if prefix else variables:
            inside.setdefault(variable, []).append((at, literals))
    found = [
        each
        for each in sorted(inside.keys() - listed)
        if _resolvents(each, inside[each], range(len(view))) is not None
    ]
    if not found:
        return None
    return WholeItems(len(found), lambda items: _eliminated(view, [found[each] for each in items]))


@pass_("comments", lambda view: bool(view.comments))
def comments(view: View) -> Items:
    """Drops comments."""
    return NodeItems(view.document, view.comments, lambda node: Edit(node, ()), "drop comments")


@pass_("largest weight", lambda view: view.format in _WEIGHTED)
def largest_weight(view: View) -> FixedSearch | None:
    """Makes all larger weights of soft clauses, or bounds, the same: a search by halving."""
    found = _weights(view)
    if not found:
        return None
    return FixedSearch(
        Least(
            lambda most: (_weigh(view, each, most) for each, own in found.items() if own > most),
            "weights", 1, 0, ceil(max(found.values())),
        )
    )  # fmt: skip


@pass_("weights", lambda view: view.format in (*_WEIGHTED, "xcnf"))
def weights(view: View) -> Iterable[Change]:
    """Makes the weights of soft clauses 1, and clauses of cardinalities and parities."""
    for clause in _weights(view):
        yield Change((_weigh(view, clause, 1),), "weights")


def _weigh(view: View, clause: int, weight: int) -> Edit:
    """Return the edit that gives a clause a weight, or a bound: with 1 it is an ordinary one."""
    text = b"%d" % weight if view.format == "wcnf" else b"k %d" % weight if weight > 1 else b""
    return Edit(view.nodes[clause] + 1, (text,) if text else ())


def _weights(view: View) -> dict[int, float]:
    """Return the soft clauses with weights other than 0 and 1, or the cardinalities, and these.

    Parities count as cardinalities here.
    """
    if view.format == "wcnf":
        return {
            clause: float(prefix)
            for clause, prefix in enumerate(view.prefixes)
            if prefix not in (b"0", b"1") and not view.is_hard(prefix)
        }
    return {
        clause: float(prefix[2:] or 0)
        for clause, prefix in enumerate(view.prefixes)
        if prefix[:1] in (b"k", b"x")
    }


@pass_("soft clauses", lambda view: view.format == "wcnf")
def soft_clauses(view: View) -> Iterable[Change]:
    """Makes soft clauses hard."""
    top = b"h" if view.header is None else None if view.top is None else b"%d" % view.top
    for clause, prefix in enumerate(view.prefixes):
        if top is not None and not view.is_hard(prefix):
            yield Change((Edit(view.nodes[clause] + 1, (top,)),), "make hard")


@pass_("top weight", lambda view: view.format == "wcnf" and view.top is not None)
def top_weight(view: View) -> Items | None:
    """Makes the weight of hard clauses just larger than the sum of the others: one item."""
    hard = [clause for clause, prefix in enumerate(view.prefixes) if view.is_hard(prefix)]
    soft = sum(map(float, view.prefixes)) - sum(float(view.prefixes[clause]) for clause in hard)
    top = floor(soft) + 1
    if view.header is None or view.top is None or top >= view.top:
        return None
    header = Edit(view.header_node, (b"p wcnf %d %d %d" % (*view.header[:2], top),))
    own = (Edit(view.nodes[clause] + 1, (b"%d" % top,)) for clause in hard)
    return IndependentChanges([Change((header, *own), "weights")])


@pass_("header")
def header(view: View) -> Items | None:
    """Corrects a wrong header; in a right one, drops the variables that no clause has."""
    if view.header is None or len(view.header) < 2:
        return None
    largest = max(view.variables, default=0)
    right = view.header[1] == view.clauses and view.header[0] >= largest
    if right and view.header[0] == largest:
        return None
    edits = view.head(0, largest if right else max(largest, view.header[0]), right=True)
    return IndependentChanges([Change(tuple(edits), "header")])


@pass_("fewest variables", lambda view: view.header is not None and len(view.header) > 1)
def fewest_variables(view: View) -> FixedSearch:
    """Searches the fewest variables that the header may say, by halving."""
    most, largest = (view.header or (0,))[0], max(view.variables, default=0)
    return FixedSearch(Least(partial(view.head, 0), "header", largest, largest - 1, most))


@pass_("layout")
def layout(view: View) -> Items | None:
    """Writes one clause a line, with single blanks: all lines at once."""
    lines = [bytes(line) for line in view.lines()]
    if view.header_node >= 0:
        lines.insert(0, b" ".join(view.document.source(view.header_node).split()))
    text = b"\n".join((*lines, b""))
    if view.comments or len(text) >= len(view.document.text):
        return None
    return IndependentChanges([Change((Edit(0, (text,)),), "layout")])
