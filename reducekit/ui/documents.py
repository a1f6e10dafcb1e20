"""What the page shows: open texts, steps of runs from their journals, and diagrams.

Positions in texts refer to the page's JavaScript strings.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from reducekit import registry
from reducekit.errors import UsageError
from reducekit.journal import Contents, journal_path, load
from reducekit.offers import Draws
from reducekit.reports.steps import changes

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


class Journals:
    """Reads journals; the last one is parsed again only when it has grown. For any thread."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int], Contents]] = {}
        self._lock = threading.Lock()

    def of(self, output: Path | None) -> Contents:
        """Return the journal of the run that writes this output. Raises UsageError."""
        if output is None:
            raise UsageError("this run keeps no history")
        path = journal_path(output)
        try:
            status = path.stat()
        except OSError:
            raise UsageError("there is no history yet") from None
        stamp = (status.st_size, status.st_mtime_ns)
        with self._lock:
            known = self._known.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
        found = load(path)
        if not found.steps:
            raise UsageError("there is no history yet")
        with self._lock:
            self._known = {path: (stamp, found)}
        return found


def text_of(journal: Contents, step: int) -> bytes:
    """Return the text of a step. Raises UsageError if there is no such step."""
    if not 0 <= step < len(journal.steps):
        raise UsageError(f"there is no step {step}")
    return journal.text(step)


def rows(journal: Contents) -> dict[str, Any]:
    """Return all steps, and which one is the best."""
    return {
        "current": journal.current,
        "steps": [
            [step.number, step.base, step.size, step.checks, round(step.seconds, 2),
             step.pass_name, step.what[:200]]
            for step in journal.steps
        ],
    }  # fmt: skip


def difference(before: bytes, after: bytes) -> dict[str, Any]:
    """Return the sizes of two texts, and the lines in which they differ."""
    return {
        "old": len(before),
        "new": len(after),
        "lines": [[line.sign, line.text] for line in changes(before, after)],
    }


_DRAWN = 2 << 20  # bytes of a text that is drawn: about 3 s and 200,000 nodes
_SAFE_LABEL = 200  # characters


def shown(text: bytes) -> str:
    """Return a text for the page; bytes that are not valid UTF-8 are escaped."""
    return text.decode("utf-8", "backslashreplace")


class Positions:
    """Converts byte offsets in a text to positions in the page's string, in UTF-16 units."""

    def __init__(self, text: bytes) -> None:
        self._ascii = text.isascii()
        self._at: list[int] = []
        """The offset after each character that is not one byte and one unit."""
        self._shift: list[int] = [0]
        """Units minus bytes, up to and including that character."""
        if not self._ascii:
            at, shift = 0, 0
            for c in text.decode("utf-8", "surrogateescape"):
                if c < "\x80":
                    at += 1
                    continue
                if "\udc80" <= c <= "\udcff":  # escaped as \xhh
                    size, units = 1, 4
                else:
                    size, units = len(c.encode()), 2 if c > "\uffff" else 1
                at += size
                shift += units - size
                self._at.append(at)
                self._shift.append(shift)

    def of(self, byte: int) -> int:
        """Return the position in the page's string of a byte offset."""
        return byte if self._ascii else byte + self._shift[bisect_right(self._at, byte)]


def diagram_of(format_name: str | None, text: bytes) -> dict[str, Any]:
    """Return the diagram of a text of that format. Raises UsageError or ParseError."""
    if format_name is None:
        raise UsageError("no format reads this text")
    if len(text) > _DRAWN:
        raise UsageError(f"drawn up to {_DRAWN:,} bytes; this text has {len(text):,}")
    frontend = registry.frontend(format_name)
    if not isinstance(frontend, Draws):
        raise UsageError(f"diagrams are not supported for {format_name}")
    diagram = frontend.diagram(frontend.parse(text))
    place, nodes, chart = Positions(text).of, diagram.nodes, diagram.chart
    # One list per property: compact, and fast to parse.
    return {
        "shape": diagram.shape,
        "labels": [node.label[:_SAFE_LABEL] for node in nodes],
        "details": [node.detail[:_SAFE_LABEL] for node in nodes],
        "kinds": [node.kind for node in nodes],
        "starts": [place(node.start) for node in nodes],
        "ends": [place(node.end) for node in nodes],
        "edges": [list(node.edges) for node in nodes],
        "states": [list(each) for each in diagram.state],
        "chart": None
        if chart is None
        else {
            "states": list(chart.states),
            "transitions": [[each.source, each.target, each.label] for each in chart.transitions],
        },
    }
