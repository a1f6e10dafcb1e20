"""Changes the sort of all terms that must have the same one: to Bool, Int, a smaller float.

Which terms must have the same sort follows from the operators, as for widths. A
class of such terms changes its sort as a whole: symbols are redeclared, bound
variables change their sort, and literals become literals of the new sort. An
operator that the new sort does not have is replaced by one of its arguments, or
by a constant if no argument fits, and a relation by an equality. The result is
well-sorted, and often one level less deep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from reducekit.frontends.classes import Classes, Pattern, variables
from reducekit.frontends.smt2.graph.agreement import (
    OTHER,
    Reading,
    constant_array,
    is_array,
    is_constant_array,
    is_container,
    is_empty_container,
    roles,
    with_sort,
)
from reducekit.frontends.smt2.graph.model import Graph, Shape, variables_of
from reducekit.frontends.smt2.graph.site import QUANTIFIERS, Candidate, Site, with_variables
from reducekit.frontends.smt2.language.constants import shortest
from reducekit.frontends.smt2.language.sorts import Sort

# Each try rebuilds and prints the whole graph, as for widths.
_CLASSES = 12
"""The maximum number of classes to try, the largest first."""
_SIDES = frozenset((b"=", b"distinct"))
_ARITHMETIC = frozenset(b"+ - * < <= > >= abs".split())
_FREE_ROOTS = frozenset((b"assert", b"get-value"))
# A format small enough to read its values, and Float16 and Float32, which have names.
_FLOATS: Sequence[Sort] = (
    ("FloatingPoint", 3, 5),
    ("FloatingPoint", 5, 11),
    ("FloatingPoint", 8, 24),
)

_SPECIAL = re.compile(rb"\(_ (\+oo|-oo|\+zero|-zero|NaN) [0-9]+ [0-9]+\)")
_CONVERSION = re.compile(rb"\(_ (to_fp|to_fp_unsigned) ([0-9]+) ([0-9]+)\)")
_BITS = frozenset((b"fp.to_ieee_bv", b"to_ieee_bv"))
"""Operators whose result is as wide as the format."""


class _Sorts(Reading):
    """The classes of terms of a graph that must have the same sort.

    Arrays, sets and other containers have no class themselves, only their elements do. With
    `containers`, a container of elements that are not containers has a class instead.
    """

    def __init__(self, site: Site, *, containers: bool = False) -> None:
        super().__init__(site, Classes())
        self.containers = containers
        self.literal: dict[tuple[int, int], Pattern] = {}
        """By node and position: the pattern of a literal argument. Each use may differ."""
        self.variable: dict[int, Pattern] = {}
        """By bound variable."""
        self.named: set[int] = set()
        """Variables of declared symbols, bound variables and containers."""
        self.floats: set[int] = set()
        """Variables of floating-point literals."""
        # Unification of sorts, as in the inference of Damas and Milner (POPL 1982) but over a
        # finished graph: each operator says which of its places agree; classes that meet a place
        # with a fixed sort are frozen. The rest can change as a whole, and stays well-sorted.
        roots = set(self.graph.roots)
        for node in site.analysis.order:
            self._read(node, is_root=node in roots)

    def new(self, sort: Sort | None) -> Pattern:
        if is_container(sort):
            if not self.containers or any(map(is_container, sort[1:])):
                return (sort[0], *map(self.new, sort[1:]))
        elif isinstance(sort, tuple):
            if sort[0] not in ("BitVec", "FloatingPoint") or not isinstance(sort[-1], int):
                return (sort,)
        elif sort in (None, "", "Bool", "RegLan", "RoundingMode"):
            return sort
        return self.classes.variable(sort)

    def _read(self, node: int, *, is_root: bool) -> None:
        graph, freeze = self.graph, self.classes.freeze
        shape, sort = graph.shape[node], graph.sort[node]
        given = [self._given(node, at, each) for at, each in enumerate(graph.args[node])]
        if shape.variable >= 0:
            self.pattern[node] = self._variable(shape.variable)
            return
        own = self.pattern[node] = self.new(sort)
        items = variables_of(shape)
        if is_root:
            # A command that spells the sorts of its variables, as a definition does.
            if shape.head not in _FREE_ROOTS:
                bound = {variable for each in shape.binds for variable in each}
                freeze(*given, *map(self._variable, sorted(bound.union(items))))
        elif shape.fresh or shape.names or sort is None:
            freeze(own, *given, *map(self._variable, items))
        elif len(shape.uses) == 1 and shape.uses[0] in self.declared:
            self._read_application(shape.uses[0], (*given, own))
        elif shape.binds:
            # A binder that is no plain quantifier spells the sorts of its variables.
            known = dict.fromkeys(variable for each in shape.binds for variable in each)
            plain = shape.head in QUANTIFIERS and not shape.raw and shape.arity == 1
            plain = plain and self.site.are_sorted(items)
            if not plain or set(items) != known.keys():
                freeze(*map(self._variable, (*known, *items)))
            if not plain:
                freeze(own, *given)
        else:
            self._read_operator(node, own, given)

    def _given(self, node: int, position: int, argument: int) -> Pattern:
        """Return the pattern of an argument."""
        sort = self.graph.sort[argument]
        if not is_literal(self.graph, argument):
            return self.pattern[argument]
        own = self.literal[node, position] = self.new(sort)
        if is_container(own):
            self.named.update(variables(own))
        elif isinstance(sort, tuple) and sort[0] == "FloatingPoint":
            self.floats.update(variables(own))
        return own

    def _variable(self, number: int) -> Pattern:
        known = self.variable.get(number)
        if known is None:
            known = self.variable[number] = self.new(self.graph.variables[number])
            self.named.update(variables(known))
        return known

    def _read_application(self, number: int, given: tuple[Pattern, ...]) -> None:
        signature = self.signature(number)
        self.named.update(each for pattern in signature for each in variables(pattern))
        if len(signature) != len(given):
            self.classes.freeze(*signature, *given)
            return
        for one, other in zip(signature, given, strict=True):
            self.classes.unify(one, other)

    def _read_operator(self, node: int, own: Pattern, given: list[Pattern]) -> None:
        graph, unify = self.graph, self.classes.unify
        shape = graph.shape[node]
        head = shape.head
        if not shape.arity and not shape.uses:
            if not is_literal(graph, node):
                self.classes.freeze(own)
        elif head == b"ite" and len(given) == 3:
            unify(own, given[1])
            unify(own, given[2])
        elif head in _SIDES:
            for each in given[1:]:
                unify(given[0], each)
        elif self.elements(head, given, own):
            if is_constant_array(head):
                self.named.update(variables(own))
        elif shape.uses or shape is not graph.shapes.application(head, shape.arity):
            self.classes.freeze(own, *given)
        else:
            # Nothing says that places of one sort agree. But the operator goes with its sort, and
            # one of its arguments takes its place: that works only if they change together.
            first: dict[Sort, int] = {}
            for each in (own, *given):
                if isinstance(each, int):
                    unify(each, first.setdefault(self.classes.instance(each), each))
                else:
                    self.classes.freeze(each)


def is_literal(graph: Graph, node: int) -> bool:
    """Return whether a node is a literal of a theory."""
    shape = graph.shape[node]
    if shape.arity or shape.variable >= 0 or shape.fresh:
        return False
    if is_container(graph.sort[node]):
        return is_empty_container(shape.head)
    return not shape.uses


def resort(site: Site) -> Iterator[Candidate]:
    """Changes all terms that must have the same sort to Bool, Int, or a float of fewer bits."""
    yield from _resorted(_Sorts(site))
    if any(is_container(site.graph.sort[node]) for node in site.nodes):
        yield from _resorted(_Sorts(site, containers=True))


def _resorted(read: _Sorts) -> Iterator[Candidate]:
    """Yield the graphs in which one class has another sort."""
    classes = read.classes
    named = set(map(classes.find, read.named))
    floats = set() if read.containers else set(map(classes.find, read.floats)) - named
    named = {each for each in named if is_container(classes.value[each]) == read.containers}
    ranked = classes.largest((*read.pattern.values(), *read.literal.values()))
    for number in [each for each in ranked if each in named or each in floats][:_CLASSES]:
        for target in _targets(classes.value[number])[number in floats :]:
            candidate = _changed(read, number, target)
            if candidate is not None:
                yield candidate


def _targets(sort: Sort) -> list[Sort]:
    """Return the sorts to try instead of one, the simplest first."""
    if isinstance(sort, tuple):
        if sort[0] == "FloatingPoint":
            (exponent, significand), fewer = _format(sort), []
            for each in _FLOATS:
                one, other = _format(each)
                if each != sort and one <= exponent and other <= significand:
                    fewer.append(each)
            return ["Bool", *fewer]
        return ["Bool"] if is_container(sort) or sort == ("BitVec", 1) else []
    return ["Bool", "Int"] if sort in ("Real", "String") else ["Bool"]


def _changed(read: _Sorts, number: int, target: Sort) -> Candidate | None:
    """Return the graph in which a class has another sort; None if it cannot be built."""
    site, graph, instance = read.site, read.graph, read.classes.instance
    constants = site.constants(target)
    if not constants:
        return None
    if target == "Bool":
        constants = constants[::-1]  # the most used literal gets the shorter one
    change = _Change(site, read.classes.value[number], target, constants)
    renamed: dict[int, int] = {}
    """A variable for each one that has another sort then."""
    for variable, pattern in read.variable.items():
        sort = instance(pattern, number, target)
        if sort != graph.variables[variable]:
            renamed[variable] = graph.copy_of(variable, sort)
    new: dict[int, int] = {}
    for node in site.analysis.order:
        shape, args = graph.shape[node], graph.args[node]
        sort = instance(read.pattern[node], number, target)
        changed = tuple(
            new[each]
            if (node, position) not in read.literal
            else change.literal(each, instance(read.literal[node, position], number, target))
            for position, each in enumerate(args)
        )
        bound = [variable for each in shape.binds for variable in each]
        made: int | None
        if any(each in renamed for each in bound):
            written = [renamed.get(each, each) for each in bound]
            made = graph.add(site.quantifier(shape.head, written), changed, sort)
        elif changed == args and sort == graph.sort[node]:
            made = node
        elif bound:
            made = graph.add(shape, changed, sort)
        elif shape.variable >= 0:
            made = graph.add(with_variables(graph, shape, renamed), (), sort)
        else:
            made = change.application(node, changed, sort)
        if made is None:
            return None
        new[node] = made
    return read.rebuilt("sort", new, number, target)


class _Change(NamedTuple):
    """Translates literals and operators of one sort to another one."""

    site: Site
    before: Sort
    after: Sort
    constants: Sequence[bytes]

    def literal(self, node: int, sort: Sort | None) -> int:
        """Return the new literal: the first literal becomes the first constant of the sort, etc."""
        graph, site = self.site.graph, self.site
        if sort == graph.sort[node]:
            return node
        text = graph.shape[node].head
        if is_container(sort):
            return site.leaf(with_sort(text, sort), sort)
        other: bytes | None = None
        if isinstance(self.after, tuple):
            match = _SPECIAL.fullmatch(text)
            other = match and b"(_ %b %d %d)" % (match[1], *_format(self.after))
        elif self.after == "Int" and b"." in text:
            other = text.partition(b".")[0]
        if other is None:
            first = site.constants(self.before)[:1] == [text]
            other = self.constants[0 if first else min(1, len(self.constants) - 1)]
        return site.leaf(other, self.after)

    def application(self, node: int, args: tuple[int, ...], sort: Sort | None) -> int | None:
        """Return the replacement of a term that binds nothing; None if there is none."""
        graph = self.site.graph
        shape = graph.shape[node]
        if shape.arity == 0 and not shape.uses:
            return node
        if sort is not None and (array := constant_array(self.site, node, args, sort)) is not None:
            return array
        if sort is None or self._is_indifferent(node, args, sort):
            return graph.add(shape, args, sort)
        return self._operator(node, args, sort)

    def _is_indifferent(self, node: int, args: tuple[int, ...], sort: Sort) -> bool:
        """Return whether an operator says of its arguments' sorts only that some agree."""
        graph, shape = self.site.graph, self.site.graph.shape[node]
        if shape.uses or shape.head == b"ite":
            return True
        if shape.head in (b"select", b"store") and is_array(graph.sort[args[0]]):
            return True
        # A container operator is still valid if the other sorts do not change.
        before = (*(graph.sort[each] for each in graph.args[node]), graph.sort[node])
        after = (*(graph.sort[each] for each in args), sort)
        found = roles(shape.head, after)
        return bool(found) and all(
            role != OTHER or one == other
            for role, one, other in zip(found, before, after, strict=True)
        )

    def _operator(self, node: int, args: tuple[int, ...], sort: Sort | None) -> int | None:
        """Return the replacement of an application of a theory operator."""
        site, graph = self.site, self.site.graph
        shape = graph.shape[node]
        head = shape.head
        sorts = [graph.sort[each] for each in args]
        if sorts == [graph.sort[each] for each in graph.args[node]] and sort == graph.sort[node]:
            return graph.add(shape, args, sort)
        if isinstance(self.after, tuple):
            return _narrowed_float(site, shape, args, sort)
        fit = [each for each in args if graph.sort[each] == self.after]
        terms = [each for each in fit if not is_literal(graph, each)]
        if self.after == sort == "Bool" and len(terms) == 1:
            return terms[0]  # an equality with a literal adds at most a negation
        if head in _SIDES or (self.after == "Int" and head in _ARITHMETIC):
            return graph.add(shape, args, sort)
        if self.after == sort == "Bool" and len(fit) > 1:
            return graph.add(graph.shapes.application(b"=", len(fit)), tuple(fit), sort)
        if sort == self.after and fit:
            return fit[0]
        texts = site.constants(sort) if sort != self.before else []
        return site.leaf(texts[0], sort) if texts else None


