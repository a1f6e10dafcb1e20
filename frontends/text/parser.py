"""Any bytes as lines of tokens."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from functools import cached_property

from reducekit.document import Document

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


class TextView:
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
