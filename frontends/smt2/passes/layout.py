"""The layout of a script: one command per line, single blanks, no comments.

It is tried first and as one change, so that all later candidates are shorter and the
result is readable.
"""

from __future__ import annotations

import re

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.search.problem import IndependentChanges, Items

# Strings and quoted symbols are matched first, so that their blanks are kept.
_GAP = re.compile(rb'("[^"]*"|\|[^|]*\|)|(?:[ \t\r\n\f\v]|;[^\n]*)+')
_UNTIDY = re.compile(rb"[\t\r\n\f\v;]|  |\( | \)")
_AFTER_OPEN, _BEFORE_CLOSE = ord("("), ord(")")


def tidy(document: Document) -> bytes:
    """Return the script without comments and with normalised blanks.

    Blanks are only removed or replaced, never inserted between adjacent tokens, so the result
    has the same tokens as the script.
    """
    # A line for each command, so that results can be read, and compared by lines.
    text, end = document.text, document.end
    out, last = [], 0
    for node in document.children(0):
        if last and document.start[node] > last:
            out.append(b"\n")
        out.append(tidy_command(document.source(node)))
        last = end[node]
    if last < len(text):
        out.append(b"\n")
    return b"".join(out)


def tidy_command(source: bytes) -> bytes:
    """Return one command with its blanks normalised."""
    if _UNTIDY.search(source) is None:
        return source

    # One gap at a time: a command may have millions of them.
    out, last = bytearray(), 0
    for match in _GAP.finditer(source):
        if match.lastindex:
            continue
        begin, end = match.span()
        out += source[last:begin]
        if source[begin - 1] != _AFTER_OPEN and source[end] != _BEFORE_CLOSE:
            out += b" "
        last = end
    out += source[last:]
    return bytes(out)


class Layout:
    """Removes comments and normalises blanks."""

    name = "layout"

    def __init__(self, least: float = 0.0) -> None:
        self.least = least
        """The minimum share of the script that this has to remove."""

    def problem(self, view: ScriptView) -> Items | None:
        """Return one change of the whole text."""
        before = view.document.text
        text = tidy(view.document)
        if text == before or len(text) > (1 - self.least) * len(before):
            return None
        return IndependentChanges([Change((Edit(0, (text,)),), "layout")])
