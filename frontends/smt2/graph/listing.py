"""The printed commands of a graph, and how replacing nodes changes them.

Only the commands that contain a replaced node are printed again, and a
declaration is removed with the last command that uses it. So a candidate is a
few edits of commands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.graph.model import Graph, ScriptContext
from reducekit.frontends.smt2.graph.printing import Command, Style, Unprintable, print_command

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
        gaps, pieces = self.around.gaps, []
        first = True
        for command in range(len(self.commands)):
            text = self.text(command)
            if text is not None:
                pieces += [text] if first else [gaps[command], text]
                first = False
        return b"".join((*pieces, gaps[-1]))

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
            used += _take_up(count, after.uses - before.uses)
            unused += _give_up(count, before.uses - after.uses)
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
                used += _take_up(count, back.uses)
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
            unused += _give_up(count, own.uses)
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


def _take_up(count: dict[int, int], numbers: Iterable[int]) -> list[int]:
    """Count one more user of some definitions; return those that had none."""
    first = []
    for number in numbers:
        count[number] = count.get(number, 0) + 1
        if count[number] == 1:
            first.append(number)
    return first


def _give_up(count: dict[int, int], numbers: Iterable[int]) -> list[int]:
    """Count one user less of some definitions; return those that have none left."""
    without = []
    for number in numbers:
        count[number] -= 1
        if not count[number]:
            without.append(number)
    return without


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
