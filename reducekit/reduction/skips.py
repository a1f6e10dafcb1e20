"""Why a candidate is not worth a run.

Each run costs a process, often seconds; asking costs microseconds. So a candidate is asked all of
these questions first, cheapest first, and the first that says yes is counted. Two of them need a
memory of what was refuted: by the change in its surroundings (`LocalContext`), and by what the
format takes for the same (`Fingerprints`). One needs what the user protects (`Protection`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NamedTuple, TypeAlias

from reducekit.change import Change, Template
from reducekit.document import Document, Patched
from reducekit.journal import digest
from reducekit.search.problem import NOTHING, Closure, Items, Move, Problem, Selection, Tree


class Skip(Enum):
    """A reason not to run a candidate, in the order in which `Epoch` looks for one.

    The first four need its text alone, so they are looked for once. The others depend on what has
    been learnt, so they are looked for again when its turn has come.
    """

    UNCHANGED = "changes nothing"
    """An earlier change has already removed what this one would."""
    UNPROTECTED = "drops protected text"
    """The user protects text that it does not contain (see `Protection`)."""
    NOT_SMALLER = "not smaller"
    """It would not be accepted anyway, except as a probe or while a preparing pass may grow."""
    UNREADABLE = "does not parse"
    """Changes do not go together. Only formats that are `strict`, or check what is read, say so."""
    KNOWN = "same text"
    """This very text had its verdict: the only reason with which a candidate may be accepted."""
    REFUTED = "same change refuted"
    """The change failed before with the same surroundings (see `LocalContext`)."""
    ALIKE = "like a refuted text"
    """A text that the format holds for the same failed (see `Fingerprints`)."""
    REFUSED = "refused by the format"
    """The user has excluded such texts, as by `--strict`."""


class LocalContext:
    """A candidate's change in its local context: the changed nodes and their direct parents."""

    # Rendering the surroundings costs their size, for each candidate. Up to here that is small
    # compared to a run; larger changes are known by their whole text.
    BYTES = 1 << 16
    NODES = 64
    """Maximum size of a change, in bytes or nodes, that is remembered apart from its whole text."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._tops = frozenset(document.children(0))
        self._base: Patched | None = None
        self._before: dict[int, bytes] = {}
        """The texts of nodes on `_base`: most consecutive candidates share their base."""

    def key(self, base: Patched, more: Mapping[int, Template]) -> bytes | None:
        """Return a 128-bit key of what `more` changes and into what; None if it is large.

        Keys are equal if the same nodes with the same siblings become the same text, whatever else
        the document holds.
        """
        if len(more) > self.NODES:
            return None
        tops, document = self._tops, self.document
        within: dict[int, dict[int, Template]] = {}
        for node, template in more.items():
            # One level up: an edit often means something only with its siblings, as the value
            # of a `let`. More levels would make keys differ by what does not matter.
            above = node if node in tops else document.parent[node]
            within.setdefault(above, {})[node] = template
        size = sum(document.end[node] - document.start[node] for node in within)
        if 0 in within or size > self.BYTES:
            return None
        if base is not self._base:
            self._base, self._before = base, {}
        parts = []
        for above in sorted(within):
            if above not in self._before:
                self._before[above] = base.render(above)
            edits = within[above]
            # A removed node takes blanks along, which depend on its neighbours, so its text says
            # nothing.
            removed = not edits.get(above, True)
            parts += [self._before[above], b"" if removed else base.render_with(edits, above)]
        return digest(b"\0".join(parts))


@dataclass(slots=True, eq=False)
class Fingerprints:
    """The fingerprints of refuted texts (see `Format.fingerprint`).

    A fingerprint may leave out what the failure depends on. This shows if a text is refuted that
    has the fingerprint of the best one: from then on, no fingerprints are used.
    """

    make: Callable[[bytes], bytes | None]
    _refuted: set[bytes] = field(default_factory=set)
    _misleading: bool = False

    def of(self, text: bytes) -> bytes | None:
        """Return the fingerprint of a text; None if it has none."""
        return None if self._misleading else self.make(text)

    def refute(self, fingerprint: bytes, best: bytes) -> None:
        """Remember the fingerprint of a refuted text; `best` is the best text at that time."""
        if fingerprint in self._refuted or self._misleading:
            return
        # The best text fails and this one did not, so what the fingerprint leaves out does
        # matter.
        if fingerprint == self.make(best):
            self._misleading = True
            self._refuted.clear()
        else:
            self._refuted.add(fingerprint)

    def forget(self, fingerprint: bytes | None) -> None:
        """Forget that a text with this fingerprint was refuted."""
        if fingerprint is not None:
            self._refuted.discard(fingerprint)

    def __contains__(self, fingerprint: bytes | None) -> bool:
        """Return whether a text with this fingerprint was refuted."""
        return fingerprint in self._refuted


# Protected text
#
# A search learns most from long runs of items. Where protected text is spread over the input,
# nearly every run would hold some of it and be refused. So what cannot go is left out of each run
# instead (`ProtectedItems`): the search is as long as if it were not there. Whatever gets past
# that, such as two changes that each drop one of two equal texts, is refused as a candidate by
# `Protection.keeps`.

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


class Protection(NamedTuple):
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
    """Items in which those with protected text stay: taking one changes nothing."""

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
