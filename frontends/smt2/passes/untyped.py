"""Changes without regard to sorts: for oracles that do not mind, such as a parser's own bugs.

Such a text is no script any more, so it is only tried where the failure may be
that of a text. Where a question like check-sat is needed, the failure is about
an answer. Otherwise one probe tells: a command's content in place of the command,
which no solver takes for a command; a word also in parentheses. Only where
it succeeds is anything below tried. Unchecked, there is always a probe, and a
second one is a term in place of one of another sort.
"""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.change import Change, Edit, Template
from reducekit.document import Document
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.problem import LeafTree, Move, Selection

_PROBES = 1


class UntypedTree(LeafTree):
    """Nodes of any kind; a number beyond the document's is a node that a probe has opened."""

    def __init__(self, view: ScriptView, *, unchecked: bool = True) -> None:
        self.document = view.document
        self.unchecked = unchecked
        self.commands = frozenset(view.commands.nodes)
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
        """Return the bytes of a node."""
        node, _ = self._node(node)
        return self.document.end[node] - self.document.start[node]

    def moves(self, node: int) -> Sequence[Move]:
        """Return nothing, `0` and the node's children in its place; for a probe, one way in."""
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
        """Return the children of an opened node; a failed probe opens nothing."""
        node, opened = self._node(node)
        size = len(self.document)
        return [each + size for each in self.document.children(node)] if opened else []


def _arguments(document: Document, node: int) -> list[int]:
    return list(document.children(node))[1:]


def _move(node: int, template: Template, *rest: int) -> Move:
    return Move(Change((Edit(node, template),), "untyped"), rest)


class Untyped:
    """The pass over nodes of any kind."""

    name = "untyped"

    def __init__(self, *, unchecked: bool = True) -> None:
        self.unchecked = unchecked

    def problem(self, view: ScriptView) -> UntypedTree | None:
        """Return the tree of nodes; None where there are none, or a question is asked."""
        names = view.commands.names
        if not names or (not self.unchecked and any(each.startswith(b"check-") for each in names)):
            return None
        return UntypedTree(view, unchecked=self.unchecked)
