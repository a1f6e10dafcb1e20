"""Recognises a change that was refuted before, whatever else has changed since."""

from __future__ import annotations

from collections.abc import Mapping

from reducekit.change import Template
from reducekit.document import Document, Patched
from reducekit.journal import digest


class LocalContext:
    """What a candidate changes, seen from the nodes right above: without what it leaves alone."""

    BYTES = 1 << 16
    NODES = 64
    """A change of more bytes or nodes is not worth remembering beside its whole text."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._tops = frozenset(document.children(0))
        self._base: Patched | None = None
        self._before: dict[int, bytes] = {}
        """The nodes' texts on `_base`: most candidates in a row build on the same."""

    def key(self, base: Patched, more: Mapping[int, Template]) -> bytes | None:
        """Return 128 bits that stand for what `more` changes and into what; None if it is large.

        Equal where the same nodes with the same siblings become the same text,
        whatever else the document holds.
        """
        if len(more) > self.NODES:
            return None
        tops, document = self._tops, self.document
        within: dict[int, dict[int, Template]] = {}
        for node, template in more.items():
            above = node if node in tops else document.parent[node]
            within.setdefault(above, {})[node] = template
        if 0 in within or sum(map(self._size, within)) > self.BYTES:
            return None
        if base is not self._base:
            self._base, self._before = base, {}
        parts = []
        for above in sorted(within):
            if above not in self._before:
                self._before[above] = base.render(above)
            edits = within[above]
            removed = not edits.get(above, True)
            parts += [self._before[above], b"" if removed else base.render_with(edits, above)]
        return digest(b"\0".join(parts))

    def _size(self, node: int) -> int:
        return self.document.end[node] - self.document.start[node]
