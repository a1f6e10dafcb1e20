"""A folder of failures, one file per signature, with an index; it grows from run to run."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.oracle.signature import Signature
from reducekit.run import ended
from reducekit.session.place.output import OutputFile
from reducekit.text import printable

INDEX = "index.tsv"
_HEADER = "file\tbytes\tended\tfailure line"
_LONGEST = 60  # characters of a file name that tell what failed
_TRIES = 100


@dataclass(frozen=True, slots=True)
class _Entry:
    size: int
    end: str
    line: str


class OtherFailures:
    """Keeps the smallest text of each failure in `folder`, which is created for the first of them.

    Files are replaced as a whole, and by smaller texts only. Files that the folder's index does not
    list are never touched. The constructor writes nothing; it raises UsageError if `folder` cannot
    take files or has the index of something else. Later errors (a full disk) are stored in
    `write_error`, and do not end the reduction.
    """

    def __init__(self, folder: Path, suffix: str) -> None:
        self.folder = folder
        self.write_error: OSError | None = None
        self._suffix = suffix
        self._files: dict[Signature, str] = {}
        try:
            if folder.exists():
                if not folder.is_dir():
                    raise UsageError(f"{folder} is not a folder")
                self._load()
            place = folder if folder.exists() else folder.parent
            if os.path.lexists(folder) and not folder.exists():
                raise UsageError(f"{folder} leads nowhere")
            if not place.is_dir():
                raise UsageError(f"there is no folder {place}")
            if not os.access(place, os.W_OK | os.X_OK):
                raise UsageError(f"the folder {place} cannot be written")
        except OSError as error:
            raise UsageError(f"{folder}: {error.strerror}") from None

    def file(self, found: Signature) -> Path | None:
        """Return the file that holds a failure of this run; None if it could not be kept."""
        name = self._files.get(found)
        return None if name is None else self.folder / name

    def keep(self, found: Signature, text: bytes) -> None:
        """Keep a text, unless one of its signature is at least as small."""
        try:
            self._keep(found, text)
        except OSError as error:
            self.write_error = error
        except UsageError as error:  # somebody has replaced the index
            self.write_error = OSError(None, str(error))

    def _keep(self, found: Signature, text: bytes) -> None:
        self.folder.mkdir(exist_ok=True)
        # Read again: another run may use the folder, too.
        entries = self._load()
        name = self._name(found, entries)
        path = self.folder / name
        with contextlib.suppress(FileNotFoundError):
            if name in entries:
                size = path.stat().st_size
                # An empty file where there should be none is what a kill has left.
                if size <= len(text) and (size or not entries[name].size):
                    self._files[found] = name
                    return
        line = b"" if found.line is None else found.line
        new = name not in entries
        entries[name] = _Entry(len(text), _end(found), printable(line))
        # The index first: a file that it does not list is not ours.
        if new:
            self._write(INDEX, _index(entries))
            with open(path, "xb"):
                pass
        self._write(name, text)
        if not new:
            self._write(INDEX, _index(entries))
        self._files[found] = name

    def _name(self, found: Signature, entries: dict[str, _Entry]) -> str:
        parts = (found.status, found.signal, found.limit, found.line)
        key = hashlib.sha256(repr(parts).encode()).hexdigest()[:8]
        words = f"{_end(found)} {printable(found.line or b'')}".lower()
        slug = re.sub(r"[^a-z0-9]+", "-", words.replace("exit status", "exit")).strip("-")
        if len(slug) > _LONGEST:
            slug = slug[:_LONGEST].rsplit("-", 1)[0]
        for number in range(1, _TRIES):
            again = f"-{number}" if number > 1 else ""
            name = f"{slug}-{key}{again}{self._suffix}"
            if name in entries or not os.path.lexists(self.folder / name):
                return name
        raise FileExistsError(None, f"there are {_TRIES} files {slug}-{key}* of others")

    def _load(self) -> dict[str, _Entry]:
        """Read the index. Raises UsageError if the file is not one of reducekit's."""
        path = self.folder / INDEX
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        except FileNotFoundError:
            return {}
        if lines[0] != _HEADER:
            raise UsageError(f"{path} is not an index of reducekit")
        entries = {}
        for line in lines[1:]:
            columns = line.split("\t")
            if len(columns) == 4 and columns[1].isdecimal() and "/" not in columns[0]:
                entries[columns[0]] = _Entry(int(columns[1]), columns[2], columns[3])
        return entries

    def _write(self, name: str, content: bytes) -> None:
        file = OutputFile(self.folder / name)
        if not file.write(content) and file.write_error is not None:
            raise file.write_error


def _end(found: Signature) -> str:
    if found.limit is not None:
        return f"{found.limit} limit"
    return ended(found.status, found.signal)


def _index(entries: dict[str, _Entry]) -> bytes:
    lines = [_HEADER]
    lines += [f"{name}\t{e.size}\t{e.end}\t{e.line}" for name, e in sorted(entries.items())]
    return ("\n".join(lines) + "\n").encode()
