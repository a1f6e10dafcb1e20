"""The changes between a passing and a failing text, and passes that undo them."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from itertools import accumulate

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.journal.differences import changed
from reducekit.passes import pass_

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_WORD = re.compile(rb"\s+|\w+|[^\w\s]")

Difference = tuple[int, int, bytes]
"""The bytes `begin` to `end` of the failing text, and what the passing one has there."""


def differences(text: bytes, baseline: bytes, *, words: bool) -> list[Difference]:
    """Return where a text differs from a passing one: by lines, or by words within these."""
    found = list(_compared(_LINE, text, baseline))
    if not words:
        return found
    return [
        (begin + first, begin + last, old)
        for begin, end, before in found
        for first, last, old in _compared(_WORD, text[begin:end], before)
    ]


def distance(text: bytes, baseline: bytes) -> int:
    """Return by how many bytes two texts differ: those of either that are not in the other."""
    found = differences(text, baseline, words=True)
    return sum(end - begin + len(old) for begin, end, old in found)


def _compared(part: re.Pattern[bytes], text: bytes, baseline: bytes) -> Iterator[Difference]:
    a, b = part.findall(baseline), part.findall(text)
    starts = list(accumulate(map(len, b), initial=0))
    for region in changed(a, b):
        old = b"".join(a[region.begin : region.end])
        yield starts[region.start], starts[region.stop], old


class View:
    """A failing text, and where it differs from a baseline.

    Below the root each word that is new is a node, and so is each that is missing: an empty one,
    where the word would stand. To undo the change of a word is to remove the node, or to fill it.
    """

    def __init__(self, text: bytes, baseline: bytes) -> None:
        self.hunks = differences(text, baseline, words=False)
        self.changes = differences(text, baseline, words=True)
        spans: list[tuple[int, int]] = [(0, len(text))]
        self.missing: list[bytes] = [b""]
        """For each node the word that is missing there; empty if it is new."""
        for begin, end, old in self.changes:
            for word in _WORD.findall(old):
                spans.append((begin, begin))
                self.missing.append(word)
            for match in _WORD.finditer(text, begin, end):
                spans.append(match.span())
                self.missing.append(b"")
        starts, ends = (array("i", each) for each in zip(*spans, strict=True))
        stops = array("i", [len(spans), *range(2, len(spans) + 1)])
        self.document = Document(text, starts, ends, stops)

    def undone(self, *nodes: int) -> Change:
        """Return the change that undoes those of some words."""
        missing = self.missing
        return Change(tuple(Edit(n, (missing[n],) if missing[n] else ()) for n in nodes), "undo")


@pass_("hunks", lambda view: bool(view.hunks))
def undo_hunks(view: View) -> Iterator[Change]:
    """Puts back lines of the baseline, hunk by hunk."""
    start, node = view.document.start, 1
    for _, end, _ in view.hunks:
        first = node
        while node < len(start) and start[node] <= end and view.document.end[node] <= end:
            node += 1
        yield view.undone(*range(first, node))


@pass_("words", lambda view: bool(view.changes))
def undo_words(view: View) -> Iterator[Change]:
    """Puts back words of the baseline, and removes others."""
    return map(view.undone, range(1, len(view.missing)))
