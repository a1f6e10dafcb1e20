"""A text as the passes see it: its tree, its parts and its words."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from reducekit.frontends.text.tree import DELIMITERS, Grown, Kind

if TYPE_CHECKING:
    from reducekit.frontends.text.syntax import Syntax

_FIXED = frozenset((Kind.OPEN, Kind.CLOSE, Kind.SEPARATOR, Kind.KEYWORD))
_ROUND = ord("(")
HEAD = 10
"""This many nodes after the beginning of a part, its name is expected."""


class TextView:
    """A text and its tree.

    `syntax` has, by its path, each file that a grammar reads, as it is in this text or in one that
    was made from it. A text that is not several files has the path "".
    """

    def __init__(self, grown: Grown, syntax: dict[str, Syntax] | None = None) -> None:
        self.syntax = syntax or {}
        self.document = grown.document
        self.kind = grown.kind
        self.rule = grown.rule

    @cached_property
    def tokens(self) -> Sequence[int]:
        """The leaves, in order."""
        kind = self.kind
        return array("i", (node for node in range(1, len(kind)) if kind[node] >= Kind.WORD))

    def weight(self, node: int) -> int:
        """Return the bytes of a node."""
        return self.document.end[node] - self.document.start[node]

    def elements(self, node: int) -> list[int]:
        """Return the children that can be dropped, in order: all but brackets and separators."""
        kind = self.kind
        return [each for each in self.document.children(node) if kind[each] not in _FIXED]

    def is_round(self, node: int) -> bool:
        """Return whether a node is a group in parentheses."""
        document = self.document
        return self.kind[node] == Kind.GROUP and document.text[document.start[node]] == _ROUND

    def call(self, node: int) -> int | None:
        """Return the group in parentheses that follows a word, if any."""
        after = node + 1
        return after if after < len(self.kind) and self.is_round(after) else None

    @cached_property
    def holder(self) -> Sequence[int]:
        """For each node the innermost item that can be dropped with it; 0 if there is none.

        Items in `(` and `[` do not count: dropping one argument breaks the call.
        """
        kind, parent = self.kind, self.document.parent
        found, round_ = array("i", [0]), bytearray(1)
        for node in range(1, len(kind)):
            above = parent[node]
            inside = round_[above]
            if kind[node] == Kind.GROUP:
                inside = self.document.text[self.document.start[node]] in b"(["
            round_.append(inside)
            found.append(node if kind[node] == Kind.ITEM and not inside else found[above])
        return found

    @cached_property
    def top(self) -> list[int]:
        """The parts of the text: the elements of the outermost node that has several.

        Files are not parts, but their elements are.
        """
        elements, whole = [0], (Kind.TEXT, Kind.FILE)
        while len(elements) == 1 or (elements and self.kind[elements[0]] in whole):
            elements = [part for each in elements for part in self.elements(each)]
        return elements

    @cached_property
    def words(self) -> dict[bytes, list[int]]:
        """The occurrences of each word, in order of first occurrence."""
        found: dict[bytes, list[int]] = {}
        for node, kind in enumerate(self.kind):
            if kind == Kind.WORD:
                found.setdefault(self.document.source(node), []).append(node)
        return found

    @cached_property
    def _first(self) -> dict[int, list[int]]:
        """The other occurrences of words that occur more than once, by the first."""
        return {places[0]: places[1:] for places in self.words.values() if len(places) > 1}

    def defined(self, node: int) -> list[list[int]]:
        """Return the later occurrences of each word that a node seems to define.

        Such a word occurs there first, after other words only (`static int *x`, `def f`), groups
        aside, and no word follows it.
        """
        found = list[list[int]]()
        document, kind, first = self.document, self.kind, self._first
        at, last, begun = node, min(document.stop[node], node + 2 * HEAD), False
        while at < last:
            what = kind[at]
            if self._is_word(at):
                after = at + 1
                while after < last and kind[after] == Kind.PART:
                    after += 1
                goes_on = after < last and (self._is_word(after) or self._points(after))
                if begun and not goes_on and at in first:
                    found.append(first[at])
                begun = True
            elif what == Kind.OPEN:
                begun = True
            elif what == Kind.GROUP and begun:
                at = document.stop[at]
                continue
            elif what > Kind.PART and not self._points(at):
                break
            at += 1
        return found

    def _is_word(self, node: int) -> bool:
        """Return whether a node is a word, of the text or of its language."""
        kind, document = self.kind[node], self.document
        fixed = kind == Kind.KEYWORD and document.text[document.start[node]] not in DELIMITERS
        return kind == Kind.WORD or fixed

    def _points(self, node: int) -> bool:
        return self.document.text[self.document.start[node]] in b"*&"
