"""Several files as one text: a node a file, with the tree of its content below."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence

from reducekit.document import Document
from reducekit.format import pass_
from reducekit.frontends.text.passes import Groups
from reducekit.frontends.text.tree import DELIMITERS, Grown, Kind
from reducekit.frontends.text.view import TextView
from reducekit.packed import Span, spans
from reducekit.search.problem import Items

_WHOLE = 16 << 20
"""Files of more bytes are kept or dropped as a whole, as binary ones are."""


def tree_of_files(text: bytes, files: Sequence[Span], tree: Callable[[bytes, str], Grown]) -> Grown:
    """Return the tree of several files; `tree` returns that of a content, by the file's path."""
    start, end, stop = array("i", [0]), array("i", [len(text)]), array("i", [0])
    kind, rule = bytearray([Kind.TEXT]), array("i", [0])
    for each in files:
        content = text[each.begin : each.end]
        if len(content) > _WHOLE or b"\1" in content:  # as in binary files
            content = b""
        document, kinds, rules = tree(content, each.path)
        node = len(start)
        # The file, and its content. Files can stand in the place of the root, which leaves one.
        start.extend((each.header, each.begin))
        end.extend((each.end, each.end))
        stop.extend((node + 1 + len(kinds),) * 2)
        kind.append(Kind.FILE)
        rule.extend((0, Kind.FILE))
        start.extend(each.begin + at for at in document.start[1:])
        end.extend(each.begin + at for at in document.end[1:])
        stop.extend(node + 1 + at for at in document.stop[1:])
        kind += kinds
        rule.extend(rules[1:])
    stop[0] = len(stop)
    return Grown(Document(text, start, end, stop, DELIMITERS), kind, rule)


@pass_("files", lambda view: view.kind[1:2] == bytes([Kind.FILE]))
def drop_files(view: TextView) -> Items:
    """Removes files with what names them, such as an `#include` or an `import`."""
    document, holder = view.document, view.holder
    lost: list[list[int]] = []
    for node, (path, *_) in zip(document.children(0), spans(document.text), strict=True):
        stem, _ = os.path.splitext(name := os.fsencode(os.path.basename(path)))
        places = _named(view, name) or view.words.get(stem, [])
        outside = {holder[each] for each in places if not node < each < document.stop[node]}
        lost.append(sorted({node, *outside} - {0}))
    lost.sort(key=lambda each: sum(map(view.weight, each)))  # searches go backward
    return Groups(view, lost, "drop a file")


def _named(view: TextView, name: bytes) -> list[int]:
    """Return the tokens in which a name occurs that is not part of another."""
    text, tokens, found, at = view.document.text, view.tokens, list[int](), -1
    while (at := text.find(name, at + 1)) >= 0:
        node = tokens[bisect_right(tokens, at, key=view.document.start.__getitem__) - 1]
        around = text[at - 1 : at] + text[at + len(name) : at + len(name) + 1]
        if at < view.document.end[node] and not around.strip(DELIMITERS):
            found.append(node)
    return found
