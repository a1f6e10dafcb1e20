"""What variables may become: constants, or literals of others.

Clauses that become true go, literals that become false too, so that an unsatisfiable formula stays
so. Every change brings the header along.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Generic, TypeVar

from reducekit.change import Change, Edit
from reducekit.format import pass_
from reducekit.frontends.cnf.reader import LIMIT, Line, View, is_list
from reducekit.search.problem import (
    IndependentItems,
    Items,
    Selection,
)

TRUE = LIMIT
"""A literal that is true; -TRUE is false."""
_WIDE = 8
"""Of longer clauses no pairs are looked at: there are too many."""
_EACH = 2
"""Literals of other variables that a variable is replaced by, besides those of the one before."""
_Image = Mapping[int, int]
"""What variables become: literals, TRUE or -TRUE."""
_T = TypeVar("_T")


class _Replaced(IndependentItems, Generic[_T]):
    """Replacements as items; `image` says what variables become by some of them, in order."""

    def __init__(
        self, view: View, items: Sequence[_T], image: Callable[[Iterable[_T]], _Image],
        what: str, weights: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        self.view, self.items, self.what = view, items, what
        self._image = image
        self.weights: Sequence[int] = weights or b"\1" * len(items)
        self._earlier: tuple[Selection | None, _Image, frozenset[int]] = (None, {}, frozenset())

    def change(self, chosen: Selection, taken: Selection) -> Change:
        view = self.view
        before, gone = self._after(taken)
        image = self._image(self.items[item] for item in sorted({*chosen, *taken}))
        changed = [each for each, becomes in image.items() if before.get(each) != becomes]
        touched = sorted({clause for each in changed for clause in view.occurrences[each]})
        dropped = set(gone)
        edits: list[Edit] = []
        for clause in touched:
            line = replaced(view.line(clause), image, view.universal)
            edits.append(Edit(view.nodes[clause], () if line is None else (bytes(line),)))
            if view.counts(clause):
                (dropped.add if line is None else dropped.discard)(clause)
        return Change((*view.head(len(dropped)), *edits), self.what)

    def _after(self, taken: Selection) -> tuple[_Image, frozenset[int]]:
        """Return what variables have become, and which clauses are gone that a header counts."""
        if self._earlier[0] is not taken:
            view = self.view
            image = self._image(self.items[item] for item in sorted(taken))
            touched = {clause for each in image for clause in view.occurrences[each]}
            gone = (
                clause
                for clause in touched
                if view.counts(clause) and replaced(view.line(clause), image) is None
            )
            self._earlier = (taken, image, frozenset(gone))
        return self._earlier[1:]


def replaced(line: Line, image: _Image, universal: frozenset[int] | None = None) -> Line | None:
    """Return a clause after a replacement of variables; None if it is true, or an empty list.

    `universal` as in `View.universal`.
    """
    prefix, before = line
    kind = prefix[:1]
    literals = [image.get(each, each) if each > 0 else -image.get(-each, -each) for each in before]
    if is_list(prefix):
        return _listed(prefix, before, literals, universal)
    if kind == b"x":
        return _parity(literals)
    if kind == b"k":
        return _at_least(int(prefix[2:]), literals)
    found: dict[int, None] = {}
    for literal in literals:
        if literal == TRUE or -literal in found:
            return None
        if literal != -TRUE:
            found[literal] = None
    return Line(prefix, list(found))


def _listed(
    prefix: bytes, before: Sequence[int], after: Sequence[int], universal: frozenset[int] | None
) -> Line | None:
    """Return a list of variables or assumptions: what has become a constant is no longer in it.

    A quantified variable that has become another one is that, which is bound where it is.
    """
    if prefix == b"d" and [*before[:1]] != [*after[:1]]:
        return None
    found: dict[int, None] = {}
    for at, (was, literal) in enumerate(zip(before, after, strict=True)):
        if abs(literal) == TRUE:
            continue
        if universal is None:
            # Of counted variables only names are left; assumptions keep signs.
            found[literal if prefix == b"a" else abs(literal)] = None
        elif was == literal or (prefix == b"d" and at and abs(literal) in universal):
            found[abs(literal)] = None
    return Line(prefix, list(found)) if found or (universal is None and prefix == b"a") else None


def _parity(literals: Iterable[int]) -> Line | None:
    """Return the clause by which an odd number of literals is true, each variable once."""
    odd, found = True, dict[int, None]()
    for literal in literals:
        variable = abs(literal)
        odd ^= (literal < 0) != (variable == TRUE)
        if variable in found:
            del found[variable]
        elif variable != TRUE:
            found[variable] = None
    if not found:
        return Line(b"", []) if odd else None
    first, *rest = found
    return Line(b"x", [first if odd else -first, *rest])


def _at_least(bound: int, literals: Iterable[int]) -> Line | None:
    """Return the clause by which so many literals are true; of two opposite ones, one is.

    Each once, as solvers ask for: of equal ones only one is left.
    """
    found: dict[int, None] = {}
    for literal in literals:
        if literal == TRUE:
            bound -= 1
        elif -literal in found:
            bound -= 1
            del found[-literal]
        elif literal != -TRUE:
            found[literal] = None
    if bound <= 0:
        return None
    if bound > len(found):
        return Line(b"", [])
    return Line(b"k %d" % bound, list(found))


def _constant(view: View, *, against: bool) -> Items:
    surplus = dict.fromkeys(view.variables, 0)
    for literal in view.literals:
        surplus[abs(literal)] += 1 if literal > 0 else -1

    def image(variables: Iterable[int]) -> _Image:
        return {each: TRUE if (surplus[each] >= 0) != against else -TRUE for each in variables}

    weights = [len(view.occurrences[each]) for each in view.variables]
    return _Replaced(view, view.variables, image, "set variables", weights)


@pass_("constants", lambda view: bool(view.variables))
def constants(view: View) -> Items:
    """Makes variables constant, so that most of their literals are true."""
    return _constant(view, against=False)


@pass_("other constants", lambda view: bool(view.variables))
def other_constants(view: View) -> Items:
    """Makes variables constant, so that most of their literals are false."""
    return _constant(view, against=True)


def joined(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return what variables become where each of some is made equal to a literal of another.

    That is a literal of the smallest of all that are equal. A pair that contradicts others says
    nothing.
    """
    parent: dict[int, int] = {}

    def root(literal: int) -> int:
        variable = abs(literal)
        way, sign = [], 1
        while variable in parent:
            way.append((variable, sign))
            sign *= 1 if parent[variable] > 0 else -1
            variable = abs(parent[variable])
        for each, before in way:
            parent[each] = before * sign * variable
        return sign * variable if literal > 0 else -sign * variable

    for pair in pairs:
        one, other = sorted(map(root, pair), key=abs)
        if abs(one) != abs(other):
            parent[abs(other)] = one if other > 0 else -one
    return {each: root(each) for each in [*parent]}


@pass_("merges", lambda view: len(view.variables) > 1)
def merges(view: View) -> Items:
    """Replaces variables by literals of others: those they share clauses with, and the one before.

    The pairs that take away most come first.
    """
    gains: Counter[tuple[int, int]] = Counter()
    for clause in range(len(view)):
        literals = view.line(clause).literals
        if not view.counts(clause) or len(literals) > _WIDE:
            continue
        for pair in combinations(sorted(set(literals), key=abs), 2):
            low, high = pair if pair[1] > 0 else (-pair[0], -pair[1])
            gains[high, low] += 1  # one of two equal literals
            gains[high, -low] += len(literals)  # the clause
    many: Counter[int] = Counter()
    found = dict.fromkeys(
        pair
        for before, each in zip(view.variables, view.variables[1:], strict=False)
        for pair in ((each, -before), (each, before))
    )
    for pair, _ in gains.most_common():
        if many[pair[0]] < _EACH:
            many[pair[0]] += 1
            found.setdefault(pair)
    pairs = sorted(found, key=lambda pair: gains[pair])  # a search begins at the end
    return _Replaced(view, pairs, joined, "merge variables")
