"""Defaults of options from a file: `reducekit.toml`, or `[tool.reducekit]` in `pyproject.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from reducekit.errors import UsageError

FILES = {"reducekit.toml": (), "pyproject.toml": ("tool", "reducekit")}
"""Their names, and where in them the table of reducekit is."""


def settings(
    folder: Path, command: str, known: Mapping[str, tuple[str, bool]], *, general: bool
) -> tuple[str, dict[str, Any]]:
    """Return the name of the file in a folder, and a command's values by its parameters' names.

    Both are empty if there is none. `known` maps option names, without dashes in front, to
    parameters and whether they can be repeated; with `general`, values outside of tables apply too.
    Raises UsageError.
    """
    for name, tables in FILES.items():
        try:
            text = (folder / name).read_bytes()
        except OSError:
            continue
        if tables and b"reducekit" not in text:
            continue
        try:
            values: Any = tomllib.loads(text.decode())
        except ValueError as error:
            raise UsageError(f"{name} cannot be read: {error}") from None
        for each in tables:
            values = values.get(each, {}) if isinstance(values, dict) else {}
        if values:
            return name, _of(name, values, command, known, general=general)
    return "", {}


def _of(
    file: str,
    values: Mapping[str, Any],
    command: str,
    known: Mapping[str, tuple[str, bool]],
    *,
    general: bool,
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    own = values.get(command, {})
    if not isinstance(own, dict):
        raise UsageError(f"{file}: {command} is a command: write [{command}]")
    outside = {k: each for k, each in values.items() if general and not isinstance(each, dict)}
    for where, given in (("", outside), (f" of [{command}]", own)):
        for name, value in given.items():
            if name not in known:
                close = get_close_matches(name, list(known), 1)
                hint = f". Did you mean {close[0]}?" if close else ""
                raise UsageError(f"{file}: there is no option {name!r}{where}{hint}")
            parameter, repeated = known[name]
            if isinstance(value, dict if repeated else (dict, list)):
                raise UsageError(f"{file}: {name}{where} is one value, not several")
            several = repeated and not isinstance(value, list)
            found[parameter] = [value] if several else value
    return found
