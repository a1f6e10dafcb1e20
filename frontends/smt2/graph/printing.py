"""Prints a graph as a script: terms are written out, or bound by a let where that is shorter.

A node that occurs several times in a term is bound by a let if that takes fewer
bytes, and written out at each place otherwise. The let is placed around the body
of the innermost binder that contains all occurrences of its node. A node with a
free variable is only reached through the binder of that variable, so the variable
is visible there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from reducekit.frontends.smt2.graph.model import RAW, Graph, follow, post_order

# What a let costs without its name and its term. It pays for a term of n bytes with k uses if that
# and two bytes for each use (a short name and a blank) are less than the (k - 1) * n bytes saved.
_LET = len(b"(let (( )) )")
_MOST = 1 << 26
"""The maximum number of bytes to print: written out, a graph may be exponentially larger."""
_NOTHING: Mapping[int, int] = {}
_TOP = (-1, 0)
"""The region around the term itself."""


class Style(Enum):
    """Which nodes a let binds."""

    SHORTEST = "lets where they are shorter"
    """One let binds all terms that do not depend on each other."""
    IN_ORDER = "lets where they are shorter, in the order of the input"
    """A failure may depend on which of two terms a solver reads first."""
    AS_INPUT = "lets where the input has them"


class Unprintable(Exception):
    """No script represents this graph: a `:named` term is printed twice, or used but missing."""


Plan = tuple[Mapping[int, bytes], Mapping[int, int], Sequence[int]]
"""The names and the levels of the nodes that lets bind, and these nodes in order."""


class Command(NamedTuple):
    """A printed command, and its dependencies on others."""

    text: bytes
    uses: frozenset[int] = frozenset()
    """The definitions that it uses."""
    provided: frozenset[int] = frozenset()
    """The definitions by `:named` in it that are used anywhere."""
    fresh: tuple[bytes, ...] = ()
    """The declarations of the fresh variables that it uses."""


def print_command(
    graph: Graph, command: int, style: Style, replaced: Mapping[int, int] = _NOTHING
) -> Command:
    """Return a command of a graph, with nodes replaced. Raises Unprintable."""
    printer = _Printer(graph, style, replaced)
    text = graph.around.text(printer.command(follow(replaced, graph.roots[command])))
    return Command(text, frozenset(printer.uses), frozenset(printer.provided), tuple(printer.fresh))


def plan_term(graph: Graph, top: int, style: Style, used: int) -> Plan | None:
    """Return the names, the levels, and the ordered nodes that lets bind in a term.

    Skips the first `used` spare names. Returns None if lets would be needed in several places.
    """
    printer = _Printer(graph, style, _NOTHING)
    printer.used = used
    if not graph.args[top]:
        return None
    printer.plan(top)
    if printer.renamed or any(region != _TOP for region in printer.regions):
        return None
    return printer.names, printer.level, printer.regions.get(_TOP, ())


class _Printer:
    """Prints one command, and records its dependencies on others."""

    def __init__(self, graph: Graph, style: Style, replaced: Mapping[int, int]) -> None:
        self.graph = graph
        self.style = style
        self.replaced = replaced
        self.uses: set[int] = set()
        """The used definitions."""
        self.provided: set[int] = set()
        """The definitions made by `:named`."""
        self.fresh: dict[bytes, None] = {}
        """The declarations of fresh variables."""
        self.names: dict[int, bytes] = {}
        """By node: the name that a let gives it in the current term."""
        self.regions: dict[tuple[int, int], list[int]] = {}
        """By binder and argument: the nodes bound by lets around that argument."""
        self.level: dict[int, int] = {}
        """By node: the minimum number of nested lets that it needs."""
        self.renamed: dict[int, bytes] = {}
        """New names of variables that would otherwise be captured."""
        self.used = 0
        """How many spare names are taken."""

    def command(self, root: int) -> bytes:
        """Return the text of a command."""
        graph, shape = self.graph, self.graph.shape[root]
        self.uses.update(shape.uses)
        terms = []
        for top in self._arguments(root):
            self.names, self.regions, self.level, self.renamed = {}, {}, {}, {}
            self.used = graph.fresh
            self.plan(top)
            terms.append(self._text(top))
        return b"".join(
            item if isinstance(item, bytes) else terms[~item] if item < 0 else graph.names[item]
            for item in shape.items
        )

    def _arguments(self, node: int) -> tuple[int, ...]:
        """Return the arguments of a node, after replacement."""
        own = self.graph.args[node]
        replaced = self.replaced
        if replaced and not replaced.keys().isdisjoint(own):
            return tuple([follow(replaced, each) for each in own])
        return own

    def plan(self, top: int) -> None:
        """Decide which nodes of a term are bound by lets, and where."""
        graph = self.graph
        if not graph.args[top]:
            shape = graph.shape[top]
            self.uses.update(shape.uses)
            if shape.fresh:
                self.fresh[shape.fresh] = None
            return
        order = post_order(graph.args, (top,), self.replaced)
        binders, pinned = self._take_in(order)
        lets = self._lets(order, self._counts(order), pinned)
        if binders:
            self._rename(order)
        if binders and lets:
            self._place(order, top, lets)
        elif lets:
            self.regions[_TOP] = lets
        # A replacement may have a higher number than its users: then the order is not by number.
        ordered = graph.ordered and all(
            follow(self.replaced, each) <= each for each in self.replaced
        )
        for nodes in self.regions.values():
            if self.style is Style.SHORTEST:
                nodes.sort(key=self.level.__getitem__)
            elif ordered:
                nodes.sort()

    def _take_in(self, nodes: Sequence[int]) -> tuple[bool, bool]:
        """Note what nodes use and name; return whether any binds, and whether any is named.

        Raises Unprintable if a name would be there twice.
        """
        binders = pinned = False
        for node in nodes:
            shape = self.graph.shape[node]
            self.uses.update(shape.uses)
            if shape.fresh:
                self.fresh[shape.fresh] = None
            if shape.names:
                pinned = True
                if not self.provided.isdisjoint(shape.names):
                    raise Unprintable
                self.provided.update(shape.names)
            if shape.binds:
                binders = True
        return binders, pinned

    def _counts(self, order: Sequence[int]) -> dict[int, int]:
        """Count the uses of each node where a let may stand for it.

        A node is counted once for each use in the graph, not in the written-out term: under a
        shared parent it is written once, as its parent is bound by a let itself if that is
        shorter.
        """
        shapes = self.graph.shape
        counts: dict[int, int] = dict.fromkeys(order, 0)
        for node in order:
            raw = shapes[node].raw
            if not raw:
                for each in self._arguments(node):
                    counts[each] += 1
            elif -1 not in raw:
                for position, each in enumerate(self._arguments(node)):
                    counts[each] += position not in raw
        return counts

    def _lets(self, order: Sequence[int], counts: Mapping[int, int], pinned: bool) -> list[int]:
        """Choose the nodes that lets bind, with names and levels."""
        # Greedy, from the leaves up: a term that is bound counts by its name in the terms around
        # it. The shortest text would be a choice over all subsets of nodes. It is not needed, as
        # all candidates are printed in this way, and compared with each other only.
        graph, shapes, spare = self.graph, self.graph.shape, self.graph.around.spare
        as_input = self.style is Style.AS_INPUT
        size: dict[int, int] = {}
        level = self.level
        once: set[int] = set()
        lets: list[int] = []
        for node in order:
            shape = shapes[node]
            own, height = shape.size, 0
            for each in self._arguments(node):
                own += size[each]
                if level[each] > height:
                    height = level[each]
                if pinned and each in once:
                    once.add(node)
            if shape.names:
                once.add(node)
            count = counts[node]
            if node in once:
                bound = count > 1
            elif as_input:
                bound = node in graph.bound
            else:
                bound = count > 1 and (count - 1) * own > _LET + 2 * count and shape.arity > 0
            if bound and shape.raw != RAW:
                name = spare[self.used]
                self.used += 1
                self.names[node] = name
                lets.append(node)
                own = len(name)
                height += 1
            size[node] = own
            level[node] = height
        return lets

    def _place(self, order: Sequence[int], top: int, lets: Sequence[int]) -> None:
        """Place each let around the innermost binder body that contains all uses of its node."""
        shapes = self.graph.shape
        place: dict[int, tuple[int, int]] = {top: _TOP}
        above: dict[tuple[int, int], tuple[int, int]] = {}
        depth: dict[tuple[int, int], int] = {_TOP: 0}
        # The innermost region of all uses: the nearest common ancestor in the tree of binder
        # bodies, found by climbing from the deeper of the two.
        for node in reversed(order):
            shape, here = shapes[node], place[node]
            for position, each in enumerate(self._arguments(node)):
                region = here
                if shape.binds and shape.binds[position]:
                    region = (node, position)
                    above[region] = here
                    depth[region] = depth[here] + 1
                other = place.get(each, region)
                while region != other:
                    if depth[region] >= depth[other]:
                        region = above[region]
                    else:
                        other = above[other]
                place[each] = region
        for node in lets:
            self.regions.setdefault(place[node], []).append(node)

    def _rename(self, order: Sequence[int]) -> None:
        """Rename variables that would capture another one that is free in their binder's body."""
        graph, names = self.graph, self.graph.names
        # Capture: a term moved below a binder of a variable with the name of one of its own free
        # variables. The binder is renamed, never the free variable, whose other uses may be far
        # away.
        free: dict[int, frozenset[int]] = {}
        nothing: frozenset[int] = frozenset()
        for node in order:
            shape = graph.shape[node]
            own = nothing if shape.variable < 0 else frozenset((shape.variable,))
            for position, each in enumerate(self._arguments(node)):
                if not free[each]:
                    continue
                below = free[each]
                if shape.binds and shape.binds[position]:
                    below = below.difference(shape.binds[position])
                    outer = {names[each] for each in below}
                    for variable in shape.binds[position]:
                        if names[variable] in outer:
                            self.renamed[variable] = graph.around.spare[self.used]
                            self.used += 1
                if below and not below <= own:
                    own = own | below
            free[node] = own

    def _text(self, top: int) -> bytes:
        """Return the text of a term, its lets in their places."""
        graph = self.graph
        shapes, names, regions, renamed = graph.shape, self.names, self.regions, self.renamed
        out: list[bytes] = []
        # What is still to be written, the last first: text, or a node and a mode: write it out
        # although a let binds it (1), or because no let is allowed there (2).
        stack: list[bytes | tuple[int, int]] = [(top, 1)]
        if _TOP in regions:
            stack.clear()
            self._bind(stack, regions[_TOP], (top, 1))
            stack.reverse()
        while stack:
            task = stack.pop()
            if isinstance(task, bytes):
                out.append(task)
                continue
            node, mode = task
            if mode == 0 and node in names:
                out.append(names[node])
                continue
            shape = shapes[node]
            if len(shape.items) == 1 and isinstance(shape.items[0], bytes):
                out.append(shape.items[0])
                continue
            args = self._arguments(node)
            below = 2 if mode == 2 or shape.raw == RAW else 0
            tasks: list[bytes | tuple[int, int]] = []
            for item in shape.items:
                if isinstance(item, bytes):
                    tasks.append(item)
                elif item >= 0:
                    tasks.append(renamed.get(item) or graph.names[item])
                else:
                    position = ~item
                    each = args[position]
                    inner = 2 if below or position in shape.raw else 0
                    lets = regions.get((node, position)) if regions else None
                    if lets:
                        self._bind(tasks, lets, (each, inner))
                    else:
                        tasks.append((each, inner))
            tasks.reverse()
            stack += tasks
        text = b"".join(out)
        if len(text) > _MOST:
            raise Unprintable
        return text

    def _bind(
        self, tasks: list[bytes | tuple[int, int]], lets: Sequence[int], body: tuple[int, int]
    ) -> None:
        """Write lets around a body: one for all nodes of a level."""
        level, count = -1, 0
        for node in lets:
            if self.level[node] != level or self.style is not Style.SHORTEST:
                tasks.append(b") (let ((" if count else b"(let ((")
                level = self.level[node]
                count += 1
            else:
                tasks.append(b" (")
            tasks += (self.names[node] + b" ", (node, 1), b")")
        tasks += (b") ", body, b")" * count)
