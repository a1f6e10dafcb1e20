"""Passes that drop lines, tokens and groups in parentheses, and superfluous blanks."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cached_property

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.frontends.text.parser import TextView
from reducekit.passes import pass_
from reducekit.search.problem import IndependentItems, Items, LeafTree, Move, Selection

_ENDS = b" \t\r\n\f\v()"
"""Bytes that are no part of a word."""
_MOST = 1 << 22  # nodes of a text whose tokens are looked at one by one


class NodeItems(IndependentItems):
    """Nodes that are changed one by one, each by an edit that is made when it is needed.

    There may be millions: an edit is some hundred bytes of memory, a node four.
    """

    def __init__(
        self, document: Document, nodes: Sequence[int], edit: Callable[[int], Edit], what: str
    ) -> None:
        self.document = document
        self.nodes = nodes
        self.edit = edit
        self.what = what

    @cached_property
    def weights(self) -> Sequence[int]:
        start, end = self.document.start, self.document.end
        return array("i", (end[node] - start[node] for node in self.nodes))

    def change(self, chosen: Selection, taken: Selection) -> Change:
        nodes, edit = self.nodes, self.edit
        return Change(tuple(edit(nodes[item]) for item in sorted(chosen)), self.what)


@pass_("lines", lambda view: bool(view.lines))
def drop_lines(view: TextView) -> Items:
    """Removes lines."""
    return NodeItems(view.document, view.lines, lambda line: Edit(line, ()), "drop lines")


def _is_small(view: TextView) -> bool:
    """Return whether its tokens can be searched one by one without filling the memory."""
    return len(view.document) <= _MOST


@pass_("tokens", lambda view: _is_small(view) and bool(view.tokens))
def drop_tokens(view: TextView) -> Items:
    """Removes tokens."""
    document = view.document
    return NodeItems(
        document, view.tokens, lambda node: _removed(document, node, node), "drop tokens"
    )


class GroupTree(LeafTree):
    """Groups in parentheses, outermost first: each can go as a whole.

    Nodes are indices of groups.
    """

    def __init__(self, view: TextView) -> None:
        self.document = view.document
        self.groups = view.groups
        self.is_line = view.is_line
        self.roots: list[int] = []
        self.below: list[list[int]] = [[] for _ in self.groups]
        path: list[int] = []
        for index, (opening, _) in enumerate(self.groups):
            while path and self.groups[path[-1]][1] < opening:
                path.pop()
            (self.below[path[-1]] if path else self.roots).append(index)
            path.append(index)

    def weight(self, node: int) -> int:
        """Return the bytes from the opening to the closing parenthesis."""
        opening, closing = self.groups[node]
        return self.document.end[closing] - self.document.start[opening]

    def moves(self, node: int) -> Sequence[Move]:
        """Drop the group: its tokens, and the lines that are entirely within it."""
        document = self.document
        opening, closing = self.groups[node]
        edits = [_removed(document, opening, closing)]
        at = opening + 1
        while at <= closing:
            if self.is_line[at] and document.stop[at] <= closing + 1:
                edits.append(Edit(at, ()))
                at = document.stop[at]
                continue
            if not self.is_line[at]:
                edits.append(Edit(at, ()))
            at += 1
        return [Move(Change(tuple(edits), "drop group"), ())]

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        return self.below[node]


@pass_("groups", lambda view: _is_small(view) and bool(view.groups))
def drop_groups(view: TextView) -> GroupTree:
    """Removes groups in parentheses."""
    return GroupTree(view)


@pass_("blanks")
def blanks(view: TextView) -> Items | None:
    """Reduces blanks to one between tokens and none elsewhere, line by line."""
    document = view.document
    lines = array("i", (n for n in view.lines if len(_tidy(document, n)) < _length(document, n)))
    if not lines:
        return None
    return NodeItems(document, lines, lambda n: Edit(n, (_tidy(document, n),)), "blanks")


def _length(document: Document, node: int) -> int:
    return document.end[node] - document.start[node]


def _tidy(document: Document, line: int) -> bytes:
    """Return a line with one blank between tokens and none elsewhere."""
    before = document.source(line)
    tokens = before.split()
    return b" ".join(tokens) + (b"\n" if before.endswith(b"\n") and tokens else b"")


def _removed(document: Document, first: int, last: int) -> Edit:
    """Return the edit that removes `first`, where all up to the node `last` goes.

    A blank remains where two words would become one.
    """
    text, begin, end = document.text, document.start[first], document.end[last]
    apart = begin == 0 or text[begin - 1] in _ENDS or text[end : end + 1] in _ENDS
    return Edit(first, () if apart else (b" ",))