def _narrowed_float(
    site: Site, shape: Shape, args: tuple[int, ...], sort: Sort | None
) -> int | None:
    """Add an operator on floats of a smaller format in place of one on a larger; None: cannot."""
    graph = site.graph
    if shape.head in _BITS:
        texts = site.constants(sort)
        return site.leaf(texts[0], sort) if texts else None
    if not isinstance(sort, tuple) or sort[0] != "FloatingPoint":
        return graph.add(shape, args, sort)
    after = _format(sort)
    conversion = _CONVERSION.fullmatch(shape.head)
    if conversion is not None:
        if len(args) == 1:
            args = (_low_bits(site, args[0], sum(after)),)
        return site.applied(b"(_ %b %d %d)" % (conversion[1], *after), *args, sort=sort)
    if shape.head == b"fp" and len(args) == 3:
        widths = (1, after[0], after[1] - 1)
        bits = [value for each in args if (value := graph.value(each)) is not None]
        if len(bits) == 3:
            before = (graph.width(args[1]), graph.width(args[2]) + 1)
            fields = zip(narrowed(bits, before, after), widths, strict=True)
            args = tuple(site.leaf(shortest(each, n), ("BitVec", n)) for each, n in fields)
        else:
            args = tuple(map(_low_bits, (site,) * 3, args, widths))
    return graph.add(shape, args, sort)


