"""Passes that remove whole commands: alone, in runs, and in scopes from push to pop."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.format import pass_
from reducekit.frontends.common.items import NodeTree
from reducekit.frontends.smt2.language.commands import Commands
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.search.problem import (
    Closure,
    FixedSearch,
    IndependentChanges,
    Items,
    Move,
    Selection,
)
from reducekit.search.selecting import Selecting
from reducekit.strategies.halving import Sweeps
from reducekit.strategies.probdd import Estimates, Group

_FEW, _MANY = 8, 64
"""Runs are tried only if the number of commands is in this range. There are about as many runs as
commands."""
# Short ones: the longer a run is, the less likely it is that all of it can go.
_LENGTHS = (2, 3, 4)
"""The numbers of commands in a run."""
_KEPT = frozenset(b"set-logic set-info set-option push pop exit".split())
"""Commands that are never part of a run."""


class CommandItems(Items):
    """Commands as items: dropping a declaration requires its users, dropping a push its pop.

    A declaration is dropped together with its last user. The items are the commands of
    `droppable`, in that order; all other commands are kept.
    """

    def __init__(
        self,
        document: Document,
        commands: Commands,
        droppable: Sequence[int],
        *,
        bare: bool = True,
        free: int | None = None,
    ) -> None:
        self.document = document
        self.commands = commands
        self.indices = droppable
        self.bare = bare
        self.free = free
        self.item = array("i", [-1]) * len(commands.nodes)
        """The item of each command, -1 for those that are kept."""
        for item, index in enumerate(droppable):
            self.item[index] = item

    @cached_property
    def weights(self) -> Sequence[int]:
        return array("i", (self.document.size(self.commands.nodes[at]) for at in self.indices))

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        # Two closures in opposite directions, each a breadth-first walk without recursion: up to
        # the users, without which the script would use what is not declared; then down to the
        # declarations, which are valid without a user, but serve nothing any more. The second
        # one is optional to the search (`Closure.orphaned`): a failure may depend on a
        # declaration, by the number that it gives to a symbol, say.
        users, uses, item = self.commands.users, self.commands.uses, self.item
        queue = [self.indices[each] for each in chosen]
        gone, needed = set(queue), set[int]()  # gone: in addition to those taken
        for index in queue:  # grows during the loop
            for each in (*users[index], self.commands.partner[index]):
                if each >= 0 and each not in gone and item[each] not in taken:
                    gone.add(each)
                    needed.add(each)
                    queue.append(each)
        idle: set[int] = set()
        fallen: Collection[int] = list(gone)
        while fallen:
            # All of them at once, so that a definition they share is visited only once.
            used = {definition for index in fallen for definition in uses[index]} - gone
            fallen = [
                definition
                for definition in used
                if item[definition] not in taken
                and all(user in gone or item[user] in taken for user in users[definition])
            ]
            gone.update(fallen)
            idle.update(fallen)
        return Closure(self._items(needed), self._items(idle))

    def blocked(self, chosen: Selection, taken: Selection, refuted: Selection) -> bool:
        users, item = self.commands.users, self.item
        return any(
            item[user] in refuted and item[user] not in taken and item[user] not in chosen
            for each in chosen
            for user in users[self.indices[each]]
        )

    def _items(self, indices: Collection[int]) -> Selection:
        # Commands that are not droppable stay, even if they are required or unused.
        return frozenset(self.item[index] for index in indices if self.item[index] >= 0)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        nodes, users = self.commands.nodes, self.commands.users
        dropped = [self.indices[item] for item in sorted(chosen)]
        if len(self.indices) < len(nodes) and any(
            self.item[user] < 0 for index in dropped for user in users[index]
        ):
            return Change(())
        return Change(tuple(Edit(nodes[index], ()) for index in dropped), "drop commands")

    def closed_change(self, items: Collection[int]) -> Change:
        """Drop items and everything in their closure, when nothing is taken yet."""
        chosen = frozenset(items)
        closure = self.close(chosen, frozenset())
        return self.change(chosen | closure.required | closure.orphaned, frozenset())


@dataclass(frozen=True)
class Drop:
    """Removes commands, selected by name: those in `only`, except those in `keep`."""

    name: str
    only: Collection[bytes] = ()
    keep: Collection[bytes] = ()

    def problem(self, view: ScriptView) -> Items | None:
        """Return the selected commands, in the order of the script."""
        found = [
            index
            for index, name in enumerate(view.commands.names)
            if name not in self.keep and (not self.only or name in self.only)
        ]
        return CommandItems(view.document, view.commands, found) if found else None


@dataclass(frozen=True)
class DropBackward:
    """Removes commands, from the end.

    The search runs from the back, and the asserts come last, so they are tried first. In the order
    of the script, a run of asserts would nearly always contain a declaration that is still needed.
    """

    last: bool = False
    """Whether to take the more expensive way, on a script that is already small.

    A name that a binder shadows then no longer counts as a use of the declaration it shadows. And a
    command that cannot be removed together with the declarations that only it uses is tried without
    them, which helps if the failure depends on a declaration. It is left to the end, when the graph
    pass has shrunk the users of that declaration: tried every time, it would cost a second check
    for nearly every assertion that stays.
    """
    name = "commands"

    def problem(self, view: ScriptView) -> Items | None:
        """Return all commands: first the used ones, then the unused ones, then the asserts."""
        commands = view.scoped_commands if self.last else view.commands

        def rank(index: int) -> int:
            if commands.names[index] == b"assert":
                return 2
            return 0 if len(commands.users[index]) else 1

        # Numbers in an array, not changes in a list: a script may have millions of commands.
        found = array("i", sorted(range(len(commands.nodes)), key=rank))
        free = len(found) - commands.names.count(b"assert")
        if not found:
            return None
        return CommandItems(view.document, commands, found, bare=self.last, free=free)


_NEEDED = 0.02
"""How likely an assertion is to be needed, before anything is known: of the queries of verifiers
some in a hundred are. `FIRST`, 0.1, is for statements of programs."""


@pass_("assertions")
def assertions(view: ScriptView) -> FixedSearch | None:
    """Removes assertions by ProbDD, where the failure is unstable.

    Then parts fail as if by chance: without a few axioms more, a query may be proved or lost again.
    A search that takes a failed run for proof that one of its items is needed keeps most of them.
    """
    # ProbDD takes it for a hint only. In a simulation (`by_chance` in benchmarks/results/archive),
    # with a chance of 0.7 that a text with all needed items fails, it leaves 1.5 times them,
    # and `adaptive` 2.5 times; with a chance of 0.4, 3.6 and 8.6 times, in as many checks.
    names = view.commands.names
    count = names.count(b"assert")
    if count < _FEW:
        return None
    # The other commands are items for the sake of what only dropped assertions use.
    found = sorted(range(len(names)), key=lambda index: names[index] != b"assert")
    items = CommandItems(view.document, view.commands, found, bare=False)
    return FixedSearch(Selecting(items, Estimates((Group(_NEEDED, tuple(range(count))),))))


_IDLE = 32
"""With fewer idle declarations there is no need to hurry."""
_PARTS = 8
"""Where not all of them can go, parts of an eighth are the shortest tried."""


@pass_("idle declarations")
def idle(view: ScriptView) -> FixedSearch | None:
    """Removes declarations that nothing but other such declarations uses, many at once.

    The encoders of verifiers declare everything that they know: in queries of F*, nine tenths of
    the commands. They say nothing, but every later check has to read them.
    """
    names, uses = view.commands.names, view.commands.uses
    declared = [name.startswith((b"declare-", b"define-")) for name in names]
    queue = [index for index, own in enumerate(declared) if not own]
    used = set(queue)
    for index in queue:  # grows during the loop
        new = [each for each in uses[index] if each not in used]
        used.update(new)
        queue.extend(new)
    found = [index for index in range(len(names)) if index not in used]
    count = len(found)
    if count < _IDLE:
        return None
    items = CommandItems(view.document, view.commands, found, bare=False)

    def smaller(size: int, left: int) -> int:
        return size // 2 if size // 2 * _PARTS >= count else 0

    return FixedSearch(Selecting(items, Sweeps(tuple(range(count)), count, smaller)))


@pass_("single assert")
def single_assert(view: ScriptView) -> Items | None:
    """Removes the only assert of a script, and everything that only it uses.

    This hardly ever succeeds, so any run of commands that contains the assert would be rejected.
    """
    commands = view.commands
    if commands.names.count(b"assert") != 1:
        return None
    items = CommandItems(view.document, commands, range(len(commands.nodes)))
    return IndependentChanges([items.closed_change((commands.names.index(b"assert"),))])


@pass_("commands beside it")
def beside_assert(view: ScriptView) -> Items | None:
    """Removes the unused commands other than a single assert, such as queries and options.

    Often all of them can be removed at once. `DropBackward` would mix them with other commands.
    """
    commands = view.commands
    if commands.names.count(b"assert") != 1:
        return None
    found = [
        index
        for index, name in enumerate(commands.names)
        if name != b"assert" and not len(commands.users[index])
    ]
    return CommandItems(view.document, commands, found) if found else None


@pass_("runs of commands")
def runs(view: ScriptView) -> NodeTree | None:
    """Removes runs of several commands, where no single command can be removed.

    Some failures depend on the number of commands, through an address or the size of a table. A
    failure with sixteen objectives may still occur with thirteen, but not with fifteen.
    """
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
    items = CommandItems(view.document, commands, range(len(commands.nodes)))
    return NodeTree(
        range(len(runs)),
        lambda run: sum(items.weights[index] for index in runs[run]),
        lambda run: [Move(items.closed_change(runs[run]), ())],
    )


_LOG = 8
"""The number of scopes from which on a script counts as a log of queries."""


def _nested(commands: Commands) -> dict[int, list[int]]:
    """Return by push, and -1 for the script, the pushes directly inside of its scope."""
    # Only a push whose own pop is known (`Commands.partner`) is a scope; others stay as they are.
    below: dict[int, list[int]] = {-1: []}
    path = [-1]
    for index, partner in enumerate(commands.partner):
        if partner > index:
            below[path[-1]].append(index)
            below[index] = []
            path.append(index)
        elif partner >= 0 and partner == path[-1]:
            path.pop()
    return below


class ScopeItems(Items):
    """Scopes from push to pop as items: dropping one requires all scopes inside it."""

    def __init__(self, document: Document, commands: Commands) -> None:
        below = _nested(commands)
        pushes = [push for push in below if push >= 0]
        number = {push: at for at, push in enumerate(pushes)}
        self.inside = [[number[each] for each in below[push]] for push in pushes]
        """The scopes directly inside each scope."""
        self.nodes: list[list[int]] = []
        """The commands of each scope, without those of the scopes inside."""
        for push in pushes:
            within, at = list[int](), push
            for inner in (*below[push], commands.partner[push] + 1):
                within += commands.nodes[at:inner]
                at = commands.partner[inner] + 1 if inner in number else inner
            self.nodes.append(within)
        self.weights: Sequence[int] = [sum(map(document.size, nodes)) for nodes in self.nodes]

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        required: set[int] = set()
        left = list(chosen)
        for scope in left:  # grows during the loop
            for each in self.inside[scope]:
                if each not in taken and each not in chosen and each not in required:
                    required.add(each)
                    left.append(each)
        return Closure(frozenset(required), frozenset())

    def change(self, chosen: Selection, taken: Selection) -> Change:
        nodes = [node for scope in sorted(chosen) for node in self.nodes[scope]]
        return Change(tuple(Edit(node, ()) for node in sorted(nodes)), "drop scopes")


@pass_("blocks")
def blocks(view: ScriptView) -> ScopeItems | None:
    """Removes push/pop scopes, many at once, from a log of queries.

    Each query of such a log declares the same names in a scope of its own. So a run of commands
    that begins in one scope and ends in another fails, whatever is needed; and scope by scope, a
    log of 2,000 queries takes 2,000 checks.
    """
    if view.commands.names.count(b"push") < _LOG:
        return None
    items = ScopeItems(view.document, view.commands)
    return items if items.nodes else None


@dataclass(frozen=True)
class Scopes:
    """Removes push/pop scopes, level by level."""

    close: bool = True
    """Whether each push keeps its pop."""
    name = "scopes"

    def problem(self, view: ScriptView) -> NodeTree | None:
        """Return the scopes, each removed as a whole (ddSMT paper, section 2.2), or left open."""
        document, nodes, partner = view.document, view.commands.nodes, view.commands.partner
        below = _nested(view.commands)
        if not below[-1]:
            return None
        # If a name is declared twice, leaving a scope open could make the declarations clash.
        may_stay_open = not self.close and _declares_each_name_once(view)

        def moves(push: int) -> list[Move]:
            pop = partner[push]
            whole = tuple(Edit(each, ()) for each in nodes[push : pop + 1])
            ways = ((whole, "drop scope"), ((Edit(nodes[pop], ()),), "drop pop"))
            return [Move(Change(*each), ()) for each in ways[: 1 + may_stay_open]]

        return NodeTree(
            below[-1],
            lambda push: document.end[nodes[partner[push]]] - document.start[nodes[push]],
            moves,
            below.__getitem__,
        )


def _declares_each_name_once(view: ScriptView) -> bool:
    commands = set(view.commands.nodes)
    names = [each.name for each in view.script.definitions if each.binder in commands]
    return len(set(names)) == len(names)
