"""What the page opens, shows and saves: texts, steps of runs from their journals, and diagrams.

Outside of the opened folders it reads and writes no file. Positions in texts refer to the page's
JavaScript strings.
"""

from __future__ import annotations

import json
import os
import stat
import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from reducekit import registry
from reducekit.errors import UsageError
from reducekit.journal import Contents, journal_path, load
from reducekit.reports.account import changes

MOST = 256 << 20
"""Maximum size in bytes of a file that can be opened."""
_LISTED = 2000
_MOST = 1 << 16  # bytes
_HEAD = 1 << 14  # bytes examined to detect the format
_DRAWN = 2 << 20  # bytes of a text that is drawn: about 3 s and 200,000 nodes
_SAFE_LABEL = 200  # characters


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder; `size` in bytes, None for a folder."""

    name: str
    path: str
    size: int | None


class Folders:
    """Opened folders. Paths are checked after resolving all links."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self.roots = tuple(dict.fromkeys(root.resolve(strict=True) for root in roots))

    def inside(self, named: str | Path) -> Path:
        """Return the real path of a file below an opened folder. Raises UsageError."""
        text = os.fspath(named)
        if "\0" in text or not text:
            raise UsageError("this is not a file name")
        path = Path(text)
        found = (path if path.is_absolute() else self.roots[0] / path).resolve()
        if not any(found.is_relative_to(root) for root in self.roots):
            raise UsageError(f"{text} is not in a folder that was opened")
        return found

    def entries(self, named: str | Path) -> list[Entry]:
        """List a folder: folders first, hidden files left out. Raises UsageError."""
        folder = self.inside(named)
        found = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    try:
                        self.inside(entry.path)
                        kind = entry.stat()
                    except (UsageError, OSError):
                        continue  # a link that leads outside, or nowhere
                    if stat.S_ISDIR(kind.st_mode):
                        found.append(Entry(entry.name, entry.path, None))
                    elif stat.S_ISREG(kind.st_mode):
                        found.append(Entry(entry.name, entry.path, kind.st_size))
        except OSError as error:
            raise UsageError(f"{folder} cannot be listed: {error.strerror}") from None
        found.sort(key=lambda each: (each.size is not None, each.name.lower()))
        return found[:_LISTED]

    def read(self, named: str | Path) -> bytes:
        """Return the contents of a regular file. Raises UsageError."""
        path = self.inside(named)
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(handle, "rb") as file:
                kind = os.fstat(file.fileno())
                if not stat.S_ISREG(kind.st_mode):
                    raise UsageError(f"{path} is not a regular file")
                if kind.st_size > MOST:
                    raise UsageError(f"{path} is too large for the page: {kind.st_size:,} bytes")
                return file.read()
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from None

    def write(self, named: str | Path, text: bytes, *, replace: bool) -> Path:
        """Write a file, and return its path. Raises UsageError if it exists, unless `replace`."""
        path = self.inside(named)
        if path.is_dir():
            raise UsageError(f"{path} is a folder: add a name")
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if replace else os.O_EXCL)
        try:
            with open(os.open(path, flags, 0o666), "wb") as file:
                file.write(text)
        except FileExistsError:
            raise UsageError(f"{path} exists already") from None
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from None
        return path

    def new_folder(self, name: str) -> Path:
        """Create a private folder `name`-N in the first opened folder. Raises UsageError."""
        runs = self.roots[0] / RUNS
        try:
            runs.mkdir(0o700, exist_ok=True)
            number = 1
            while True:
                path = self.inside(runs / f"{name}-{number}")
                try:
                    path.mkdir(0o700)
                except FileExistsError:
                    number += 1
                else:
                    return path
        except OSError as error:
            raise UsageError(f"{runs} cannot be written: {error.strerror}") from None


RUNS = "reducekit-runs"
"""The folder of all runs, in the first opened folder."""


def default_path() -> Path:
    """Return the path of the options: in the user's configuration folder, as XDG defines it."""
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(folder) / "reducekit" / "ui.json"


class Settings:
    """A flat table of options in a JSON file that is easy to read and edit."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> dict[str, Any]:
        """Return the options; empty if the file is missing. Raises UsageError if it is damaged."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise UsageError(f"the options {self.path} cannot be read: {error.strerror}") from None
        try:
            found = json.loads(data)
        except ValueError as error:
            raise UsageError(f"the options {self.path} are not valid JSON: {error}") from None
        if not isinstance(found, dict):
            raise UsageError(f"the options {self.path} are not a JSON object")
        return found

    def save(self, values: Mapping[str, Any]) -> None:
        """Write the options atomically. Raises UsageError."""
        data = json.dumps(values, indent=2, sort_keys=True).encode() + b"\n"
        if len(data) > _MOST:
            raise UsageError("too many options to save")
        new = self.path.with_name(f"{self.path.name}.new")
        try:
            self.path.parent.mkdir(0o700, parents=True, exist_ok=True)
            new.write_bytes(data)
            os.replace(new, self.path)
        except OSError as error:
            raise UsageError(
                f"the options {self.path} cannot be written: {error.strerror}"
            ) from None


@dataclass(frozen=True, slots=True)
class Document:
    """A text with a name; `path` is the file that it was read from or saved to."""

    number: int
    name: str
    text: bytes
    format: str
    """The name of the frontend that reads it."""
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
        return self.suffix or registry.frontend_class(self.format).suffix


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
        """Open a text; of a file that has not changed since it was opened, return that text."""
        with self._lock:
            for each in self._all.values():
                if path and (path, text) == (each.path, each.text):
                    return each
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
    diagram = frontend.diagram(frontend.parse(text)) if frontend.offers("diagram") else None
    if diagram is None:
        raise UsageError(f"diagrams are not supported for {format_name}")
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
        "inks": [(place(ink.start), place(ink.end), ink.kind) for ink in diagram.inks],
        "chart": None
        if chart is None
        else {
            "states": list(chart.states),
            "transitions": [[each.source, each.target, each.label] for each in chart.transitions],
        },
    }
