"""The base text, which every worker has: it is sent once, and candidates as edits of it.

This is the ski rental problem. Edits grow as the search moves away from the base. Once they have
cost as many bytes as sending all workers a newer base, that is sent. So at most twice the bytes of
the best choice in hindsight are sent.
"""

from __future__ import annotations

import zlib
from collections import deque
from typing import NamedTuple

from reducekit.delta import delta, patch

_STEPS = 64  # versions back; a worker further behind gets the whole text
_LEAST = 256  # bytes for each worker below which a newer base does not pay
_LEVEL = 1  # of zlib: 30 ms for 3 MB, and a fifth of its size


class NewText(NamedTuple):
    """A text as its difference from the base; without a base it is whole."""

    change: bytes
    whole: bool

    @classmethod
    def of(cls, text: bytes, base: bytes | None) -> NewText:
        """Describe a text in the shorter way."""
        if base is not None:
            change = delta(base, text)
            if len(change) < 256 or len(change) < len(text) // 4:
                return cls(change, False)
        return cls(zlib.compress(text, _LEVEL), True)

    def text(self, base: bytes) -> bytes:
        """Return the text."""
        return zlib.decompress(self.change) if self.whole else patch(base, self.change)


class BaseText:
    """The current base; `version` counts them."""

    def __init__(self) -> None:
        self.version = 0
        self._text: bytes | None = None
        self._whole: list[NewText] = []
        self._steps: deque[NewText] = deque(maxlen=_STEPS)
        """The step from each earlier version to the next, up to this one."""
        self._newer: bytes | None = None
        self._spent = 0
        self._worth = 0

    def offer(self, text: bytes) -> None:
        """Note a text that later candidates may be edits of."""
        if self._text is not None and len(text) < len(self._text):
            self._newer = text

    def describe(self, text: bytes, workers: int) -> NewText:
        """Describe a candidate as edits of the base, which this may replace."""
        if self._text is None:
            self._renew(text)
        elif self._newer is not None and self._spent > max(self._worth, _LEAST * workers):
            step = NewText.of(self._newer, self._text)
            self._worth = len(step.change) * workers
            if self._spent >= self._worth:
                self._steps.append(step)
                self._renew(self._newer)
        assert self._text is not None
        new = NewText.of(text, self._text)
        self._spent += len(new.change)
        if len(new.change) > _LEAST and len(text) > len(self._text):
            self._newer = text  # what the base lacks, the next ones may have as well
        return new

    def steps_from(self, version: int) -> list[NewText]:
        """Return the steps from a worker's version of the base to the current one."""
        behind = self.version - version
        if version and behind <= len(self._steps):
            return list(self._steps)[len(self._steps) - behind :]
        assert self._text is not None
        self._whole = self._whole or [NewText.of(self._text, None)]
        return self._whole

    def _renew(self, text: bytes) -> None:
        self.version += 1
        self._text, self._whole, self._newer = text, [], None
        self._spent = self._worth = 0
