"""Passes that drop lines, tokens and groups in parentheses, and what blanks that leaves over."""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.frontends.lines.parser import LinesView
from reducekit.search.independent import Independent, independent
from reducekit.search.problem import Items, Move, Selection, Undivided

_ENDS = b" \t\r\n\f\v()"
"""Bytes that are no part of a word."""


class DropLines:
    """The pass over lines."""

    name = "lines"

    def problem(self, view: LinesView) -> Items | None:
        """Return the lines as items."""
        start, end = view.document.start, view.document.end
        changes = [Change((Edit(line, ()),), "drop lines") for line in view.lines]
        return Independent(changes, [end[n] - start[n] for n in view.lines]) if changes else None


class DropTokens:
    """The pass over tokens."""

    name = "tokens"

    def problem(self, view: LinesView) -> Items | None:
        """Return the tokens as items."""
        document = view.document
        changes = [Change((_removed(document, node, node),), "drop tokens") for node in view.tokens]
        weights = [document.end[node] - document.start[node] for node in view.tokens]
        return Independent(changes, weights) if changes else None


class GroupTree(Undivided):
    """Groups in parentheses, outermost first: each can go as a whole.

    Nodes are indices of groups.
    """

    def __init__(self, view: LinesView) -> None:
        self.document = view.document
        self.groups = view.groups
        self.lines = frozenset(view.lines)
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
        """Drop the group: its tokens, and the lines that lie within it whole."""
        document = self.document
        opening, closing = self.groups[node]
        edits = [_removed(document, opening, closing)]
        at = opening + 1
        while at <= closing:
            if at in self.lines and document.stop[at] <= closing + 1:
                edits.append(Edit(at, ()))
                at = document.stop[at]
                continue
            if at not in self.lines:
                edits.append(Edit(at, ()))
            at += 1
        return [Move(Change(tuple(edits), "drop group"), ())]

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        """Return the groups directly within."""
        return self.below[node]


class DropGroups:
    """The pass over groups in parentheses."""

    name = "groups"

    def problem(self, view: LinesView) -> GroupTree | None:
        """Return the tree of groups."""
        return GroupTree(view) if view.groups else None


class Blanks:
    """The pass that leaves one blank between tokens and none elsewhere, line by line."""

    name = "blanks"

    def problem(self, view: LinesView) -> Items | None:
        """Return the lines that have more blanks as items."""
        changes = []
        for line in view.lines:
            before = view.document.source(line)
            tokens = before.split()
            after = b" ".join(tokens) + (b"\n" if before.endswith(b"\n") and tokens else b"")
            if len(after) < len(before):
                changes.append(Change((Edit(line, (after,)),), "blanks"))
        return independent(changes)


def _removed(document: Document, first: int, last: int) -> Edit:
    """Return the edit that removes `first`, where all up to the node `last` goes.

    A blank stays behind if the words on both sides would grow together.
    """
    text, begin, end = document.text, document.start[first], document.end[last]
    apart = begin == 0 or text[begin - 1] in _ENDS or text[end : end + 1] in _ENDS
    return Edit(first, () if apart else (b" ",))
