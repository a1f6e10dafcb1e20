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
from typing import Any, TypeGuard

from reducekit.frontends.smt2.graph.containers import (
    OTHER,
    is_array,
    is_container,
    is_empty_container,
    roles,
    with_sort,
)
from reducekit.frontends.smt2.graph.floats import narrowed_float, of_format
from reducekit.frontends.smt2.graph.model import Graph, Shape
from reducekit.frontends.smt2.graph.moves import QUANTIFIERS, Candidate, Moves, with_variables
from reducekit.frontends.smt2.graph.unions import Unions, redeclarable, redeclared
from reducekit.frontends.smt2.language.sorts import Sort, print_sort

# Each try rebuilds and prints the whole graph, as for widths.
_CLASSES = 12
"""The maximum number of classes to try, the largest first."""
_CONST = re.compile(rb"\(as const .*\)", re.DOTALL)
_SIDES = frozenset((b"=", b"distinct"))
_ARITHMETIC = frozenset(b"+ - * < <= > >= abs".split())
_FREE_ROOTS = frozenset((b"assert", b"get-value"))
# A format small enough to read its values, and Float16 and Float32, which have names.
_FLOATS: Sequence[Sort] = (
    ("FloatingPoint", 3, 5),
    ("FloatingPoint", 5, 11),
    ("FloatingPoint", 8, 24),
)

Skeleton = Any
"""A sort in which each sort without parameters is replaced by the number of its class."""


