"""Reading the input and writing the result: always a whole file, at every improvement.

`SavedBest` alone knows the best text. The output file, the summary and the result are all made from
it, so they always agree.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reducekit.errors import UsageError
from reducekit.journal import Journal
from reducekit.session.place.unpack import plain_path, unpacked

_STEP = 0.9
"""A text is kept to go back to if it has at most this part of the bytes of the one before. So all
of them together have at most ten times the bytes of the input."""


_LARGEST = 2**31 - 1  # bytes: offsets are 32 bits wide


class OutputFile:
    """A file that is replaced as a whole: written under another name, then renamed.

    The constructor tests the folder, so that a path that cannot be written is rejected before the
    first run. If a write fails later (a full disk), the file stays as it was and the error is
    stored in `write_error`. If the path is a symbolic link, its target is replaced.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.write_error: OSError | None = None
        if path == Path("-"):
            raise UsageError("the output is a file: name one, not -")
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
        """Replace the content; return whether that succeeded."""
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
        """Return the permissions of the file to replace, or those of a new file."""
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
    """Return the bytes of an input file. Raises UsageError if it cannot be read."""
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


def reduced_path(path: Path) -> Path:
    """Return the default output path for an input file."""
    plain = plain_path(path)
    # Not with_name(), which refuses paths without a name, such as "." and "/".
    return plain.parent / f"{plain.stem}.reduced{plain.suffix}"


def original_path(path: Path) -> Path:
    """Return the path of the backup of a file that is replaced."""
    return path.with_name(path.name + ".orig")


def backup_path(path: Path) -> Path:
    """Return the path of the backup of a file that is to be replaced.

    Raises UsageError if it already exists.
    """
    backup = original_path(path)
    if os.path.lexists(backup):
        raise UsageError(f"the backup {backup} exists already: move it away first")
    return backup


def back_up(path: Path, backup: Path, text: bytes) -> None:
    """Copy a file that holds `text`, without overwriting another one.

    Raises UsageError, also if the file no longer holds `text`: somebody has edited it since it was
    read, and replacing it would lose the edit.
    """
    try:
        data = path.read_bytes()
        if unpacked(data, str(path)) != text:
            raise UsageError(
                f"{path} has changed since it was read; nothing was written. Run the command again"
            )
        with open(backup, "xb") as copy:
            copy.write(data)
        shutil.copystat(path, backup)
    except OSError as error:
        raise UsageError(f"the backup {backup} cannot be written: {error.strerror}") from None


def rescue(text: bytes, suffix: str) -> Path | None:
    """Write a result without an output path to a temporary file; return its path."""
    try:
        with tempfile.NamedTemporaryFile(prefix="reduced-", suffix=suffix, delete=False) as file:
            file.write(text)
    except OSError:
        return None
    return Path(file.name)


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Create a folder unless it exists. Raises UsageError if that fails."""
    try:
        folder.mkdir(mode, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {folder} cannot be made: {error.strerror}") from None


def write_file(path: Path, text: bytes) -> None:
    """Write a whole file. Raises UsageError if that fails."""
    file = OutputFile(path)
    if not file.write(text):
        reason = file.write_error.strerror if file.write_error is not None else "it failed"
        raise UsageError(f"the output {path} cannot be written: {reason}")


@dataclass(slots=True)
class Steps:
    """The texts between the input and the result, each much smaller than the one before."""

    texts: list[bytes]
    """The input first."""

    def accept(self, text: bytes) -> None:
        """Take the next text."""
        if len(text) <= _STEP * len(self.texts[-1]):
            self.texts.append(text)

    def give_up(self, refuted: Collection[bytes]) -> None:
        """Forget texts that turned out not to fail."""
        self.texts[1:] = [each for each in self.texts[1:] if each not in refuted]


@dataclass(slots=True)
class SavedBest:
    """The best text so far, and the output file and journal if there are any.

    Invariant: the file holds `text`, unless writing it failed (see `OutputFile.write_error`), or
    `text` is the input and the file does not exist yet. The journal names it as the best. A resumed
    search starts from the input and repeats its earlier steps. Meanwhile `text` is the best text of
    the earlier run, until the search finds a smaller one or learns that this one does not fail.
    """

    text: bytes
    file: OutputFile | None
    order: Callable[[bytes], Any]
    journal: Journal | None = None

    def __post_init__(self) -> None:
        if self.file is not None and self.file.path.exists():
            self.save()

    def accept(self, text: bytes) -> None:
        """Take a text that fails, if it is smaller than the best one."""
        if self.order(text) < self.order(self.text):
            self.replace(text)

    def give_up(self, refuted: Collection[bytes], text: bytes) -> None:
        """Go back to `text` if the best one turned out not to fail."""
        if self.text in refuted:
            self.replace(text)

    def replace(self, text: bytes) -> None:
        """Make a text the best one, whatever its size."""
        self.text = text
        if self.journal is not None:  # first: a kill in between loses nothing
            self.journal.best(text)
        if self.file is not None:
            self.file.write(text)

    @contextlib.contextmanager
    def rescued(self) -> Iterator[None]:
        """Save the best text if the body raises, and add its path to the error."""
        try:
            yield
        except Exception as error:
            self.save()
            if self.file is not None and self.file.write_error is None:
                size = f"{len(self.text):,} bytes"
                error.add_note(f"the best result so far ({size}) is in {self.file.path}")
            raise

    def save(self) -> bool:
        """Write the file again if it does not hold the best text; return whether that was so."""
        if self.file is None:
            return False
        with contextlib.suppress(OSError):
            if self.file.path.read_bytes() == self.text:
                self.file.write_error = None
                return False
        return self.file.write(self.text)

    def restore(self) -> str | None:
        """Save it after the last run, as commands can do anything to the file.

        Returns a message if one did.
        """
        if not self.save() or self.file is None:
            return None
        return f"a run of the command changed or removed {self.file.path}: it was written again"
