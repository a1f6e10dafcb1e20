"""Recognises a candidate that was refuted before, on a graph that differs only elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

from reducekit.frontends.smt2.graph.analysis import Analysis


class Neighbourhood:
    """The keys of candidates on one graph.

    What a candidate looks like does not depend on what it takes away. So its key
    stands for what comes in place of each node, with all below it, and for the
    terms right above the node with all that stands beside it.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.graph = analysis.graph
        self.users = analysis.users
        self._known: dict[int, int] = {}

    def key(self, replaced: Mapping[int, int]) -> bytes:
        """Return what stands for a candidate; empty if it has no place of its own."""
        if not replaced:
            return b""
        shape = self.graph.shape
        parts = [
            (hash(shape[node].items), self._hash(other), self._above(node))
            for node, other in replaced.items()
        ]
        return b"%x" % (hash(tuple(sorted(parts))) & _MASK)

    def _above(self, node: int) -> int:
        """Return a number for the terms right above a node, without the node."""
        graph = self.graph
        found = []
        for user in dict.fromkeys(self.users.get(node, ())):
            beside = (each == node or self._hash(each) for each in graph.args[user])
            found.append((hash(graph.shape[user].items), *beside))
        return hash(frozenset(found))

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
                known[top] = hash((graph.shape[top].items, *[known[each] for each in args]))
        return known[node]


_MASK = (1 << 64) - 1
