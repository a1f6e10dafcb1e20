"""Passes that drop whole commands and whole scopes."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from functools import cached_property

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.frontends.smt2.commands import Commands
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.independent import IndependentChanges
from reducekit.search.problem import Closure, Items, LeafTree, Move, Selection

_FEW, _MANY = 8, 64
"""Of fewer or more commands, runs are not tried. There are about as many runs as commands."""
_LENGTHS = (2, 3, 4)
"""So many commands are a run."""
_KEPT = frozenset(b"set-logic set-info set-option push pop exit".split())
"""Commands that are in no run."""


class CommandItems(Items):
    """Commands as items: dropping a declaration needs its users gone, a push its pop.

    A declaration whose last user goes has lost its purpose and goes along.
    The items are the commands of `droppable`, in its order; all others stay.
    """

    def __init__(
        self,
        document: Document,
        commands: Commands,
        droppable: Sequence[int],
        *,
        bare: bool = True,
    ) -> None:
        self.document = document
        self.commands = commands
        self.indices = droppable
        self.bare = bare
        self.item = array("i", [-1]) * len(commands.nodes)
        """The item of each command, -1 for those that stay."""
        for item, index in enumerate(droppable):
            self.item[index] = item

    @cached_property
    def weights(self) -> Sequence[int]:
        """The bytes of each command."""
        start, end, nodes = self.document.start, self.document.end, self.commands.nodes
        return array("i", (end[nodes[index]] - start[nodes[index]] for index in self.indices))

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        """Add users and partners, then what they alone used."""
        users, uses, partner = self.commands.users, self.commands.uses, self.commands.partner
        item = self.item
        fallen = [self.indices[each] for each in chosen]
        gone = set(fallen)  # besides those taken
        needed: set[int] = set()
        at = 0
        while at < len(fallen):
            index = fallen[at]
            at += 1
            for each in (*users[index], partner[index]):
                if each >= 0 and each not in gone and item[each] not in taken:
                    gone.add(each)
                    needed.add(each)
                    fallen.append(each)
        idle: set[int] = set()
        while fallen:
            # Together, so that what all of them use is looked at once.
            used = {definition for index in fallen for definition in uses[index]}
            fallen = [
                definition
                for definition in used
                if definition not in gone
                and item[definition] not in taken
                and all(user in gone or item[user] in taken for user in users[definition])
            ]
            gone.update(fallen)
            idle.update(fallen)
        return Closure(self._items(needed), self._items(idle))

    def blocked(self, chosen: Selection, taken: Selection, refuted: Selection) -> bool:
        """Return whether a command uses one of the chosen that was refuted."""
        users, item = self.commands.users, self.item
        return any(
            item[user] in refuted and item[user] not in taken and item[user] not in chosen
            for each in chosen
            for user in users[self.indices[each]]
        )

    def _items(self, indices: Collection[int]) -> Selection:
        # What may not be dropped stays, even where it is needed or idle.
        return frozenset(self.item[index] for index in indices if self.item[index] >= 0)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Drop the chosen commands; not while one that has to stay uses what they define."""
        nodes, users = self.commands.nodes, self.commands.users
        dropped = [self.indices[item] for item in sorted(chosen)]
        if len(self.indices) < len(nodes) and any(
            self.item[user] < 0 for index in dropped for user in users[index]
        ):
            return Change(())
        return Change(tuple(Edit(nodes[index], ()) for index in dropped), "drop commands")

    def closed_change(self, items: Collection[int]) -> Change:
        """Drop items with all that goes with them, where nothing is taken yet."""
        chosen = frozenset(items)
        closure = self.close(chosen, frozenset())
        return self.change(chosen | closure.required | closure.orphaned, frozenset())


class Drop:
    """The pass over commands; `only` and `keep` are command names."""

    def __init__(
        self, name: str, only: Collection[bytes] = (), keep: Collection[bytes] = ()
    ) -> None:
        self.name = name
        self.only = frozenset(only)
        self.keep = frozenset(keep)

    def problem(self, view: ScriptView) -> Items | None:
        """Return the commands of the names looked for, in the order of the script."""
        names = view.commands.names
        found = [
            index
            for index, name in enumerate(names)
            if name not in self.keep and (not self.only or name in self.only)
        ]
        return CommandItems(view.document, view.commands, found) if found else None


class DropBackward:
    """The pass over all commands for a search from the back: the asserts come last.

    So they are tried before all else. Where declarations stand between them, a
    run of asserts would hardly ever be free of a declaration that is needed.
    """

    name = "commands"

    def __init__(self, *, last: bool = False) -> None:
        self.last = last
        """Whether to take the longer way, on a small script.

        Then a name that a binder hides is no use of what is declared under it, and what cannot
        go with the declarations that only it uses is tried without them. Where a declaration is
        what the failure is about, this is found out then: first, the graph has made small what
        uses it. Tried each time, it is the second check for nearly every assertion that stays.
        """

    def problem(self, view: ScriptView) -> Items | None:
        """Return all commands: those that are used, those that are not, the asserts."""
        commands = view.scoped_commands if self.last else view.commands

        def rank(index: int) -> int:
            if commands.names[index] == b"assert":
                return 2
            return 0 if len(commands.users[index]) else 1

        found = array("i", sorted(range(len(commands.nodes)), key=rank))
        return CommandItems(view.document, commands, found, bare=self.last) if found else None


