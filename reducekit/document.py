"""A text and the tree of its nodes, as flat arrays over the bytes; renders sets of edits.

A candidate is the current text with some spans replaced. Rendering joins
slices of the buffer, so it costs what the edits cost plus one copy of the
text, however large the tree is (design: "the three ideas", 1).
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

from reducekit.change import Template

_NEWLINE, _RETURN, _OPENING = b"\n\r("
_LARGE = 1 << 16  # bytes
_BLANKS = re.compile(rb"[ \t]*")
_REST_OF_LINE = re.compile(rb"[ \t]*(?:\r?\n)?")
_NONE: Mapping[int, Template] = MappingProxyType({})


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

    def size(self, node: int) -> int:
        """Return the number of bytes of a node."""
        return self.end[node] - self.start[node]

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
        return self.render_sorted(sorted(edits), edits, edits, {}, root)

    def render_sorted(
        self,
        order: Sequence[int],
        edits: Mapping[int, Template],
        others: Mapping[int, Template],
        runs: Mapping[int, int],
        root: int = 0,
    ) -> bytes:
        """Return the text of `root` with the nodes `order`, sorted, replaced.

        A node's template is in `edits`, else in `others`. A removed node in
        `runs` means itself and its siblings up to the node it maps to,
        all removed, with nothing between them that is kept.
        """
        text, start, end, stop = self.text, self.start, self.end, self.stop
        delimited = bool(self.delimiters)
        # Slices of a view are not copied: a large text is in memory once less.
        source: bytes | memoryview = memoryview(text) if len(text) >= _LARGE else text
        out: list[bytes | memoryview] = []
        # Work yet to do, last first: a literal, or the bytes pos..limit whose
        # edited nodes are order[low:high]. An explicit stack, as templates may
        # nest as deep as the tree.
        stack: list[bytes | tuple[int, int, int, int]] = [
            (start[root], end[root], bisect_left(order, root), bisect_left(order, stop[root]))
        ]
        while stack:
            task = stack.pop()
            if isinstance(task, bytes):
                out.append(task)
                continue
            pos, limit, low, high = task
            while low < high:
                node = order[low]
                template = edits.get(node)
                if template is None:
                    template = others[node]
                last = node if template else runs.get(node, node)
                cut, rest = start[node], end[last]
                low = bisect_left(order, stop[last], low + 1, high)
                removed = not template and delimited
                if removed:
                    # Neighbours that go together are one cut, with the blanks between.
                    while (
                        low < high
                        and (following := order[low]) == stop[last]
                        and not (edits[following] if following in edits else others[following])
                        and not text[rest : start[following]].strip()
                    ):
                        last = runs.get(following, following)
                        rest = end[last]
                        low = bisect_left(order, stop[last], low + 1, high)
                    cut = self._blanks_before(pos, cut, rest)
                if pos < cut:
                    out.append(source[pos:cut])
                pos = rest
                if removed and (not out or out[-1][-1] == _OPENING):
                    blanks = _REST_OF_LINE if not out else _BLANKS
                    pos = blanks.match(text, pos).end()  # type: ignore[union-attr]  # both match nothing
                if not template:
                    continue
                if int in map(type, template):
                    stack.append((pos, limit, low, high))
                    for part in reversed(template):
                        if isinstance(part, bytes):
                            if part:
                                stack.append(part)
                        else:
                            # A template may keep the very node it replaces.
                            first = bisect_left(order, part + (part == node))
                            stack.append(
                                (
                                    start[part],
                                    end[part],
                                    first,
                                    bisect_left(order, stop[part], first),
                                )
                            )
                    break
                out.extend(filter(None, template))  # type: ignore[arg-type]  # no nodes, as seen
            else:
                if pos < limit:
                    out.append(source[pos:limit])
        return b"".join(self._separated(out) if self.delimiters else out)

    def spliced(self, root: int, edit: Mapping[int, Template]) -> bytes:
        """Return what `render` does, for one edit or none: sooner, as no order has to be kept."""
        text, start, end = self.text, self.start, self.end
        for node, template in edit.items():
            if not root <= node < self.stop[root]:
                break
            if not template:
                return self.render(edit, root)
            parts = (
                part if isinstance(part, bytes) else text[start[part] : end[part]]
                for part in template
            )
            pieces = text[start[root] : start[node]], *parts, text[end[node] : end[root]]
            whole = [piece for piece in pieces if piece]
            return b"".join(self._separated(whole) if self.delimiters else whole)
        return text[start[root] : end[root]]

    def _blanks_before(self, pos: int, cut: int, rest: int) -> int:
        """Return where the blanks begin that go with the bytes `cut .. rest`, not before `pos`.

        A line break goes only if another follows the cut, for it may end a comment.
        """
        text = self.text
        while cut > pos and text[cut - 1] in b" \t":
            cut -= 1
        if cut > pos and text[cut - 1] == _NEWLINE and text.startswith((b"\n", b"\r\n"), rest):
            cut -= 1
            if cut > pos and text[cut - 1] == _RETURN:
                cut -= 1
        return cut

    def _separated(self, pieces: Sequence[bytes | memoryview]) -> list[bytes | memoryview]:
        """Return the pieces, with a blank wherever two tokens would run together."""
        delimiters = self.delimiters
        last = delimiters[0]
        separated: list[bytes | memoryview] = []
        for piece in pieces:
            if last not in delimiters and piece[0] not in delimiters:
                separated.append(b" ")
            separated.append(piece)
            last = piece[-1]
        return separated


class Patched:
    """A document and the edits that were accepted, to render candidates on top. Immutable.

    With n accepted edits, sorting them again would cost every candidate n log n.
    Here they stay sorted, and neighbours that are removed count as one: what is
    left of a million commands a hundred stay is a hundred edits.

    `render` and `render_with` give what `Document.render` gives for all edits
    accepted so far, the later of two edits of one node standing. What is
    removed is forgotten: an edit that brings a removed node back finds it as it
    is in the document, and an edit of a node within has no effect.
    """

    __slots__ = ("_edits", "_order", "_runs", "document")

    def __init__(self, document: Document) -> None:
        self.document = document
        self._order: Sequence[int] = ()
        """The edited nodes in order; of removed neighbours, the first only."""
        self._edits: Mapping[int, Template] = _NONE  # the templates of the nodes in order
        self._runs: Mapping[int, int] = {}  # the last of the removed neighbours, by the first

    def __len__(self) -> int:
        """Count the edits that are kept: neighbours removed together are one."""
        return len(self._order)

    def render(self, root: int = 0) -> bytes:
        """Return the text of `root` as it is with the accepted edits."""
        return self.render_with(_NONE, root)

    def render_with(self, more: Mapping[int, Template], root: int = 0) -> bytes:
        """Return the text of `root` with more edits on top of the accepted ones."""
        if root and len(more) < 2 and self._is_untouched(root):
            return self.document.spliced(root, more)
        here = self._opened(more)
        order, edits, runs, stop = here._order, here._edits, here._runs, here.document.stop
        if root:
            if not more.get(root) and here._is_removed(root):
                return b""
            low = bisect_left(order, root)
            order = order[low : bisect_left(order, stop[root], low)]
        new = [node for node in more if node not in edits] if edits else list(more)
        if runs:
            new = [node for node in new if not here._is_within_run(node)]
        if order:
            new += order
        new.sort()
        return here.document.render_sorted(new, more, edits, runs, root)

    def with_(self, more: Mapping[int, Template]) -> Patched:
        """Return the document with more edits accepted."""
        here = self._opened(more)
        document = here.document
        text, start, end, stop = document.text, document.start, document.end, document.stop
        delimited = bool(document.delimiters)
        before, runs_before = here._edits, here._runs
        order = [node for node in more if node not in before and not here._is_within_run(node)]
        order += here._order
        order.sort()
        kept: list[int] = []
        edits: dict[int, Template] = {}
        runs: dict[int, int] = {}
        low, high = 0, len(order)
        within = 0  # no runs below a node with a template: it may keep any of them
        while low < high:
            node = order[low]
            low += 1
            template = more[node] if node in more else before[node]
            kept.append(node)
            edits[node] = template
            if template:
                within = max(within, stop[node])
                continue
            last = runs_before.get(node, node)
            if node >= within:
                low = bisect_left(order, stop[last], low)
            while node >= within and low < high and (following := order[low]) == stop[last]:
                if more[following] if following in more else before[following]:
                    break
                between = text[end[last] : start[following]]
                if between and not (delimited and between.isspace()):
                    break
                if not between and document.parent[following] != document.parent[node]:
                    break  # nothing is between the last of a node's children and its sibling
                last = runs_before.get(following, following)
                low = bisect_left(order, stop[last], low + 1)
            if last != node:
                runs[node] = last
        after = Patched(document)
        after._order, after._edits, after._runs = kept, edits, runs
        return after

    def _run_of(self, node: int) -> int:
        if not self._runs:
            return -1
        at = bisect_right(self._order, node) - 1
        if at < 0:
            return -1
        first = self._order[at]
        last = self._runs.get(first, -1)
        return first if last >= 0 and node < self.document.stop[last] else -1

    def _is_untouched(self, root: int) -> bool:
        low = bisect_left(self._order, root)
        beyond = low == len(self._order) or self._order[low] >= self.document.stop[root]
        return beyond and self._run_of(root) < 0

    def _is_within_run(self, node: int) -> bool:
        """Return whether a node is removed as part of a run, or below one that is."""
        return self._run_of(node) >= 0

    def _is_removed(self, node: int) -> bool:
        if node in self._edits:
            return not self._edits[node]
        return self._in_run(node, self._run_of(node))

    def _in_run(self, node: int, first: int) -> bool:
        """Return whether a node is one of the removed neighbours, not below one."""
        parent = self.document.parent
        return first >= 0 and parent[node] == parent[first]

    def _members(self, first: int) -> list[int]:
        stop, last = self.document.stop, self._runs[first]
        members = [first]
        while members[-1] != last:
            members.append(stop[members[-1]])
        return members

    def _opened(self, more: Mapping[int, Template]) -> Patched:
        """Return the same edits, without those runs in which `more` edits or keeps a node."""
        if not self._runs:
            return self
        touched = {
            first
            for node, template in more.items()
            for part in (node, *template)
            if template
            and isinstance(part, int)
            and self._in_run(part, first := self._run_of(part))
        }
        if not touched:
            return self
        edits, runs = dict(self._edits), dict(self._runs)
        for first in touched:
            edits.update((node, ()) for node in self._members(first))
            del runs[first]
        opened = Patched(self.document)
        opened._order, opened._edits, opened._runs = sorted(edits), edits, runs
        return opened
