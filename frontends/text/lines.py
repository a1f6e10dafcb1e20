"""The format `lines`: any text as lines, groups in parentheses, and tokens, without more structure.

What simple reducers do, to compare with; and an example of a small format.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.format import Format, Schedule, by_size, pass_
from reducekit.frontends.common.items import NodeItems
from reducekit.search.problem import Items, LeafTree, Move, Selection
from reducekit.search.strategy import Passes

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_TOKEN = re.compile(rb"[()]|[^\s()]+")  # in bytes, \s is the six ASCII blanks


def parse_lines(text: bytes) -> Document:
    """Parse any bytes: the root's children are lines, their children tokens.

    A line includes its newline, so removing a line leaves no empty line.
    A token is a parenthesis, or a longest run of bytes that are neither
    parentheses nor ASCII blanks. Linear in the text; every text parses.
    """
    start, end, stop = array("i", [0]), array("i", [len(text)]), array("i", [0])
    add_start, add_end, add_stop = start.append, end.append, stop.append
    nodes = 1
    for line in _LINE.finditer(text):
        first, last = line.span()
        number = nodes
        add_start(first)
        add_end(last)
        add_stop(0)
        nodes += 1
        for token in _TOKEN.finditer(text, first, last):
            low, high = token.span()
            add_start(low)
            add_end(high)
            nodes += 1
            add_stop(nodes)
        stop[number] = nodes
    stop[0] = nodes
    return Document(text, start, end, stop)


class LinesView:
    """A text as the passes see it."""

    def __init__(self, document: Document) -> None:
        self.document = document

    @cached_property
    def lines(self) -> Sequence[int]:
        """The nodes of the lines, in order."""
        return array("i", self.document.children(0))

    @cached_property
    def is_line(self) -> bytearray:
        """For each node 1 if it is a line, 0 if it is a token or the root."""
        marks = bytearray(len(self.document))
        for line in self.lines:
            marks[line] = 1
        return marks

    @cached_property
    def tokens(self) -> Sequence[int]:
        """The nodes of the tokens, in order."""
        marks = self.is_line
        return array("i", (node for node in range(1, len(marks)) if not marks[node]))

    @cached_property
    def groups(self) -> Sequence[tuple[int, int]]:
        """The nodes of the opening and closing parentheses that match, by the opening ones.

        Parentheses without a partner belong to no group.
        """
        document = self.document
        text, start = document.text, document.start
        found: list[tuple[int, int]] = []
        path: list[int] = []
        for node in self.tokens:
            first = text[start[node]]
            if first == 40:  # (
                path.append(node)
            elif first == 41 and path:  # )
                found.append((path.pop(), node))
        return sorted(found)


_ENDS = b" \t\r\n\f\v()"
"""Bytes that are no part of a word."""
_MOST = 1 << 22  # nodes of a text whose tokens are looked at one by one


@pass_("lines", lambda view: bool(view.lines))
def drop_lines(view: LinesView) -> Items:
    """Removes lines."""
    return NodeItems(view.document, view.lines, lambda line: Edit(line, ()), "drop lines")


def _is_small(view: LinesView) -> bool:
    """Return whether its tokens can be searched one by one without filling the memory."""
    return len(view.document) <= _MOST


@pass_("tokens", lambda view: _is_small(view) and bool(view.tokens))
def drop_tokens(view: LinesView) -> Items:
    """Removes tokens."""
    document = view.document
    return NodeItems(
        document, view.tokens, lambda node: _removed(document, node, node), "drop tokens"
    )


class GroupTree(LeafTree):
    """Groups in parentheses, outermost first: each can go as a whole.

    Nodes are indices of groups.
    """

    def __init__(self, view: LinesView) -> None:
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
def drop_groups(view: LinesView) -> GroupTree:
    """Removes groups in parentheses."""
    return GroupTree(view)


@pass_("blanks")
def blanks(view: LinesView) -> Items | None:
    """Reduces blanks to one between tokens and none elsewhere, line by line."""
    document = view.document
    start, end = document.start, document.end
    lines = array("i", (n for n in view.lines if len(_tidy(document, n)) < end[n] - start[n]))
    if not lines:
        return None
    return NodeItems(document, lines, lambda n: Edit(n, (_tidy(document, n),)), "blanks")


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


class Lines(Format):
    """The frontend for any text; `suffix` is that of the files that the program is given."""

    name = "lines"
    title = "any text, by lines and tokens"

    examples = (
        "reducekit lines in.txt --cmd './solver --opt'",
        "reducekit lines in.txt --oracle ./test.sh -o small.txt",
    )

    def __init__(self, suffix: str = "") -> None:
        self.suffix = suffix

    def parse(self, text: bytes) -> LinesView:
        return LinesView(parse_lines(text))

    def schedule(self, passes: Passes) -> Schedule:
        return Schedule(rounds=(drop_lines, drop_groups, drop_tokens, blanks))

    def order(self, text: bytes) -> Any:
        return by_size(text)

    def measure(self, view: LinesView) -> Mapping[str, int]:
        return {
            "bytes": len(view.document.text),
            "lines": len(view.lines),
            "tokens": len(view.document) - 1 - len(view.lines),
        }
