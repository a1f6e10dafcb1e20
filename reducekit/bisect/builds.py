"""Versions that are already built: programs, or folders with a program, in one folder."""

from __future__ import annotations

import os
from pathlib import Path

from reducekit.bisect.search import version_key
from reducekit.bisect.versions import Source, Version, executables, the_program
from reducekit.errors import UsageError


class Builds(Source):
    """The builds in a folder, ordered by the versions in their names."""

    def __init__(self, folder: Path, program: str | None) -> None:
        self._folder = folder.absolute()
        self._program = program
        try:
            entries = list(self._folder.iterdir())
        except OSError as error:
            raise UsageError(f"`builds`: {folder} cannot be read: {error.strerror}") from None
        names = [
            each.name
            for each in entries
            if not each.name.startswith(".")
            and (each.is_dir() or (each.is_file() and os.access(each, os.X_OK)))
        ]
        if not names:
            raise UsageError(f"`builds`: {folder} holds no executable file and no folder")
        self.versions = [
            Version(name) for name in sorted(names, key=lambda name: (version_key(name), name))
        ]

    def program(self, version: Version) -> Path:
        """Return the file, or the program in the folder or its `bin`."""
        path = self._folder / version.name
        if path.is_file():
            return path
        found = [*executables(path), *executables(path / "bin")]
        return the_program(found, self._program, version.name, path)
