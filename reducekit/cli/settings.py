"""Defaults of options from a file: `reducekit.toml`, or `[tool.reducekit]` in `pyproject.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from reducekit.errors import UsageError

FILES = {"reducekit.toml": (), "pyproject.toml": ("tool", "reducekit")}
"""Their names, and where in them the table of reducekit is."""


class Settings(NamedTuple):
    """The contents of a file: options for all formats, and tables for single commands."""

    path: Path
    values: Mapping[str, Any]

    def of(
        self, command: str, known: Mapping[str, tuple[str, bool]], *, general: bool
    ) -> dict[str, Any]:
        """Return the values for a command by the names of its parameters.

        `known` maps option names, without dashes in front, to parameters and whether they can be
        repeated; with `general`, values outside of tables apply too. Raises UsageError.
        """
        found: dict[str, Any] = {}
        own = self.values.get(command, {})
        if not isinstance(own, dict):
            raise UsageError(f"{self.path}: {command} is a command: write [{command}]")
        outside = {
            name: value
            for name, value in self.values.items()
            if general and not isinstance(value, dict)
        }
        for where, values in (("", outside), (f" of [{command}]", own)):
            for name, value in values.items():
                if name not in known:
                    close = get_close_matches(name, list(known), 1)
                    hint = f". Did you mean {close[0]}?" if close else ""
                    raise UsageError(f"{self.path}: there is no option {name!r}{where}{hint}")
                parameter, repeated = known[name]
                if isinstance(value, dict if repeated else (dict, list)):
                    raise UsageError(f"{self.path}: {name}{where} is one value, not several")
                several = repeated and not isinstance(value, list)
                found[parameter] = [value] if several else value
        return found


def settings(folder: Path) -> Settings | None:
    """Return the settings of a folder; None if it has none. Raises UsageError."""
    for name, tables in FILES.items():
        path = folder / name
        try:
            text = path.read_bytes()
        except OSError:
            continue
        if tables and b"reducekit" not in text:
            continue
        try:
            values: Any = tomllib.loads(text.decode())
        except ValueError as error:
            raise UsageError(f"{path.name} cannot be read: {error}") from None
        for each in tables:
            values = values.get(each, {}) if isinstance(values, dict) else {}
        if values:
            return Settings(Path(path.name), values)
    return None
