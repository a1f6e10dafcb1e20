"""The replacements of a node in a graph: constants, variables and subterms."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from reducekit.frontends.smt2.graph.analysis import Analysis
from reducekit.frontends.smt2.graph.model import TIGHT, Graph, Shape
from reducekit.frontends.smt2.language.sorts import Sort, is_open, print_sort, write_sort
from reducekit.frontends.smt2.language.terms import Terms

SYMBOL = re.compile(rb'"[^"]*"|\|[^|]*\||[^\s()"|]+')
# Subterms of several sizes are hoisted, the small ones first: the needed part of a large term is
# rarely next to its root, and some hoists, one after the other, reach it at any depth.
_SHARES = (0.03, 0.1, 0.25, 0.5, 0.8)
HUGE, LARGE = 0.5, 0.1
"""Shares of the graph's weight above which the moves on a node are tried in another order."""
# An `and` of a thousand arguments has a thousand hoists. After the heaviest ones, dropping
# arguments in runs takes fewer checks.
_MANY_DIRECT = 8
_MEASURED = 24
"""The number of subterms of a node that are measured to find some of certain sizes."""
_GLOBAL = frozenset(("fun", "define", "map", "constructor", "selector", "sort", "named"))
# What the theories of the standard declare as :left-assoc, :right-assoc or :chainable, and what
# solvers take in the same way. With one argument left, that stands for the term if it has the same
# sort.
_AT_LEAST: Mapping[bytes, int] = {
    **dict.fromkeys(
        b"and or + * bvadd bvmul bvand bvor bvxor xor str.++ re.++ re.union".split(), 1
    ),
    **dict.fromkeys(b"re.inter seq.++ set.union set.inter union intersection concat".split(), 1),
    **dict.fromkeys(b"=> - bvsub / div".split(), 1),
    **dict.fromkeys(b"= distinct < <= > >=".split(), 2),
}
"""Operators that take any number of arguments, with the minimum number."""
_CONNECTIVES = frozenset((b"not", b"and", b"or", b"=>", b"xor", b"=", b"ite"))
_QUESTIONS = (b"check-", b"get-", b"query", b"simplify", b"apply")
QUANTIFIERS = frozenset((b"forall", b"exists"))
_BLANK = b" \t\r\n\f\v" + TIGHT


@dataclass(frozen=True, slots=True)
class Candidate:
    """A graph to try: which nodes are replaced, and a graph that contains their replacements."""

    what: str
    graph: Graph
    replaced: Mapping[int, int]
    node: int
    """The node that the move applies to, where the search continues."""
    run: tuple[int, int] | None = None
    """Where to continue dropping arguments: before which one, and how many at once."""
    printed: frozenset[int] = frozenset()
    """Nodes that are printed differently without being replaced."""
    stride: int = 0
    """By how many levels a subterm was hoisted, one direct subterm after the other."""


class Material:
    """The constants and declarations of the script, from which replacements are built."""

    def __init__(self, terms: Terms, shuffle: int = 0) -> None:
        self.terms = terms
        self.shuffle = shuffle
        """A seed that reorders nodes of similar weight; 0 orders strictly by weight."""
        definitions = terms.script.definitions
        self._globals = {each.name: i for i, each in enumerate(definitions) if each.kind in _GLOBAL}
        self._named: dict[bytes, tuple[int, ...]] = {}
        # Not every solver supports declare-const.
        self.declare_const = b"declare-const" in terms.script.names

    def uses_of(self, text: bytes) -> tuple[int, ...]:
        """Return the definitions that a text without bound names uses."""
        found = self._named.get(text)
        if found is None:
            tokens = dict.fromkeys(SYMBOL.findall(text))
            numbers = (self._globals.get(token) for token in tokens)
            found = tuple(number for number in numbers if number is not None)
            self._named[text] = found
        return found

    def declaration(self, name: bytes, sort: bytes) -> bytes:
        """Return the command that declares a variable."""
        if self.declare_const:
            return b"(declare-const %b %b)" % (name, sort)
        return b"(declare-fun %b () %b)" % (name, sort)

    def sorts_of(self, graph: Graph, definition: int) -> tuple[Sort | None, ...]:
        """Return the sorts of the parameters and of the result of a definition.

        These are the sorts in the graph, which a search may have changed.
        """
        known = graph.signatures.get(definition)
        if known is not None:
            return known
        written = self.terms.script.definitions[definition]
        return (*written.parameters, written.sort)

    def constants(self, sort: Sort | None) -> list[bytes]:
        """Return the smallest values of a sort."""
        return self.terms.constants(sort)

    def declared(self, sort: Sort) -> list[bytes]:
        """Return the declared constants of a sort."""
        return self.terms.declared_of(sort)


