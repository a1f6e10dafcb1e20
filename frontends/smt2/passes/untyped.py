"""Changes that ignore sorts, for failures that do not need a valid script, such as parser bugs.

The result is usually not a valid script, so these changes are only tried if the failure may not
need one. If a query such as check-sat is needed, the failure depends on an answer, and nothing
is tried. Otherwise one probe decides: a command is replaced by its content (a single word also in
parentheses), which no solver accepts as a command. Only if the probe succeeds are the nodes below
tried. With `unchecked`, the probe is always made, and a second one replaces a term by one of
another sort.
"""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.change import Change, Edit, Template
from reducekit.document import Document
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.search.problem import LeafTree, Move, Selection

# More probes would mostly repeat the answer of the first: whether the failure needs a valid script.
_PROBES = 1


class UntypedTree(LeafTree):
    """Nodes of any kind. A number beyond the document's nodes is a node opened by a probe."""

    def __init__(self, view: ScriptView, *, unchecked: bool = True) -> None:
        self.document = view.document
        self.unchecked = unchecked
        self.commands = frozenset(view.commands.nodes)
        # The heaviest assertion stands for all: if a solver does not mind nonsense there, what is
        # below it is searched; if it does, one check was lost.
        names = view.commands.names
        asserts = [
            node for node, name in zip(view.commands.nodes, names, strict=True) if name == b"assert"
        ]
        heaviest = sorted(asserts or view.commands.nodes, key=self.weight)[-_PROBES:]
        self.roots: Sequence[int] = heaviest

    def _node(self, node: int) -> tuple[int, bool]:
        size = len(self.document)
        return (node - size, True) if node >= size else (node, False)

    def weight(self, node: int) -> int:
        node, _ = self._node(node)
        return self.document.end[node] - self.document.start[node]

    def moves(self, node: int) -> Sequence[Move]:
        """Return the removal of an opened node, and its replacements by `0` and by its children.

        For other nodes, return the probes.
        """
        node, opened = self._node(node)
        size = len(self.document)
        children = list(self.document.children(node))
        found: list[Move] = []
        if opened:
            found.append(_move(node, ()))
            found.append(_move(node, (b"0",)))
            found += [_move(node, (each,), each + size) for each in reversed(children)]
        elif node in self.commands and len(children) > 1:
            body = children[-1]
            found.append(_move(node, (body,), body + size))
            if self.document.stop[body] == body + 1:
                found.append(_move(node, (b"(", body, b")"), body + size))
            if not self.unchecked:
                return found
            inner = sorted(_arguments(self.document, body), key=self.weight, reverse=True)
            found += [_move(body, (each,), each + size) for each in inner[:2]]
        return found

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        node, opened = self._node(node)
        size = len(self.document)
        return [each + size for each in self.document.children(node)] if opened else []


def _arguments(document: Document, node: int) -> list[int]:
    return list(document.children(node))[1:]


def _move(node: int, template: Template, *rest: int) -> Move:
    return Move(Change((Edit(node, template),), "untyped"), rest)


class Untyped:
    """Removes nodes, or replaces them by their children or 0, ignoring sorts."""

    name = "untyped"

    def __init__(self, *, unchecked: bool = True) -> None:
        self.unchecked = unchecked

    def problem(self, view: ScriptView) -> UntypedTree | None:
        """Return the tree of nodes; None if there are none, or if the script has a check."""
        names = view.commands.names
        if not names or (not self.unchecked and any(each.startswith(b"check-") for each in names)):
            return None
        return UntypedTree(view, unchecked=self.unchecked)
