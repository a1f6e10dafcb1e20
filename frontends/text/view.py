"""A text as the passes see it: its tree, what a node can do without, what can stand for it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cached_property

from reducekit.frontends.text.tree import Grown, Kind

_FIXED = frozenset((Kind.OPEN, Kind.CLOSE, Kind.SEPARATOR))
_LEAVES = Kind.WORD


class TextView:
    """A text and its tree."""

    def __init__(self, grown: Grown) -> None:
        self.document = grown.document
        self.kind = grown.kind
        self.rule = grown.rule

    @cached_property
    def tokens(self) -> Sequence[int]:
        """The leaves, in order."""
        kind = self.kind
        return array("i", (node for node in range(1, len(kind)) if kind[node] >= _LEAVES))

    def weight(self, node: int) -> int:
        """Return the bytes of a node."""
        return self.document.end[node] - self.document.start[node]

    def elements(self, node: int) -> list[int]:
        """Return the children that a node may do without, in order."""
        kind = self.kind
        return [each for each in self.document.children(node) if kind[each] not in _FIXED]

    def opens_with(self, node: int) -> int:
        """Return the first byte of a group."""
        return self.document.text[self.document.start[node]]

    @cached_property
    def holder(self) -> Sequence[int]:
        """For each node the statement, line or element that can go with it; 0 if there is none.

        What stands in round brackets goes with what these belong to: an argument does not go
        alone.
        """
        kind, parent = self.kind, self.document.parent
        found, round_ = array("i", [0]), bytearray(1)
        for node in range(1, len(kind)):
            above = parent[node]
            inside = round_[above]
            if kind[node] == Kind.GROUP:
                inside = self.opens_with(node) in b"(["
            round_.append(inside)
            found.append(node if kind[node] == Kind.ITEM and not inside else found[above])
        return found

    @cached_property
    def top(self) -> list[int]:
        """The parts of the text: the elements of the first node that has several."""
        node = 0
        while True:
            elements = self.elements(node)
            if len(elements) != 1:
                return elements
            (node,) = elements

    @cached_property
    def words(self) -> dict[bytes, list[int]]:
        """The places of each word, in the order in which they are met first."""
        found: dict[bytes, list[int]] = {}
        for node, kind in enumerate(self.kind):
            if kind == Kind.WORD:
                found.setdefault(self.document.source(node), []).append(node)
        return found
