"""What a node of a graph can become: a constant, a variable, or a term below it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from reducekit.frontends.smt2.graph.analysis import Analysis
from reducekit.frontends.smt2.graph.model import Graph, Shape
from reducekit.frontends.smt2.sorts import Sort, is_open, print_sort, write_sort
from reducekit.frontends.smt2.terms import Terms

SYMBOL = re.compile(rb'"[^"]*"|\|[^|]*\||[^\s()"|]+')
_SHARES = (0.03, 0.1, 0.25, 0.5, 0.8)
HUGE, LARGE = 0.5, 0.1
"""Shares of the whole above which a node is handled in another order."""
_MANY_DIRECT = 8
_MEASURED = 24
"""So many terms below a node are measured, to find some of certain sizes."""
_GLOBAL = frozenset(("fun", "define", "constructor", "selector", "sort", "named"))
_AT_LEAST: Mapping[bytes, int] = {
    **dict.fromkeys(
        b"and or + * bvadd bvmul bvand bvor bvxor xor str.++ re.++ re.union".split(), 1
    ),
    **dict.fromkeys(b"re.inter seq.++ set.union set.inter union intersection concat".split(), 1),
    **dict.fromkeys(b"=> - bvsub / div".split(), 1),
    **dict.fromkeys(b"= distinct < <= > >=".split(), 2),
}
"""Operators that take any number of arguments, and the least number."""
_CONNECTIVES = frozenset((b"not", b"and", b"or", b"=>", b"xor", b"=", b"ite"))
_QUESTIONS = (b"check-", b"get-", b"query", b"simplify", b"apply")
QUANTIFIERS = frozenset((b"forall", b"exists"))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A graph that may be tried: nodes replaced, on a graph that has what replaces them."""

    what: str
    graph: Graph
    replaced: Mapping[int, int]
    node: int
    """The node that it is about, for going on there."""
    run: tuple[int, int] | None = None
    """Where to go on dropping arguments: before which one, and how many at once."""
    printed: frozenset[int] = frozenset()
    """Nodes that are not replaced and yet printed in another way."""
    stride: int = 0
    """How many levels a term was hoisted by, from one directly below to the next."""


