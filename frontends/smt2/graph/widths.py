"""Narrows bit-vectors of a graph: all that must have the same width, together.

Which widths must be equal follows from the operators: for example those of the two
sides of an equality, of an index and its array's indices, and of all arguments of
a declared function at one position. The widths are classes of a union-find. One
class is given another width, and where it meets others (extract, extend, concat)
the operator is adapted or removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from reducekit.frontends.smt2.graph.containers import (
    is_array,
    is_container,
    is_empty_container,
    with_sort,
)
from reducekit.frontends.smt2.graph.model import Graph, Shape
from reducekit.frontends.smt2.graph.moves import Candidate, Moves
from reducekit.frontends.smt2.graph.unions import Unions, redeclarable, redeclared
from reducekit.frontends.smt2.language.sorts import Sort, print_sort
from reducekit.frontends.smt2.language.spelling import literal_value, shortest

# Powers of two: what depends on a width depends on bytes and words, or on being above some bound,
# to which the next power of two is less than twice as far.
_TARGETS = (1, 2, 4, 8, 16, 32)
# Each try rebuilds and prints the whole graph, and there may be a class for each symbol.
_CLASSES = 24
"""The maximum number of classes to try, the largest first."""
_SAME = frozenset(
    b"bvadd bvmul bvand bvor bvxor bvsub bvudiv bvurem bvsdiv bvsrem bvsmod bvshl bvlshr bvashr"
    b" bvnand bvnor bvxnor bvneg bvnot ite ext_rotate_left ext_rotate_right".split()
)
"""Operators whose arguments and result have one width, except for the condition of `ite`."""
_PREDICATES = frozenset(
    b"= distinct bvult bvule bvugt bvuge bvslt bvsle bvsgt bvsge bvcomp bvnego bvuaddo bvsaddo"
    b" bvumulo bvsmulo bvusubo bvssubo bvsdivo".split()
)
_FROM_ANY = re.compile(rb"bv2nat|bv2int|[us]bv_to_int|\(_ to_fp(?:_unsigned)? [0-9]+ [0-9]+\)")
"""Operators on bit-vectors of any width; `to_fp` only if a rounding mode comes first."""
_TO_ANY = re.compile(rb"\(_ (int2bv|nat2bv|int_to_bv|fp\.to_[us]bv) [0-9]+\)")
_BOUNDARY = re.compile(rb"\(_ (extract|zero_extend|sign_extend|repeat) ([0-9]+)(?: ([0-9]+))?\)")
_ROTATE = re.compile(rb"\(_ rotate_(?:left|right) [0-9]+\)")
_CONST = re.compile(rb"\(as const .*\)", re.DOTALL)
"""Array accesses, with their number of arguments."""

Skeleton = Any
"""A sort in which each width is replaced by the number of its class."""


class Classes(Unions):
    """The classes of widths of a graph."""

    def __init__(self, moves: Moves) -> None:
        super().__init__()
        self.moves = moves
        self.graph = moves.graph
        self.width: list[int] = []
        self.skeleton: dict[int, Skeleton] = {}
        self.signature: dict[int, tuple[Skeleton, ...]] = {}
        """By declared function: the skeletons of its parameters and its result."""
        self.boundaries: set[int] = set()
        """The nodes where classes meet. All their widths are known."""
        self._read()

    def _new(self, sort: Sort | int | None) -> Skeleton:
        """Return the skeleton of a sort, with new classes."""
        if isinstance(sort, tuple):
            if sort[0] == "BitVec" and isinstance(sort[1], int):
                self.width.append(sort[1])
                return ("BitVec", self.add())
            if not isinstance(sort[-1], int):
                return (sort[0], *(self._new(each) for each in sort[1:]))
        return sort

    def _unify(self, first: Skeleton, second: Skeleton) -> None:
        if not isinstance(first, tuple) or not isinstance(second, tuple):
            return
        if first[0] == second[0] == "BitVec":
            one, other = self.find(first[1]), self.find(second[1])
            if self.width[one] != self.width[other]:
                self.freeze(one)
                self.freeze(other)
                return
            self.join(one, other)
        elif first[0] == second[0] and len(first) == len(second):
            for one, other in zip(first[1:], second[1:], strict=True):
                self._unify(one, other)
        else:
            self._freeze(first)
            self._freeze(second)

    def _freeze(self, skeleton: Skeleton) -> None:
        if isinstance(skeleton, tuple):
            if skeleton[0] == "BitVec":
                self.freeze(skeleton[1])
            else:
                for each in skeleton[1:]:
                    self._freeze(each)

    def _read(self) -> None:
        """Find the classes and join them."""
        graph, skeleton = self.graph, self.skeleton
        declared = redeclarable(self.moves)
        roots = set(graph.roots)
        for node in self.moves.analysis.order:
            shape, args = graph.shape[node], graph.args[node]
            own = skeleton[node] = self._new(graph.sort[node])
            given = [skeleton[each] for each in args]
            if node in roots:
                if shape.head.startswith(b"define"):
                    self._freeze_all(own, given)  # the command spells the sort, too
                continue
            if shape.raw or shape.fresh or shape.variable >= 0 or shape.names:
                self._freeze_all(own, given)
            elif shape.arity == 0:
                self._read_leaf(node, own, declared)
            elif shape.uses:
                self._read_application(shape, own, given, declared)
            else:
                self._read_operator(node, own, given)

    def _freeze_all(self, own: Skeleton, given: list[Skeleton]) -> None:
        self._freeze(own)
        for each in given:
            self._freeze(each)

    def _signature(self, number: int) -> tuple[Skeleton, ...]:
        known = self.signature.get(number)
        if known is None:
            sorts = self.moves.sorts_of(number)
            known = self.signature[number] = tuple(self._new(each) for each in sorts)
        return known

    def _read_leaf(self, node: int, own: Skeleton, declared: set[int]) -> None:
        shape = self.graph.shape[node]
        if len(shape.uses) == 1 and shape.uses[0] in declared:
            signature = self._signature(shape.uses[0])
            if len(signature) == 1:
                self._unify(signature[0], own)
                return
        is_literal = not shape.uses and literal_value(shape.head) is not None
        is_empty = is_container(own) and is_empty_container(shape.head)
        if not is_empty and not (is_literal and _is_vector(own)):
            self._freeze(own)

    def _read_application(
        self, shape: Shape, own: Skeleton, given: list[Skeleton], declared: set[int]
    ) -> None:
        (number, *more) = shape.uses
        if not more and number in declared:
            signature = self._signature(number)
            if len(signature) == len(given) + 1:
                for one, other in zip(signature, (*given, own), strict=True):
                    self._unify(one, other)
                return
            for each in signature:
                self._freeze(each)
        self._freeze_all(own, given)

    def _read_operator(self, node: int, own: Skeleton, given: list[Skeleton]) -> None:
        head = self.graph.shape[node].head
        if head in _SAME or _ROTATE.fullmatch(head):
            for each in given[1:] if head == b"ite" else given:
                self._unify(own, each)
        elif head in _PREDICATES:
            self._freeze(own)
            for each in given[1:]:
                self._unify(given[0], each)
        elif _is_boundary(head) and all(map(_is_vector, (own, *given))):
            self.boundaries.add(node)
        elif _takes_any_width(head, given, own):
            pass
        elif _CONST.fullmatch(head) and is_array(own):
            self._unify(own[2], given[0])
        elif self.unify_elements(head, given, own):
            pass
        elif own != "Bool" or any(isinstance(each, tuple) for each in given):
            self._freeze_all(own, given)

    def sort(self, skeleton: Skeleton, changed: int, width: int) -> Sort | None:
        """Return the sort of a skeleton if a class changes its width."""
        if not isinstance(skeleton, tuple):
            return skeleton  # type: ignore[no-any-return]
        if skeleton[0] == "BitVec":
            number = self.find(skeleton[1])
            return ("BitVec", width if number == changed else self.width[number])
        if isinstance(skeleton[-1], int):
            return skeleton
        parts = [self.sort(each, changed, width) for each in skeleton[1:]]
        return (skeleton[0], *parts)


def _is_boundary(head: bytes) -> bool:
    """Return whether an operator is between widths that may change one without the other."""
    return head == b"concat" or _BOUNDARY.fullmatch(head) is not None


def _takes_any_width(head: bytes, given: Sequence[Skeleton], own: Skeleton) -> bool:
    """Return whether an operator has a result, or an argument, of any width."""
    if _TO_ANY.fullmatch(head) and _is_vector(own):
        return True
    return _FROM_ANY.fullmatch(head) is not None and (len(given) == 2) == head.startswith(b"(")


def _is_vector(skeleton: Skeleton) -> bool:
    return isinstance(skeleton, tuple) and skeleton[0] == "BitVec"


def _neighbours(graph: Graph, classes: Classes) -> dict[int, set[int]]:
    """Return by class the widths of those that it meets at a concat, extract or extension.

    The width of one is a good guess for the other: the operator between them then has nothing to
    do, and goes.
    """
    near: dict[int, set[int]] = {}
    for node in classes.boundaries:
        here = classes.find(classes.skeleton[node][1])
        for each in graph.args[node]:
            there = classes.find(classes.skeleton[each][1])
            near.setdefault(here, set()).add(classes.width[there])
            near.setdefault(there, set()).add(classes.width[here])
    return near


def _targets(width: int, near: Iterable[int]) -> list[int]:
    """Return the widths to try for a class: those of its neighbours, then the usual ones."""
    usual = [target for target in _TARGETS if target < width]
    return [target for target in dict.fromkeys((*sorted(near), *usual)) if target != width]


def widths(moves: Moves) -> Iterator[Candidate]:
    """Narrows all bit-vectors that must have the same width."""
    graph = moves.graph
    if not any(isinstance(graph.sort[node], tuple) for node in moves.nodes):
        return
    classes = Classes(moves)
    near = _neighbours(graph, classes)
    skeletons = classes.skeleton.values()
    ranked = classes.largest(each for some in skeletons for each in _classes_in(some))
    for number in ranked[:_CLASSES]:
        width = classes.width[number]
        for target in _targets(width, near.get(number, ())):
            candidate = _narrowed(moves, classes, number, target)
            if candidate is not None:
                yield candidate
        candidate = _narrowed(moves, classes, number, _next_target(width), top=True)
        if candidate is not None:
            yield candidate


def _next_target(width: int) -> int:
    """Return the next smaller width to try; 1 for 1."""
    return max((target for target in _TARGETS if target < width), default=width)


def _classes_in(skeleton: Skeleton) -> Iterator[int]:
    if isinstance(skeleton, tuple):
        if skeleton[0] == "BitVec":
            yield skeleton[1]
        else:
            for each in skeleton[1:]:
                yield from _classes_in(each)


def _top_bit(value: int, width: int, after: int) -> int:
    """Return the top bit of a narrower literal if the wider one had it set and it is lost."""
    top = 1 << after - 1
    return top if value >> width - 1 and not value & top else 0


def _respelled(moves: Moves, node: int, args: tuple[int, ...], sort: Sort | None) -> int:
    """Add an operator on other widths, with and its own width or sort, if it spells one."""
    graph, shape = moves.graph, moves.graph.shape[node]
    match = _TO_ANY.fullmatch(shape.head)
    if match and sort != graph.sort[node]:
        head = b"(_ %b %d)" % (match[1], _width(sort))
        shape = graph.shapes.application(head, len(args))
    elif sort is not None and _CONST.fullmatch(shape.head):
        written = print_sort(sort)
        uses = moves.material.uses_of(written)
        shape = graph.shapes.application(b"(as const %b)" % written, 1, uses)
    return graph.add(shape, args, sort)


def _narrowed(
    moves: Moves, classes: Classes, number: int, width: int, *, top: bool = False
) -> Candidate | None:
    """Return the graph in which a class has another width; None if it cannot be built.

    With `top`, literals keep their top bit; None if that makes no difference.
    """
    graph, differs = moves.graph, False
    new: dict[int, int] = {}
    for node in moves.analysis.order:
        shape, args = graph.shape[node], graph.args[node]
        sort = classes.sort(classes.skeleton[node], number, width)
        changed = tuple([new[each] for each in args])
        if changed == args and sort == graph.sort[node]:
            new[node] = node
        elif shape.arity == 0:
            if is_container(sort) and is_empty_container(shape.head):
                new[node] = moves.leaf(with_sort(shape.head, sort), sort)
            elif not shape.uses and isinstance(sort, tuple):
                value = literal_value(shape.head)
                assert value is not None, "a class without frozen members has no other leaves"
                kept = _top_bit(value, _width(graph.sort[node]), _width(sort)) if top else 0
                differs = differs or kept > 0
                new[node] = moves.leaf(shortest(value | kept, _width(sort)), sort)
            else:
                new[node] = graph.add(shape, (), sort)
        elif node in classes.boundaries:
            new[node] = _met(moves, shape, changed, sort)
        else:
            new[node] = _respelled(moves, node, changed, sort)
    signatures = {
        definition: [classes.sort(each, number, width) for each in signature]
        for definition, signature in classes.signature.items()
    }
    return None if top and not differs else redeclared("width", moves, new, signatures)


def _met(moves: Moves, shape: Shape, args: tuple[int, ...], sort: Sort | None) -> int:
    """Add an operator between widths, adapted to the new widths of its arguments."""
    graph = moves.graph
    width = _width(sort)
    given = [_width(graph.sort[each]) for each in args]
    if shape.head == b"concat":
        if sum(given) == width:
            return graph.add(shape, args, sort)
        # One part alone: one of the right width if there is any, else the last one, whose bits
        # are the lowest.
        at = given.index(width) if width in given else -1
        return _adapted(graph, args[at], given[at], width, b"zero_extend")
    return _bounded(graph, shape, args, given, sort)


def _bounded(
    graph: Graph, shape: Shape, args: tuple[int, ...], given: Sequence[int], sort: Sort | None
) -> int:
    """Add an extract, a repeat or an extension, adapted likewise."""
    width = _width(sort)
    match = _BOUNDARY.fullmatch(shape.head)
    assert match is not None
    (argument,), (own,) = args, given
    if match[1] == b"extract" and width < own:
        low = min(int(match[3]), own - width)
        return _extract(graph, argument, low, width)
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
