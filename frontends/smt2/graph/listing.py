"""The printed commands of a graph, and how replacing nodes changes them.

Only the commands that contain a replaced node are printed again, and a
declaration is removed with the last command that uses it. So a candidate is a
few edits of commands.

Of a large command, only the let-bound terms around the change are printed again: the text of each
is kept, those that contain a replaced node are reprinted, unreachable ones are dropped, and the
rest is joined. The choice of let-bound terms does not change until a success, so such a text may
have a let that is used only once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.graph.model import Graph, ScriptContext, follow, post_order
from reducekit.frontends.smt2.graph.printing import (
    Command,
    Plan,
    Style,
    Unprintable,
    plan_term,
    print_command,
)

PrintOne = Callable[[Graph, int, Style, Mapping[int, int]], Command]
"""Prints one command with nodes replaced."""
_MOST = 1 << 26
"""The maximum number of bytes to print."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The commands of a script; `None` for a dropped one. Immutable."""

    around: ScriptContext
    commands: Sequence[Command | None]
    count: Mapping[int, int]
    """The number of commands that use each definition."""
    fresh: Mapping[bytes, int]
    """The command before which each new variable is declared."""
    dropped: Mapping[int, Command] = field(default_factory=dict)
    """The dropped declarations, which are restored when they are used again."""

    def text(self, command: int) -> bytes | None:
        """Return the text that replaces a command of the document; None if it is dropped."""
        own = self.commands[command]
        parts = [declaration for declaration, at in self.fresh.items() if at == command]
        if own is not None:
            parts.append(own.text)
        return b"\n".join(parts) if parts else None

    def whole(self) -> bytes:
        """Return the text of the script."""
        gaps, out = self.around.gaps, list[bytes]()
        for command in range(len(self.commands)):
            text = self.text(command)
            if text is not None:
                out += [gaps[command], text] if out else [text]
        return b"".join((*out, gaps[-1]))

    def printed_again(
        self,
        graph: Graph,
        style: Style,
        replaced: Mapping[int, int],
        commands: Iterable[int],
        print_one: PrintOne = print_command,
    ) -> tuple[Listing, set[int]]:
        """Print some commands again; return the listing, and the commands that differ.

        Raises Unprintable.
        """
        # Counts, not sets of users, decide what goes: a declaration is dropped when no command uses
        # it any more. That may be the last use of another one (of a sort), and a replacement may
        # use again what was dropped, so both are work lists that are followed to the end.
        around = self.around
        new = list(self.commands)
        count = dict(self.count)
        fresh = dict(self.fresh)
        changed: set[int] = set()
        dropped = dict(self.dropped)
        unused: list[int] = []
        used: list[int] = []
        for command in sorted(commands):
            before = new[command]
            if before is None:
                if command in dropped:
                    dropped[command] = print_one(graph, command, style, replaced)
                continue
            after = print_one(graph, command, style, replaced)
            new[command] = after
            if after.text != before.text:
                changed.add(command)
            used += _counted(count, after.uses - before.uses, 1)
            unused += _counted(count, before.uses - after.uses, -1)
            for declaration in after.fresh:
                first = around.outer[command]
                known = fresh.get(declaration, first + 1)
                if first < known:  # it must come before its first use
                    fresh[declaration] = first
                    changed |= {first, known} if declaration in self.fresh else {first}
        while used:
            command = around.visible.get(used.pop(), (-1, 0))[0]
            back = dropped.pop(command, None)
            if back is not None:
                new[command] = back
                changed.add(command)
                used += _counted(count, back.uses, 1)
        while unused:
            place = around.visible.get(unused.pop())
            if place is None:
                continue
            command, _ = place
            own = new[command]
            defines = around.defines[command]
            if own is None or not defines or any(count.get(number) for number in defines):
                continue
            new[command] = None
            dropped[command] = own
            changed.add(command)
            unused += _counted(count, own.uses, -1)
        if len(fresh) > len(self.fresh) or self.fresh:
            needed = {each for command in new if command is not None for each in command.fresh}
            for declaration in fresh.keys() - needed:
                changed.add(fresh.pop(declaration))
        if around.named:
            _check_names(around, new)
        return Listing(around, new, count, fresh, dropped), changed

    def change(self, changed: Iterable[int], what: str, local: bytes = b"") -> Change:
        """Return the change that replaces commands of the document by their text here."""
        edits = []
        for command in sorted(changed):
            text = self.text(command)
            edits.append(Edit(self.around.nodes[command], () if text is None else (text,)))
        return Change(tuple(edits), what, local)


def _counted(count: dict[int, int], numbers: Iterable[int], by: int) -> list[int]:
    """Count one user more or less of some definitions; return the first used, or the unused."""
    found = []
    for number in numbers:
        before = count.get(number, 0)
        count[number] = before + by
        if before == (0 if by > 0 else 1):
            found.append(number)
    return found


def _check_names(around: ScriptContext, commands: Iterable[Command | None]) -> None:
    """Raise Unprintable if a name made by `:named` is used but missing, or made twice."""
    provided: Counter[int] = Counter()
    used: set[int] = set()
    for command in commands:
        if command is not None:
            provided.update(command.provided)
            used |= command.uses & around.named
    if any(times > 1 for times in provided.values()) or not used <= provided.keys():
        raise Unprintable


def list_commands(graph: Graph, style: Style) -> Listing:
    """Print a whole graph. Raises Unprintable."""
    commands: list[Command | None] = []
    count: Counter[int] = Counter()
    total = 0
    for command in range(len(graph.roots)):
        printed = print_command(graph, command, style)
        total += len(printed.text)
        if total > _MOST:
            raise Unprintable
        commands.append(printed)
        count.update(printed.uses)
    if graph.around.named:
        _check_names(graph.around, commands)
    return Listing(graph.around, commands, count, {})


FEW = 1500
"""Commands with fewer nodes are printed as a whole, which takes a few milliseconds at most."""
# A candidate whose text has grown so much needs another plan: a term that has become shared is
# written out at each of its places, and a let would be shorter.
_GROWN = 2


class Piece(NamedTuple):
    """The text of a let-bound node, or of the body, and its dependencies."""

    text: bytes
    bound: tuple[int, ...]
    """The let-bound nodes whose names occur in it."""
    uses: int
    """The definitions that it uses, as a bit set."""
    fresh: tuple[bytes, ...]


class Pieces:
    """A printed command of one large term, which can be reprinted with nodes replaced."""

    def __init__(self, graph: Graph, root: int, plan: Plan, *, grouped: bool) -> None:
        self.graph = graph
        self.root = root
        (self.top,) = graph.args[root]
        self.names, self.level, self.order = plan
        self.grouped = grouped
        """Whether one let binds all nodes of a level."""
        self._pieces = {node: self._made(node, {}) for node in (*self.order, self.top)}
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
        made: dict[int, Piece] = {}
        grown = self.size
        for node in self._touched(replaced, users):
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
        change: Counter[int] = Counter()
        for node, piece in made.items():
            change.update(piece.bound)
            change.subtract(pieces[node].bound)
        lost: set[int] = set()
        todo = [each for each, by in change.items() if count[each] + by == 0]
        while todo:
            node = todo.pop()
            lost.add(node)
            for each in (made.get(node) or pieces[node]).bound:
                change[each] -= 1
                if count[each] + change[each] == 0:
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
        shape = self.graph.shape[self.root]
        before, after = shape.items[0], shape.items[-1]
        assert isinstance(before, bytes)
        assert isinstance(after, bytes)
        out = [before]
        uses = _bits(shape.uses)
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
    return Pieces(graph, root, planned, grouped=style is Style.SHORTEST)
