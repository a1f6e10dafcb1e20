"""Commands that find the candidate by its name in the current folder, such as tests for C-Vise."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reducekit.oracle.command import PLACE, Command
from reducekit.session.unpack import plain_path

_SCRIPT = 1 << 16  # bytes of a program in which a name is looked for


def in_own_folders(commands: Sequence[Command], source: Path | bytes) -> tuple[Command, ...] | None:
    """Return the commands to run in a folder of their own for each candidate.

    None if nothing suggests that: no command and no script names the input.
    """
    if isinstance(source, bytes):
        return None
    name = plain_path(source).name
    if not any(_names(command, name) for command in commands):
        return None
    return tuple(replace(command, in_folder=name) for command in commands)


def _names(command: Command, name: str) -> bool:
    """Return whether a command, or a script that it runs, names a file and has no placeholder for
    it."""
    if command.stdin or any(PLACE in word for word in command.words[1:]):
        return False
    if any(name in word for word in command.words[1:]):
        return True
    wanted = os.fsencode(name)
    for word in command.words:
        try:
            with open(word, "rb") as file:
                head = file.read(_SCRIPT)
        except (OSError, ValueError):
            continue
        if head.startswith(b"#!") and wanted in head:
            return True
    return False
