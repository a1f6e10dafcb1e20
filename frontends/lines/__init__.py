"""Lines and tokens: the tree of a text whose format is unknown or broken (`--lenient`)."""

from __future__ import annotations

import re
from array import array

from reducekit.document import Document

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_TOKEN = re.compile(rb"[()]|[^\s()]+")  # in bytes, \s is the six ASCII blanks


def parse_lines(text: bytes) -> Document:
    """Parse any bytes: the root's children are lines, their children tokens.

    A line includes its newline, so removing a line leaves no empty one behind.
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
