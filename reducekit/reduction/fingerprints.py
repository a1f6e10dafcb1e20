"""Recognises a text that is like a refuted one, as the format sees it, until that misleads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Fingerprints:
    """The fingerprints of refuted texts (see `Frontend.fingerprint`).

    What they leave out may be what the failure is about. That shows where a text is refuted
    that is like the best one: from then on there are none.
    """

    make: Callable[[bytes], bytes | None]
    _refuted: set[bytes] = field(default_factory=set)
    _misleading: bool = False

    def of(self, text: bytes) -> bytes | None:
        """Return the fingerprint of a text; None if it has none."""
        return None if self._misleading else self.make(text)

    def refute(self, fingerprint: bytes, best: bytes) -> None:
        """Remember that of a refuted text, with the text that was the best then."""
        if fingerprint in self._refuted or self._misleading:
            return
        if fingerprint == self.make(best):
            self._misleading = True
            self._refuted.clear()
        else:
            self._refuted.add(fingerprint)

    def __contains__(self, fingerprint: bytes | None) -> bool:
        """Return whether a text of this fingerprint was refuted."""
        return fingerprint in self._refuted
