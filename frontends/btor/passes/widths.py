"""Narrows bit-vectors and arrays, by classes of nodes that must have the same width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from reducekit.change import Change, Edit
from reducekit.format import pass_
from reducekit.frontends.btor.model.dag import (
    Builder,
    Dag,
    folded_sort,
    line_of,
    literal_value,
    moved,
    of_parts,
)
from reducekit.frontends.btor.model.operators import CONSTANTS, Dialect, Op
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.btor.passes.width_classes import Link, WidthClasses, settled, width_classes
from reducekit.frontends.classes import variables
from reducekit.search.problem import NOTHING, Closure, Items, Selection

# Lines of a graph whose classes are narrowed one by one; each candidate is built from the whole
# graph.
_MOST = 5000
_MANY = 50_000
_LITERALS = frozenset({Op.CONST, Op.CONSTD, Op.CONSTH})
_REDUCTIONS = frozenset({Op.REDOR, Op.REDAND, Op.REDXOR, Op.NEGO})
_SHIFTS = frozenset({Op.SLL, Op.SRL, Op.SRA, Op.ROL, Op.ROR})
# Wider literals are written in hexadecimal: Python refuses to print that many decimal digits.
_WIDE = 10_000


class Narrowed(NamedTuple):
    """A Dag with narrower classes; `place` has the new line of each old one, -1 for none.

    Lines keep their ids. Lines that have no purpose any more (a reduction of one bit, a
    slice of the whole) are gone; what referred to them refers to their operand.
    """

    dag: Dag
    place: Sequence[int]


def narrow(classes: WidthClasses, targets: Mapping[int, int], keep: bool = False) -> Narrowed:
    """Return the Dag with the classes in `targets` at most as wide as they say; well-sorted.

    With `keep`, every line stays, and classes stay as wide as that takes (see `settled`);
    without, operators between classes that no longer fit are replaced: a `concat` by an `or`
    of its operands, or by one of them, sliced or extended, an extension by a slice or the
    other way round, a shift of one bit by an `or`, too. Literals of classes that change keep
    their low bits.
    """
    dag = classes.dag
    narrowing = _Narrowing(classes, settled(classes, targets, keep), keep)
    builder = narrowing.builder
    place: list[int] = []
    meaning: list[int] = []  # by old line, a reference to a new one
    for line, code in enumerate(dag.op):
        new = len(builder)
        args = [] if code == Op.SORT else [moved(each, meaning) for each in dag.arguments(line)]
        meaning.append(-1 if code == Op.SORT else narrowing.line(line, code, args))
        place.append(new if len(builder) > new else -1)
        if len(builder) > new:
            builder.ids[new] = dag.ids[line]
    return Narrowed(builder.dag(), place)


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
        self.changed = {each for each, bits in width.items() if bits != classes.width[each]}

    def line(self, line: int, code: int, args: list[int]) -> int:
        """Add what becomes of a line, at most one; return a reference to it."""
        dag, builder = self.dag, self.builder
        sort = self.sort(line, args)
        numbers, literal = dag.numbers.get(line, ()), dag.literals.get(line, b"")
        # A reduction of one bit is that bit.
        if code in _REDUCTIONS and not self.keep:
            operand = self.classes.class_of(line_of(dag.arguments(line)[0]))
            if operand in self.changed and self.width[operand] == 1:
                return args[0]
        if code in _SHIFTS and self.lost(line, args):
            # Of one bit both: keep what both are made of.
            if builder.width(args[0]) != builder.width(args[1]):
                return args[0]
            code = Op.OR
        link = self.links.get(line)
        if link is not None and not self.changed.isdisjoint((*link.operands, link.result)):
            fitted = self.fitted(link, args)
            if isinstance(fitted, int):
                return fitted
            code, args, numbers = fitted
        elif code in _LITERALS and (own := self.classes.class_of(line)) in self.changed:
            # A literal keeps its kind of digits.
            width = self.width[own]
            value = literal_value(code, literal, dag.width(line)) & ((1 << width) - 1)
            if code == Op.CONST:
                literal = format(value, f"0{width}b").encode()
            elif code == Op.CONSTD and width < _WIDE:
                literal = b"%d" % value
            else:
                code, literal = Op.CONSTH, b"%x" % value
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
            # One operand stays: a computed one, the latest.
            lines = [line_of(each) for each in self.dag.arguments(link.line)]
            at = max((0, 1), key=lambda at: (self.dag.op[lines[at]] not in CONSTANTS, lines[at]))
            arg = args[at]
            first = (first, last)[at]
        elif link.code == Op.SLICE and first >= result:
            if first > result or self.keep:
                # The same low bit, or the nearest one that the narrower operand has.
                low = min(self.dag.numbers[link.line][1], first - result)
                return link.code, [arg], (low + result - 1, low)
        elif link.code != Op.SLICE and (result > first or (result == first and self.keep)):
            return link.code, [arg], (result - first,)
        if first == result:
            return arg
        if first > result:
            return Op.SLICE, [arg], (result - 1, 0)
        return Op.UEXT, [arg], (result - first,)

    def lost(self, line: int, args: list[int]) -> bool:
        """Return whether a shift by log2(width) bits no longer fits."""
        first, second = (line_of(each) for each in self.dag.arguments(line))
        if self.dag.width(first) == self.dag.width(second):
            return False
        width, amount = self.builder.width(args[0]), self.builder.width(args[1])
        return width < 2 or width != 1 << amount

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
            table, of, width = self.builder.table, self.classes.of, self.width
            leaves = variables(term)
            found = self.sorts[key] = folded_sort(
                self.dag.sorts,
                old,
                lambda sort, parts: (
                    table.add(of_parts(sort, parts))
                    if parts
                    else table.bitvec(width[of[next(leaves)]])
                ),
            )
        return found


class WidthItems(Items):
    """Widths to which classes can be narrowed, as items: the narrowest come last.

    An item narrows one class or several. So a search from the back starts with all classes at
    width 1, and continues with halves of them. If several widths of a class are taken, the
    narrowest counts; items that would change nothing any more are orphaned.
    """

    def __init__(
        self, view: BtorView, classes: WidthClasses, steps: Sequence[Mapping[int, int]], keep: bool
    ) -> None:
        self.view = view
        self.classes = classes
        self.steps = steps
        self.keep = keep
        self.two = view.dag.dialect is Dialect.BTOR2
        width = classes.width
        self.weights: Sequence[int] = [
            sum(width[each] - target for each, target in step.items()) for step in steps
        ]
        self._whole = line_texts(narrow(classes, {}, keep), self.two)
        self._last: tuple[dict[int, int], list[bytes]] = ({}, self._whole)

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        least = self._targets([*taken, *chosen])
        widths = self.classes.width
        # An item is used up if its classes are already as narrow as it would make them.
        idle = {
            item
            for item, step in enumerate(self.steps)
            if item not in chosen
            and item not in taken
            and all(least.get(each, widths[each]) <= target for each, target in step.items())
        }
        return Closure(NOTHING, idle)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Return the lines of the graph with all classes narrowed that are chosen or taken."""
        # Edits come on top of those of `taken`: a line with its old text again needs one, too.
        before = self._edited(self._targets(taken))
        after = self._edited(self._targets([*taken, *chosen]))
        whole, nodes, source = self._whole, self.view.line_nodes, self.view.document.source
        edits = []
        if after == before:
            return Change(())
        # A line is compared with what it would be without changes: other layout is no change.
        for line, text in enumerate(after):
            old = source(nodes[line])
            # In BTOR2 new sorts move all ids; else a line that has not changed keeps its words.
            if text != (old if self.two else whole[line]):
                edits.append(Edit(nodes[line], (text,) if text else ()))
            elif text != before[line]:
                edits.append(Edit(nodes[line], (old,)))
        return Change(tuple(edits), "narrow")

    def _targets(self, items: Selection | Sequence[int]) -> dict[int, int]:
        targets: dict[int, int] = {}
        for item in items:
            for each, target in self.steps[item].items():
                targets[each] = min(target, targets.get(each, target))
        return targets

    def _edited(self, targets: dict[int, int]) -> list[bytes]:
        """Return what each line becomes, newline and new `sort` lines before it included."""
        if not targets:
            return self._whole
        # After a success, what was tried is what is taken: its texts are known.
        if self._last[0] != targets:
            self._last = targets, line_texts(narrow(self.classes, targets, self.keep), self.two)
        return self._last[1]


