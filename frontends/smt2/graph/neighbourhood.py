"""Recognises a candidate that was refuted before, on a graph that differs only elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from functools import cached_property

from reducekit.frontends.smt2.graph.analysis import Analysis
from reducekit.frontends.smt2.graph.model import Shape
from reducekit.frontends.smt2.graph.moves import SYMBOL, Material


class Neighbourhood:
    """The keys of candidates on one graph.

    What a candidate looks like does not depend on what it takes away. So its key
    stands for what comes in place of each node, with all below it, and for the
    terms right above the node with all that stands beside it. The names of what
    is declared are no part of it: they change when all is renamed.
    """

    def __init__(self, analysis: Analysis, material: Material) -> None:
        self.analysis = analysis
        self.graph = analysis.graph
        self.users = analysis.users
        self.material = material
        self._known: dict[int, int] = {}
        self._own: dict[Shape, int] = {}

    def key(self, replaced: Mapping[int, int]) -> bytes:
        """Return what stands for a candidate; empty if it has no place of its own."""
        if not replaced:
            return b""
        shape = self.graph.shape
        parts = [
            (self._shape(shape[node]), self._hash(other), self._above(node))
            for node, other in replaced.items()
        ]
        return b"%x" % (hash(tuple(sorted(parts))) & _MASK)

    def _above(self, node: int) -> int:
        """Return a number for the terms right above a node, without the node."""
        graph = self.graph
        found = []
        for user in dict.fromkeys(self.users.get(node, ())):
            beside = (each == node or self._hash(each) for each in graph.args[user])
            found.append((self._shape(graph.shape[user]), *beside))
        return hash(frozenset(found))

    def _shape(self, shape: Shape) -> int:
        """Return a number for a shape, whatever what it uses is called."""
        if not shape.uses and not shape.fresh:
            return hash(shape.items)
        known = self._own.get(shape)
        if known is None:
            definitions = self.material.terms.script.definitions
            labels = {definitions[each].name: self._labels.get(each) for each in shape.uses}
            if shape.fresh:
                labels = {shape.head: self._labels.get(shape)}
            items = tuple(
                item
                if isinstance(item, int)
                else tuple(labels.get(token, token) for token in SYMBOL.findall(item))
                for item in shape.items
            )
            known = self._own[shape] = hash((items, shape.arity))
        return known

    @cached_property
    def _labels(self) -> Mapping[int | Shape, Hashable]:
        """What stands for each definition: its sorts, and how many of these sorts come before.

        The sorts are those of the graph. A variable that the search has made is
        what it will be when the script is read again: one more definition.
        """
        graph, definitions = self.graph, self.material.terms.script.definitions
        used = {each for node in self.analysis.order for each in graph.shape[node].uses}
        sorts: dict[int | Shape, Hashable] = {}
        for number in sorted(used):
            sorts[number] = definitions[number].kind, self.material.sorts_of(graph, number)
        for node in self.analysis.order:
            if graph.shape[node].fresh:
                sorts[graph.shape[node]] = "fun", (graph.sort[node],)
        count: Counter[Hashable] = Counter()
        labels: dict[int | Shape, Hashable] = {}
        for each, kind_and_sorts in sorts.items():
            count[kind_and_sorts] += 1
            labels[each] = kind_and_sorts, count[kind_and_sorts]
        return labels

    def _hash(self, node: int) -> int:
        """Return a number that is equal for equal terms, and for hardly any others."""
        known, graph = self._known, self.graph
        stack = [node]
        while stack:
            top = stack[-1]
            args = graph.args[top]
            missing = [each for each in args if each not in known]
            if missing and top not in known:
                stack += missing
                continue
            stack.pop()
            if top not in known:
                known[top] = hash((self._shape(graph.shape[top]), *[known[each] for each in args]))
        return known[node]


_MASK = (1 << 64) - 1
