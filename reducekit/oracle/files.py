"""The files that a test consists of: programs, scripts and libraries that its commands name.

A verdict belongs to a text *and* a test. Verdicts of an earlier run may be reused only if the test
is unchanged, so a journal records the contents of these files.

A file counts if a word of a command names it: the program, an argument (also after `=`), or a
program in PATH that another one starts (`timeout 10 z3`). The words of shell lines and scripts are
searched in the same way, recursively. Not found are files that no word names: a path put together
from variables, the modules of a Python script, the shared libraries of a program.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from reducekit.oracle.command import Command

_SCRIPT = 1 << 16  # number of bytes of a script that are searched for names
_HASHED = 1 << 30  # size in bytes above which only size and time are compared
_WORD = re.compile(r"[\w./~+@%:,-]+")
_LINES_OF_A_SHELL = re.compile(rb"#!.*\b(?:sh|bash|dash|zsh|ksh)\b")


class FileState(NamedTuple):
    """The state of a file."""

    size: int
    time: int  # when it was last modified, in nanoseconds
    digest: str  # digest of its content, in hexadecimal digits; empty for a very large file

    def same_content(self, other: FileState) -> bool:
        """Return whether two files have the same content, as far as is known."""
        if self.digest and other.digest:
            return (self.size, self.digest) == (other.size, other.digest)
        return self == other


Files = Mapping[str, FileState]  # the files of a test by path


def files_of(
    commands: Iterable[Command],
    more: Iterable[str | os.PathLike[str]] = (),
    *,
    without: Collection[str] = (),
    known: Files | None = None,
) -> dict[str, FileState]:
    """Return the files that some commands name, and `more`.

    `without` are absolute paths that are not part of the test, such as the input. A `known` file
    whose size and time are unchanged is not read.
    """
    found: dict[str, FileState] = {}
    todo = [os.path.abspath(path) for path in more]
    for command in commands:
        if command.line is not None:
            todo += _named(_WORD.findall(command.line), programs=True)
        else:
            todo += _named(command.words, programs=True)
    while todo:
        path = todo.pop()
        if path in found or path in without:
            continue
        state = _state(path, (known or {}).get(path))
        if state is not None:
            found[path] = state
            words, shell = _words_of_script(path, state)
            # In other languages, most words that match the name of a program mean something else.
            todo += _named(
                words if shell else (each for each in words if "/" in each), programs=shell
            )
    return found


def changed_files(before: Files, now: Files) -> list[str]:
    """Return the sorted paths of the files that were changed, removed or added."""
    return sorted(
        path
        for path in {*before, *now}
        if path not in before or path not in now or not before[path].same_content(now[path])
    )


def _named(words: Iterable[str], *, programs: bool) -> list[str]:
    """Return the paths that words name; with `programs`, also those of programs in PATH."""
    found = []
    for word in dict.fromkeys(words):
        for name in dict.fromkeys((word, word.rpartition("=")[2])):
            path = os.path.expanduser(name)
            if name and "\0" not in name and os.path.isfile(path):
                found.append(os.path.abspath(path))
            elif programs and name == word and name and not set("/\0") & set(name):
                program = shutil.which(name)
                if program is not None:
                    found.append(os.path.abspath(program))
    return found


@functools.lru_cache(maxsize=256)
def _words_of_script(path: str, state: FileState) -> tuple[tuple[str, ...], bool]:
    """Return the words of a script, and whether a shell runs it; no words for other files."""
    try:
        with open(path, "rb") as file:
            text = file.read(_SCRIPT)
    except OSError:
        return (), False
    if not text.startswith(b"#!"):
        return (), False
    first, _, rest = text.partition(b"\n")
    words = _WORD.findall(rest.decode("utf-8", "surrogateescape"))
    return tuple(dict.fromkeys(words)), _LINES_OF_A_SHELL.match(first) is not None


def _state(path: str, known: FileState | None) -> FileState | None:
    """Return the state of a file; None if it is not a regular file, or cannot be read."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            return None
        if known is not None and known[:2] == (found.st_size, found.st_mtime_ns):
            return known
        digest = ""
        if found.st_size <= _HASHED:
            digest = _digest(path, found.st_size, found.st_mtime_ns, found.st_ino)
    except OSError:
        return None
    return FileState(found.st_size, found.st_mtime_ns, digest)


@functools.lru_cache(maxsize=256)
def _digest(path: str, size: int, time: int, node: int) -> str:
    """Return the digest of a file; cached, as a hunt asks for its solver's once for each bug."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
