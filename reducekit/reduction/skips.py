"""Why a candidate is not worth a run.

Each run costs a process, often seconds; asking costs microseconds. So a candidate is asked all of
these questions first, cheapest first, and the first that says yes is counted. Two of them need a
memory of what was refuted: by the change in its surroundings (`LocalContext`), and by what the
format takes for the same (`Fingerprints`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from reducekit.change import Template
from reducekit.document import Document, Patched
from reducekit.journal import digest


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
    """The changes of several passes do not go together. Only formats that are `strict` say so."""
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
    # beside a run; larger changes are known by their whole text.
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
            # One level up: an edit often means something only beside its siblings, as the value
            # of a `let`. More levels would make keys differ by what does not matter.
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
            # A removed node takes blanks along, which depend on its neighbours, so its text says
            # nothing.
            removed = not edits.get(above, True)
            parts += [self._before[above], b"" if removed else base.render_with(edits, above)]
        return digest(b"\0".join(parts))

    def _size(self, node: int) -> int:
        return self.document.end[node] - self.document.start[node]


@dataclass(slots=True)
class Fingerprints:
    """The fingerprints of refuted texts (see `offers.Skips`).

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
