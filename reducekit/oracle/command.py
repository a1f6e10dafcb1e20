"""A command line with a place for the candidate's path. No shell takes part."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from reducekit.errors import UsageError

PLACE = "{}"
"""Stands for the candidate's path, anywhere in any argument."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program and its arguments.

    `words[0]` is the absolute path of an executable file. The candidate's path
    replaces every `{}` in the arguments; without any it is the last argument.
    With `stdin` the candidate is the standard input instead (and any `{}` is
    still replaced).
    """

    words: tuple[str, ...]
    stdin: bool = False

    @classmethod
    def of(cls, line: str | Sequence[str], *, stdin: bool = False) -> Command:
        """Make a command from a line, quoted as for a shell, or from its words.

        The program is looked up in PATH; a name with a slash is relative to the
        current directory. Raises UsageError if there is nothing to run.
        """
        words = _split(line) if isinstance(line, str) else list(line)
        if not words or not words[0]:
            raise UsageError("the command is empty")
        if any("\0" in word for word in words):
            raise UsageError("the command contains a NUL character")
        return cls((_find(words[0]), *words[1:]), stdin)

    def argv(self, path: str) -> list[str]:
        """Return the arguments for a candidate at `path`, the program first."""
        program, *rest = self.words
        if not self.stdin and not any(PLACE in word for word in rest):
            rest.append(PLACE)
        return [program, *(word.replace(PLACE, path) for word in rest)]

    def shell_line(self, path: str) -> str:
        """Return the line that runs this on `path` in a shell: to show, and to try by hand."""
        line = shlex.join(self.argv(path))
        return f"{line} < {shlex.quote(path)}" if self.stdin else line


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"the command {line!r} cannot be read: {error}") from None


def _find(program: str) -> str:
    """Return the absolute path of a program. Raises UsageError if it cannot be run."""
    if "/" not in program:
        found = shutil.which(program)
        if found is not None:
            return os.path.abspath(found)
        hint = f"; did you mean ./{program}?" if os.path.isfile(program) else ""
        raise UsageError(f"the program {program!r} is not in PATH{hint}")
    path = os.path.abspath(os.path.expanduser(program))
    if not os.path.exists(path):
        raise UsageError(f"the program {program!r} does not exist")
    if os.path.isdir(path):
        raise UsageError(f"the program {program!r} is a directory")
    if not os.access(path, os.X_OK):
        raise UsageError(f"the program {program!r} is not executable (chmod +x {program})")
    return path


def why_not_run(path: str, error: OSError) -> str:
    """Explain why the existing command at `path` could not be started."""
    reason = error.strerror or str(error)
    try:
        with open(path, "rb") as file:
            first = file.readline(256)
    except OSError:
        return f"cannot run {path}: {reason}"
    if first.startswith(b"#!"):
        interpreter = os.fsdecode((first[2:].split() or [b""])[0])
        if not os.path.exists(interpreter):
            return f"cannot run {path}: its interpreter {interpreter!r} does not exist"
    elif not first.startswith(b"\x7fELF"):
        return f"cannot run {path}: {reason}; does a script lack its first line '#!/bin/sh'?"
    return f"cannot run {path}: {reason}"
