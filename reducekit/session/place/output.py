"""Writing the result: always a whole file, at every improvement; earlier results are renamed.

`SavedBest` alone knows the best text. The output file, the summary and the result are all made from
it, so they always agree.

A run resumes an earlier one with the same input, command and options. Any other result, with its
journal, is kept under a numbered name: `in.reduced.1.smt2`.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from reducekit.errors import UsageError
from reducekit.journal import Journal, journal_path, load, lock
from reducekit.session.place.inputs import earlier_run, read_files, unpacked

_STEP = 0.9
"""A text is kept to go back to if it has at most this part of the bytes of the one before. So all
of them together have at most ten times the bytes of the input."""


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
            mode = self._target.stat().st_mode & 0o777
        except OSError:
            mode = new_mode()
        try:
            handle, name = self._temporary()
            with open(handle, "wb") as file:
                os.fchmod(handle, mode)
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

    def read(self) -> bytes:
        """Return the content. Raises OSError."""
        return self._target.read_bytes()

    def _temporary(self) -> tuple[int, str]:
        # Always the same name, so that the next start removes what a kill left.
        # Names are at most 255 bytes; ours may be as long as that already.
        name = os.fsdecode(os.fsencode(self._target.name)[:200])
        path = str(self._target.parent / f".{name}.reducekit.tmp")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(path, flags, 0o600), path


class OutputFolder(OutputFile):
    """A folder for a text that is several files: those that change are written."""

    def __init__(self, path: Path) -> None:
        there = path.is_dir()
        if (any(path.iterdir()) if there else path.exists()) and earlier_run(path) is None:
            raise UsageError(f"the output {path} exists and is no result: name a new folder")
        super().__init__(path / "_" if there else path)
        self.path, self._target = path, path.resolve()

    def read(self) -> bytes:
        try:
            return read_files(self._target)
        except UsageError as error:
            raise OSError(None, str(error)) from None

    def write(self, text: bytes) -> bool:
        from reducekit.packed import lay_out, unpack

        try:
            files = unpack(text)
            before = unpack(self.read()) if self._target.is_dir() else {}
            lay_out(self._target, dict(files.items() - before.items()))
            for path in before.keys() - files.keys():
                (self._target / path).unlink()
                with contextlib.suppress(OSError):  # others are in it
                    os.removedirs((self._target / path).parent)
            self.write_error = None
        except OSError as error:
            self.write_error = error
        return self.write_error is None


def new_mode() -> int:
    """Return the permissions of a new file."""
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _unwritable(path: Path, error: Exception) -> UsageError:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    if isinstance(error, FileNotFoundError) and not path.parent.exists():
        reason = f"there is no folder {path.parent}"
    return UsageError(f"the output {path} cannot be written: {reason}")


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
    """Write a whole file, or a folder of several. Raises UsageError if that fails."""
    from reducekit.packed import spans

    file = OutputFolder(path) if spans(text) else OutputFile(path)
    if not file.write(text):
        reason = file.write_error.strerror if file.write_error is not None else "it failed"
        raise UsageError(f"the output {path} cannot be written: {reason}")


def write_beside(path: Path, text: bytes, *, resumed: bool) -> Exception | None:
    """Write a text to a file next to the result; return the error if that fails.

    A file of another run is renamed; that of the `resumed` run is replaced, as its result is.
    """
    try:
        if not (path.is_file() and path.read_bytes() == text):
            if not resumed:
                put_aside(path)
            write_file(path, text)
    except (OSError, UsageError) as error:
        return error
    return None


@dataclass(slots=True, eq=False)
class Steps:
    """The texts between the input and the result, each much smaller than the one before."""

    texts: list[bytes]  # the input first

    def accept(self, text: bytes) -> None:
        """Take the next text."""
        if len(text) <= _STEP * len(self.texts[-1]):
            self.texts.append(text)

    def give_up(self, refuted: Collection[bytes]) -> None:
        """Forget texts that turned out not to fail."""
        self.texts[1:] = [each for each in self.texts[1:] if each not in refuted]


@dataclass(slots=True, eq=False)
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
            if self.file.read() == self.text:
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


class Kept(NamedTuple):
    """Files that were renamed: their new paths and their old ones."""

    moves: tuple[tuple[Path, Path], ...] = ()

    def notice(self, why: str) -> str | None:
        """Return a message that names what was kept; None if nothing was."""
        if not self.moves:
            return None
        now, was = self.moves[0]
        return f"what {was} was before ({why}) is kept as {now}"

    def put_back(self) -> None:
        """Rename them back: the run that was to replace them has not begun."""
        for now, was in self.moves:
            with contextlib.suppress(OSError):
                if not os.path.lexists(was):
                    os.replace(now, was)


def put_aside(output: Path, *, only_journal: bool = False) -> Kept:
    """Rename an output and its journal to numbered names. Raises UsageError if one is in use."""
    journal = journal_path(output)
    with contextlib.suppress(OSError):
        handle = os.open(journal, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            lock(journal, handle)
        finally:
            os.close(handle)
    files = [journal] if only_journal else [output, journal]
    there = [path for path in files if _worth_keeping(path)]
    if not there:
        return Kept()
    numbered = _numbered(output)
    names = {output: numbered, journal: journal_path(numbered)}
    moves: list[tuple[Path, Path]] = []
    for path in there:
        try:
            os.replace(path, names[path])
        except OSError as error:
            Kept(tuple(moves)).put_back()
            raise UsageError(
                f"{path} cannot be kept under another name: {error.strerror}"
            ) from None
        moves.append((names[path], path))
    return Kept(tuple(moves))


def keep_edited(output: Path, edited: bytes) -> str:
    """Copy an output that was edited to a numbered name, and report that. Raises UsageError."""

    numbered = _numbered(output)
    try:
        write_file(numbered, edited)
    except UsageError as error:
        raise UsageError(f"{output} was edited, and no copy can be kept: {error}") from None
    return f"{output} was edited since the last run: the edited text is kept as {numbered}"


def _numbered(output: Path) -> Path:
    return next(
        path
        for number in itertools.count(1)
        for path in [output.with_name(f"{output.stem}.{number}{output.suffix}")]
        if not os.path.lexists(path) and not os.path.lexists(journal_path(path))
    )


def _worth_keeping(path: Path) -> bool:
    """Return whether a file has contents worth keeping: it is not empty, nor a journal without a
    run."""
    try:
        if path.is_dir():
            return not path.is_symlink() and any(path.iterdir())
        if not path.is_file() or path.is_symlink() or not path.stat().st_size:
            return False
    except OSError:
        return False
    if path.suffix == ".journal":
        with contextlib.suppress(UsageError):
            return bool(load(path).verdicts)
    return True
