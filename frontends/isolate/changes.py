"""The changes between a passing and a failing text, and the pass that undoes them."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, chain

from reducekit.change import Change, Edit
from reducekit.differences import changed
from reducekit.document import Document
from reducekit.frontends.isolate.dd import search
from reducekit.passes import pass_
from reducekit.search.problem import FixedSearch

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


@lru_cache(maxsize=4)  # candidates are compared with one base, again and again
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
    """A failing text, and where it differs from one that passes.

    Below the root each change is a node: words that became others; a line, or part of one, that is
    new; and one that is missing, as an empty node where it would stand. Words are not undone one by
    one: half a change is seldom a text that a program reads.
    """

    def __init__(self, text: bytes, baseline: bytes) -> None:
        self.hunks = differences(text, baseline, words=False)
        self.changes = differences(text, baseline, words=True)
        # Columns and generators, no list of tuples: a text may be a million empty lines.
        starts, ends = array("i", (0,)), array("i", (len(text),))
        self.before: list[bytes] = [b""]
        """For each node what the baseline has there."""
        for begin, end, old in self.changes:
            parts: Iterable[Difference] = ((begin, end, old),)
            if not old or begin == end:
                missing = ((begin, begin, line) for line in _LINE.findall(old))
                parts = chain(missing, ((*m.span(), b"") for m in _LINE.finditer(text, begin, end)))
            for first, last, line in parts:
                starts.append(first)
                ends.append(last)
                self.before.append(line)
        stops = array("i", (len(starts), *range(2, len(starts) + 1)))
        self.document = Document(text, starts, ends, stops)

    def undone(self, *nodes: int) -> Change:
        """Return the change that undoes some changes."""
        before = self.before
        return Change(tuple(Edit(n, (before[n],) if before[n] else ()) for n in nodes), "undo")

    def bounds(self) -> list[int]:
        """Return how many changes there are before each hunk."""
        start, end, node, found = self.document.start, self.document.end, 1, list[int]()
        for _, last, _ in self.hunks:
            found.append(node - 1)
            while node < len(start) and start[node] <= last and end[node] <= last:
                node += 1
        return found


@pass_("difference", lambda view: bool(view.changes))
def isolate(view: View) -> FixedSearch:
    """Undoes changes, and takes what passes then for the passing file."""
    return FixedSearch(
        search(
            len(view.before) - 1,
            view.bounds(),
            lambda chosen: view.undone(*(number + 1 for number in sorted(chosen))),
        )
    )
