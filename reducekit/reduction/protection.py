"""Text that every candidate must contain, and problems without the changes that would drop it.

A search learns most from long runs of items. Where protected text is spread over the input, nearly
every run would hold some of it and be refused. So what cannot go is left out of each run instead
(`ProtectedItems`): the search is as long as if it were not there. Whatever gets past that, such as
two changes that each drop one of two equal texts, is refused as a candidate by `Protection.keeps`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from reducekit.change import Change
from reducekit.document import Document
from reducekit.search.problem import NOTHING, Closure, Items, Move, Problem, Selection, Tree

Spans: TypeAlias = Sequence[tuple[int, int]]


def _contained(texts: Sequence[bytes], text: bytes) -> Spans | None:
    """Return where a text contains others: all of them, in their order, without overlap."""
    found, at = [], 0
    for each in texts:
        start = text.find(each, at)
        if start < 0:
            return None
        at = start + len(each)
        found.append((start, at))
    return found


@dataclass(frozen=True, slots=True)
class Protection:
    """The matches of regular expressions in the input: their bytes have to stay, in their order."""

    patterns: tuple[re.Pattern[bytes], ...] = ()
    texts: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, text: bytes, patterns: Sequence[re.Pattern[bytes]]) -> Protection:
        """Return the protection of what the patterns match in a text."""
        found = cls(tuple(patterns))
        return cls(found.patterns, tuple(text[start:end] for start, end in found._matches(text)))

    def keeps(self, text: bytes) -> bool:
        """Return whether a text contains all protected ones, in their order and as often."""
        return _contained(self.texts, text) is not None

    def within(self, problem: Problem, document: Document) -> Problem:
        """Return a problem without the changes of a document that drop protected text.

        Graphs and fixed searches are returned as they are.
        """
        if not self.texts or not isinstance(problem, Items | Tree):
            return problem
        part = _Protected(document, self._spans(document.text))
        return ProtectedItems(problem, part) if isinstance(problem, Items) else _Tree(problem, part)

    def _matches(self, text: bytes) -> list[tuple[int, int]]:
        """Return the spans of all matches, overlapping ones as one."""
        spans: list[tuple[int, int]] = []
        for start, end in sorted(
            match.span() for each in self.patterns for match in each.finditer(text) if match[0]
        ):
            if spans and start < spans[-1][1]:
                spans[-1] = spans[-1][0], max(end, spans[-1][1])
            else:
                spans.append((start, end))
        return spans

    def _spans(self, text: bytes) -> Spans:
        """Return where the protected texts are, as matches if the patterns still find them."""
        wanted, found = iter(self.texts), []
        following = next(wanted, None)
        for start, end in self._matches(text):
            if text[start:end] == following:
                found.append((start, end))
                following = next(wanted, None)
        return found if following is None else _contained(self.texts, text) or ()


class _Protected:
    """The protected parts of a document."""

    def __init__(self, document: Document, spans: Spans) -> None:
        self._document = document
        self._spans = spans
        self._ends = [end for _, end in spans]

    def drops(self, change: Change) -> bool:
        """Return whether a change drops any of them, as far as each edit alone shows it."""
        document = self._document
        for node, template in change.edits:
            first, last = document.start[node], document.end[node]
            low = bisect_right(self._ends, first)
            inside = []
            for start, end in self._spans[low:]:
                if start >= last:
                    break
                if start < first or end > last:
                    return True
                inside.append(document.text[start:end])
            if inside and _contained(inside, document.spliced(node, {node: template})) is None:
                return True
        return False


class ProtectedItems(Items):
    """Items of which those stay that hold protected text: taking one changes nothing."""

    def __init__(self, items: Items, protected: _Protected) -> None:
        self._items = items
        self._protected = protected
        self.bare = items.bare
        self.free = items.free

    @cached_property
    def weights(self) -> Sequence[int]:
        return self._items.weights

    @cached_property
    def _staying(self) -> set[int]:
        """The items that stay; those that require one of them are added when that is seen."""
        return {
            each
            for each in range(len(self.weights))
            if self._protected.drops(self._items.change(frozenset((each,)), NOTHING))
        }

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        """Return what goes along with those chosen that do not stay."""
        staying, taken = self._staying, self.movable(taken)
        closure = self._items.close(self.movable(chosen), taken)
        if not staying.isdisjoint(closure.required):
            for each in self.movable(chosen):
                alone = self._items.close(frozenset((each,)), taken)
                if not staying.isdisjoint(alone.required):
                    staying.add(each)
            closure = self._items.close(self.movable(chosen), taken)
        return Closure(closure.required, self.movable(closure.orphaned))

    def blocked(self, chosen: Selection, taken: Selection, refuted: Selection) -> bool:
        return self._items.blocked(self.movable(chosen), self.movable(taken), refuted)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        movable = self.movable(chosen)
        return self._items.change(movable, self.movable(taken)) if movable else Change(())

    def movable(self, items: Selection) -> Selection:
        """Return the items without those that stay."""
        staying = self._staying
        return frozenset(each for each in items if each not in staying) if staying else items


class _Tree(Tree):
    """A tree without the substitutions that drop protected text."""

    def __init__(self, tree: Tree, protected: _Protected) -> None:
        self._tree = tree
        self._protected = protected

    @cached_property
    def roots(self) -> Sequence[int]:
        return self._tree.roots

    def weight(self, node: int) -> int:
        return self._tree.weight(node)

    def moves(self, node: int) -> Sequence[Move]:
        return [each for each in self._tree.moves(node) if not self._protected.drops(each.change)]

    def parts(self, node: int) -> ProtectedItems | None:
        parts = self._tree.parts(node)
        return None if parts is None else ProtectedItems(parts, self._protected)

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        parts = self.parts(node) if dropped else None
        return self._tree.children(node, dropped if parts is None else parts.movable(dropped))
