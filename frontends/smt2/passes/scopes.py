"""Passes that remove whole scopes, from push to pop."""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.frontends.smt2.language.commands import Commands
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.passes import pass_
from reducekit.search.problem import (
    Closure,
    Items,
    LeafTree,
    Move,
    Selection,
)

_LOG = 8
"""The number of scopes from which on a script counts as a log of queries."""


class ScopeItems(Items):
    """Scopes from push to pop as items: dropping one requires all scopes inside it."""

    def __init__(self, document: Document, commands: Commands) -> None:
        self.nodes: list[list[int]] = []
        """The commands of each scope, without those of the scopes inside."""
        self.inside: list[list[int]] = []
        """The scopes directly inside each scope."""
        path: list[int] = []
        closing: list[int] = []  # the pops of the open scopes
        for index, (node, partner) in enumerate(zip(commands.nodes, commands.partner, strict=True)):
            if partner > index:
                if path:
                    self.inside[path[-1]].append(len(self.nodes))
                path.append(len(self.nodes))
                closing.append(partner)
                self.nodes.append([])
                self.inside.append([])
            if path:
                self.nodes[path[-1]].append(node)
            if closing and closing[-1] == index:
                path.pop()
                closing.pop()
        start, end = document.start, document.end
        self.weights: Sequence[int] = [
            sum(end[node] - start[node] for node in nodes) for nodes in self.nodes
        ]

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


class ScopeTree(LeafTree):
    """Command-level scopes (push to pop), each removed as a whole (ddSMT paper, section 2.2).

    Alternatively, only the pop is removed, which leaves the scope open.
    """

    def __init__(self, document: Document, commands: Commands, *, may_stay_open: bool) -> None:
        self.document = document
        self.commands = commands
        self.may_stay_open = may_stay_open
        # Only a push whose own pop is known (`Commands.partner`) is a scope; others stay as they
        # are.
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
        return self.below[-1]

    def weight(self, node: int) -> int:
        """Return the number of bytes from a push to its pop."""
        nodes, document = self.commands.nodes, self.document
        return document.end[nodes[self.commands.partner[node]]] - document.start[nodes[node]]

    def moves(self, node: int) -> Sequence[Move]:
        """Return the removal of everything from a push to its pop, and that of the pop alone."""
        pop = self.commands.partner[node]
        nodes = self.commands.nodes[node : pop + 1]
        found = [Move(Change(tuple(Edit(each, ()) for each in nodes), "drop scope"), ())]
        if self.may_stay_open:
            found.append(Move(Change((Edit(self.commands.nodes[pop], ()),), "drop pop"), ()))
        return found

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        """Return the scopes directly inside this one."""
        return self.below[node]


class Scopes:
    """Removes push/pop scopes, level by level."""

    name = "scopes"

    def __init__(self, *, close: bool = True) -> None:
        self.close = close
        """Whether each push keeps its pop."""

    def problem(self, view: ScriptView) -> ScopeTree | None:
        """Return the tree of scopes."""
        # If a name is declared twice, leaving a scope open could make the declarations clash.
        may_stay_open = not self.close and _declares_each_name_once(view)
        tree = ScopeTree(view.document, view.commands, may_stay_open=may_stay_open)
        return tree if tree.roots else None


def _declares_each_name_once(view: ScriptView) -> bool:
    commands = set(view.commands.nodes)
    names = [each.name for each in view.script.definitions if each.binder in commands]
    return len(set(names)) == len(names)
