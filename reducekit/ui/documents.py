"""The texts that are open in the page."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from reducekit import registry
from reducekit.errors import UsageError

_HEAD = 1 << 14  # bytes examined to detect the format


@dataclass(frozen=True, slots=True)
class Document:
    """A text with a name; `path` is the file that it was read from or saved to."""

    number: int
    name: str
    text: bytes
    format: str | None
    """The name of the frontend that reads it; None if there is none."""
    path: Path | None = None
    origin: int | None = None
    """Bytes of the file that was reduced to this text, if it is a step of a reduction."""

    @property
    def suffix(self) -> str:
        """The suffix of its name."""
        return PurePath(self.name).suffix

    @property
    def file_suffix(self) -> str:
        """The suffix of a file that holds it: its own, or else that of its format."""
        if self.suffix or self.format is None:
            return self.suffix
        return registry.frontend_class(self.format).suffix


class Documents:
    """Open texts by number; texts are immutable. `changed` is called after each change."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.version = 0
        """Grows with each change."""
        self._changed = changed
        self._all: dict[int, Document] = {}
        self.last = 0
        """The number of the text opened last; `all`, called later, has it unless it is closed."""
        self._lock = threading.Lock()

    def add(
        self,
        name: str,
        text: bytes,
        *,
        path: Path | None = None,
        format: str | None = None,  # noqa: A002
        origin: int | None = None,
    ) -> Document:
        """Open a text."""
        with self._lock:
            read_as = format or registry.guess_format(name, text[:_HEAD])
            found = Document(self.last + 1, name, text, read_as, path, origin)
            self._all[found.number] = found
            self.last = found.number
            self.version += 1
        self._changed()
        return found

    def get(self, number: int) -> Document:
        """Return an open text. Raises UsageError."""
        try:
            return self._all[number]
        except KeyError:
            raise UsageError("this text is no longer open") from None

    def close(self, number: int) -> None:
        """Close a text."""
        with self._lock:
            self._all.pop(number, None)
            self.version += 1
        self._changed()

    def all(self) -> list[Document]:
        """Return all open texts."""
        return list(self._all.values())


def summary(document: Document) -> dict[str, Any]:
    """Return what the page shows of an open text."""
    return {
        "number": document.number,
        "name": document.name,
        "path": None if document.path is None else str(document.path),
        "size": len(document.text),
        "format": document.format,
    }
