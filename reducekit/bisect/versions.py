"""The common part of all sources of versions: an ordered list, and a program for each."""

from __future__ import annotations

import contextlib
import difflib
import fcntl
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from reducekit.errors import ReducekitError, UsageError
from reducekit.text import shortened

_SHOWN = 200  # characters of a reason
_CLOSE = 4  # versions named in a message


class Version(NamedTuple):
    """A version of a program."""

    name: str
    title: str = ""
    """What changed in it, such as the subject of a commit."""

    def __str__(self) -> str:
        return f"{self.name} ({self.title})" if self.title else self.name


class UnavailableError(ReducekitError):
    """A version is unavailable here; the message says why."""


class Source(Protocol):
    """Versions, oldest first, and a way to get each of them."""

    versions: Sequence[Version] = ()
    """The versions, oldest first; at least one."""
    fetched: int = 0
    """How many versions were downloaded or built."""

    def ends(self, good: str | None, bad: str | None) -> tuple[int, int]:
        """Return the positions of the given versions; by default the oldest is good, the newest
        bad.

        Raises UsageError.
        """
        return ends_of(self.versions, good, bad)

    def program(self, version: Version) -> Path:
        """Return the program of a version. Raises UnavailableError."""

    def close(self) -> None:
        """Release what only one process can use at a time."""
        return


def ends_of(versions: Sequence[Version], good: str | None, bad: str | None) -> tuple[int, int]:
    """Return the positions of two versions: if only one is given, the other is at the far end."""
    first = 0 if good is None else find(versions, good, "good")
    last = len(versions) - 1 if bad is None else find(versions, bad, "bad")
    if first == last:
        named = versions[first].name
        raise UsageError(
            f"`good` and `bad` are the same version: {named}" if len(versions) > 1
            else f"there is only one version, {named}: nothing to search"
        )  # fmt: skip
    return first, last


def find(versions: Sequence[Version], name: str, option: str) -> int:
    """Return the position of a version: by its name, or by a unique prefix of it.

    Raises UsageError, with the option that named it.
    """
    for number, each in enumerate(versions):
        if each.name == name:
            return number
    begins = [number for number, each in enumerate(versions) if each.name.startswith(f"{name}.")]
    if len(begins) == 1:
        return begins[0]
    names = [each.name for each in versions]
    close = [names[each] for each in begins] or difflib.get_close_matches(name, names, _CLOSE, 0.0)
    which = "is no version" if not begins else "may be several versions"
    raise UsageError(
        f"`{option}`: {name} {which}; did you mean {' or '.join(close[:_CLOSE])}? "
        f"(the oldest is {names[0]}, the newest {names[-1]})"
    )


def the_program(found: Sequence[Path], wanted: str | None, what: str, folder: Path) -> Path:
    """Return the program of a version among its executable files.

    `wanted` is a path relative to the folder, or a name. Raises UsageError if there are several,
    UnavailableError if there is none.
    """
    if wanted is not None:
        exact = folder / wanted
        named = [exact] if exact.is_file() else [each for each in found if each.name == wanted]
    else:
        named = list(found)
    if not named:
        raise UnavailableError(f"{what} has no program{f' {wanted}' if wanted else ''}")
    if len(named) > 1:
        names = ", ".join(str(each.relative_to(folder)) for each in named[:8])
        raise UsageError(f"{what} has several programs: name one with `program` ({names})")
    return named[0]


def executables(folder: Path) -> list[Path]:
    """Return the executable files in a folder, by name."""
    if not folder.is_dir():
        return []
    found = [each for each in folder.iterdir() if each.is_file() and os.access(each, os.X_OK)]
    return sorted(found)


def run(
    argv: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """Run a program to its end; return its status and both outputs.

    If this is interrupted, the program and what it started are killed.
    """
    process = subprocess.Popen(
        argv,
        cwd=folder,
        env=None if environment is None else dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="backslashreplace",
        start_new_session=True,
    )
    try:
        while process.returncode is None:
            # In slices: a signal that comes just before a wait does not end it.
            with contextlib.suppress(subprocess.TimeoutExpired):
                out, err = process.communicate(timeout=1)
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode, out, err


def last_line(*outputs: str) -> str:
    """Return the last line that a program printed, from the first output that is not empty."""
    for text in outputs:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines:
            return shortened(lines[-1].encode(), _SHOWN)
    return "no output"


@contextlib.contextmanager
def locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Create a folder of the cache and lock it. Raises UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise UsageError(f"`cache`: {folder} cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise UsageError(
            f"`cache`: another process uses {folder}: wait for it, or name another folder"
        ) from None
    finally:
        os.close(handle)
