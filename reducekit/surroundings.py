"""Recognises a change that was refuted before, whatever else has changed since."""

from __future__ import annotations

from collections.abc import Mapping

from reducekit.change import Template
from reducekit.document import Document, Patched
from reducekit.journal import digest


class Surroundings:
    """What a candidate changes, seen from the nodes right above: without what it leaves alone."""

    BYTES = 1 << 16
    NODES = 64
    """A change of more bytes or nodes is not worth remembering beside its whole text."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._tops = frozenset(document.children(0))

    def key(self, base: Patched, more: Mapping[int, Template]) -> bytes | None:
        """Return 128 bits that stand for what `more` changes and into what; None if it is large.

        Equal where the same nodes with the same siblings become the same text,
        whatever else the document holds.
        """
        tops, document = self._tops, self.document
        if len(more) > self.NODES:
            return None
        above = {node if node in tops else document.parent[node] for node in more}
        if (
            0 in above
            or sum(document.end[node] - document.start[node] for node in above) > self.BYTES
        ):
            return None
        parts = []
        for node in sorted(above):
            after = base.render_with(more, node) if more.get(node, True) else b""
            parts += [base.render(node), after]
        return digest(b"\0".join(parts))
