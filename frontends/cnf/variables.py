"""What variables may become: constants, or literals of others.

Clauses that become true go, literals that become false too, so that an unsatisfiable formula stays
so. Every change brings the header along.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

from reducekit.format import pass_
from reducekit.frontends.cnf.reader import Line, View, is_list
from reducekit.frontends.common.variables import (
    TRUE,
    Image,
    Replaced,
    Rewrite,
    constant,
    image_of,
    joined,
)
from reducekit.search.problem import Items

_WIDE = 8
"""Of longer clauses no pairs are looked at: there are too many."""
_EACH = 2
"""Literals of other variables that a variable is replaced by, besides those of the one before."""


def replaced(line: Line, image: Image, universal: frozenset[int] | None = None) -> Line | None:
    """Return a clause after a replacement of variables; None if it is true, or an empty list.

    `universal` as in `View.universal`.
    """
    prefix, before = line
    kind = prefix[:1]
    literals = [image_of(each, image) for each in before]
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
    """Return a list of variables or assumptions without those that are constant now.

    A quantified variable that was merged into another is removed: the other has its own quantifier.
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
    """Return the parity: an odd number of literals is true. Equal variables cancel out."""
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
    """Return the cardinality with this bound. A literal and its negation add one to the count.

    Solvers require that literals differ, so duplicates are removed.
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


def _rewrite(view: View) -> Rewrite:
    def rewritten(clause: int, image: Image) -> bytes | None:
        line = replaced(view.line(clause), image, view.universal)
        return None if line is None else bytes(line)

    return rewritten


@pass_("constants")
def constants(view: View) -> Items | None:
    """Makes variables constant, so that most of their literals are true."""
    return constant(view, _rewrite(view), against=False)


@pass_("other constants")
def other_constants(view: View) -> Items | None:
    """Makes variables constant, so that most of their literals are false."""
    return constant(view, _rewrite(view), against=True)


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
    return Replaced(view, _rewrite(view), pairs, joined, "merge variables")
