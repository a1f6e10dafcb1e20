"""Facts about the nodes of a graph for a search: users, weights, dominators and positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from reducekit.frontends.smt2.graph.model import Graph, post_order

_NOTHING: frozenset[int] = frozenset()


class Analysis:
    """Facts about one graph, computed on first use. Lists are indexed by node."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._sizes: dict[int, int] = {}
        self.order: Sequence[int] = graph.live()
        """The live nodes, arguments before their users."""

    @cached_property
    def users(self) -> dict[int, list[int]]:
        """The users of each live node, once for each use."""
        args = self.graph.args
        users: dict[int, list[int]] = {node: [] for node in self.order}
        for node in self.order:
            for each in args[node]:
                users[each].append(node)
        return users

    @cached_property
    def weight(self) -> dict[int, int]:
        """The bytes removed with a node: its own, and those of all nodes reached only through it.

        That is its size in the dominator tree: the immediate dominator of a node is the nearest
        common dominator of its users.
        """
        # With sharing, the bytes below a node say nothing about what its removal gains: most of
        # them are still used elsewhere. What goes is exactly what the node dominates, in the sense
        # of flow graphs (Lengauer and Tarjan, TOPLAS 1979). A graph without cycles needs no
        # fixpoint: one pass in reverse post-order meets all users of a node before the node, so
        # their common dominator is final.
        graph, users = self.graph, self.users
        tree = _Tree()
        roots = set(graph.roots)
        for node in reversed(self.order):
            own = users[node]
            dominator = _TOP
            if own and node not in roots:
                dominator = own[0]
                for other in own:
                    if dominator != other:
                        dominator = tree.common(dominator, other)
            tree.add(node, dominator)
        above = tree.above
        shape = graph.shape
        weight = {node: shape[node].size + 1 for node in self.order}
        weight[-1] = 0
        for node in self.order:
            weight[above[node]] += weight[node]
        return weight

    @cached_property
    def total(self) -> int:
        """The weight of all nodes together."""
        return self.weight[-1]

    @cached_property
    def tree_size(self) -> dict[int, int]:
        """The size of a node in bytes, written out without lets."""
        graph = self.graph
        sizes: dict[int, int] = {}
        for node in self.order:
            size = graph.shape[node].size
            for each in graph.args[node]:
                size += sizes[each]
            # A graph of n nodes may be a term of 2^n bytes. Numbers beyond all memory only cost
            # time.
            sizes[node] = min(size, _LARGE)
        return sizes

    @cached_property
    def binders(self) -> bool:
        """Whether any node binds variables."""
        shape = self.graph.shape
        return any(shape[node].binds for node in self.order)

    @cached_property
    def free(self) -> dict[int, frozenset[int]]:
        """The free variables of each node."""
        graph = self.graph
        if not self.binders:
            return dict.fromkeys(self.order, _NOTHING)
        # Sets are shared between nodes as long as nothing is added, so a script whose terms all
        # have the same free variables needs one set. Deep nests of binders are what `Regions` is
        # for.
        free: dict[int, frozenset[int]] = {}
        for node in self.order:
            shape = graph.shape[node]
            own = _NOTHING if shape.variable < 0 else frozenset((shape.variable,))
            for position, each in enumerate(graph.args[node]):
                below = free[each]
                if below and shape.binds:
                    below = below.difference(shape.binds[position])
                if below and not below <= own:
                    own |= below
            free[node] = own
        return free

    @cached_property
    def _regions(self) -> Regions:
        return Regions(self.graph, self.order)

    def outside(self, other: int, node: int) -> set[int]:
        """Return the free variables of a term that are not bound at every occurrence of a node."""
        free = self.free[other]
        if not free:
            return set()
        binds = self._regions.binds
        return {variable for variable in free if not binds(variable, node)}

    @cached_property
    def commands(self) -> dict[int, tuple[int, int]]:
        """The first and the last command that contain a node."""
        # The ends of a range are enough: a declaration is visible from its command to the end of
        # its scope, so it is visible in all commands if it is in the first and in the last. Sets
        # of commands would be quadratic where many commands share a large term.
        graph = self.graph
        found = {root: (number, number) for number, root in enumerate(graph.roots)}
        for number, root in enumerate(graph.roots):
            if found[root][0] != number:  # equal commands are one node
                first, last = found[root]
                found[root] = min(first, number), max(last, number)
        for node in reversed(self.order):
            here = found[node]
            for each in graph.args[node]:
                known = found.get(each, here)
                if known != here:
                    known = min(known[0], here[0]), max(known[1], here[1])
                found[each] = known
        return found

    def cone(self, node: int) -> list[int]:
        """Return a node and all below it, arguments first."""

        return post_order(self.graph.args, (node,))

    def size(self, node: int) -> int:
        """Return the size in bytes of a node and all nodes below it, each counted once."""
        known = self._sizes.get(node)
        if known is None:
            shape = self.graph.shape
            # Not from the sizes of the arguments: what they share would count twice.
            known = self._sizes[node] = sum([shape[each].size for each in self.cone(node)])
        return known

    def above(self, nodes: Iterable[int]) -> set[int]:
        """Return some nodes and all that contain one of them."""
        # Upwards, so the cost is that of the nodes above: for a term that is used once, the path to
        # its root.
        users = self.users
        found = set(nodes)
        todo = list(found)
        while todo:
            for each in users.get(todo.pop(), ()):
                if each not in found:
                    found.add(each)
                    todo.append(each)
        return found

    def standing(self, nodes: Iterable[int]) -> set[int]:
        """Return the commands that contain any of some nodes."""
        above = self.above(nodes)
        return {number for node in above for number in self._positions.get(node, ())}

    @cached_property
    def _positions(self) -> dict[int, list[int]]:
        """The numbers of the commands by root: equal commands are one node."""
        positions: dict[int, list[int]] = {}
        for number, root in enumerate(self.graph.roots):
            positions.setdefault(root, []).append(number)
        return positions

    def are_visible(self, uses: Iterable[int], first: int, last: int) -> bool:
        """Return whether some definitions are visible in all of the commands `first` to `last`."""
        visible = self.graph.around.visible
        return all(
            number not in visible or (visible[number][0] < first and last < visible[number][1])
            for number in uses
        )


