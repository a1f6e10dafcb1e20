"""The text that candidates are described by, which each worker has: it travels once.

The idea is the one of renting or buying skis. Edits grow as the search moves away from the
base. When they have cost as many bytes as it takes to give all workers a newer base, they get
it, so never more than twice the bytes travel that would have been needed.
"""

from __future__ import annotations

from collections import deque

from reducekit.executors.cluster.protocol import Base, NewText

_STEPS = 64  # versions back; who is further behind gets the whole text
_LEAST = 256  # bytes for each worker that are not worth a thought


class BaseText:
    """The base of now; `version` counts them."""

    def __init__(self) -> None:
        self.version = 0
        self._text: bytes | None = None
        self._whole: Base | None = None
        self._steps: deque[Base] = deque(maxlen=_STEPS)
        """From the versions before to this one, the last of them."""
        self._newer: bytes | None = None
        self._spent = 0
        self._worth = 0

    def offer(self, text: bytes) -> None:
        """Take note of a text that the next ones may be made from."""
        if self._text is not None and len(text) < len(self._text):
            self._newer = text

    def describe(self, text: bytes, workers: int) -> NewText:
        """Describe a candidate by the base; that may be a new one then."""
        if self._text is None:
            self._renew(text, None)
        if self._newer is not None and self._spent > max(self._worth, _LEAST * workers):
            step = NewText.of(self._newer, self._text)
            self._worth = len(step.change) * workers
            if self._spent >= self._worth:
                self._renew(self._newer, Base(step))
        new = NewText.of(text, self._text)
        self._spent += len(new.change)
        if len(new.change) > _LEAST and self._text is not None and len(text) > len(self._text):
            self._newer = text  # what the base lacks, the next ones may have as well
        return new

    def orders_for(self, version: int) -> list[Base]:
        """Return what gives a worker that has a base of that version the one of now."""
        behind = self.version - version
        if version and behind <= len(self._steps):
            return list(self._steps)[len(self._steps) - behind :]
        assert self._text is not None
        if self._whole is None:
            self._whole = Base(NewText.of(self._text, None))
        return [self._whole]

    def _renew(self, text: bytes, step: Base | None) -> None:
        self.version += 1
        if step is not None:
            self._steps.append(step)
        self._text, self._whole, self._newer = text, None, None
        self._spent = self._worth = 0