class Material:
    """What replacements are made of: the constants and declarations of the script."""

    def __init__(self, terms: Terms, shuffle: int = 0) -> None:
        self.terms = terms
        self.shuffle = shuffle
        """Another order of nodes of about the same weight for each number; 0: by the weight."""
        definitions = terms.script.definitions
        self._globals = {each.name: i for i, each in enumerate(definitions) if each.kind in _GLOBAL}
        self._named: dict[bytes, tuple[int, ...]] = {}
        # Not every solver knows declare-const.
        self.declare_const = b"declare-const" in terms.script.names

    def uses_of(self, text: bytes) -> tuple[int, ...]:
        """Return the definitions that a text without bound names may use."""
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

        They are those of the graph: a search may have given a function others.
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
        """The nodes that can be replaced, the heaviest first."""
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
        """Yield the candidates for a node, in the order that its share of the whole tells."""
        if run is not None:
            yield from self.drops(node, run)
            return
        for _, candidates in self.kinds(node):
            yield from candidates

    def kinds(self, node: int) -> Iterator[tuple[str, Iterator[Candidate]]]:
        """Yield the kinds of candidates for a node, each with the candidates, not made yet."""
        analysis, graph = self.analysis, self.graph
        shape, sort = graph.shape[node], graph.sort[node]
        truth = sort == "Bool"
        constants = ("truth value" if truth else "constant", self.to_constants(node, 1))
        declared = ("declared variable", self.to_declared(node))
        if shape.arity == 0:
            if sort is not None:
                yield constants
                if shape.uses or shape.variable >= 0:
                    yield "other constant", self.to_constants(node, 2, 1)
                    yield declared
            return
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
        if shape.head in QUANTIFIERS:
            yield "drop bound variable", self.unbound(node)

    # One node by another one

    def replace(self, what: str, node: int, other: int) -> Iterator[Candidate]:
        """Replace a node by one below it; what would be unbound there becomes a constant."""
        analysis, graph = self.analysis, self.graph
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
        """Add a constant of a sort that is visible where a node stands; None without one."""
        for text in self.constants(sort)[:1]:
            if self._visible(text, node):
                return self.leaf(text, sort)
        return None

    def leaf(self, text: bytes, sort: Sort | None) -> int:
        """Add a leaf of a text without bound variables."""
        shape = self.graph.shapes.leaf(text, self.material.uses_of(text))
        return self.graph.add(shape, (), sort)

    def _visible(self, text: bytes, node: int) -> bool:
        """Tell whether what a text uses is declared in all commands that a node stands in."""
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
        """Return the smallest values of a sort; of one without values a declared constant."""
        found = self.material.constants(sort)
        if sort is not None and self.graph.signatures and found == self.material.declared(sort)[:1]:
            return self.declared(sort)[:1]
        return found

    def declared(self, sort: Sort) -> list[bytes]:
        """Return the declared constants of a sort, as they are declared in this graph."""
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
        """Tell whether all that a node names is declared wherever another one stands."""
        first, last = self.analysis.commands[node]
        if not self.graph.around.visible:
            return True
        low, high = self.analysis.commands[other]
        return (low <= first and last <= high) or self.analysis.is_visible(other, first, last)

    def above(self, node: int) -> set[int]:
        """Return all that a node is part of."""
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
        """Yield the terms directly below, a declared variable, and constants for a variable."""
        if not self.graph.args[node]:
            yield from self.to_constants(node, 2)
        yield from self.direct(node)
        yield from self.to_declared(node)

    def substituted(self, node: int, values: Mapping[int, int]) -> int:
        """Add a copy of a node in which nodes stand for free variables.

        A binder that is copied binds other variables than the first, so that each
        variable still belongs to one binder.
        """
        graph = self.graph
        cone, free = self.analysis.cone(node), self.analysis.free
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

    def to_constants(self, node: int, most: int, first: int = 0) -> Iterator[Candidate]:
        """Replace a node by the smallest values of its sort."""
        graph = self.graph
        sort, own = graph.sort[node], graph.shape[node].head
        if sort == "Bool" and graph.args[node] and self._is_connected(node):
            return
        for rank, text in enumerate(self.constants(sort)[:most]):
            if text == own and not graph.args[node]:
                return  # what follows is no smaller
            if sort == "Bool" and self._is_asserted(node) and (text == b"true" or not self._asks):
                continue  # as good as no assertion, which the pass over commands has tried
            if rank >= first and self._visible(text, node):
                yield Candidate("constant", graph, {node: self.leaf(text, sort)}, node)

    def _is_connected(self, node: int) -> bool:
        """Tell whether a term stands below connectives only.

        There a truth value says what another argument says, or what it says of the whole: hoisting
        the one and replacing the other are tried.
        """
        shape = self.graph.shape
        return all(shape[user].head in _CONNECTIVES for user in self.analysis.users[node])

    @cached_property
    def _asks(self) -> bool:
        """Whether any command asks for what follows from the assertions."""
        graph = self.graph
        return any(graph.shape[root].head.startswith(_QUESTIONS) for root in graph.roots)

    def _is_asserted(self, node: int) -> bool:
        """Tell whether a term stands in assertions only, each time as the whole."""
        shape = self.graph.shape
        return all(shape[user].head == b"assert" for user in self.analysis.users[node])

    def to_declared(self, node: int) -> Iterator[Candidate]:
        """Replace a node by a declared constant of its sort: the first one that is visible."""
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
        """Replace a node by a new variable, if it is so many times as long as its declaration."""
        graph = self.graph
        sort, around = graph.sort[node], graph.around
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
        """Replace a node by its arguments of the same sort, the heaviest first.

        The patterns of a quantifier go with it: they are allowed nowhere else.
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
        """Return the term of an annotation that names nothing; any other term itself."""
        shape = self.graph.shape[node]
        return self.graph.args[node][0] if shape.head == b"!" and not shape.names else node

    def onwards(self, node: int, stride: int) -> Iterator[Candidate]:
        """Replace a node by one so many levels below it, after as many have gone at once.

        From each term the way leads to the heaviest one of the same sort directly below.
        """
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

    def bodies(self, node: int) -> Iterator[Candidate]:
        """Replace an annotated term of unknown sort by the term."""
        if self.graph.shape[node].head == b"!":
            yield from self.replace("hoist", node, self.graph.args[node][0])

    def far(self, node: int) -> Iterator[Candidate]:
        """Replace a node by terms of its sort far below: of several sizes, the small ones first.

        The size of a term, with all that it shares counted once, is not known without
        walking through it. So the terms are ranked by what bounds it, and some from
        all over the ranking are measured: it is at most what it takes to write the
        term out, and at most all that comes before it when the node is walked
        through, arguments first.
        """
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
        ranked.sort()
        if len(ranked) > _MEASURED:
            last = len(ranked) - 1
            ranked = [ranked[last * place // (_MEASURED - 1)] for place in range(_MEASURED)]
        measured = sorted((self.analysis.size(each), each) for _, each in ranked)
        places = [size for size, _ in measured]
        chosen: dict[int, None] = {}
        for share in _SHARES:
            aim = share * passed
            at = bisect_left(places, aim)
            if at and (at == len(places) or aim - places[at - 1] <= places[at] - aim):
                at -= 1
            if at < len(places):
                chosen[measured[at][1]] = None
        for each in chosen:
            yield from self.replace("far hoist", node, each)

    def drops(self, node: int, run: tuple[int, int] | None) -> Iterator[Candidate]:
        """Drop arguments of an operator that takes any number, from the back in runs."""
        graph = self.graph
        shape, args = graph.shape[node], graph.args[node]
        least = _AT_LEAST.get(shape.head)
        if least is None or shape.arity <= least or shape.uses:
            return
        if shape is not graph.shapes.application(shape.head, shape.arity):
            return
        sorts = {graph.sort[each] for each in (node, *args)} - {None}
        if least == 1 and len(sorts) > 1:
            return
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

    def unbound(self, node: int) -> Iterator[Candidate]:
        """Drop a variable of a quantifier; a value stands for it."""
        graph = self.graph
        shape = graph.shape[node]
        bound = shape.binds[0] if shape.binds else ()
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


def _factor(node: int, shuffle: int) -> float:
    """Return a number between a quarter and four that looks like a random one."""
    mixed = (node + 1) * 0x9E3779B1 ^ shuffle * 0x85EBCA77
    mixed = (mixed ^ mixed >> 15) * 0xC2B2AE3D
    return float(4.0 ** ((mixed >> 8 & 0xFFFF) / 0x8000 - 1))


def _is_declarable(sort: Sort) -> bool:
    """Tell whether there can be variables of a sort."""
    return sort != "RegLan" and not is_open(sort) and not (sort[0] == "->" and len(sort) > 1)


def with_variables(graph: Graph, shape: Shape, others: Mapping[int, int]) -> Shape:
    """Return a shape with other variables in place of some."""
    if not others or not any(item in others for item in shape.items if isinstance(item, int)):
        return shape
    items = tuple(others.get(item, item) if isinstance(item, int) else item for item in shape.items)
    binds = tuple(tuple(others.get(v, v) for v in bound) for bound in shape.binds)
    variable = others.get(shape.variable, shape.variable)
    return graph.shapes.get(replace(shape, items=items, binds=binds, variable=variable))
