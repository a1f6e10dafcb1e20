"""Width classes: which nodes have to be of one width, and graphs in which classes are narrower.

Every operator's pattern of sorts (`operators`) is a set of equations between widths.
Equal ones are solved by union-find, so that a class of nodes can be made narrower as one;
index and element widths of arrays are members like any other. What relates different
widths (`slice`, `uext`, `sext`, `concat`, reductions, BTOR1's shift amounts) lies between
classes, and is repaired after the fact: bounds and amounts are computed anew, or the node
gives way to its operand where the operator has no purpose any more.

The thesis names this as future work (A. Vida, Linz 2008, chapter 6).
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from reducekit.frontends.btor.model.dag import (
    Array,
    BitVec,
    Builder,
    Dag,
    Function,
    SortTable,
    line_of,
    literal_value,
)
from reducekit.frontends.btor.model.operators import CONSTANTS, Dialect, Op, Operator, spelling

Term: TypeAlias = "int | tuple[Term, ...]"
"""The widths of a line: a class, or those of index and element (of parameters and result)."""

_LITERALS = frozenset({Op.CONST, Op.CONSTD, Op.CONSTH})
_BETWEEN = frozenset({Op.SLICE, Op.UEXT, Op.SEXT, Op.CONCAT})
_ONE = 0  # the class of what has one bit by rule


class Link(NamedTuple):
    """A line between classes: its operator, the classes of its operands and of its result."""

    line: int
    code: int
    operands: tuple[int, ...]
    result: int


@dataclass(frozen=True, slots=True, eq=False)
class WidthClasses:
    """The width classes of a Dag.

    `terms` has an entry a line (None for declarations and sorts), in variables; `of` gives
    the class of a variable, `width` the width of each class in bits. `links` are slices,
    extensions and concatenations, `shifts` pairs of classes (shifted, amount) of shifts
    by log2(width) bits, `wide` classes that need two bits for an operator's sake.
    """

    dag: Dag
    terms: Sequence[Term | None]
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
    return _Classes(dag).run()


class _Classes:
    """Union-find over variables for widths; variable 0 is one bit."""

    def __init__(self, dag: Dag) -> None:
        self.dag = dag
        self.up: list[int] = [_ONE]
        self.terms: list[Term | None] = []
        self.widths: list[int] = [1]
        self.shifts: list[tuple[int, int]] = []
        self.links: list[Link] = []
        self.wide: list[int] = []
        self.rows: dict[tuple[int, bool], Operator | None] = {}

    def run(self) -> WidthClasses:
        dag, terms = self.dag, self.terms
        for line, code in enumerate(dag.op):
            terms.append(None if code == Op.SORT else self.line(line, code))
        of = array("i", map(self.find, range(len(self.up))))
        width = {each: self.widths[each] for each in of}
        links = [
            Link(line, code, tuple(of[each] for each in operands), of[result])
            for line, code, operands, result in self.links
        ]
        shifts = sorted({(of[shifted], of[amount]) for shifted, amount in self.shifts})
        wide = frozenset(of[each] for each in self.wide)
        return WidthClasses(dag, terms, of, width, links, shifts, wide)

    def line(self, line: int, code: int) -> Term | None:
        """Add the equations of a line and return its widths."""
        dag = self.dag
        arguments = dag.arguments(line)
        given = [self.term(each) for each in arguments]
        if code == Op.INIT and isinstance(given[0], tuple) and not isinstance(given[1], tuple):
            # An array starts as one constant everywhere.
            self.unify(given[0][-1], given[1])
            return None
        if code == Op.LAMBDA:
            body = given[1]
            return (given[0], *(body if isinstance(body, tuple) else (body,)))
        if code == Op.APPLY:
            function = given[0]
            assert isinstance(function, tuple)
            for parameter, each in zip(function, given[1:], strict=False):
                self.unify(parameter, each)
            return function[-1]
        row = self.row(line, code)
        bound: dict[str, Term] = {}
        for pattern, term in zip(_patterns(row, len(given)), given, strict=True):
            self.operand(pattern, term, bound)
        return self.result(row, line, code, given, bound)

    def operand(self, pattern: str, term: Term, bound: dict[str, Term]) -> None:
        """Add the equation of an operand."""
        if pattern == "1":
            self.unify(term, _ONE)
        elif pattern == "I:E":
            assert isinstance(term, tuple)
            for letter, each in zip("IE", term, strict=True):
                self.unify(bound.setdefault(letter, each), each)
        elif pattern in ("log", "n/log"):
            shifted = bound["n"]
            assert isinstance(term, int)
            assert isinstance(shifted, int)
            if self.widths[term] == self.widths[shifted]:
                self.unify(term, shifted)
            else:
                self.shifts.append((shifted, term))
        else:
            if pattern == "n>1":
                assert isinstance(term, int)
                self.wide.append(term)
            self.unify(bound.setdefault(pattern[0], term), term)

    def result(
        self, row: Operator, line: int, code: int, given: Sequence[Term], bound: dict[str, Term]
    ) -> Term | None:
        pattern = row.result
        if pattern == "-":
            return None
        if pattern == "1":
            return _ONE
        if pattern == "I:E" and given:
            return bound["I"], bound["E"]
        if pattern in bound:
            return bound[pattern]
        fresh = self.fresh(self.dag.sort[line])
        if code in _BETWEEN:
            assert isinstance(fresh, int)
            operands = tuple(each for each in given if isinstance(each, int))
            self.links.append(Link(line, code, operands, fresh))
        return fresh

    def row(self, line: int, code: int) -> Operator:
        sort = self.dag.sort[line]
        key = code, sort >= 0 and isinstance(self.dag.sorts[sort], Array)
        if key not in self.rows:
            self.rows[key] = spelling(self.dag.dialect, *key)
        row = self.rows[key]
        assert row is not None
        return row

    def term(self, reference: int) -> Term:
        term = self.terms[reference if reference >= 0 else ~reference]
        assert term is not None
        return term

    def fresh(self, sort: int) -> Term:
        """Return new variables for a sort. Parts are made before what they are part of."""
        sorts = self.dag.sorts
        made: list[Term] = []
        work = [(sort, False)]
        while work:
            at, ready = work.pop()
            found = sorts[at]
            if isinstance(found, BitVec):
                self.up.append(len(self.up))
                self.widths.append(found.width)
                made.append(len(self.up) - 1)
                continue
            parts = (
                (found.index, found.element)
                if isinstance(found, Array)
                else (*found.parameters, found.result)
            )
            if ready:
                made[-len(parts) :] = [tuple(made[-len(parts) :])]
            else:
                work.append((at, True))
                work += [(each, False) for each in reversed(parts)]
        return made[0]

    def find(self, variable: int) -> int:
        up = self.up
        while up[variable] != variable:
            up[variable] = up[up[variable]]
            variable = up[variable]
        return variable

    def unify(self, a: Term, b: Term) -> None:
        if a is b:
            return
        work = [(a, b)]
        while work:
            x, y = work.pop()
            if isinstance(x, int) and isinstance(y, int):
                x, y = self.find(x), self.find(y)
                if x < y:
                    self.up[y] = x
                elif y < x:
                    self.up[x] = y
            elif isinstance(x, tuple) and isinstance(y, tuple):
                work += zip(x, y, strict=True)


def _patterns(row: Operator, count: int) -> Sequence[str]:
    if row.operands and row.operands[-1].endswith("*"):
        return [row.operands[0].removesuffix("*")] * count
    return row.operands


# Narrower graphs.


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
    changed = True
    while changed:
        changed = _lower(classes, width, keep)
    while _raise(classes, width, keep):
        pass
    return width


def _lower(classes: WidthClasses, width: dict[int, int], keep: bool) -> bool:
    """Make dependent classes narrower; return whether there were any."""
    changed = False
    for link in classes.links:
        if link.code == Op.CONCAT:
            most = sum(width[each] for each in link.operands)
        elif link.code == Op.SLICE:
            most = width[link.operands[0]]
        else:
            continue
        if width[link.result] > most:
            width[link.result] = most
            changed = True
    for shifted, amount in classes.shifts:
        if width[shifted] < 1 << width[amount]:
            bits = max(1, (width[shifted] - 1).bit_length())
            if width[amount] > bits:
                width[amount] = bits
                changed = True
        elif width[shifted] > 1 << width[amount]:
            width[shifted] = 1 << width[amount]
            changed = True
    return changed


def _raise(classes: WidthClasses, width: dict[int, int], keep: bool) -> bool:
    """Make classes wider that are too narrow; return whether there were any.

    All stays within the widths of the Dag, where every equation holds; so this ends.
    """
    changed = False

    def least(each: int, bits: int) -> None:
        nonlocal changed
        if width[each] < bits:
            width[each] = bits
            changed = True

    if keep and classes.dag.dialect is not Dialect.BTOR2:
        for each in classes.wide:
            least(each, 2)
    for shifted, amount in classes.shifts:
        if keep or width[shifted] > 1:
            least(shifted, max(2, 1 << (width[shifted] - 1).bit_length(), 1 << width[amount]))
            least(amount, width[shifted].bit_length() - 1)
    if not keep:
        return changed
    for link in classes.links:
        first = link.operands[0]
        if link.code == Op.SLICE:
            least(first, width[link.result])
        elif link.code == Op.CONCAT:
            last = link.operands[1]
            least(link.result, width[first] + width[last])
            if first == last:
                least(first, (width[link.result] + 1) // 2)
            else:
                # The lower part takes what there is room for, the upper one the rest.
                lacking = width[link.result] - width[first] - width[last]
                room = min(lacking, classes.width[last] - width[last])
                least(last, width[last] + room)
                least(first, width[first] + lacking - room)
        else:
            least(first, 1)
            least(link.result, width[first])
    return changed


class Narrowed(NamedTuple):
    """A Dag with narrower classes; `place` has the new line of each old one, -1 for none.

    Lines keep their ids. Lines that have no purpose any more (a reduction of one bit, a
    slice of the whole) are gone; what referred to them refers to their operand.
    """

    dag: Dag
    place: Sequence[int]


def narrow(
    classes: WidthClasses,
    targets: Mapping[int, int],
    keep: bool = False,
) -> Narrowed:
    """Return the Dag with the classes in `targets` at most as wide as they say; well-sorted.

    With `keep`, every line stays, and classes stay as wide as that takes (see `settled`);
    without, operators between classes that no longer fit are replaced: a `concat` by an `or`
    of its operands, or by one of them, sliced or extended, an extension by a slice or the
    other way round, a shift of one bit by an `or`, too. Literals of classes that change keep
    their low bits.
    """
    return _Narrowing(classes, settled(classes, targets, keep), keep).run()


class _Narrowing:
    """Copies a Dag line by line."""

    def __init__(self, classes: WidthClasses, width: Mapping[int, int], keep: bool) -> None:
        self.classes = classes
        self.width = width
        self.keep = keep
        self.dag = classes.dag
        self.builder = Builder(self.dag.dialect)
        self.sorts: dict[tuple[int, int], int] = {}
        self.links = {link.line: link for link in classes.links}

    def run(self) -> Narrowed:
        dag, builder = self.dag, self.builder
        place: list[int] = []
        meaning: list[int] = []  # by old line, a reference to a new one
        for line, code in enumerate(dag.op):
            new = len(builder)
            if code == Op.SORT:
                meaning.append(-1)
            else:
                args = [
                    meaning[each] if each >= 0 else ~meaning[~each] for each in dag.arguments(line)
                ]
                meaning.append(self.line(line, code, args))
            if len(builder) > new:
                builder.ids[new] = dag.ids[line]
                place.append(new)
            else:
                place.append(-1)
        return Narrowed(builder.dag(), place)

    def line(self, line: int, code: int, args: list[int]) -> int:
        """Add what becomes of a line, at most one; return a reference to it."""
        dag, builder = self.dag, self.builder
        sort = self.sort(line, args)
        numbers, literal = dag.numbers.get(line, ()), dag.literals.get(line, b"")
        if not self.keep and code in _ONE_OPERAND and self.is_now(dag.arguments(line)[0], 1):
            return args[0]
        if code in _SHIFTS and self.lost(line, args):
            # Of one bit both: keep what both are made of.
            if builder.width(args[0]) != builder.width(args[1]):
                return args[0]
            code = Op.OR
        if line in self.links and any(map(self.changed, _classes(self.links[line]))):
            link = self.links[line]
            fitted = self.fitted(link, args)
            if isinstance(fitted, int):
                return fitted
            code, args, numbers = fitted
        elif code in _LITERALS and self.changed(self.classes.class_of(line)):
            code, literal = self.literal(line, code)
        symbol = dag.symbols.get(line, b"")
        return builder.add(code, sort, args, numbers, literal, symbol)

    def fitted(self, link: Link, args: list[int]) -> int | tuple[int, list[int], tuple[int, ...]]:
        """Return what a link becomes: another reference, or an operator with its numbers."""
        result, first = self.width[link.result], self.width[link.operands[0]]
        arg = args[0]
        if link.code == Op.CONCAT:
            last = self.width[link.operands[1]]
            if result == first + last:
                return link.code, args, ()
            if result == first == last:
                return Op.OR, args, ()
            at = max((0, 1), key=lambda each: self.worth(link.line, each))
            arg = args[at]
            first = (first, last)[at]
        elif link.code == Op.SLICE and first >= result:
            if first > result or self.keep:
                low = min(self.dag.numbers[link.line][1], first - result)
                return link.code, [arg], (low + result - 1, low)
        elif link.code != Op.SLICE and (result > first or (result == first and self.keep)):
            return link.code, [arg], (result - first,)
        if first == result:
            return arg
        if first > result:
            return Op.SLICE, [arg], (result - 1, 0)
        return Op.UEXT, [arg], (result - first,)

    def worth(self, line: int, at: int) -> tuple[bool, int]:
        """Rank the operands of a concat that cannot stay: computed ones, the latest first."""
        operand = line_of(self.dag.arguments(line)[at])
        return self.dag.op[operand] not in CONSTANTS, operand

    def lost(self, line: int, args: list[int]) -> bool:
        """Return whether a shift by log2(width) bits no longer fits."""
        first, second = (line_of(each) for each in self.dag.arguments(line))
        if self.dag.width(first) == self.dag.width(second):
            return False
        width, amount = self.builder.width(args[0]), self.builder.width(args[1])
        return width < 2 or width != 1 << amount

    def literal(self, line: int, code: int) -> tuple[int, bytes]:
        """Return a literal of the new width, in digits of the same kind."""
        dag = self.dag
        width = self.width[self.classes.class_of(line)]
        value = literal_value(code, dag.literals[line], dag.width(line)) & ((1 << width) - 1)
        if code == Op.CONST:
            return code, format(value, f"0{width}b").encode()
        if code == Op.CONSTD and width < _MANY:
            return code, b"%d" % value
        return Op.CONSTH, b"%x" % value

    def is_now(self, reference: int, width: int) -> bool:
        """Return whether an operand has become so narrow, and has not been."""
        each = self.classes.class_of(line_of(reference))
        return self.changed(each) and self.width[each] == width

    def changed(self, each: int) -> bool:
        return self.width[each] != self.classes.width[each]

    def sort(self, line: int, args: Sequence[int]) -> int:
        """Return the new sort of a line."""
        old, term = self.dag.sort[line], self.classes.terms[line]
        if old < 0:
            return -1
        if term is None:  # init, next
            return self.builder.sort[line_of(args[0])]
        key = old, id(term)  # terms live as long as the classes
        found = self.sorts.get(key)
        if found is None:
            found = self.sorts[key] = self.new_sort(old, term)
        return found

    def new_sort(self, old: int, term: Term) -> int:
        table: SortTable = self.builder.table
        sorts, of, width = self.dag.sorts, self.classes.of, self.width
        made: list[int] = []
        work: list[tuple[int, Term, bool]] = [(old, term, False)]
        while work:
            at, each, ready = work.pop()
            found = sorts[at]
            if isinstance(each, int):
                made.append(table.bitvec(width[of[each]]))
                continue
            count = len(each)
            if not ready:
                work.append((at, each, True))
                assert not isinstance(found, BitVec)
                work += [(part, of_part, False) for part, of_part in _parts(found, each)][::-1]
                continue
            *parameters, result = made[-count:]
            if isinstance(found, Function):
                new = table.add(Function(tuple(parameters), result))
            else:
                new = table.array(parameters[0], result)
            made[-count:] = [new]
        return made[0]


_ONE_OPERAND = frozenset({Op.REDOR, Op.REDAND, Op.REDXOR, Op.NEGO})
_SHIFTS = frozenset({Op.SLL, Op.SRL, Op.SRA, Op.ROL, Op.ROR})
_MANY = 10_000
"""Wider literals are written in hexadecimal: Python refuses to print that many decimal digits."""


def _classes(link: Link) -> Sequence[int]:
    return (*link.operands, link.result)


def _parts(sort: Array | Function, term: tuple[Term, ...]) -> list[tuple[int, Term]]:
    sorts = (
        (sort.index, sort.element) if isinstance(sort, Array) else (*sort.parameters, sort.result)
    )
    return list(zip(sorts, term, strict=True))
