"""The errors a user can cause, each with the exit code that the command line gives it.

Exit codes: 0 done, 1 the golden run does not fail (or is flaky), 2 usage,
3 the input does not parse, 4 internal, 5 stopped early by a limit or a request with the best
result saved, 6 the machine lacks memory, disk space, open files, processes or workers, 130
stopped by a signal with the best result saved.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

_FILES = "raise the limit (`ulimit -n`) or lower `jobs`"
_MEMORY = "raise the limit (`ulimit -v`), free memory or lower `jobs`"
_SPACE = "free some space, or name another folder by `workdir` or TMPDIR"
_REMEDIES: Mapping[int | None, str] = MappingProxyType(
    {
        errno.EMFILE: _FILES,
        errno.ENFILE: _FILES,
        errno.ENOMEM: _MEMORY,
        errno.EAGAIN: "raise the limit of processes (`ulimit -u`) or lower `jobs`",
        errno.EFBIG: "raise the limit of file sizes (`ulimit -f`)",
        errno.ENOSPC: _SPACE,
        errno.EDQUOT: _SPACE,
    }
)
"""What to do when a system call fails because the machine lacks something."""


class ReducekitError(Exception):
    """Base of all errors that are answers to a user, never bugs of ours."""

    exit_code = 4


class NotInterestingError(ReducekitError):
    """The golden run does not fail, or not every time."""

    exit_code = 1


class UsageError(ReducekitError):
    """A command, file or option that cannot be used."""

    exit_code = 2


class ResourceError(ReducekitError):
    """The machine lacks what a run needs: memory, disk space, open files, processes, workers."""

    exit_code = 6

    @classmethod
    def of(cls, what: str, error: OSError) -> Self:
        """Return the error for a failed system call: what failed, why, and what to do."""
        remedy = _REMEDIES.get(error.errno)
        said = f"{what}: {error.strerror}"
        return cls(said if remedy is None else f"{said}; {remedy}")


def lack_of_resources(error: BaseException) -> ResourceError | None:
    """Return what to tell the user if an error only says that the machine lacks something.

    Memory and open files run out anywhere, so not every place can look out for it.
    """
    if isinstance(error, MemoryError):
        found = ResourceError(f"out of memory; {_MEMORY}")
    elif isinstance(error, OSError) and error.errno in _REMEDIES:
        where = "" if error.filename is None else f"{error.filename}: "
        found = ResourceError(f"{where}{error.strerror}; {_REMEDIES[error.errno]}")
    elif isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        found = ResourceError(f"cannot start a thread; {_REMEDIES[errno.EAGAIN]}")
    elif isinstance(error, ImportError) and os.strerror(errno.ENOMEM) in str(error):
        found = ResourceError(f"{error}; {_MEMORY}")
    else:
        return None
    for note in getattr(error, "__notes__", ()):
        found.add_note(note)
    return found


def missing_package(error: BaseException) -> UsageError | None:
    """Return what to install if an error only says that a package is not there."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    name = error.name.partition(".")[0]
    if name in sys.stdlib_module_names or name == __name__.partition(".")[0]:
        return None
    package = _PACKAGES.get(name, name)
    return UsageError(f"the package {package} is not installed: pip install {package}")


_PACKAGES = {"elftools": "pyelftools", "pysat": "python-sat", "yaml": "pyyaml"}  # by their modules


class Unresolved(ReducekitError):
    """Raised by a predicate for a candidate that it cannot judge: no failure, and no pass."""


class StoppedError(ReducekitError):
    """A session was stopped before there was a result."""

    exit_code = 130


class OtherFormatError(ReducekitError):
    """An input that is of another format than the one it was given as."""

    exit_code = 3

    def __init__(self, name: str, found: str, title: str) -> None:
        self.name = name
        self.found = found  # the format that it is of
        super().__init__(f"{name} looks like {title}: use the format {found!r}")


class ParseError(ReducekitError):
    """An input that is not of its format.

    `line` and `column` count from 1, columns in bytes; `offset` counts bytes from 0.
    """

    exit_code = 3

    def __init__(self, message: str, text: bytes, offset: int) -> None:
        self.message = message
        self.offset = offset
        self.line = text.count(b"\n", 0, offset) + 1
        self.column = offset - (text.rfind(b"\n", 0, offset) + 1) + 1
        super().__init__(f"line {self.line}, column {self.column}: {message}")
