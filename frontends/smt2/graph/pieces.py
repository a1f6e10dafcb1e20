"""Reprints only the changed parts of a large command: the let-bound terms around the change.

A candidate replaces only a few nodes, so printing a large assert as a whole for each
candidate would be wasteful. Here the text of each let-bound term is cached. For a
candidate, the terms that contain a replaced node are printed again, unreachable ones
are dropped, and the rest is joined. The choice of let-bound terms does not change
until a success, so such a text may have a let that is used only once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reducekit.frontends.smt2.graph.model import Graph, follow, post_order
from reducekit.frontends.smt2.graph.printing import Command, Style, plan_term

FEW = 1500
"""Commands with fewer nodes are printed as a whole, which takes a few milliseconds at most."""
# A candidate whose text has grown so much needs another plan: a term that has become shared is
# written out at each of its places, and a let would be shorter.
_GROWN = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """The text of a let-bound node, or of the body, and its dependencies."""

    text: bytes
    bound: tuple[int, ...]
    """The let-bound nodes whose names occur in it."""
    uses: int
    """The definitions that it uses, as a bit set."""
    fresh: tuple[bytes, ...]


class Pieces:
    """A printed command of one large term, which can be reprinted with nodes replaced."""

    def __init__(
        self,
        graph: Graph,
        command: int,
        names: Mapping[int, bytes],
        level: Mapping[int, int],
        order: Sequence[int],
        *,
        grouped: bool,
    ) -> None:
        self.graph = graph
        self.root = graph.roots[command]
        (self.top,) = graph.args[self.root]
        self.names = names
        self.level = level
        self.order = order
        self.grouped = grouped
        """Whether one let binds all nodes of a level."""
        self._pieces = {node: self._made(node, {}) for node in (*order, self.top)}
        self._count = dict.fromkeys(self._pieces, 0)
        for piece in self._pieces.values():
            for each in piece.bound:
                self._count[each] += 1
        self.size = sum(len(piece.text) for piece in self._pieces.values())

    def again(
        self, graph: Graph, replaced: Mapping[int, int], users: Mapping[int, Sequence[int]]
    ) -> Command | None:
        """Return the command with nodes replaced; None if its lets have to be planned again."""
        # The plan of lets is kept from the last success on. It stays valid while every bound term
        # still comes after all that it uses; otherwise the command is planned and printed from the
        # start.
        if self.root in replaced or self.top in replaced:
            return None
        changed = self._touched(replaced, users)
        made: dict[int, Piece] = {}
        grown = self.size
        for node in changed:
            piece = made[node] = self._made(node, replaced, graph)
            grown += len(piece.text) - len(self._pieces[node].text)
            level = self.level.get(node, 0)
            if node != self.top and any(self.level[each] >= level for each in piece.bound):
                return None  # it would come before a node that it uses
            if grown > _GROWN * self.size:
                return None
        return self._joined(made, self._lost(made))

    def _lost(self, made: Mapping[int, Piece]) -> set[int]:
        """Return the pieces that become unused, given the reprinted ones."""
        pieces, count = self._pieces, self._count
        change: dict[int, int] = {}
        for node, piece in made.items():
            for each in piece.bound:
                change[each] = change.get(each, 0) + 1
            for each in pieces[node].bound:
                change[each] = change.get(each, 0) - 1
        lost: set[int] = set()
        todo = [each for each, by in change.items() if count[each] + by == 0]
        while todo:
            node = todo.pop()
            lost.add(node)
            for each in (made.get(node) or pieces[node]).bound:
                change[each] = by = change.get(each, 0) - 1
                if count[each] + by == 0:
                    todo.append(each)
        return lost

    def _touched(self, replaced: Iterable[int], users: Mapping[int, Sequence[int]]) -> set[int]:
        """Return the nodes with a piece of their own in which replaced ones are written."""
        changed: set[int] = set()
        todo, seen = list(replaced), set(replaced)
        while todo:
            for user in users.get(todo.pop(), ()):
                if user in self._pieces:
                    changed.add(user)
                elif user not in seen:
                    seen.add(user)
                    todo.append(user)
        return changed

    def _joined(self, made: Mapping[int, Piece], lost: set[int]) -> Command:
        """Join the pieces, except for those that are lost."""
        pieces, names, levels = self._pieces, self.names, self.level
        before, after = self.graph.shape[self.root].items[0], self.graph.shape[self.root].items[-1]
        assert isinstance(before, bytes)
        assert isinstance(after, bytes)
        out = [before]
        uses = _bits(self.graph.shape[self.root].uses)
        fresh: dict[bytes, None] = {}
        level, count, grouped = -1, 0, self.grouped
        for node in self.order:
            if node in lost:
                continue
            piece = made.get(node) or pieces[node]
            if levels[node] != level or not grouped:
                out.append(b") (let ((" if count else b"(let ((")
                level = levels[node]
                count += 1
            else:
                out.append(b" (")
            out += (names[node], b" ", piece.text, b")")
            uses |= piece.uses
            if piece.fresh:
                fresh.update(dict.fromkeys(piece.fresh))
        body = made.get(self.top) or pieces[self.top]
        uses |= body.uses
        fresh.update(dict.fromkeys(body.fresh))
        out += (b") " if count else b"", body.text, b")" * count, after)
        return Command(self.graph.around.text(b"".join(out)), _numbers(uses), fresh=tuple(fresh))

    def _made(self, top: int, replaced: Mapping[int, int], graph: Graph | None = None) -> Piece:
        """Print a let-bound node, or the body."""
        graph = graph or self.graph
        shapes, args, names = graph.shape, graph.args, self.names
        out: list[bytes] = []
        bound: dict[int, None] = {}
        uses: set[int] = set()
        fresh: dict[bytes, None] = {}
        stack: list[bytes | int] = [top]
        while stack:
            node = stack.pop()
            if isinstance(node, bytes):
                out.append(node)
                continue
            if replaced:
                node = follow(replaced, node)
            if node != top and node in names:
                out.append(names[node])
                bound[node] = None
                continue
            shape = shapes[node]
            uses.update(shape.uses)
            if shape.fresh:
                fresh[shape.fresh] = None
            own = args[node]
            for item in reversed(shape.items):
                if isinstance(item, bytes):
                    stack.append(item)
                else:
                    stack.append(own[~item])
        return Piece(b"".join(out), tuple(bound), _bits(uses), tuple(fresh))


def _bits(numbers: Iterable[int]) -> int:
    """Return a set of numbers as an integer with a bit for each: fast to unite."""
    # A command has thousands of pieces, whose sets are united for each candidate.
    bits = 0
    for number in numbers:
        bits |= 1 << number
    return bits


def _numbers(bits: int) -> frozenset[int]:
    """Return the numbers of a set of bits."""
    return frozenset(at for at, digit in enumerate(reversed(f"{bits:b}")) if digit == "1")


def pieces_of(graph: Graph, command: int, style: Style) -> Pieces | None:
    """Return a command in pieces; None if it is small, or has binders or names."""
    root = graph.roots[command]
    shape = graph.shape[root]
    if len(graph.args[root]) != 1 or len(shape.items) != 3 or shape.binds:
        return None
    order = post_order(graph.args, (root,))
    if len(order) < FEW:
        return None
    if any(
        graph.shape[node].binds or graph.shape[node].names or graph.shape[node].variable >= 0
        for node in order
    ):
        return None
    # The name after those of the fresh variables is left for one that a candidate has.
    planned = plan_term(graph, graph.args[root][0], style, graph.fresh + 1)
    if planned is None:
        return None
    names, level, lets = planned
    return Pieces(graph, command, names, level, lets, grouped=style is Style.SHORTEST)
