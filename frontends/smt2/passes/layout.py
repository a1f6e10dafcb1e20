"""The layout of a script: one command a line, single blanks, no comments.

Tried first and as one change, so that all later candidates are short and the
result is fit to be read.
"""

from __future__ import annotations

import re

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.independent import IndependentChanges
from reducekit.search.problem import Items

# Strings and quoted symbols are matched first, so that their blanks stay.
_GAP = re.compile(rb'("[^"]*"|\|[^|]*\|)|(?:[ \t\r\n\f\v]|;[^\n]*)+')
_UNTIDY = re.compile(rb"[\t\r\n\f\v;]|  |\( | \)")
_AFTER_OPEN, _BEFORE_CLOSE = ord("("), ord(")")


def tidy(document: Document) -> bytes:
    """Return the script with its comments dropped and its blanks normalised.

    Blanks are only taken away or exchanged, never put where there are none:
    the tokens of the result are the tokens of the script.
    """
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

    # Piece by piece: a command may have millions of gaps.
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
    """The pass that drops comments and normalises blanks."""

    name = "layout"

    def __init__(self, least: float = 0.0) -> None:
        self.least = least
        """The share of a script that has to go."""

    def problem(self, view: ScriptView) -> Items | None:
        """Return the one change of the whole text."""
        before = view.document.text
        text = tidy(view.document)
        if text == before or len(text) > (1 - self.least) * len(before):
            return None
        return IndependentChanges([Change((Edit(0, (text,)),), "layout")])
