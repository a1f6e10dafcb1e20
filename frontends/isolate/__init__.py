"""The isolate format: which changes to a file that passes make it fail?

Small is not the text here, but its remaining difference to the passing file. Both sides move
(see `Dd`): a candidate that passes takes the place of the passing file, and what remains is a
difference in which no change can go to either side (A. Zeller, "Yesterday, my program worked.
Today, it does not. Why?", ESEC/FSE 1999).
"""

from __future__ import annotations

import hashlib
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

from reducekit.change import Change, Edit
from reducekit.differences import changed, unified
from reducekit.document import Document
from reducekit.errors import UsageError
from reducekit.format import Format, Schedule, pass_
from reducekit.offers import FormatOption
from reducekit.search.problem import FixedSearch, Search
from reducekit.search.strategy import Passes

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


Chunks = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Dd(Search):
    """The state of dd: the difference as n chunks of changes, and the number of the next test.

    Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, TSE 28(2), 2002,
    section 4.2, figure 8: between a passing and a failing configuration, both move. The difference
    of the two is cut into n subsets; what is tried is the passing side with a subset more, and the
    failing side with a subset less. Whatever fails is the new failing side, whatever passes the new
    passing one; only where all is unresolved, n is doubled. Without unresolved outcomes that is
    binary search.

    The figure looks for the best of four cases among all 2 n tests first. Here the first test that
    says anything is used: what it says is about the same difference, and costs one test.

    Tests `0 .. n-1` undo all chunks but one, which adds that chunk to the passing side; tests
    `n .. 2n-1` undo one chunk. The paper leaves their order open: they begin where the last one
    said something, as those before it were unresolved, and half of them are still the same texts.
    """

    change: Callable[[Sequence[int]], Change]
    """Makes the change that undoes changes."""
    bounds: tuple[int, ...]
    """The numbers at which hunks begin: chunks are cut there first."""
    chunks: Chunks
    first: int = 0
    """The number of the first test of these chunks."""
    tried: int = 0
    """How many tests of these chunks were unresolved."""

    @property
    def _test(self) -> int:
        return (self.first + self.tried) % (2 * len(self.chunks))

    def propose(self) -> Change | None:
        """Return the change of the next test; None if each is unresolved, or one change is left."""
        n, test = len(self.chunks), self._test
        if n < 2 or self.tried >= 2 * n:
            return None
        if test >= n:
            return self.change(self.chunks[test - n])
        return self.change((*chain(*self.chunks[:test], *self.chunks[test + 1 :]),))

    def after(self, ok: bool) -> Dd:
        """Return the search where the candidate is the new failing side, or the passing one."""
        n, test = len(self.chunks), self._test
        one = test % n
        # Adding one chunk and failing leaves that chunk; so does removing it and passing.
        if ok == (test < n):
            return self._on(self._halved(self.chunks[one : one + 1]))
        left = self.chunks[:one] + self.chunks[one + 1 :]
        if n == 2:
            return self._on(self._halved(left))
        first = one % (n - 1) + (n - 1) * (test >= n)
        return self._on(left, first)

    def unresolved(self) -> Dd:
        """Return the search with the next test, on smaller chunks after the last test."""
        n, tried = len(self.chunks), self.tried + 1
        # With two chunks, to add one is to remove the other.
        if tried < (2 if n == 2 else 2 * n):
            return replace(self, tried=tried)
        finer = self._halved(self.chunks)
        return self._on(finer) if len(finer) > n else replace(self, tried=2 * n)

    def _on(self, chunks: Chunks, first: int = 0) -> Dd:
        return replace(self, chunks=chunks, first=first, tried=0)

    def chance(self) -> float:
        """Return how likely the candidate is to fail: as a half is, of one change that matters."""
        n = len(self.chunks)
        return 1 / n if self._test < n else 1 - 1 / n

    def _halved(self, chunks: Chunks) -> Chunks:
        """Cut each chunk in two, between hunks where it has several."""
        halves = []
        for chunk in chunks:
            half = len(chunk) // 2
            # Another hunk begins between the changes before and at these places.
            starts = [
                at
                for at in range(1, len(chunk))
                if (next_one := bisect_left(self.bounds, chunk[at - 1] + 1)) < len(self.bounds)
                and self.bounds[next_one] <= chunk[at]
            ]
            middle = min(starts, key=lambda at: abs(at - half)) if starts else half
            halves += [chunk[:middle], chunk[middle:]]
        return tuple(filter(None, halves))


def search(count: int, bounds: Sequence[int], change: Callable[[Sequence[int]], Change]) -> Dd:
    """Return dd over `count` changes, whose hunks begin at `bounds`."""
    whole = Dd(change, tuple(bounds), (tuple(range(count)),))
    return replace(whole, chunks=whole._halved(whole.chunks))


_SHOWN = 20
"""Lines of the difference that the remark shows."""


class Isolate(Format):
    """The format of a file that fails, compared with one that passes."""

    name = "isolate"
    title = "the difference between a file that fails and one that passes"
    unit = "changes"
    options = (
        FormatOption("baseline", "The file that passes.", "path", metavar="FILE", required=True),
    )
    help = (
        "Moves the failing input and the passing file of --baseline towards each other. The result "
        "and the passing file next to it differ only in what makes the result fail."
    )

    examples = (
        "reducekit isolate bad.smt2 --baseline good.smt2 --cmd './solver --opt'",
        "reducekit isolate bad.c --baseline good.c --oracle ./test.sh -o small.c",
    )

    def __init__(self, baseline: str | None = None) -> None:
        """Take the file that passes; without one, the empty file."""
        self.path = baseline
        if baseline is not None:
            self.suffix = Path(baseline).suffix
            try:
                self.baseline = Path(baseline).read_bytes()
            except OSError as error:
                raise UsageError(f"`baseline`: cannot read {baseline}: {error.strerror}") from None
            # A journal of a reduction towards another file cannot be used.
            self.name = f"isolate from {hashlib.sha256(self.baseline).hexdigest()[:16]}"

    def beside(self, passing: bytes) -> Isolate:
        """Return the frontend that compares with another text, which passes."""
        other = copy(self)
        other.baseline = passing
        return other

    def parse(self, text: bytes) -> View:
        """Compare a text with the passing one; every text can be compared."""
        return View(text, self.baseline)

    def schedule(self, passes: Passes) -> Schedule:
        return Schedule(rounds=(isolate,))

    def order(self, text: bytes) -> Any:
        """Return the bytes by which a text differs from the passing one, then the text."""
        return distance(text, self.baseline), text

    def measure(self, view: View) -> Mapping[str, int]:
        """Count the changes of words, the bytes that differ, and those of the text."""
        text = view.document.text
        return {"changes": len(view.changes), "differing": distance(text, self.baseline),
                "bytes": len(text)}  # fmt: skip

    def remark(self, text: bytes) -> str | None:
        """Show the remaining difference."""
        lines = list(unified(self.baseline, text, "passes", "fails"))
        said = b"".join(lines[:_SHOWN]).decode("utf-8", "backslashreplace").rstrip("\n")
        more = f"\n(and {len(lines) - _SHOWN} more lines)" if len(lines) > _SHOWN else ""
        return f"remaining difference:\n{said}{more}"
