"""Width classes: which nodes have to be of one width, and how narrow classes can be.

Every operator's pattern of sorts (`operators`) is a set of equations between widths.
Equal ones are solved by unification, so that a class of nodes can be made narrower as one;
index and element widths of arrays are members like any other. What relates different
widths (`slice`, `uext`, `sext`, `concat`, reductions, BTOR1's shift amounts) lies between
classes, and is repaired after the fact (`widths.narrow`).

The thesis names this as future work (A. Vida, Linz 2008, chapter 6).
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from reducekit.frontends.btor.model.dag import Array, BitVec, Dag, Sort, folded_sort, line_of
from reducekit.frontends.btor.model.operators import Dialect, Op, Operator, spelling
from reducekit.frontends.classes import Classes, Pattern

_BETWEEN = frozenset({Op.SLICE, Op.UEXT, Op.SEXT, Op.CONCAT})
# The class of what has one bit by rule.
_ONE = 0


class Link(NamedTuple):
    """A line between classes: its operator, the classes of its operands and of its result."""

    line: int
    code: int
    operands: tuple[int, ...]
    result: int


@dataclass(frozen=True, slots=True, eq=False)
class WidthClasses:
    """The width classes of a Dag.

    `terms` has the pattern of each line (None for declarations and sorts), in which widths are
    variables: one, or those of index and element, of parameters and result. `of` gives the class
    of a variable, `width` the width of each class in bits. `links` are slices, extensions and
    concatenations, `shifts` pairs of classes (shifted, amount) of shifts by log2(width) bits,
    `wide` classes that need two bits for an operator's sake.
    """

    dag: Dag
    terms: Sequence[Pattern]
    of: Sequence[int]
    width: Mapping[int, int]
    links: Sequence[Link]
    shifts: Sequence[tuple[int, int]]
    wide: frozenset[int]

    @property
    def reducible(self) -> Sequence[int]:
        """The classes of more than one bit, the widest first."""
        found = [each for each, width in self.width.items() if width > 1]
        return sorted(found, key=lambda each: (-self.width[each], each))

    def class_of(self, line: int) -> int:
        """Return the class of a bit-vector line, -1 for any other."""
        term = self.terms[line]
        return self.of[term] if isinstance(term, int) else -1


def width_classes(dag: Dag) -> WidthClasses:
    """Return the classes; near linear in the lines."""
    found = _Equations(dag)
    # All equations are known, so what was said of variables holds for classes. A class is named by
    # its first variable.
    first: dict[int, int] = {}
    variables = range(len(found.widths))
    of = array("i", [first.setdefault(found.classes.find(each), each) for each in variables])
    links = [
        Link(line, code, tuple(of[each] for each in operands), of[result])
        for line, code, operands, result in found.links
    ]
    shifts = sorted({(of[shifted], of[amount]) for shifted, amount in found.shifts})
    width = {each: found.widths[each] for each in of}
    wide = frozenset(of[each] for each in found.wide)
    return WidthClasses(dag, found.terms, of, width, links, shifts, wide)


class _Equations:
    """The equations of all lines; variable 0 is one bit."""

    def __init__(self, dag: Dag) -> None:
        self.dag = dag
        self.classes = Classes()
        self.widths = self.classes.value
        self.terms: list[Pattern] = []
        self.shifts: list[tuple[int, int]] = []
        self.links: list[Link] = []
        self.wide: list[int] = []
        self.classes.variable(1)
        self._row = cache(self._spelling)
        for line, code in enumerate(dag.op):
            self.terms.append(None if code == Op.SORT else self._line(line, code))

    def _spelling(self, code: int, sort: int) -> Operator:
        on_array = sort >= 0 and isinstance(self.dag.sorts[sort], Array)
        row = spelling(self.dag.dialect, code, on_array)
        assert row is not None
        return row

    def _line(self, line: int, code: int) -> Pattern:
        """Add the equations of a line and return its widths."""
        unify = self.classes.unify
        # Operands come first, so their widths are known.
        given = [self.terms[line_of(each)] for each in self.dag.arguments(line)]
        if code == Op.INIT and isinstance(given[0], tuple) and not isinstance(given[1], tuple):
            # An array starts as one constant everywhere.
            unify(given[0][-1], given[1])
            return None
        if code == Op.LAMBDA:
            parameter, body = given
            return ("->", parameter, *(body[1:] if isinstance(body, tuple) else (body,)))
        if code == Op.APPLY:
            for parameter, argument in zip(given[0][1:], given[1:], strict=False):
                unify(parameter, argument)
            return given[0][-1]
        row = self._row(code, self.dag.sort[line])
        patterns: Sequence[str] = row.operands
        if patterns and patterns[-1].endswith("*"):
            patterns = [patterns[0].removesuffix("*")] * len(given)
        bound: dict[str, Pattern] = {}
        for pattern, term in zip(patterns, given, strict=True):
            self._operand(pattern, term, bound)
        if row.result == "-":
            return None
        if row.result == "1":
            return _ONE
        if row.result == "I:E" and given:
            return "Array", bound["I"], bound["E"]
        if row.result in bound:
            return bound[row.result]

        def variables(sort: Sort, parts: tuple[Pattern, ...]) -> Pattern:
            if isinstance(sort, BitVec):
                return self.classes.variable(sort.width)
            return ("Array" if isinstance(sort, Array) else "->", *parts)

        fresh = folded_sort(self.dag.sorts, self.dag.sort[line], variables)
        if code in _BETWEEN:
            self.links.append(Link(line, code, tuple(given), fresh))
        return fresh

    def _operand(self, pattern: str, term: Pattern, bound: dict[str, Pattern]) -> None:
        """Add the equation of an operand."""
        unify = self.classes.unify
        if pattern == "1":
            unify(term, _ONE)
        elif pattern == "I:E":
            for letter, each in zip("IE", term[1:], strict=True):
                unify(bound.setdefault(letter, each), each)
        elif pattern in ("log", "n/log") and self.widths[term] != self.widths[bound["n"]]:
            self.shifts.append((bound["n"], term))
        elif pattern in ("log", "n/log"):
            # Where both forms are allowed, the widths in the file say which one it is.
            unify(term, bound["n"])
        else:
            if pattern == "n>1":
                self.wide.append(term)
            unify(bound.setdefault(pattern[0], term), term)


def settled(
    classes: WidthClasses, targets: Mapping[int, int], keep: bool = False
) -> Mapping[int, int]:
    """Return the width of each class when those in `targets` get at most their targets.

    What depends on a narrower class becomes narrower along: the result of a `concat` or
    `slice`, the other part of a shift by log2(width) bits. With `keep`, classes are then made
    wider again, up to what they are in the Dag, until every operator between classes fits.
    """
    whole = classes.width
    width = {each: min(bits, targets.get(each, bits)) for each, bits in whole.items()}
    while _lower(classes, width):
        pass
    # All stays within the widths of the Dag, where every equation holds; so this ends.
    while _raise(classes, width, keep):
        pass
    return width


def _lower(classes: WidthClasses, width: dict[int, int]) -> bool:
    """Make dependent classes narrower; return whether there were any."""
    before = sum(width.values())
    # Extensions need no lower bound here: they become slices where the result is narrower.
    for link in classes.links:
        if link.code == Op.CONCAT:
            most = sum(width[each] for each in link.operands)
        elif link.code == Op.SLICE:
            most = width[link.operands[0]]
        else:
            continue
        width[link.result] = min(width[link.result], most)
    for shifted, amount in classes.shifts:
        if width[shifted] < 1 << width[amount]:
            width[amount] = min(width[amount], max(1, (width[shifted] - 1).bit_length()))
        else:
            width[shifted] = 1 << width[amount]
    return sum(width.values()) != before


def _raise(classes: WidthClasses, width: dict[int, int], keep: bool) -> bool:
    """Make classes wider that are too narrow; return whether there were any."""
    before = sum(width.values())

    def least(each: int, bits: int) -> None:
        width[each] = max(width[each], bits)

    if keep and classes.dag.dialect is not Dialect.BTOR2:
        for each in classes.wide:
            least(each, 2)
    for shifted, amount in classes.shifts:
        if keep or width[shifted] > 1:
            least(shifted, max(2, 1 << (width[shifted] - 1).bit_length(), 1 << width[amount]))
            least(amount, width[shifted].bit_length() - 1)
    for link in classes.links if keep else ():
        first = link.operands[0]
        if link.code == Op.SLICE:
            least(first, width[link.result])
        elif link.code != Op.CONCAT:
            least(first, 1)
            least(link.result, width[first])
        else:
            last = link.operands[1]
            least(link.result, width[first] + width[last])
            if first == last:
                # concat x x: half of the result each.
                least(first, (width[link.result] + 1) // 2)
            else:
                # The lower part takes what there is room for, the upper one the rest.
                lacking = width[link.result] - width[first] - width[last]
                room = min(lacking, classes.width[last] - width[last])
                least(last, width[last] + room)
                least(first, width[first] + lacking - room)
    return sum(width.values()) != before
