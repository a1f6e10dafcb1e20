"""Files and folders that a command reads and makes; where it cannot, that is one message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reducekit.errors import ParseError, UsageError
from reducekit.output import OutputFile


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the name of a file in front of the place where it is not of its format."""
    try:
        yield
    except ParseError as error:
        error.args = (f"{path}, {error}",)
        raise


def refuse_blank(text: bytes) -> None:
    """Raise ParseError if there is nothing in a file but blanks."""
    if not text.strip():
        raise ParseError("the input is empty", text, 0)


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
        reason = file.trouble.strerror if file.trouble is not None else "it failed"
        raise UsageError(f"the output {path} cannot be written: {reason}")