def _format(sort: Any) -> tuple[int, int]:
    """Return the number of bits of the exponent and of the significand of a float."""
    return sort[1], sort[2]


def _low_bits(site: Site, node: int, width: int) -> int:
    """Return a node for the low `width` bits of a bit-vector that has at least as many."""
    graph = site.graph
    if graph.width(node) <= width:
        return node
    value = graph.value(node)
    if value is not None:
        return site.leaf(shortest(value, width), ("BitVec", width))
    return site.applied(b"(_ extract %d 0)" % (width - 1), node, sort=("BitVec", width))


def narrowed(bits: Sequence[int], before: tuple[int, int], after: tuple[int, int]) -> list[int]:
    """Return sign, exponent and significand of about the same value in a smaller format.

    A format is the number of bits of the exponent and of the significand, with the hidden bit.
    Values that are too large become the largest number, values that are too small zero; excess
    bits are cut off.
    """
    # IEEE 754-2019, 3.4: the exponent is biased by half of its range; all ones stand for infinities
    # and NaNs, zero for zeros and subnormal numbers. What kind of number it is stays (a NaN keeps a
    # significand that is not zero); its value need not, so bits are cut off, not rounded.
    sign, exponent, significand = bits
    special, largest = (1 << before[0]) - 1, (1 << after[0]) - 1
    rest = significand >> (before[1] - after[1])
    if exponent == special:
        return [sign, largest, rest or int(significand > 0)]
    if not exponent:
        return [sign, 0, 0]
    moved = exponent - (special >> 1) + (largest >> 1)
    if moved <= 0:
        return [sign, 0, 0]
    if moved >= largest:
        return [sign, largest - 1, (1 << (after[1] - 1)) - 1]
    return [sign, moved, rest]
