"""Which bound variables are bound wherever a node stands: by the regions that binders open.

A binder opens a region around its body. The region of a node is the innermost
one that holds all its places. So a variable is bound around a node if its region
is that of the node, or one further out. Sets of variables at each node would
take quadratic memory in a deep nest of binders.
"""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.frontends.smt2.graph.model import Graph

_TOP = 0


class Regions:
    """The regions of a graph, as a tree in which the nearest common one is found fast.

    Each region has the one around it, and one far out to jump to, as in `Analysis.weight`.
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
                    # A body and its patterns are bound alike: they are one region.
                    bound = binds[position]
                    if bound not in opened:
                        opened[bound] = self._open(here, bound)
                    region = opened[bound]
                known = of.get(each, region)
                of[each] = region if known == region else self._common(known, region)

    def _open(self, around: int, bound: Sequence[int]) -> int:
        above, jump, depth = self._above, self._jump, self._depth
        region = len(above)
        far = jump[around]
        even = depth[around] - depth[far] == depth[far] - depth[jump[far]]
        above.append(around)
        jump.append(jump[far] if even and around else around)
        depth.append(depth[around] + 1)
        for variable in bound:
            self._binding.setdefault(variable, []).append(region)
        return region

    def _at_depth(self, region: int, level: int) -> int:
        """Return the region around one that is so deep."""
        above, jump, depth = self._above, self._jump, self._depth
        while depth[region] > level:
            region = jump[region] if depth[jump[region]] >= level else above[region]
        return region

    def _common(self, first: int, other: int) -> int:
        """Return the innermost region that holds two."""
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
        """Tell whether a variable is bound wherever a node stands."""
        here = self._of[node]
        return any(
            self._at_depth(here, self._depth[region]) == region
            for region in self._binding.get(variable, ())
        )
