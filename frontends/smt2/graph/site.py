"""A graph to change: what a move may look at, and how it adds terms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from reducekit.frontends.smt2.graph.analysis import Analysis
from reducekit.frontends.smt2.graph.model import RAW, Graph, Shape
from reducekit.frontends.smt2.language.sorts import FLOATS, Sort, print_sort
from reducekit.frontends.smt2.language.view import ScriptView

SYMBOL = re.compile(rb'"[^"]*"|\|[^|]*\||[^\s()"|]+')
QUANTIFIERS = frozenset((b"forall", b"exists"))
_QUESTIONS = (b"check-", b"get-", b"query", b"simplify", b"apply")
_GLOBAL = frozenset(("fun", "define", "map", "constructor", "selector", "sort", "named"))


class Candidate(NamedTuple):
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

    def __init__(self, view: ScriptView) -> None:
        self.view = view
        self.definitions = view.script.definitions
        self._globals = {
            each.name: number
            for number, each in enumerate(self.definitions)
            if each.kind in _GLOBAL
        }
        self._named: dict[bytes, tuple[int, ...]] = {}

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
        # Not every solver supports declare-const.
        if b"declare-const" in self.view.script.names:
            return b"(declare-const %b %b)" % (name, sort)
        return b"(declare-fun %b () %b)" % (name, sort)

    def sorts_of(self, graph: Graph, definition: int) -> tuple[Sort | None, ...]:
        """Return the sorts of the parameters and of the result of a definition.

        These are the sorts in the graph, which a search may have changed.
        """
        written = self.definitions[definition]
        return graph.signatures.get(definition) or (*written.parameters, written.sort)


class Site:
    """A graph, facts about it, and the material for terms to add."""

    def __init__(self, graph: Graph, material: Material) -> None:
        self.graph = graph
        self.material = material
        self.analysis = Analysis(graph)

    @cached_property
    def nodes(self) -> list[int]:
        """The replaceable nodes, the heaviest first."""
        graph, weight = self.graph, self.analysis.weight
        roots, shape = set(graph.roots), graph.shape
        found = [
            node
            for node in self.analysis.order
            if node not in roots and shape[node].raw != RAW and shape[node].size
        ]
        return sorted(found, key=lambda node: (-weight[node], node))

    @cached_property
    def asks(self) -> bool:
        """Whether any command queries the assertions."""
        shape = self.graph.shape
        return any(shape[root].head.startswith(_QUESTIONS) for root in self.graph.roots)

    # What may stand where

    def constants(self, sort: Sort | None) -> list[bytes]:
        """Return the smallest values of a sort; for a sort without values, a declared constant."""
        view = self.material.view
        found = view.constants(sort)
        if sort is not None and self.graph.signatures and found == view.declared_of(sort)[:1]:
            return self.declared(sort)[:1]
        return found

    def declared(self, sort: Sort) -> list[bytes]:
        """Return the constants that are declared with a sort in this graph."""
        view, signatures = self.material.view, self.graph.signatures
        known = view.declared_of(sort)
        if not signatures:
            return known
        unchanged = (
            text
            for text in known
            if not any(each in signatures for each in self.material.uses_of(text))
        )
        changed = (
            view.document.source(self.material.definitions[number].node)
            for number, sorts in sorted(signatures.items())
            if sorts == (sort,)
        )
        return [*unchanged, *changed]

    def sorts_of(self, definition: int) -> tuple[Sort | None, ...]:
        """Return the sorts of the parameters and of the result of a declared function."""
        return self.material.sorts_of(self.graph, definition)

    def are_sorted(self, variables: Iterable[int]) -> bool:
        """Return whether the sorts of all these variables are known."""
        return all(self.graph.variables[each] is not None for each in variables)

    def is_visible(self, text: bytes, node: int) -> bool:
        """Return whether all that a text uses is declared in all commands that contain a node."""
        uses = self.material.uses_of(text)
        return not uses or self.analysis.are_visible(uses, *self.analysis.commands[node])

    def fits(self, other: int, node: int) -> bool:
        """Return whether all that a node uses is declared wherever the other node occurs."""
        analysis = self.analysis
        if not self.graph.around.visible:
            return True
        (first, last), (low, high) = analysis.commands[node], analysis.commands[other]
        if low <= first and last <= high:
            return True
        shape = self.graph.shape
        return all(
            analysis.are_visible(shape[each].uses, first, last) for each in analysis.cone(other)
        )

    # Adding terms

    def leaf(self, text: bytes, sort: Sort | None) -> int:
        """Add a leaf of a text without bound variables."""
        shape = self.graph.shapes.leaf(text, self.material.uses_of(text))
        return self.graph.add(shape, (), sort)

    def constant(self, sort: Sort | None, node: int) -> int | None:
        """Add a constant of a sort that is visible at a node; None if there is none."""
        for text in self.constants(sort)[:1]:
            if self.is_visible(text, node):
                return self.leaf(text, sort)
        return None

    def applied(self, head: bytes, *args: int, sort: Sort | None = "Bool") -> int:
        """Add an application of an operator."""
        return self.graph.add(self.graph.shapes.application(head, len(args)), args, sort)

    def like(self, node: int, head: bytes, args: tuple[int, ...]) -> int:
        """Add an application of an operator with the sort of a node."""
        return self.applied(head, *args, sort=self.graph.sort[node])

    def with_argument(self, node: int, position: int, other: int) -> int:
        """Add a copy of a node with another argument."""
        graph = self.graph
        args = graph.args[node]
        args = (*args[:position], other, *args[position + 1 :])
        return graph.add(graph.shape[node], args, graph.sort[node])

    def quantifier(self, head: bytes, bound: Sequence[int]) -> Shape:
        """Return the shape of a quantifier without patterns."""
        graph = self.graph
        items: list[bytes | int] = [b"(" + head + b" ("]
        uses: dict[int, None] = {}
        for number, variable in enumerate(bound, 1):
            sort = graph.variables[variable]
            assert sort is not None
            written = print_sort(sort, FLOATS)
            uses.update(dict.fromkeys(self.material.uses_of(written)))
            end = b") " if number < len(bound) else b")) "
            items += (b"(", variable, b" " + written + end)
        items += (~0, b")")
        return graph.shapes.get(Shape(tuple(items), head, 1, (tuple(bound),), uses=tuple(uses)))

    def declaration(self, definition: int, sorts: Sequence[Sort | None]) -> Shape:
        """Return the command that declares a function of these sorts."""
        document = self.material.view.document
        node = self.material.definitions[definition].node
        name, written = document.source(node), [print_sort(each, FLOATS) for each in sorts if each]
        *parameters, result = written
        if parameters or document.source(node - 1) != b"declare-const":
            head = b"declare-fun"
            text = b"(declare-fun %b (%b) %b)" % (name, b" ".join(parameters), result)
        else:
            head = b"declare-const"
            text = b"(declare-const %b %b)" % (name, result)
        uses = dict.fromkeys(number for each in written for number in self.material.uses_of(each))
        return self.graph.shapes.get(Shape((text,), head, 0, uses=tuple(uses)))

    def substituted(self, node: int, values: Mapping[int, int]) -> int:
        """Add a copy of a node in which free variables are replaced by nodes.

        A copied binder binds new variables, so that each variable still belongs to one binder.
        """
        # Substitution copies only what has one of the variables free. A copied binder needs
        # variables of its own: with the old ones, two binders would bind one variable, and
        # `Regions` assumes that none do (the convention of Barendregt, The Lambda Calculus,
        # 2.1.13).
        graph, cone, free = self.graph, self.analysis.cone(node), self.analysis.free
        touched = set(values)
        others: dict[int, int] = {}
        for each in reversed(cone):
            shape = graph.shape[each]
            if shape.binds and not free[each].isdisjoint(touched):
                for variable in {v for bound in shape.binds for v in bound}:
                    touched.add(variable)
                    others[variable] = graph.copy_of(variable, graph.variables[variable])
        copies: dict[int, int] = {}
        for each in cone:
            shape = graph.shape[each]
            args = tuple([copies[argument] for argument in graph.args[each]])
            if shape.variable in values:
                copies[each] = values[shape.variable]
            elif args == graph.args[each] and free[each].isdisjoint(touched):
                copies[each] = each
            else:
                shape = with_variables(graph, shape, others)
                copies[each] = graph.add(shape, args, graph.sort[each])
        return copies[node]


def with_variables(graph: Graph, shape: Shape, others: Mapping[int, int]) -> Shape:
    """Return a shape with some of its variables replaced by others."""
    if not others or not any(item in others for item in shape.items if isinstance(item, int)):
        return shape
    items = tuple(others.get(item, item) if isinstance(item, int) else item for item in shape.items)
    binds = tuple(tuple(others.get(v, v) for v in bound) for bound in shape.binds)
    variable = others.get(shape.variable, shape.variable)
    return graph.shapes.get(replace(shape, items=items, binds=binds, variable=variable))
