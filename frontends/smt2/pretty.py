"""Pretty-prints a script: one line per command, or one indented line per argument if it is long."""

from __future__ import annotations

from reducekit.document import Document
from reducekit.frontends.smt2.passes.spelling import tidy_command

_COLUMNS = 80
_STEP = 2
_DEEPEST = 40  # the maximum indentation, or the text of a deep term would be quadratic in size


def pretty(document: Document) -> bytes:
    """Return the pretty-printed script, with the same tokens but without comments."""
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
        # The head, and the atoms up to the first list, stay on the first line.
        lists = (n for n, child in enumerate(children) if text[start[child]] == _OPEN)
        head = next(lists, 1)
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
