"""Narrows bit-vectors of a graph: all that must have the same width, together.

Which widths must be equal follows from the operators: for example those of the two
sides of an equality, of an index and its array's indices, and of all arguments of
a declared function at one position. One class of widths gets another width, and where
it meets others (extract, extend, concat) the operator is adapted or removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reducekit.frontends.classes import Classes, Pattern
from reducekit.frontends.smt2.graph.agreement import (
    Reading,
    constant_array,
    is_container,
    is_empty_container,
    with_sort,
)
from reducekit.frontends.smt2.graph.model import Graph, Shape
from reducekit.frontends.smt2.graph.site import Candidate, Site
from reducekit.frontends.smt2.language.constants import literal_value, shortest
from reducekit.frontends.smt2.language.operators import RARE, of_one_sort
from reducekit.frontends.smt2.language.sorts import Sort

# Powers of two: what depends on a width depends on bytes and words, or on being above some bound,
# to which the next power of two is less than twice as far.
_TARGETS = (1, 2, 4, 8, 16, 32)
# Each try rebuilds and prints the whole graph, and there may be a class for each symbol.
_CLASSES = 24
"""The maximum number of classes to try, the largest first."""
_SAME = of_one_sort("V", ("bitvectors", "z3"), returned=True) | {b"ite"}
"""Operators whose arguments and result have one width, except for the condition of `ite`."""
_PREDICATES = of_one_sort("V", ("bitvectors", *RARE), returned=False) | {b"=", b"distinct"}
_FROM_ANY = re.compile(rb"bv2nat|bv2int|[us]bv_to_int|\(_ to_fp(?:_unsigned)? [0-9]+ [0-9]+\)")
"""Operators on bit-vectors of any width; `to_fp` only if a rounding mode comes first."""
_TO_ANY = re.compile(rb"\(_ (int2bv|nat2bv|int_to_bv|fp\.to_[us]bv) [0-9]+\)")
_BOUNDARY = re.compile(rb"\(_ (extract|zero_extend|sign_extend|repeat) ([0-9]+)(?: ([0-9]+))?\)")
"""Operators between widths that may change one without the other; so is `concat`."""
_ROTATE = re.compile(rb"\(_ rotate_(?:left|right) [0-9]+\)")


class _Widths(Reading):
    """The classes of widths of a graph."""

    def __init__(self, site: Site) -> None:
        super().__init__(site, Classes(loose=True))
        self.boundaries: set[int] = set()
        """The nodes where classes meet. All their widths are known."""
        roots = set(self.graph.roots)
        for node in site.analysis.order:
            self._read(node, is_root=node in roots)

    def new(self, sort: Sort | int | None) -> Pattern:
        if not isinstance(sort, tuple):
            return sort
        if sort[0] == "BitVec" and isinstance(sort[1], int):
            return ("BitVec", self.classes.variable(sort[1]))
        # The numbers in other sorts, as of floats, are no widths of bit-vectors.
        if isinstance(sort[-1], int) or len(sort) == 1:
            return (sort,)
        return (sort[0], *map(self.new, sort[1:]))

    def width(self, node: int) -> int:
        """Return the class of the width of a bit-vector."""
        return self.classes.find(self.pattern[node][1])

    def _read(self, node: int, *, is_root: bool) -> None:
        graph, freeze, unify = self.graph, self.classes.freeze, self.classes.unify
        shape, args = graph.shape[node], graph.args[node]
        head, uses = shape.head, shape.uses
        own = self.pattern[node] = self.new(graph.sort[node])
        given = [self.pattern[each] for each in args]
        if is_root:
            if head.startswith(b"define"):
                freeze(own, *given)  # the command spells the sort, too
        elif shape.raw or shape.fresh or shape.variable >= 0 or shape.names:
            freeze(own, *given)
        elif uses or not shape.arity:
            self._read_symbol(shape, own, given)
        elif head in _SAME or _ROTATE.fullmatch(head):
            for each in given[1:] if head == b"ite" else given:
                unify(own, each)
        elif head in _PREDICATES:
            freeze(own)
            for each in given[1:]:
                unify(given[0], each)
        elif (head == b"concat" or _BOUNDARY.fullmatch(head)) and all(
            map(_is_vector, (own, *given))
        ):
            self.boundaries.add(node)
        elif not (
            (_TO_ANY.fullmatch(head) and _is_vector(own))
            or (_FROM_ANY.fullmatch(head) and (len(given) == 2) == head.startswith(b"("))
            or self.elements(head, given, own)
        ):
            freeze(own, *given)

    def _read_symbol(self, shape: Shape, own: Pattern, given: Sequence[Pattern]) -> None:
        """Read a declared symbol with its arguments, or a literal."""
        if len(shape.uses) == 1 and shape.uses[0] in self.declared:
            signature = self.signature(shape.uses[0])
            if len(signature) == len(given) + 1:
                for one, other in zip(signature, (*given, own), strict=True):
                    self.classes.unify(one, other)
                return
            if given:
                self.classes.freeze(*signature)
        is_literal = not shape.uses and literal_value(shape.head) is not None
        is_empty = not given and is_container(own) and is_empty_container(shape.head)
        if not is_empty and not (is_literal and _is_vector(own)):
            self.classes.freeze(own, *given)


def _is_vector(pattern: Pattern) -> bool:
    return isinstance(pattern, tuple) and pattern[0] == "BitVec" and isinstance(pattern[1], int)


def widths(site: Site) -> Iterator[Candidate]:
    """Narrows all bit-vectors that must have the same width."""
    graph = site.graph
    if not any(isinstance(graph.sort[node], tuple) for node in site.nodes):
        return
    read = _Widths(site)
    # The widths that a class meets at a concat, extract or extension are good guesses for its own:
    # the operator between them then has nothing to do, and goes.
    near: dict[int, set[int]] = {}
    value = read.classes.value
    for node in read.boundaries:
        here = read.width(node)
        for each in graph.args[node]:
            there = read.width(each)
            near.setdefault(here, set()).add(value[there])
            near.setdefault(there, set()).add(value[here])
    for number in read.classes.largest(read.pattern.values())[:_CLASSES]:
        width = value[number]
        usual = [target for target in _TARGETS if target < width]
        targets = dict.fromkeys((*sorted(near.get(number, ())), *usual))
        candidates = [(target, False) for target in targets if target != width]
        for target, top in (*candidates, (max(usual, default=width), True)):
            candidate = _narrowed(read, number, target, top=top)
            if candidate is not None:
                yield candidate


def _narrowed(read: _Widths, number: int, width: int, *, top: bool) -> Candidate | None:
    """Return the graph in which a class has another width; None if it cannot be built.

    With `top`, literals keep their top bit; None if that makes no difference.
    """
    site, graph, instance = read.site, read.graph, read.classes.instance
    differs = False
    new: dict[int, int] = {}
    for node in site.analysis.order:
        shape, args = graph.shape[node], graph.args[node]
        sort = instance(read.pattern[node], number, width)
        changed = tuple([new[each] for each in args])
        if changed == args and sort == graph.sort[node]:
            new[node] = node
        elif node in read.boundaries:
            new[node] = _met(graph, shape, changed, sort)
        elif shape.arity:
            new[node] = _respelled(site, node, changed, sort)
        elif is_container(sort) and is_empty_container(shape.head):
            new[node] = site.leaf(with_sort(shape.head, sort), sort)
        elif shape.uses or not isinstance(sort, tuple):
            new[node] = graph.add(shape, (), sort)
        else:
            value, before = literal_value(shape.head), _width(graph.sort[node])
            assert value is not None, "a class without frozen members has no other leaves"
            bit = 1 << _width(sort) - 1
            kept = bit if top and value >> before - 1 and not value & bit else 0
            differs = differs or kept > 0
            new[node] = site.leaf(shortest(value | kept, _width(sort)), sort)
    return None if top and not differs else read.rebuilt("width", new, number, width)


def _respelled(site: Site, node: int, args: tuple[int, ...], sort: Sort | None) -> int:
    """Add an operator on other widths, and with its own width or sort if it spells one."""
    graph, shape = site.graph, site.graph.shape[node]
    match = _TO_ANY.fullmatch(shape.head)
    if match and sort != graph.sort[node]:
        head = b"(_ %b %d)" % (match[1], _width(sort))
        shape = graph.shapes.application(head, len(args))
    elif sort is not None and (array := constant_array(site, node, args, sort)) is not None:
        return array
    return graph.add(shape, args, sort)


def _met(graph: Graph, shape: Shape, args: tuple[int, ...], sort: Sort) -> int:
    """Add an operator between widths, adapted to the new widths of its arguments."""
    width = _width(sort)
    given = [_width(graph.sort[each]) for each in args]
    match = _BOUNDARY.fullmatch(shape.head)
    if match is None:  # concat
        if sum(given) == width:
            return graph.add(shape, args, sort)
        # One part alone: one of the right width if there is any, else the last one, whose bits
        # are the lowest.
        at = given.index(width) if width in given else -1
        return _adapted(graph, args[at], given[at], width, b"zero_extend")
    (argument,), (own,) = args, given
    if match[1] == b"extract" and width < own:
        return _extract(graph, argument, min(int(match[3]), own - width), width)
    if match[1] == b"repeat" and own * int(match[2]) == width:
        return graph.add(shape, args, sort)
    extend = match[1] if match[1].endswith(b"extend") else b"zero_extend"
    return _adapted(graph, argument, own, width, extend)


def _adapted(graph: Graph, node: int, width: int, wanted: int, extend: bytes) -> int:
    """Return a node of the wanted width, made from one of another width."""
    if width == wanted:
        return node
    if width > wanted:
        return _extract(graph, node, 0, wanted)
    shape = graph.shapes.application(b"(_ %b %d)" % (extend, wanted - width), 1)
    return graph.add(shape, (node,), ("BitVec", wanted))


def _extract(graph: Graph, node: int, low: int, width: int) -> int:
    shape = graph.shapes.application(b"(_ extract %d %d)" % (low + width - 1, low), 1)
    return graph.add(shape, (node,), ("BitVec", width))


def _width(sort: Sort | None) -> int:
    assert isinstance(sort, tuple)
    assert isinstance(sort[1], int)
    return sort[1]