class SortClasses(Unions):
    """The classes of terms of a graph that must have the same sort.

    Arrays, sets and other containers have no class themselves, only their elements do. With
    `containers`, a container of elements that are not containers has a class instead.
    """

    def __init__(self, moves: Moves, *, containers: bool = False) -> None:
        super().__init__()
        self.moves = moves
        self.containers = containers
        self.graph = moves.graph
        self.sorts: list[Sort] = []
        self.skeleton: dict[int, Skeleton] = {}
        self.signature: dict[int, tuple[Skeleton, ...]] = {}
        """By declared function: the skeletons of its parameters and its result."""
        self.variable: dict[int, Skeleton] = {}
        self.literal: dict[tuple[int, int], Skeleton] = {}
        """By node and position: the skeleton of a literal argument. Each use may differ."""
        self.named: set[int] = set()
        """Classes of declared symbols, bound variables and containers; they may have been joined
        with others since."""
        self.floats: set[int] = set()
        """The classes of floating-point literals."""
        self._read()

    def sort(self, skeleton: Skeleton, changed: int, target: Sort) -> Sort | None:
        """Return the sort of a skeleton if a class changes its sort to `target`."""
        if isinstance(skeleton, int):
            number = self.find(skeleton)
            return target if number == changed else self.sorts[number]
        if not is_container(skeleton):
            return skeleton  # type: ignore[no-any-return]
        return (skeleton[0], *(self.sort(each, changed, target) for each in skeleton[1:]))

    def _new(self, sort: Sort | None) -> Skeleton:
        """Return the skeleton of a sort, with new classes."""
        if is_container(sort) and not (self.containers and _is_innermost(sort)):
            return (sort[0], *map(self._new, sort[1:]))
        if not _has_class(sort) and not (self.containers and is_container(sort)):
            return sort
        assert sort is not None
        self.sorts.append(sort)
        return self.add()

    def _unify(self, first: Skeleton, second: Skeleton) -> None:
        if isinstance(first, int) and isinstance(second, int):
            one, other = self.find(first), self.find(second)
            if self.sorts[one] != self.sorts[other]:
                self._freeze(one, other)
                return
            self.join(one, other)
        elif is_container(first) and is_container(second) and first[0] == second[0]:
            for one, other in zip(first[1:], second[1:], strict=True):
                self._unify(one, other)
        elif first != second:
            self._freeze(first, second)

    def _freeze(self, *skeletons: Skeleton) -> None:
        for skeleton in skeletons:
            if isinstance(skeleton, int):
                self.freeze(skeleton)
            elif is_container(skeleton):
                self._freeze(*skeleton[1:])

    def _read(self) -> None:
        """Find the classes and join them."""
        graph, skeleton = self.graph, self.skeleton
        # Unification of sorts, as in the inference of Damas and Milner (POPL 1982) but over a
        # finished graph: each operator says which of its places agree; classes that meet a place
        # with a fixed sort are frozen. What is left can change as a whole, and the result is well-
        # sorted.
        declared = redeclarable(self.moves)
        roots = set(graph.roots)
        for node in self.moves.analysis.order:
            shape, args = graph.shape[node], graph.args[node]
            given = [self._given(node, position) for position in range(len(args))]
            if shape.variable >= 0:
                skeleton[node] = self._variable(shape.variable)
                continue
            own = skeleton[node] = self._new(graph.sort[node])
            if node in roots:
                self._read_root(shape, given)
            elif _is_fixed(shape, graph.sort[node]):
                self._freeze(own, *given, *map(self._variable, filter(_is_variable, shape.items)))
            elif len(shape.uses) == 1 and shape.uses[0] in declared:
                self._read_application(shape.uses[0], (*given, own))
            elif shape.binds:
                self._read_binder(shape, own, given)
            else:
                self._read_operator(node, own, given)

    def _read_root(self, shape: Shape, given: Sequence[Skeleton]) -> None:
        """Freeze the variables of a command that spells their sorts, as a definition does."""
        if shape.head not in _FREE_ROOTS:
            bound = {variable for each in shape.binds for variable in each}
            parameters = bound.union(item for item in shape.items if _is_variable(item))
            self._freeze(*given, *map(self._variable, sorted(parameters)))

    def _given(self, node: int, position: int) -> Skeleton:
        """Return the skeleton of an argument."""
        argument = self.graph.args[node][position]
        if not is_literal(self.graph, argument):
            return self.skeleton[argument]
        own = self.literal[node, position] = self._new(self.graph.sort[argument])
        if is_container(own):
            self.named.update(_classes_in(own))
        elif _is_float(self.graph.sort[argument]):
            self.floats.update(_classes_in(own))
        return own

    def _variable(self, number: int) -> Skeleton:
        known = self.variable.get(number)
        if known is None:
            known = self.variable[number] = self._new(self.graph.variables[number])
            self.named.update(_classes_in(known))
        return known

    def _read_binder(self, shape: Shape, own: Skeleton, given: Sequence[Skeleton]) -> None:
        """Freeze the variables of a binder that is not a plain quantifier."""
        bound = dict.fromkeys(variable for each in shape.binds for variable in each)
        items = [item for item in shape.items if _is_variable(item)]
        plain = shape.head in QUANTIFIERS and not shape.raw and shape.arity == 1
        if not plain or not self.moves.are_sorted(items):
            self._freeze(*(self._variable(each) for each in (*bound, *items)), own, *given)
        elif set(items) != bound.keys():
            self._freeze(*(self._variable(each) for each in (*bound, *items)))

    def _read_application(self, number: int, given: tuple[Skeleton, ...]) -> None:
        signature = self.signature.get(number)
        if signature is None:
            sorts = self.moves.sorts_of(number)
            signature = self.signature[number] = tuple(self._new(each) for each in sorts)
            self.named.update(number for each in signature for number in _classes_in(each))
        if len(signature) != len(given):
            self._freeze(*signature, *given)
            return
        for one, other in zip(signature, given, strict=True):
            self._unify(one, other)

    def _read_operator(self, node: int, own: Skeleton, given: list[Skeleton]) -> None:
        graph = self.graph
        shape = graph.shape[node]
        head = shape.head
        if not shape.arity and not shape.uses:
            if not is_literal(graph, node):
                self._freeze(own)
        elif head == b"ite" and len(given) == 3:
            self._unify(own, given[1])
            self._unify(own, given[2])
        elif head in _SIDES:
            for each in given[1:]:
                self._unify(given[0], each)
        elif _CONST.fullmatch(head) and is_array(own) and len(given) == 1:
            self._unify(own[2], given[0])
            self.named.update(_classes_in(own))
        elif self.unify_elements(head, given, own):
            pass
        elif shape.uses or shape is not graph.shapes.application(head, shape.arity):
            self._freeze(own, *given)
        else:
            self._keep_together((own, *given))

    def _keep_together(self, places: Sequence[Skeleton]) -> None:
        """Join the places of one sort, so that one of the arguments can replace the term.

        Nothing says that these agree. But the operator goes with its sort, and one of its
        arguments takes its place: that works only if the arguments of one sort change together.
        """
        first: dict[Sort, int] = {}
        for each in places:
            if isinstance(each, int):
                self._unify(each, first.setdefault(self.sorts[self.find(each)], each))
            else:
                self._freeze(each)


def is_literal(graph: Graph, node: int) -> bool:
    """Return whether a node is a literal of a theory."""
    shape = graph.shape[node]
    if shape.arity or shape.variable >= 0 or shape.fresh:
        return False
    if is_container(graph.sort[node]):
        return is_empty_container(shape.head)
    return not shape.uses