class SingleAssert:
    """The pass that drops the only assert of a script, with all that only it uses.

    It hardly ever goes, so any run of commands that has it would fail.
    """

    name = "single assert"

    def problem(self, view: ScriptView) -> Items | None:
        """Return the one change; None where there are several asserts, or none."""
        commands = view.commands
        if commands.names.count(b"assert") != 1:
            return None
        items = CommandItems(view.document, commands, range(len(commands.nodes)))
        return IndependentChanges([items.closed_change((commands.names.index(b"assert"),))])


class BesideAssert:
    """The pass over what nothing uses beside a single assert: questions, options.

    All of it can often go at once. The pass over all commands would try runs of it and others.
    """

    name = "commands beside it"

    def problem(self, view: ScriptView) -> Items | None:
        """Return these commands; None where there are several asserts, or none."""
        commands = view.commands
        if commands.names.count(b"assert") != 1:
            return None
        found = [
            index
            for index, name in enumerate(commands.names)
            if name != b"assert" and not len(commands.users[index])
        ]
        return CommandItems(view.document, commands, found) if found else None


class RunTree(LeafTree):
    """Runs of commands, each of which goes as a whole, with all that only it uses."""

    def __init__(self, view: ScriptView, runs: Sequence[Sequence[int]]) -> None:
        self.runs = runs
        commands = view.commands
        self.items = CommandItems(view.document, commands, range(len(commands.nodes)))

    @property
    def roots(self) -> Sequence[int]:
        """The runs."""
        return range(len(self.runs))

    def weight(self, node: int) -> int:
        """Return the bytes of a run."""
        return sum(self.items.weights[index] for index in self.runs[node])

    def moves(self, node: int) -> Sequence[Move]:
        """Drop all of a run."""
        return [Move(self.items.closed_change(self.runs[node]), ())]


class Runs:
    """The pass that drops some commands at a time, where there are many and none can go alone.

    Some failures depend on how many there are: an address or the size of a table decides. So one
    with sixteen objectives may stay with thirteen, but not with fifteen.
    """

    name = "runs of commands"

    def problem(self, view: ScriptView) -> RunTree | None:
        """Return the runs; None where few commands are left, or very many."""
        commands = view.commands
        found = [
            index
            for index, name in enumerate(commands.names)
            if not len(commands.users[index]) and name not in _KEPT
        ]
        if not _FEW <= len(found) <= _MANY:
            return None
        runs = [
            found[start : start + length]
            for length in _LENGTHS
            for start in range(0, len(found) - length + 1, length)
        ]
        return RunTree(view, runs)


class ScopeTree(LeafTree):
    """Command-level scopes by push and pop: each can go as a whole (ddSMT paper, section 2.2).

    Or the scope stays open, without its pop.
    """

    def __init__(self, document: Document, commands: Commands, *, may_stay_open: bool) -> None:
        self.document = document
        self.commands = commands
        self.may_stay_open = may_stay_open
        below: dict[int, list[int]] = {-1: []}
        path = [-1]
        for index, partner in enumerate(commands.partner):
            if partner > index:
                below[path[-1]].append(index)
                below[index] = []
                path.append(index)
            elif partner >= 0 and partner == path[-1]:
                path.pop()
        self.below = below

    @property
    def roots(self) -> Sequence[int]:
        """The pushes of the outermost scopes."""
        return self.below[-1]

    def weight(self, node: int) -> int:
        """Return the bytes from a push to its pop."""
        nodes, document = self.commands.nodes, self.document
        return document.end[nodes[self.commands.partner[node]]] - document.start[nodes[node]]

    def moves(self, node: int) -> Sequence[Move]:
        """Drop all from a push to its pop; or the pop alone."""
        pop = self.commands.partner[node]
        nodes = self.commands.nodes[node : pop + 1]
        found = [Move(Change(tuple(Edit(each, ()) for each in nodes), "drop scope"), ())]
        if self.may_stay_open:
            found.append(Move(Change((Edit(self.commands.nodes[pop], ()),), "drop pop"), ()))
        return found

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        """Return the scopes directly within."""
        return self.below[node]


class Scopes:
    """The pass over command-level scopes, level by level."""

    name = "scopes"

    def __init__(self, *, close: bool = True) -> None:
        self.close = close
        """Whether each push keeps its pop."""

    def problem(self, view: ScriptView) -> ScopeTree | None:
        """Return the tree of scopes."""
        # A name that is declared again would clash with one of a scope that stays open.
        may_stay_open = not self.close and _declares_each_name_once(view)
        tree = ScopeTree(view.document, view.commands, may_stay_open=may_stay_open)
        return tree if tree.roots else None


def _declares_each_name_once(view: ScriptView) -> bool:
    commands = set(view.commands.nodes)
    names = [each.name for each in view.script.definitions if each.binder in commands]
    return len(set(names)) == len(names)