def line_texts(found: Narrowed, two: bool) -> list[bytes]:
    """Return the text of each old line in its new form; empty if it is gone.

    In BTOR2 (`two`) lines get new numbers, and the `sort` lines that they are the first to need
    stand before them.
    """
    dag = found.dag
    lines = canonical(dag, renumber=two).splitlines(keepends=True)
    texts = lines
    if two:
        texts, sorts = [], []
        for text in lines:
            sorts.append(text)
            if text.split(b" ", 2)[1] != b"sort":
                texts.append(b"".join(sorts))
                sorts.clear()
    return [texts[at] if at >= 0 else b"" for at in found.place]


def _powers(width: int) -> list[int]:
    """Return the powers of two below a width."""
    return [1 << each for each in range((width - 1).bit_length())]


class Widths:
    """Narrows width classes, one at a time: to 1, 2 or 4 bits and so on, or by one bit.

    With `keep` the operators between classes stay, and classes only become as narrow as that
    allows (see `narrow`).
    """

    def __init__(self, name: str = "widths", keep: bool = False) -> None:
        self.name = name
        self.keep = keep

    def problem(self, view: BtorView) -> WidthItems | None:
        """Return the classes and widths; None if all have one bit, or the graph is large."""
        dag = view.dag
        if len(dag) > _MOST or dag.dialect is Dialect.BTOR_2007:
            return None
        classes = width_classes(dag)
        width = classes.width
        # In BTOR2 a width that there is already costs no `sort` line.
        # (A new width costs a line, and lines count before widths.)
        known = set(width.values()) if dag.dialect is Dialect.BTOR2 else set()
        found = [
            (-target, width[each], each)
            for each in classes.reducible
            for target in {*_powers(width[each]), width[each] - 1, *known}
            if target < width[each]
        ]
        if not found:
            return None
        steps = [{each: -target} for target, _, each in sorted(found)]
        return WidthItems(view, classes, steps, self.keep)


@pass_("all widths")
def all_widths(view: BtorView) -> WidthItems | None:
    """Limits all widths to 1, 2, 4 and so on, in a few checks even for large graphs."""
    # Widths, an item each; None if all classes have one bit.
    dag = view.dag
    if len(dag) > _MANY or dag.dialect is Dialect.BTOR_2007:
        return None
    classes = width_classes(dag)
    reducible = classes.reducible
    if not reducible:
        return None
    width = classes.width
    # The narrowest limit comes last, where a search from the back begins.
    steps = [
        {each: target for each in reducible if width[each] > target}
        for target in reversed(_powers(width[reducible[0]]))
    ]
    return WidthItems(view, classes, steps, keep=False)
