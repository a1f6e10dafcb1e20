"""Lays a script out for people: a line a command, long ones with a line an argument, indented."""

from __future__ import annotations

from reducekit.document import Document
from reducekit.frontends.smt2.passes.layout import tidy_command

_COLUMNS = 80
_STEP = 2
_DEEPEST = 40  # columns; deeper lines begin there, or a deep term would be quadratic in size


def pretty(document: Document) -> bytes:
    """Return the script with the same tokens, laid out; comments are dropped."""
    return b"".join(_command(document, node) + b"\n" for node in document.children(0))


def _command(document: Document, root: int) -> bytes:
    text, start, end = document.text, document.start, document.end
    out: list[bytes] = []
    stack: list[bytes | tuple[int, int]] = [(root, 0)]
    while stack:
        item = stack.pop()
        if isinstance(item, bytes):
            out.append(item)
            continue
        node, indent = item
        children = list(document.children(node)) if text[start[node]] == _OPEN else []
        if not children or end[node] - start[node] <= _COLUMNS - indent:
            out.append(tidy_command(document.source(node)))
            continue
        inner = min(indent + _STEP, _DEEPEST)
        # What says what it is stays on the first line: the head, and atoms up to the first list.
        head = 0
        while head < len(children) and text[start[children[head]]] != _OPEN:
            head += 1
        head = head if head < len(children) else 1
        named = b" ".join(document.source(each) for each in children[:head])
        out.append(b"(" + named)
        newline = b"\n" + b" " * inner
        stack.append(b")")
        for number in range(len(children) - 1, head - 1, -1):
            stack.append((children[number], inner))
            if number or head:
                stack.append(newline)
    return b"".join(out)


_OPEN = ord("(")