_LARGE = 1 << 60
_TOP = -1
"""The root of a `_Tree`."""


class _Tree:
    """A tree with fast nearest common ancestors: each node has its parent and a jump pointer."""

    # Skew-binary jump pointers: one pointer a node, ancestors at any depth in logarithmic time
    # (Myers, An applicative random-access stack, IPL 17, 1983). A table of 2^k-th ancestors would
    # take n log n memory.

    def __init__(self) -> None:
        self.above = {_TOP: _TOP}
        self.jump = {_TOP: _TOP}
        self.depth = {_TOP: 0}

    def add(self, node: int, above: int) -> None:
        jump, depth = self.jump, self.depth
        level, far = depth[above], jump[above]
        self.above[node] = above
        depth[node] = level + 1
        even = level - depth[far] == depth[far] - depth[jump[far]]
        jump[node] = jump[far] if even and above != _TOP else above

    def at_depth(self, node: int, level: int) -> int:
        """Return the ancestor of a node at a depth, or the node itself."""
        above, jump, depth = self.above, self.jump, self.depth
        while depth[node] > level:
            node = jump[node] if depth[jump[node]] >= level else above[node]
        return node

    def common(self, first: int, other: int) -> int:
        """Return the nearest common ancestor of two nodes."""
        above, jump, depth = self.above, self.jump, self.depth
        first, other = self.at_depth(first, depth[other]), self.at_depth(other, depth[first])
        while first != other:
            # Nodes of one depth have jumps of one depth, so both sides stay level.
            if jump[first] != jump[other]:
                first, other = jump[first], jump[other]
            else:
                first, other = above[first], above[other]
        return first


class Regions:
    """The variables that are bound at every occurrence of a node.

    A binder opens a region around its body. The region of a node is the innermost one that
    contains all its occurrences. So a variable is bound at a node if its region is that of the node
    or one further out. Sets of variables at each node would take quadratic memory in deeply nested
    binders.
    """

    def __init__(self, graph: Graph, order: Sequence[int]) -> None:
        self._tree = tree = _Tree()
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
                        opened[bound] = len(tree.above)
                        tree.add(opened[bound], here)
                        for variable in bound:
                            self._binding.setdefault(variable, []).append(opened[bound])
                    region = opened[bound]
                known = of.get(each, region)
                of[each] = region if known == region else tree.common(known, region)

    def binds(self, variable: int, node: int) -> bool:
        """Return whether a variable is bound at every occurrence of a node."""
        here, tree = self._of[node], self._tree
        return any(
            tree.at_depth(here, tree.depth[region]) == region
            for region in self._binding.get(variable, ())
        )
