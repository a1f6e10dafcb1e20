"""Recognises candidates that were refuted before, on a graph that differs only elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from functools import cached_property

from reducekit.frontends.smt2.graph.analysis import Analysis
from reducekit.frontends.smt2.graph.model import Shape
from reducekit.frontends.smt2.graph.moves import SYMBOL, Material


class Neighbourhood:
    """The keys of candidates on one graph.

    A candidate does not depend on the nodes it removes. So its key covers the
    replacement of each node, with everything below it, and the terms directly above
    the node with their other arguments. It does not cover the names of declared
    symbols, which change when symbols are renamed.
    """

    def __init__(self, analysis: Analysis, material: Material) -> None:
        self.analysis = analysis
        self.graph = analysis.graph
        self.users = analysis.users
        self.material = material
        self._known: dict[int, int] = {}
        self._own: dict[Shape, int] = {}

    def key(self, replaced: Mapping[int, int]) -> bytes:
        """Return the key of a candidate; empty if it replaces no particular node."""
        if not replaced:
            return b""
        shape = self.graph.shape
        # What refuted a candidate is mostly local: the term that was needed and its surroundings.
        # The rest of the script only shrinks. So a candidate whose surroundings are unchanged is
        # taken as refuted until nothing else helps; the engine then checks such candidates after
        # all.
        parts = [
            (self._shape(shape[node]), self._hash(other), self._above(node))
            for node, other in replaced.items()
        ]
        return b"%x" % (hash(tuple(sorted(parts))) & _MASK)

    def _above(self, node: int) -> int:
        """Return a hash of the terms directly above a node, without the node."""
        graph = self.graph
        found = []
        for user in dict.fromkeys(self.users.get(node, ())):
            beside = (each == node or self._hash(each) for each in graph.args[user])
            found.append((self._shape(graph.shape[user]), *beside))
        return hash(frozenset(found))

    def _shape(self, shape: Shape) -> int:
        """Return a hash of a shape that is independent of the names of the symbols it uses."""
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
        """The label of each definition: its sorts, and the number of earlier ones with these sorts.

        The sorts are those in the graph. A fresh variable gets the label it will have
        when the script is parsed again, that of one more definition.
        """
        # Names cannot be in a key, since short names are reassigned after each success. Numbers
        # cannot either, since they shift. Sorts and the rank among equal sorts do neither.
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
        """Return a hash of a term."""
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
