"""Finds the variables that are bound at every occurrence of a node, by regions.

A binder opens a region around its body. The region of a node is the innermost
one that contains all its occurrences. So a variable is bound at a node if its
region is that of the node or one further out. Sets of variables at each node would
take quadratic memory in deeply nested binders.
"""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.frontends.smt2.graph.model import Graph

_TOP = 0


class Regions:
    """The regions of a graph, as a tree with fast nearest common ancestors.

    Each region has a parent, and a jump pointer further out, as in `Analysis.weight`.
    """

    def __init__(self, graph: Graph, order: Sequence[int]) -> None:
        self._above, self._jump, self._depth = [_TOP], [_TOP], [0]
        self._of: dict[int, int] = dict.fromkeys(graph.roots, _TOP)
        self._binding: dict[int, list[int]] = {}
        of = self._of
        for node in reversed(order):
            binds, here = graph.shape[node].binds, of[node]
            opened: dict[tuple[int, ...], int] = {}
            for position, each in enumerate(graph.args[node]):
                region = here
                if binds and binds[position]:
                    # The same variables are bound in a body and its patterns: they are one region.
                    bound = binds[position]
                    if bound not in opened:
                        opened[bound] = self._open(here, bound)
                    region = opened[bound]
                known = of.get(each, region)
                of[each] = region if known == region else self._common(known, region)

    def _open(self, around: int, bound: Sequence[int]) -> int:
        above, jump, depth = self._above, self._jump, self._depth
        region = len(above)
        # Skew-binary jump pointers: one pointer a node, ancestors at any depth in logarithmic time
        # (Myers, IPL 17, 1983). A table of 2^k-th ancestors would take n log n memory.
        far = jump[around]
        even = depth[around] - depth[far] == depth[far] - depth[jump[far]]
        above.append(around)
        jump.append(jump[far] if even and around else around)
        depth.append(depth[around] + 1)
        for variable in bound:
            self._binding.setdefault(variable, []).append(region)
        return region

    def _at_depth(self, region: int, level: int) -> int:
        """Return the region around this one at the given depth."""
        above, jump, depth = self._above, self._jump, self._depth
        while depth[region] > level:
            region = jump[region] if depth[jump[region]] >= level else above[region]
        return region

    def _common(self, first: int, other: int) -> int:
        """Return the innermost region that contains both."""
        above, jump, depth = self._above, self._jump, self._depth
        level = min(depth[first], depth[other])
        first, other = self._at_depth(first, level), self._at_depth(other, level)
        while first != other:
            if jump[first] != jump[other]:
                first, other = jump[first], jump[other]
            else:
                first, other = above[first], above[other]
        return first

    def binds(self, variable: int, node: int) -> bool:
        """Return whether a variable is bound at every occurrence of a node."""
        here = self._of[node]
        return any(
            self._at_depth(here, self._depth[region]) == region
            for region in self._binding.get(variable, ())
        )
