"""What may be changed in a file of clauses.

Three ideas carry all passes. Clauses and literals are items to be dropped. A variable can be
replaced everywhere, by a constant or another literal: clauses that become true go, literals that
become false too, so that an unsatisfiable formula stays so. And a variable can be eliminated by
resolution, which keeps both answers (Davis & Putnam 1960; here only where it does not grow the
formula, as in Eén & Biere, SAT 2005). Every change brings the header along.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import floor

from reducekit.change import Change, Edit
from reducekit.format import pass_
from reducekit.frontends.cnf.reader import LIMIT, Line, View
from reducekit.frontends.common.items import NodeItems, WholeItems
from reducekit.search.problem import IndependentChanges, IndependentItems, Items, Selection

TRUE = LIMIT
"""A literal that is true; -TRUE is false."""
_MANY = 4000
"""Of a formula with more clauses, no variable is eliminated: each candidate looks at all."""
_LISTS = (b"a", b"e")
_Image = Mapping[int, int]
"""What variables become: literals, TRUE or -TRUE."""


class _Clauses(IndependentItems):
    """Clauses, and lists of variables, as items."""

    free = 0

    def __init__(self, view: View) -> None:
        self.view = view
        first = view.first
        self.weights: Sequence[int] = [
            1 + first[clause + 1] - first[clause] for clause in range(len(view))
        ]
        self._all_count = view.clauses == len(view)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        view = self.view
        edits = view.head(self._counted(chosen) + self._counted(taken))
        edits += (Edit(view.nodes[item], ()) for item in chosen)
        return Change(tuple(edits), "drop clauses")

    def _counted(self, items: Selection) -> int:
        return len(items) if self._all_count else sum(map(self.view.counts, items))


@pass_("clauses", lambda view: len(view) > 0)
def clauses(view: View) -> Items:
    """Drops clauses, and lists of variables."""
    return _Clauses(view)


@pass_("literals", lambda view: bool(view.literals))
def literals(view: View) -> Items:
    """Drops literals."""
    nodes = array("i")
    for clause in range(len(view)):
        nodes.extend(view.literal_nodes(clause))
    return NodeItems(view.document, nodes, lambda node: Edit(node, ()), "drop literals")


class _Replaced(IndependentItems):
    """Variables as items; `image` says what the chosen ones become."""

    def __init__(
        self, view: View, variables: Sequence[int], image: Callable[[Iterable[int]], _Image],
        what: str,
    ) -> None:  # fmt: skip
        self.view, self.variables, self.what = view, variables, what
        self._image = image
        self.weights: Sequence[int] = [len(view.occurrences[each]) for each in variables]
        self._earlier: tuple[Selection | None, _Image, frozenset[int]] = (None, {}, frozenset())

    def change(self, chosen: Selection, taken: Selection) -> Change:
        view = self.view
        before, gone = self._after(taken)
        image = self._image(self.variables[item] for item in sorted({*chosen, *taken}))
        changed = [each for each, becomes in image.items() if before.get(each) != becomes]
        touched = sorted({clause for each in changed for clause in view.occurrences[each]})
        dropped = set(gone)
        edits: list[Edit] = []
        for clause in touched:
            line = replaced(view.line(clause), image)
            edits.append(Edit(view.nodes[clause], () if line is None else (bytes(line),)))
            if view.counts(clause):
                (dropped.add if line is None else dropped.discard)(clause)
        return Change((*view.head(len(dropped)), *edits), self.what)

    def _after(self, taken: Selection) -> tuple[_Image, frozenset[int]]:
        """Return what variables have become, and which clauses are gone that a header counts."""
        if self._earlier[0] is not taken:
            view = self.view
            image = self._image(self.variables[item] for item in sorted(taken))
            touched = {clause for each in image for clause in view.occurrences[each]}
            gone = (
                clause
                for clause in touched
                if view.counts(clause) and replaced(view.line(clause), image) is None
            )
            self._earlier = (taken, image, frozenset(gone))
        return self._earlier[1:]


def replaced(line: Line, image: _Image) -> Line | None:
    """Return a clause after a replacement of variables; None if it is true, or an empty list."""
    listed = line.prefix in _LISTS or line.prefix.startswith(b"c")
    found: dict[int, None] = {}
    for literal in line.literals:
        becomes = image.get(abs(literal))
        if becomes is None:
            becomes = literal
        elif literal < 0:
            becomes = -becomes
        if listed:
            # Of quantified and counted variables only names are left; assumptions keep signs.
            if abs(becomes) != TRUE:
                found[abs(becomes) if literal > 0 and line.prefix != b"a" else becomes] = None
        elif becomes == TRUE or -becomes in found:
            return None
        elif becomes != -TRUE:
            found[becomes] = None
    return None if listed and not found else Line(line.prefix, list(found))


def _constant(view: View, *, against: bool) -> Items:
    surplus = dict.fromkeys(view.variables, 0)
    for literal in view.literals:
        surplus[abs(literal)] += 1 if literal > 0 else -1

    def image(variables: Iterable[int]) -> _Image:
        return {each: TRUE if (surplus[each] >= 0) != against else -TRUE for each in variables}

    return _Replaced(view, view.variables, image, "set variables")


@pass_("constants", lambda view: bool(view.variables))
def constants(view: View) -> Items:
    """Makes variables constant, so that most of their literals are true."""
    return _constant(view, against=False)


@pass_("other constants", lambda view: bool(view.variables))
def other_constants(view: View) -> Items:
    """Makes variables constant, so that most of their literals are false."""
    return _constant(view, against=True)


def _merged(view: View, sign: int) -> Items:
    before = dict(zip(view.variables[1:], view.variables, strict=False))

    def image(variables: Iterable[int]) -> _Image:
        found: dict[int, int] = {}
        for each in variables:  # ascending, so the one before is known
            stays = before[each]
            found[each] = sign * found.get(stays, stays)
        return found

    return _Replaced(view, view.variables[1:], image, "merge variables")


@pass_("merges", lambda view: len(view.variables) > 1)
def merges(view: View) -> Items:
    """Replaces variables by the one before that stays."""
    return _merged(view, 1)


@pass_("negated merges", lambda view: len(view.variables) > 1)
def negated_merges(view: View) -> Items:
    """Replaces variables by the negation of the one before that stays."""
    return _merged(view, -1)


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


@pass_("weights", lambda view: view.format == "wcnf")
def weights(view: View) -> Iterable[Change]:
    """Makes the weights of soft clauses 1, and that of hard ones just larger than their sum."""
    hard = [clause for clause, prefix in enumerate(view.prefixes) if view.is_hard(prefix)]
    for clause in sorted({*range(len(view))}.difference(hard)):
        if view.prefixes[clause] not in (b"1", b"0"):
            yield Change((Edit(view.nodes[clause] + 1, (b"1",)),), "weights")
    if view.header is None or view.top is None:
        return
    soft = sum(map(float, view.prefixes)) - sum(float(view.prefixes[clause]) for clause in hard)
    top = floor(soft) + 1
    if top < view.top:
        header = Edit(view.header_node, (b"p wcnf %d %d %d" % (*view.header[:2], top),))
        own = (Edit(view.nodes[clause] + 1, (b"%d" % top,)) for clause in hard)
        yield Change((header, *own), "weights")


@pass_("header")
def header(view: View) -> Items | None:
    """Corrects a wrong header; of a right one, the variables that no clause has go."""
    if view.header is None or len(view.header) < 2:
        return None
    largest = max(view.variables, default=0)
    right = view.header[1] == view.clauses and view.header[0] >= largest
    if right and view.header[0] == largest:
        return None
    edits = view.head(0, largest if right else max(largest, view.header[0]), right=True)
    return IndependentChanges([Change(tuple(edits), "header")])


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