def _is_variable(item: bytes | int) -> TypeGuard[int]:
    return isinstance(item, int) and item >= 0


def _is_float(sort: Sort | None) -> bool:
    return isinstance(sort, tuple) and sort[0] == "FloatingPoint"


def _is_innermost(sort: Any) -> bool:
    return not any(map(is_container, sort[1:]))


def _has_class(sort: Sort | None) -> bool:
    """Return whether terms of this sort can change their sort."""
    if isinstance(sort, tuple):
        return sort[0] in ("BitVec", "FloatingPoint") and isinstance(sort[-1], int)
    return sort not in (None, "", "Bool", "RegLan", "RoundingMode")


def resort(moves: Moves) -> Iterator[Candidate]:
    """Changes all terms that must have the same sort to Bool, Int, or a float of fewer bits."""
    yield from _resorted(moves, SortClasses(moves))
    if any(is_container(moves.graph.sort[node]) for node in moves.nodes):
        yield from _resorted(moves, SortClasses(moves, containers=True))


def _resorted(moves: Moves, classes: SortClasses) -> Iterator[Candidate]:
    """Yield the graphs in which one class has another sort."""
    skeletons = (*classes.skeleton.values(), *classes.literal.values())
    named = {classes.find(number) for number in classes.named}
    floats = {classes.find(number) for number in classes.floats} - named
    if classes.containers:
        floats = set()
    named = {each for each in named if is_container(classes.sorts[each]) == classes.containers}
    members = (each for some in skeletons for each in _classes_in(some))
    ranked = [each for each in classes.largest(members) if each in named or each in floats]
    for number in ranked[:_CLASSES]:
        for target in _targets(classes.sorts[number])[number in floats :]:
            candidate = _changed(moves, classes, number, target)
            if candidate is not None:
                yield candidate


def _targets(sort: Sort) -> list[Sort]:
    """Return the sorts to try instead of one, the simplest first."""
    if isinstance(sort, tuple):
        if sort[0] == "FloatingPoint":
            return ["Bool", *(each for each in _FLOATS if _is_narrower(each, sort))]
        return ["Bool"] if is_container(sort) or sort == ("BitVec", 1) else []
    return ["Bool", "Int"] if sort in ("Real", "String") else ["Bool"]


def _is_narrower(one: Any, other: Any) -> bool:
    return bool(one != other and one[1] <= other[1] and one[2] <= other[2])


def _classes_in(skeleton: Skeleton) -> Iterator[int]:
    if isinstance(skeleton, int):
        yield skeleton
    elif is_container(skeleton):
        for each in skeleton[1:]:
            yield from _classes_in(each)


def _other_variables(
    graph: Graph, classes: SortClasses, number: int, target: Sort
) -> dict[int, int]:
    """Add a variable for each one that has another sort then; return them by the old ones."""
    variables: dict[int, int] = {}
    for variable, skeleton in classes.variable.items():
        sort = classes.sort(skeleton, number, target)
        if sort != graph.variables[variable]:
            variables[variable] = len(graph.names)
            graph.names.append(graph.names[variable])
            graph.variables.append(sort)
    return variables


def _changed(moves: Moves, classes: SortClasses, number: int, target: Sort) -> Candidate | None:
    """Return the graph in which a class has another sort; None if it cannot be built."""
    graph, before = moves.graph, classes.sorts[number]
    if not moves.constants(target):
        return None
    change = _Change(moves, before, target)
    variables = _other_variables(graph, classes, number, target)
    new: dict[int, int] = {}
    for node in moves.analysis.order:
        shape, args = graph.shape[node], graph.args[node]
        sort = classes.sort(classes.skeleton[node], number, target)
        changed = tuple(
            new[each]
            if (node, position) not in classes.literal
            else change.literal(each, classes.sort(classes.literal[node, position], number, target))
            for position, each in enumerate(args)
        )
        bound = [v for each in shape.binds for v in each]
        same = changed == args and sort == graph.sort[node]
        if same and not any(each in variables for each in bound):
            new[node] = node
            continue
        made: int | None
        if any(each in variables for each in bound):
            written = [variables.get(each, each) for each in bound]
            made = graph.add(moves.quantifier(shape.head, written), changed, sort)
        elif bound:
            made = graph.add(shape, changed, sort)
        elif shape.variable >= 0:
            made = graph.add(with_variables(graph, shape, variables), (), sort)
        else:
            made = change.application(node, changed, sort)
        if made is None:
            return None
        new[node] = made
    signatures = {
        definition: [classes.sort(each, number, target) for each in signature]
        for definition, signature in classes.signature.items()
    }
    return redeclared("sort", moves, new, signatures)


