"""The page's options, kept in a file: what was typed last is there the next time."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reducekit.errors import UsageError

_MOST = 1 << 16  # bytes


def default_path() -> Path:
    """Return where the options are kept: in the user's folder for settings, as XDG says."""
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(folder) / "reducekit" / "ui.json"


class Settings:
    """A flat table of options in a JSON file, readable and to be edited by hand."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> dict[str, Any]:
        """Return the options; none if there is no such file. Raises UsageError if it is damaged."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise UsageError(f"the options {self.path} cannot be read: {error.strerror}") from None
        try:
            found = json.loads(data)
        except ValueError as error:
            raise UsageError(f"the options {self.path} are no JSON: {error}") from None
        if not isinstance(found, dict):
            raise UsageError(f"the options {self.path} are no JSON object")
        return found

    def save(self, values: Mapping[str, Any]) -> None:
        """Write the options, all or nothing. Raises UsageError."""
        data = json.dumps(values, indent=2, sort_keys=True).encode() + b"\n"
        if len(data) > _MOST:
            raise UsageError("these are too many options to keep")
        beside = self.path.with_name(f"{self.path.name}.new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(data)
            os.replace(beside, self.path)
        except OSError as error:
            raise UsageError(
                f"the options {self.path} cannot be written: {error.strerror}"
            ) from None