class Moves:
    """The candidates for one graph."""

    def __init__(self, graph: Graph, material: Material) -> None:
        self.graph = graph
        self.material = material
        self.analysis = Analysis(graph)

    @cached_property
    def nodes(self) -> list[int]:
        """The replaceable nodes, the heaviest first."""
        graph, analysis = self.graph, self.analysis
        roots = set(graph.roots)
        found = [
            node
            for node in analysis.order
            if node not in roots and graph.shape[node].raw != _RAW and graph.shape[node].size
        ]
        weight = analysis.weight
        shuffle = self.material.shuffle
        if shuffle:
            found.sort(key=lambda node: (-weight[node] * _factor(node, shuffle), node))
        else:
            found.sort(key=lambda node: (-weight[node], node))
        return found

    def of(self, node: int, run: tuple[int, int] | None = None) -> Iterator[Candidate]:
        """Yield the candidates for a node, in an order that depends on its share of the graph."""
        if run is not None:
            yield from self.bindings(node, run)
            yield from self.drops(node, run)
            return
        for _, candidates in self.kinds(node):
            yield from candidates

    def _of_symbol(self, node: int) -> Iterator[tuple[str, Iterator[Candidate]]]:
        """Yield what else a symbol can become; a literal becomes smaller in the closing moves."""
        shape = self.graph.shape[node]
        if shape.uses or shape.variable >= 0:
            yield "other constant", self.to_constants(node, 2, 1)
            yield "declared variable", self.to_declared(node)

    def kinds(self, node: int) -> Iterator[tuple[str, Iterator[Candidate]]]:
        """Yield the kinds of candidates for a node, each with a lazy iterator over them."""
        analysis, graph = self.analysis, self.graph
        shape, sort = graph.shape[node], graph.sort[node]
        truth = sort == "Bool"
        constants = ("truth value" if truth else "constant", self.to_constants(node, 1))
        declared = ("declared variable", self.to_declared(node))
        if shape.arity == 0:
            if sort is not None:
                yield constants
                yield from self._of_symbol(node)
            return
        # The order of the kinds is a bet on what succeeds. For most of the graph, it is a hoist:
        # the failure is inside. For a small part, it is a constant: the failure is elsewhere.
        # Of a term with half of the graph, a value is hardly ever all that the failure needs.
        share = analysis.weight[node] / analysis.total
        direct, far = ("hoist", self.direct(node)), ("far hoist", self.far(node))
        if sort is None:
            yield "hoist", self.bodies(node)
        elif share > HUGE:
            yield from (far, direct)
        elif share > LARGE:
            fresh = ("fresh variable", self.to_fresh(node))
            yield from (constants, fresh, far, direct, declared)
        else:
            fresh = ("fresh variable", self.to_fresh(node, 4))
            yield from (constants, direct, far, declared, fresh)
        yield "drop arguments", self.drops(node, None)
        if shape.head == b"let":
            yield "drop bindings", self.bindings(node, None)
            yield "expand bindings", self.expanded(node)
        if shape.head in QUANTIFIERS:
            yield "drop bound variable", self.unbound(node)

    # Replacing a node by another one

    def replace(self, what: str, node: int, other: int) -> Iterator[Candidate]:
        """Replace a node by a subterm; variables that would be unbound there become constants."""
        analysis, graph = self.analysis, self.graph
        # A hoisted term leaves the binders between the two places. Its variables that they bind get
        # constants, so that the candidate is closed: an open one would only test the parser.
        outside = analysis.outside(other, node)
        if outside:
            values: dict[int, int] = {}
            for variable in sorted(outside):
                constant = self._constant(graph.variables[variable], node)
                if constant is None:
                    return
                values[variable] = constant
            other = self.substituted(other, values)
        yield Candidate(what, graph, {node: other}, node)

    def _constant(self, sort: Sort | None, node: int) -> int | None:
        """Add a constant of a sort that is visible at a node; None if there is none."""
        for text in self.constants(sort)[:1]:
            if self._visible(text, node):
                return self.leaf(text, sort)
        return None

    def leaf(self, text: bytes, sort: Sort | None) -> int:
        """Add a leaf of a text without bound variables."""
        shape = self.graph.shapes.leaf(text, self.material.uses_of(text))
        return self.graph.add(shape, (), sort)

    def _visible(self, text: bytes, node: int) -> bool:
        """Return whether all that a text uses is declared in all commands that contain a node."""
        uses = self.material.uses_of(text)
        if not uses:
            return True
        first, last = self.analysis.commands[node]
        visible = self.graph.around.visible
        return all(
            number not in visible or (visible[number][0] < first and last < visible[number][1])
            for number in uses
        )

    def constants(self, sort: Sort | None) -> list[bytes]:
        """Return the smallest values of a sort; for a sort without values, a declared constant."""
        found = self.material.constants(sort)
        if sort is not None and self.graph.signatures and found == self.material.declared(sort)[:1]:
            return self.declared(sort)[:1]
        return found

    def declared(self, sort: Sort) -> list[bytes]:
        """Return the constants that are declared with a sort in this graph."""
        known, signatures = self.material.declared(sort), self.graph.signatures
        if not signatures:
            return known
        document = self.material.terms.document
        definitions = self.material.terms.script.definitions
        found = [
            text
            for text in known
            if not any(each in signatures for each in self.material.uses_of(text))
        ]
        return found + [
            document.source(definitions[number].node)
            for number, sorts in sorted(signatures.items())
            if sorts == (sort,)
        ]

    def fits(self, other: int, node: int) -> bool:
        """Return whether all that a node uses is declared wherever the other node occurs."""
        first, last = self.analysis.commands[node]
        if not self.graph.around.visible:
            return True
        low, high = self.analysis.commands[other]
        return (low <= first and last <= high) or self.analysis.is_visible(other, first, last)

    def above(self, node: int) -> set[int]:
        """Return all nodes that contain a node."""
        users = self.analysis.users
        found: set[int] = set()
        todo = [node]
        while todo:
            for each in users[todo.pop()]:
                if each not in found:
                    found.add(each)
                    todo.append(each)
        return found

    def sorts_of(self, definition: int) -> tuple[Sort | None, ...]:
        """Return the sorts of the parameters and of the result of a declared function."""
        return self.material.sorts_of(self.graph, definition)

    def declaration(self, definition: int, sorts: Sequence[Sort | None]) -> Shape:
        """Return the command that declares a function of these sorts."""
        terms = self.material.terms
        node = terms.script.definitions[definition].node
        name, written = terms.document.source(node), [write_sort(each) for each in sorts if each]
        *parameters, result = written
        text = b"(declare-const %b %b)" % (name, result)
        head = b"declare-const"
        if parameters or terms.document.source(node - 1) != b"declare-const":
            head = b"declare-fun"
            text = b"(declare-fun %b (%b) %b)" % (name, b" ".join(parameters), result)
        uses = dict.fromkeys(number for each in written for number in self.material.uses_of(each))
        return self.graph.shapes.get(Shape((text,), head, 0, uses=tuple(uses)))

    def simple(self, node: int) -> Iterator[Candidate]:
        """Yield direct subterms, a declared variable, and, for a variable, constants."""
        if not self.graph.args[node]:
            yield from self.to_constants(node, 2)
        yield from self.direct(node)
        yield from self.to_declared(node)

    def _rebound(self, cone: Sequence[int], values: Iterable[int]) -> dict[int, int]:
        """Add a variable for each one whose binder is copied; return them by the old ones."""
        graph, free = self.graph, self.analysis.free
        touched = set(values)
        others: dict[int, int] = {}
        for each in reversed(cone):
            shape = graph.shape[each]
            if shape.binds and not free[each].isdisjoint(touched):
                for variable in {v for bound in shape.binds for v in bound}:
                    touched.add(variable)
                    others[variable] = len(graph.names)
                    graph.names.append(graph.names[variable])
                    graph.variables.append(graph.variables[variable])
        return others

    def substituted(self, node: int, values: Mapping[int, int]) -> int:
        """Add a copy of a node in which free variables are replaced by nodes.

        A copied binder binds new variables, so that each variable still belongs to one binder.
        """
        graph = self.graph
        # Substitution copies only what has one of the variables free. A copied binder needs
        # variables of its own: with the old ones, two binders would bind one variable, and
        # `Regions` assumes that none do (the convention of Barendregt, The Lambda Calculus,
        # 2.1.13).
        cone, free = self.analysis.cone(node), self.analysis.free
        others = self._rebound(cone, values)
        touched = {*values, *others}
        copies: dict[int, int] = {}
        for each in cone:
            shape = graph.shape[each]
            if shape.variable in values:
                copies[each] = values[shape.variable]
            elif free[each].isdisjoint(touched) and all(copies[a] == a for a in graph.args[each]):
                copies[each] = each
            else:
                args = tuple(copies[argument] for argument in graph.args[each])
                copies[each] = graph.add(
                    with_variables(graph, shape, others), args, graph.sort[each]
                )
        return copies[node]

    # Kinds of candidates

    def _drops_assertion(self, node: int, text: bytes) -> bool:
        """Return whether a truth value in a node's place is equivalent to dropping an assertion."""
        return (
            self.graph.sort[node] == "Bool"
            and self._is_asserted(node)
            and (text == b"true" or not self._asks)
        )

    def to_constants(self, node: int, most: int, first: int = 0) -> Iterator[Candidate]:
        """Replaces a node by the smallest values of its sort."""
        graph = self.graph
        sort, own = graph.sort[node], graph.shape[node].head
        if sort == "Bool" and graph.args[node] and self._is_connected(node):
            return
        for rank, text in enumerate(self.constants(sort)[:most]):
            if text == own and not graph.args[node]:
                return  # the following ones are not smaller
            if self._drops_assertion(node, text):
                continue  # which the commands pass has tried
            if rank >= first and self._visible(text, node):
                yield Candidate("constant", graph, {node: self.leaf(text, sort)}, node)

    def _is_connected(self, node: int) -> bool:
        """Return whether a term occurs only below connectives.

        There a truth value makes the connective equal to another argument, or to a truth value.
        Hoisting that argument and replacing the connective are tried anyway.
        """
        shape = self.graph.shape
        return all(shape[user].head in _CONNECTIVES for user in self.analysis.users[node])

    @cached_property
    def _asks(self) -> bool:
        """Whether any command queries the assertions."""
        graph = self.graph
        return any(graph.shape[root].head.startswith(_QUESTIONS) for root in graph.roots)

    def _is_asserted(self, node: int) -> bool:
        """Return whether every occurrence of a term is a whole assertion."""
        shape = self.graph.shape
        return all(shape[user].head == b"assert" for user in self.analysis.users[node])

    def to_declared(self, node: int) -> Iterator[Candidate]:
        """Replaces a node by the first visible declared constant of its sort."""
        graph = self.graph
        sort = graph.sort[node]
        if sort is None:
            return
        for text in self.declared(sort)[:_MANY_DIRECT]:
            if text == graph.shape[node].head:
                return
            if self._visible(text, node):
                yield Candidate("declared variable", graph, {node: self.leaf(text, sort)}, node)
                return

    def to_fresh(self, node: int, least: int = 1) -> Iterator[Candidate]:
        """Replaces a node by a new variable, if it is long compared to the declaration."""
        graph = self.graph
        sort, around = graph.sort[node], graph.around
        # A fresh variable says "any value": it cuts a term off without choosing what it is worth,
        # where a constant may be simplified away, and with it the path of the solver that fails.
        if sort is None or around.barrier or not _is_declarable(sort):
            return
        written = print_sort(sort)
        place = around.outer[self.analysis.commands[node][0]]
        for number in self.material.uses_of(written):
            if number in around.visible and around.visible[number][0] >= place:
                return
        name = around.spare[graph.fresh]
        declaration = self.material.declaration(name, written)
        if self.analysis.weight[node] <= least * len(declaration):
            return
        shape = graph.shapes.leaf(name, self.material.uses_of(written), declaration)
        leaf = graph.add(shape, (), sort)
        after = replace(graph, fresh=graph.fresh + 1)
        yield Candidate("fresh variable", after, {node: leaf}, node)

    def direct(self, node: int) -> Iterator[Candidate]:
        """Replaces a node by its arguments of the same sort, the heaviest first.

        The patterns of a quantifier are removed with it: they are allowed nowhere else.
        """
        graph, weight = self.graph, self.analysis.weight
        sort, args = graph.sort[node], graph.args[node]
        if graph.shape[node].head in QUANTIFIERS:
            args = tuple(self._unannotated(each) for each in args)
        found = [each for each in dict.fromkeys(args) if graph.sort[each] == sort]
        found.sort(key=lambda each: -weight[each])
        for each in found[:_MANY_DIRECT]:
            for candidate in self.replace("hoist", node, each):
                yield replace(candidate, stride=1)

    def _unannotated(self, node: int) -> int:
        """Return the term inside an annotation without a name; any other term unchanged."""
        shape = self.graph.shape[node]
        annotated = shape.head == b"!" and shape.arity and not shape.names
        return self.graph.args[node][0] if annotated else node

    def onwards(self, node: int, stride: int) -> Iterator[Candidate]:
        """Hoist by twice `stride` levels, or by `stride`, after a hoist by `stride` has succeeded.

        Each level leads to the heaviest direct subterm of the same sort.
        """
        # Exponential search (Bentley and Yao, IPL 1976): a term n levels deep is reached in O(log
        # n) steps. Always along the heaviest argument, which has most of what is left.
        graph, weight = self.graph, self.analysis.weight
        path = [node]
        for _ in range(2 * stride):
            below = [each for each in graph.args[path[-1]] if graph.sort[each] == graph.sort[node]]
            if not below:
                break
            path.append(max(below, key=lambda each: (weight[each], -each)))
        for levels in dict.fromkeys((len(path) - 1, stride)):
            if 1 < levels < len(path):
                for candidate in self.replace("hoist", node, path[levels]):
                    yield replace(candidate, stride=levels)

    def bodies(self, top: int) -> Iterator[Candidate]:
        """Replace a term of unknown sort by one that has the same.

        That is the term without its annotation, or a few bodies of nested lets, the innermost
        first: stepping through a long chain of lets would take too many checks.
        """
        shape, args, node = self.graph.shape, self.graph.args, top
        if shape[node].head == b"!":
            yield from self.replace("hoist", node, args[node][0])
        found: list[int] = []
        while args[node] and len(found) < len(shape):
            head, below = shape[node].head, args[node][-1]
            # In a coarse graph a chain of lets is text with an inner let as its last argument.
            chain = not head and _begins_as_let(shape[node]) and self.graph.sort[below] is None
            if head != b"let" and not chain:
                break
            node = below
            found.append(node)
        for half in range(len(found).bit_length()):
            yield from self.replace("hoist", top, found[(len(found) >> half) - 1])

    def _deep(self, node: int) -> tuple[int, list[tuple[int, int]]]:
        """Return the bytes below a node, and its deep subterms of its sort by an upper bound."""
        graph, sizes, shapes = self.graph, self.analysis.tree_size, self.graph.shape
        sort = graph.sort[node]
        direct = set(graph.args[node])
        ranked: list[tuple[int, int]] = []
        passed = 0
        for each in self.analysis.cone(node):
            passed += shapes[each].size
            shape = shapes[each]
            if graph.sort[each] != sort or not shape.arity or shape.raw == _RAW:
                continue
            if each != node and each not in direct:
                ranked.append((min(passed, sizes[each]), each))
        return passed, ranked

    def far(self, node: int) -> Iterator[Candidate]:
        """Replaces a node by deep subterms of its sort, in several sizes, the small ones first.

        Computing the size of a term, with shared subterms counted once, takes a traversal of it.
        So the terms are ranked by an upper bound, and a sample of the ranking is measured. The
        bound is the smaller of two: the size of the term written out without sharing, and the
        total size of all nodes before it in the post-order of the node.
        """
        passed, ranked = self._deep(node)
        # Exact sizes with sharing take a traversal each, which for all subterms is quadratic. Two
        # upper bounds are free, and the order that they give is right often enough to choose whom
        # to measure.
        ranked.sort()
        if len(ranked) > _MEASURED:
            last = len(ranked) - 1
            ranked = [ranked[last * place // (_MEASURED - 1)] for place in range(_MEASURED)]
        measured = sorted((self.analysis.size(each), each) for _, each in ranked)
        places = [size for size, _ in measured]
        chosen: dict[int, None] = {}
        for share in _SHARES if places else ():
            chosen[measured[_nearest(places, share * passed)][1]] = None
        for each in chosen:
            yield from self.replace("far hoist", node, each)

    def _least(self, node: int) -> int:
        """Return how many arguments a node has at least; all if it is no variadic operator."""
        graph = self.graph
        shape = graph.shape[node]
        least = _AT_LEAST.get(shape.head)
        if least is None or shape.arity <= least or shape.uses:
            return shape.arity
        if shape is not graph.shapes.application(shape.head, shape.arity):
            return shape.arity
        sorts = {graph.sort[each] for each in (node, *graph.args[node])} - {None}
        return shape.arity if least == 1 and len(sorts) > 1 else least

    def drops(self, node: int, run: tuple[int, int] | None) -> Iterator[Candidate]:
        """Drops runs of arguments of a variadic operator, from the back."""
        graph = self.graph
        shape, args = graph.shape[node], graph.args[node]
        least = self._least(node)
        if least >= shape.arity:
            return
        # From the back, as later arguments rarely are what earlier ones need, and by halves, as
        # ddmin does (Zeller and Hildebrandt, TSE 2002), but without trying complements: those are
        # hoists.
        end, size = run or (len(args), max(1, (len(args) - least) // 2))
        end = min(end, len(args))
        while end > 0:
            size = min(size, end, len(args) - least)
            left = args[: end - size] + args[end:]
            other = left[0]
            if len(left) > 1:
                narrower = graph.shapes.application(shape.head, len(left))
                other = graph.add(narrower, left, graph.sort[node])
            yield Candidate("drop arguments", graph, {node: other}, other, (end - size, 2 * size))
            if size > 1:
                size //= 2
            else:
                end -= 1

    def bindings(self, node: int, run: tuple[int, int] | None) -> Iterator[Candidate]:
        """Drops runs of bindings of a let in the script, with constants instead of the names."""
        graph, bound = self.graph, _names_of_let(self.graph.shape[node])
        body = graph.args[node][-1] if bound else node
        end, size = run or (len(bound), len(bound))
        end = min(end, len(bound))
        while end > 0:
            size = min(size, end)
            values: dict[int, int | None] = {
                each: self._constant(graph.variables[each], node)
                for each in bound[end - size : end]
                if each in self.analysis.free[body]
            }
            if None not in values.values():
                other = self._unbound_from_let(node, bound[end - size : end], values)
                yield Candidate(
                    "drop bindings", graph, {node: other}, other, (end - size, 2 * size)
                )
            if size > 1:
                size //= 2
            else:
                end -= 1

    def expanded(self, node: int) -> Iterator[Candidate]:
        """Writes out the names of a let: all, then each."""
        # All at once mostly succeeds if the failure is not about lets; one at a time finds the one
        # that it is about.
        bound = _names_of_let(self.graph.shape[node])
        terms = dict(zip(bound, self.graph.args[node], strict=False))
        for some in dict.fromkeys((bound, *((each,) for each in bound))):
            other = self._unbound_from_let(node, some, {each: terms[each] for each in some})
            yield Candidate("expand bindings", self.graph, {node: other}, other)

    def _unbound_from_let(self, node: int, gone: Sequence[int], values: Mapping[int, Any]) -> int:
        """Add a let without some of its bindings, with other terms in place of their names."""
        graph, bound = self.graph, _names_of_let(self.graph.shape[node])
        args = graph.args[node]
        body = self.substituted(args[-1], values) if values else args[-1]
        left = [place for place, each in enumerate(bound) if each not in gone]
        if not left:
            return body
        kept = (*(args[place] for place in left), body)
        return graph.add(_let(graph, [bound[place] for place in left]), kept, graph.sort[node])

    def unbound(self, node: int) -> Iterator[Candidate]:
        """Drops a variable of a quantifier, replacing its uses by a value."""
        graph = self.graph
        shape = graph.shape[node]
        bound = shape.binds[0] if shape.binds else ()
        if not self.are_sorted(bound):
            return
        body = graph.args[node][0]
        for variable in bound:
            inner = body
            if variable in self.analysis.free[body]:
                constant = self._constant(graph.variables[variable], node)
                if constant is None:
                    continue
                inner = self.substituted(body, {variable: constant})
            left = tuple(each for each in bound if each != variable)
            if left:
                quantifier = self.quantifier(shape.head, left)
                inner = graph.add(quantifier, (inner,), graph.sort[node])
            yield Candidate("drop bound variable", graph, {node: inner}, node)

    def are_sorted(self, variables: Sequence[int]) -> bool:
        """Return whether the sorts of all these variables are known."""
        return all(self.graph.variables[each] is not None for each in variables)

    def quantifier(self, head: bytes, bound: Sequence[int]) -> Shape:
        """Return the shape of a quantifier without patterns."""
        graph = self.graph
        items: list[bytes | int] = [b"(" + head + b" ("]
        uses: dict[int, None] = {}
        for variable in bound:
            sort = graph.variables[variable]
            assert sort is not None
            written = write_sort(sort)
            uses.update(dict.fromkeys(self.material.uses_of(written)))
            items += (b"(", variable, b" " + written + b") ")
        items[-1] = items[-1].rstrip() + b") "  # type: ignore[union-attr]  # bytes
        items += (~0, b")")
        return graph.shapes.get(Shape(tuple(items), head, 1, (tuple(bound),), uses=tuple(uses)))


_RAW = frozenset((-1,))


def _names_of_let(shape: Shape) -> tuple[int, ...]:
    """Return the variables of a let, one for each value; none if it has another form."""
    bound = shape.binds[-1] if shape.head == b"let" and shape.binds else ()
    expected = [item for place, each in enumerate(bound) for item in (each, ~place)]
    if [item for item in shape.items if isinstance(item, int)] != [*expected, ~len(bound)]:
        return ()
    # A coarse graph has values that are only part of a binding.
    values = range(3, len(shape.items) - 3, 4)
    return bound if all(not shape.items[at - 1].strip(_BLANK) for at in values) else ()  # type: ignore[union-attr]


def _begins_as_let(shape: Shape) -> bool:
    first = shape.items[0]
    return isinstance(first, bytes) and first.startswith(b"(let")


def _let(graph: Graph, bound: Sequence[int]) -> Shape:
    """Return the shape of a let that binds variables."""
    items: list[bytes | int] = [b"(let ("]
    for place, variable in enumerate(bound):
        items += (b"(" if place == 0 else b" (", variable, b" ", ~place, b")")
    items += (b") ", ~len(bound), b")")
    merged: list[bytes | int] = []
    for item in items:
        if merged and isinstance(item, bytes) and isinstance(last := merged[-1], bytes):
            merged[-1] = last + item
        else:
            merged.append(item)
    binds = (*((),) * len(bound), tuple(bound))
    return graph.shapes.get(Shape(tuple(merged), b"let", len(bound) + 1, binds))


def _factor(node: int, shuffle: int) -> float:
    """Return a pseudo-random factor between a quarter and four."""
    # A hash, not a generator: the factor of a node must not depend on which nodes are there
    # besides. The multipliers are primes of xxHash (Y. Collet), which mix the low bits into the
    # high ones.
    mixed = (node + 1) * 0x9E3779B1 ^ shuffle * 0x85EBCA77
    mixed = (mixed ^ mixed >> 15) * 0xC2B2AE3D
    return float(4.0 ** ((mixed >> 8 & 0xFFFF) / 0x8000 - 1))


def _is_declarable(sort: Sort) -> bool:
    """Return whether variables of a sort can be declared."""
    return sort != "RegLan" and not is_open(sort) and not (sort[0] == "->" and len(sort) > 1)


def with_variables(graph: Graph, shape: Shape, others: Mapping[int, int]) -> Shape:
    """Return a shape with some of its variables replaced by others."""
    if not others or not any(item in others for item in shape.items if isinstance(item, int)):
        return shape
    items = tuple(others.get(item, item) if isinstance(item, int) else item for item in shape.items)
    binds = tuple(tuple(others.get(v, v) for v in bound) for bound in shape.binds)
    variable = others.get(shape.variable, shape.variable)
    return graph.shapes.get(replace(shape, items=items, binds=binds, variable=variable))


def _nearest(ascending: Sequence[int], aim: float) -> int:
    """Return the index of the number nearest to `aim`, of two the smaller one."""
    at = bisect_left(ascending, aim)
    if at and (at == len(ascending) or aim - ascending[at - 1] <= ascending[at] - aim):
        at -= 1
    return at
