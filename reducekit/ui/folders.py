"""The opened folders, outside of which the page reads and writes no file, and its saved options."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reducekit.errors import UsageError

MOST = 256 << 20
"""Maximum size in bytes of a file that can be opened."""
_LISTED = 2000


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
        """Create a private folder called `name` plus a number in the first opened folder.

        Raises UsageError.
        """
        runs = self.roots[0] / "reducekit-runs"
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


_MOST = 1 << 16  # bytes


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
