"""The page's options, saved in a file for the next time."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reducekit.errors import UsageError

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