def _is_fixed(shape: Shape, sort: Sort | None) -> bool:
    """Return whether a term's sort must stay: another place depends on it, or it is unknown."""
    return bool(shape.fresh or shape.names) or sort is None


def _is_access(graph: Graph, shape: Shape, args: tuple[int, ...]) -> bool:
    """Return whether an operator is an access to a term that is an array."""
    return shape.head in (b"select", b"store") and is_array(graph.sort[args[0]])


def _is_of_container(graph: Graph, node: int, args: tuple[int, ...], sort: Sort) -> bool:
    """Return whether a container operator is still valid when the other sorts do not change."""
    before = (*(graph.sort[each] for each in graph.args[node]), graph.sort[node])
    after = (*(graph.sort[each] for each in args), sort)
    found = roles(graph.shape[node].head, after)
    return bool(found) and all(
        role != OTHER or one == other for role, one, other in zip(found, before, after, strict=True)
    )


class _Change:
    """Translates literals and operators of one sort to another one."""

    def __init__(self, moves: Moves, before: Sort, after: Sort) -> None:
        self.moves = moves
        self.graph = moves.graph
        self.before = before
        self.after = after
        self.floats = isinstance(after, tuple)
        self._constants = moves.constants(after)
        if after == "Bool":
            self._constants = self._constants[::-1]  # the most used literal gets the shorter one

    def literal(self, node: int, sort: Sort | None) -> int:
        """Return the new literal: the first literal becomes the first constant of the sort, etc."""
        if sort == self.graph.sort[node]:
            return node
        text = self.graph.shape[node].head
        if is_container(sort):
            return self.moves.leaf(with_sort(text, sort), sort)
        other: bytes | None = None
        if self.floats:
            other = of_format(text, self.after)
        elif self.after == "Int" and b"." in text:
            other = text.partition(b".")[0]
        if other is None:
            first = self.moves.constants(self.before)[:1] == [text]
            other = self._constants[0 if first else min(1, len(self._constants) - 1)]
        return self.moves.leaf(other, self.after)

    def application(self, node: int, args: tuple[int, ...], sort: Sort | None) -> int | None:
        """Return the replacement of a term that binds nothing; None if there is none."""
        graph = self.graph
        shape = graph.shape[node]
        if shape.arity == 0 and not shape.uses:
            return node
        if sort is not None and _CONST.fullmatch(shape.head) and is_array(sort):
            text = print_sort(sort)
            uses = self.moves.material.uses_of(text)
            const = graph.shapes.application(b"(as const %b)" % text, 1, uses)
            return graph.add(const, args, sort)
        if sort is None or self._is_indifferent(node, args, sort):
            return graph.add(shape, args, sort)
        return self.operator(node, args, sort)

    def _is_indifferent(self, node: int, args: tuple[int, ...], sort: Sort) -> bool:
        """Return whether an operator says of its arguments' sorts only that some agree."""
        graph, shape = self.graph, self.graph.shape[node]
        if shape.uses or shape.head == b"ite":
            return True
        return _is_access(graph, shape, args) or _is_of_container(graph, node, args, sort)

    def operator(self, node: int, args: tuple[int, ...], sort: Sort | None) -> int | None:
        """Return the replacement of an application of a theory operator."""
        graph = self.graph
        shape = graph.shape[node]
        head = shape.head
        if all(map(self._is_same_sort, graph.args[node], args)) and sort == graph.sort[node]:
            return graph.add(shape, args, sort)
        if self.floats:
            return narrowed_float(self.moves, shape, args, sort)
        fit = [each for each in args if graph.sort[each] == self.after]
        terms = [each for each in fit if not is_literal(self.graph, each)]
        if self.after == sort == "Bool" and len(terms) == 1:
            return terms[0]  # an equality with a literal adds at most a negation
        if head in _SIDES or (self.after == "Int" and head in _ARITHMETIC):
            return graph.add(shape, args, sort)
        if self.after == sort == "Bool" and len(fit) > 1:
            return graph.add(graph.shapes.application(b"=", len(fit)), tuple(fit), sort)
        if sort == self.after and fit:
            return fit[0]
        texts = self.moves.constants(sort) if sort != self.before else []
        return self.moves.leaf(texts[0], sort) if texts else None

    def _is_same_sort(self, one: int, other: int) -> bool:
        return self.graph.sort[one] == self.graph.sort[other]
