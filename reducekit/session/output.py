"""Where the input comes from and the result goes: always a whole file, at every improvement."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

from reducekit.errors import UsageError

_LARGEST = 2**31 - 1  # bytes: offsets are 32 bits wide


class OutputFile:
    """A file that is replaced as a whole: written beside and renamed.

    Creating it tries the folder out, so that a place that cannot be written is
    refused before the first run. A write that fails later (a full disk) leaves
    the file as it was and is remembered in `write_error`. Where the path is a
    symbolic link, the file it leads to is replaced.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.written = False
        self.write_error: OSError | None = None
        if path == Path("-"):
            raise UsageError("the output is replaced at every improvement: name a file, not -")
        try:
            self._target = path.resolve()
            mode = self._target.stat().st_mode if self._target.exists() else stat.S_IFREG
        except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle (to 3.12)
            raise _unwritable(path, error) from None
        if stat.S_ISDIR(mode):
            raise UsageError(f"the output {path} is a directory: name a file with -o")
        if not stat.S_ISREG(mode):
            # Renaming onto /dev/null as root would replace it for everyone.
            raise UsageError(f"the output {path} is not a regular file: name another with -o")
        try:
            handle, name = self._temporary()
        except OSError as error:
            raise _unwritable(path, error) from None
        os.close(handle)
        os.unlink(name)

    def write(self, text: bytes) -> bool:
        """Replace the content; return whether that worked."""
        name = None
        try:
            handle, name = self._temporary()
            with open(handle, "wb") as file:
                os.fchmod(handle, self._mode())
                file.write(text)
            os.replace(name, self._target)
        except OSError as error:
            self.write_error = error
            if name is not None:
                with contextlib.suppress(OSError):
                    os.unlink(name)
            return False
        self.write_error = None
        self.written = True
        return True

    def _temporary(self) -> tuple[int, str]:
        # Always the same name, so that the next start removes what a kill left.
        # Names are at most 255 bytes; ours may be as long as that already.
        name = os.fsdecode(os.fsencode(self._target.name)[:200])
        path = str(self._target.parent / f".{name}.reducekit.tmp")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(path, flags, 0o600), path

    def _mode(self) -> int:
        """Return the permissions of the file that is replaced, or those of a new file."""
        try:
            return self._target.stat().st_mode & 0o777
        except OSError:
            umask = os.umask(0)
            os.umask(umask)
            return 0o666 & ~umask


def _unwritable(path: Path, error: Exception) -> UsageError:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    if isinstance(error, FileNotFoundError) and not path.parent.exists():
        reason = f"there is no folder {path.parent}"
    return UsageError(f"the output {path} cannot be written: {reason}")


def read_input(path: Path) -> bytes:
    """Return the bytes of an input file. Raises UsageError when there are none to be had."""
    try:
        found = path.stat()
        if stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode):
            raise UsageError(f"the input {path} is a device: name a file")
        if found.st_size > _LARGEST:
            raise UsageError(f"the input {path} is larger than 2 GiB")
        return path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"the input {path} does not exist") from None
    except IsADirectoryError:
        raise UsageError(f"the input {path} is a directory: name a file") from None
    except OSError as error:
        raise UsageError(f"the input {path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # a NUL in the name
        raise UsageError(f"the input {str(path)!r} cannot be read: {error}") from None


def original_path(path: Path) -> Path:
    """Return where the original is kept of a file that is replaced."""
    return path.with_name(path.name + ".orig")


def backup_path(path: Path) -> Path:
    """Return where the original goes when its file is to be replaced.

    Raises UsageError if there is something already.
    """
    backup = original_path(path)
    if os.path.lexists(backup):
        raise UsageError(f"the backup {backup} exists already: move it away first")
    return backup


def back_up(path: Path, backup: Path) -> None:
    """Copy a file, never over another one. Raises UsageError."""
    try:
        with open(path, "rb") as source, open(backup, "xb") as copy:
            shutil.copyfileobj(source, copy)
        shutil.copystat(path, backup)
    except OSError as error:
        raise UsageError(f"the backup {backup} cannot be written: {error.strerror}") from None


def rescue(text: bytes, suffix: str) -> Path | None:
    """Write a result that has no other place to a file for temporary ones; return its path."""
    try:
        with tempfile.NamedTemporaryFile(prefix="reduced-", suffix=suffix, delete=False) as file:
            file.write(text)
    except OSError:
        return None
    return Path(file.name)


def make_folder(folder: Path) -> None:
    """Make a folder, unless it is there. Raises UsageError if it cannot be had."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {folder} cannot be made: {error.strerror}") from None


def write_file(path: Path, text: bytes) -> None:
    """Write a whole file. Raises UsageError if that fails."""
    file = OutputFile(path)
    if not file.write(text):
        reason = file.write_error.strerror if file.write_error is not None else "it failed"
        raise UsageError(f"the output {path} cannot be written: {reason}")
