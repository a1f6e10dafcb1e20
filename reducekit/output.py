"""Where the result goes: always a whole file, at every improvement."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from reducekit.errors import UsageError


class OutputFile:
    """A file that is replaced as a whole: written beside and renamed.

    Creating it tries the folder out, so that a place that cannot be written is
    refused before the first run. A write that fails later (a full disk) leaves
    the file as it was and is remembered in `trouble`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.written = False
        self.trouble: OSError | None = None
        if path.is_dir():
            raise UsageError(f"the output {path} is a directory: name a file with -o")
        try:
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        except OSError as error:
            raise UsageError(f"the output {path} cannot be written: {error.strerror}") from None
        os.close(handle)
        os.unlink(name)

    def write(self, text: bytes) -> bool:
        """Replace the content; return whether that worked."""
        name = None
        try:
            handle, name = tempfile.mkstemp(
                prefix=f".{self.path.name}.", suffix=".tmp", dir=self.path.parent
            )
            with open(handle, "wb") as file:
                os.fchmod(handle, self._mode())
                file.write(text)
            os.replace(name, self.path)
        except OSError as error:
            self.trouble = error
            if name is not None:
                with contextlib.suppress(OSError):
                    os.unlink(name)
            return False
        except BaseException:  # an interrupt between the two: no litter
            if name is not None:
                with contextlib.suppress(OSError):
                    os.unlink(name)
            raise
        self.trouble = None
        self.written = True
        return True

    def _mode(self) -> int:
        """Return the permissions of the file that is replaced, or those of a new file."""
        try:
            return self.path.stat().st_mode & 0o777
        except OSError:
            umask = os.umask(0)
            os.umask(umask)
            return 0o666 & ~umask


def read_input(path: Path) -> bytes:
    """Return the bytes of an input file. Raises UsageError when there are none to be had."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"the input {path} does not exist") from None
    except IsADirectoryError:
        raise UsageError(f"the input {path} is a directory: name a file") from None
    except OSError as error:
        raise UsageError(f"the input {path} cannot be read: {error.strerror}") from None
