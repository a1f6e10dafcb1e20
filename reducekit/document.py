"""A text and the tree of its nodes, as flat arrays over the bytes; renders sets of edits.

A candidate is the current text with some spans replaced. Rendering joins
slices of the buffer, so it costs what the edits cost plus one copy of the
text, however large the tree is (design: "the three ideas", 1).
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cached_property

from reducekit.change import Template

_NEWLINE, _RETURN = b"\n\r"
_BLANKS = re.compile(rb"[ \t]*")
_REST_OF_LINE = re.compile(rb"[ \t]*(?:\r?\n)?")


class Document:
    """The bytes of a text and its nodes, numbered in preorder.

    Node 0 is the root and covers the whole text. For each node, `start` and
    `end` are byte offsets (end exclusive) and `stop` is one past the last node
    of its subtree, so the nodes below `n` are `n + 1 .. stop[n] - 1`. Text
    between nodes (blanks, comments, parentheses) belongs to the parent.

    `delimiters` are the bytes that end a token by themselves, blanks among
    them. Where an edit would join two other bytes, rendering puts a blank
    between them, and a removed node takes the blanks before it along. Without
    delimiters nothing is put in or taken along.
    """

    def __init__(
        self,
        text: bytes,
        start: array[int],
        end: array[int],
        stop: array[int],
        delimiters: bytes = b"",
    ) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.stop = stop
        self.delimiters = delimiters

    def __len__(self) -> int:
        """Count the nodes, the root included."""
        return len(self.start)

    def source(self, node: int) -> bytes:
        """Return the bytes of a node."""
        return self.text[self.start[node] : self.end[node]]

    def children(self, node: int) -> Iterator[int]:
        """Yield the direct children of a node, first to last."""
        stop = self.stop
        child, last = node + 1, stop[node]
        while child < last:
            yield child
            child = stop[child]

    @cached_property
    def parent(self) -> array[int]:
        """The parent of each node; the root's is -1."""
        stop = self.stop
        parent = array("i", bytes(4 * len(stop)))
        parent[0] = -1
        path = [0]
        for node in range(1, len(stop)):
            while stop[path[-1]] <= node:
                path.pop()
            parent[node] = path[-1]
            path.append(node)
        return parent

    def render(self, edits: Mapping[int, Template], root: int = 0) -> bytes:
        """Return the text of `root` with each node in `edits` replaced by its template.

        Edits inside a node that a template keeps apply there; edits inside what
        a template drops have no effect. A template may keep nodes of its own
        node's subtree only, the node itself included: so this ends.
        """
        text, start, end, stop = self.text, self.start, self.end, self.stop
        delimited = bool(self.delimiters)
        order = sorted(edits)
        out: list[bytes] = []
        # Work yet to do, last first: a literal, or the bytes pos..limit whose
        # edited nodes are order[low:high]. An explicit stack, as templates may
        # nest as deep as the tree.
        stack: list[bytes | tuple[int, int, int, int]] = [
            (
                start[root],
                end[root],
                bisect_left(order, root),
                bisect_left(order, stop[root]),
            )
        ]
        while stack:
            task = stack.pop()
            if isinstance(task, bytes):
                out.append(task)
                continue
            pos, limit, low, high = task
            while low < high:
                node = order[low]
                template = edits[node]
                low = bisect_left(order, stop[node], low + 1, high)
                cut, behind = start[node], end[node]
                removed = not template and delimited
                if removed:
                    # Neighbours that go together are one cut, with the blanks between.
                    while (
                        low < high
                        and order[low] == stop[node]
                        and not edits[order[low]]
                        and not text[behind : start[order[low]]].strip()
                    ):
                        node = order[low]
                        behind = end[node]
                        low = bisect_left(order, stop[node], low + 1, high)
                    cut = self._blanks_before(pos, cut, behind)
                if pos < cut:
                    out.append(text[pos:cut])
                pos = behind
                if removed and (not out or out[-1].endswith(b"(")):
                    blanks = _REST_OF_LINE if not out else _BLANKS
                    pos = blanks.match(text, pos).end()  # type: ignore[union-attr]  # both match nothing
                if any(type(part) is int for part in template):
                    stack.append((pos, limit, low, high))
                    for part in reversed(template):
                        if isinstance(part, bytes):
                            if part:
                                stack.append(part)
                        else:
                            # A template may keep the very node it replaces.
                            first = bisect_left(order, part + (part == node))
                            last = bisect_left(order, stop[part], first)
                            stack.append((start[part], end[part], first, last))
                    break
                out.extend(part for part in template if isinstance(part, bytes) and part)
            else:
                if pos < limit:
                    out.append(text[pos:limit])
        return b"".join(self._separated(out) if self.delimiters else out)

    def _blanks_before(self, pos: int, cut: int, behind: int) -> int:
        """Return where the blanks begin that go with the bytes `cut .. behind`, not before `pos`.

        A line break goes only if another follows the cut, for it may end a comment.
        """
        text = self.text
        while cut > pos and text[cut - 1] in b" \t":
            cut -= 1
        if cut > pos and text[cut - 1] == _NEWLINE and text.startswith((b"\n", b"\r\n"), behind):
            cut -= 1
            if cut > pos and text[cut - 1] == _RETURN:
                cut -= 1
        return cut

    def _separated(self, pieces: list[bytes]) -> Iterator[bytes]:
        """Yield the pieces, with a blank wherever two tokens would run together."""
        delimiters = self.delimiters
        last = delimiters[0]
        for piece in pieces:
            if last not in delimiters and piece[0] not in delimiters:
                yield b" "
            yield piece
            last = piece[-1]
