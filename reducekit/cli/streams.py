"""Standard output and error in any condition: closed, full, or without a reader."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

from reducekit.text import printable, printable_lines

STANDARD_INPUT = STANDARD_OUTPUT = Path("-")


_BYTES = "".join(map(chr, range(0xDC80, 0xDD00)))
"""The bytes of file names that are no text, as Python has them."""


class Stream(io.TextIOWrapper):
    """A text stream that shows control characters, and survives an output that cannot be written.

    What programs, inputs and file names bring could else clear a terminal, rename its window or
    type into it. An unreadable output is no reason to stop halfway: the first failure is recorded
    in `trouble`, and all further output discarded.
    """

    trouble: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text, printable; return its length."""
        exact = self.errors == "surrogateescape" and not self.isatty()
        if isinstance(text, str):  # click tries bytes, to see that they are refused
            text = printable(text, keep="\n\t" + _BYTES * exact)
        return self.write_styled(text)

    @property
    def styled(self) -> IO[str]:
        """The same stream for what moves the cursor and has colours."""
        return cast("IO[str]", Styled(self))

    def write_styled(self, text: str) -> int:
        """Write a text as it is, with our own colours and cursor movements."""
        try:
            return super().write(text)
        except OSError as error:
            self._give_up(error)
            return len(text)

    def flush(self) -> None:
        """Write what is in the buffer."""
        try:
            super().flush()
        except OSError as error:
            self._give_up(error)

    def write_bytes(self, parts: Iterable[bytes]) -> None:
        """Write bytes after the text so far: unchanged, but printable on a terminal."""
        self.flush()
        if self.isatty():
            self.writelines(map(printable_lines, parts))
            self.flush()
            return
        try:
            self.buffer.write(b"".join(parts))
            self.buffer.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self.trouble = self.trouble or error
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self.fileno())  # receives what is left in the buffer
        os.close(null)


class Styled:
    """A stream as Rich and Textual need it: who gives them text makes that printable first."""

    def __init__(self, stream: Stream) -> None:
        self.write = stream.write_styled
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def prepare() -> bool:
    """Make sure that standard output and error are writable; return whether output was open.

    A closed stream is None in Python, and print() would use the other one instead. File names may
    contain bytes that are not valid in the locale's encoding; they are printed unchanged.
    """
    given = sys.stdout is not None
    for name, errors in (("stdout", "surrogateescape"), ("stderr", "backslashreplace")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif type(stream) is io.TextIOWrapper:
            ours = Stream(
                stream.detach(), stream.encoding, errors, line_buffering=stream.line_buffering
            )
            setattr(sys, name, ours)
    return given


def say(text: str) -> None:
    """Print a message to standard error."""
    print(text, file=sys.stderr, flush=True)


def print_bytes(parts: Iterable[bytes], stream: IO[str] | None = None) -> None:
    """Write bytes to standard output, or a stream; they are lost if it cannot be written."""
    out: Any = stream or sys.stdout
    if isinstance(out, Stream):
        out.write_bytes(parts)
        return
    out.flush()
    out.buffer.writelines(parts)


def output_trouble() -> OSError | None:
    """Flush standard output; return the error if not all of it could be written."""
    sys.stdout.flush()
    trouble: OSError | None = getattr(sys.stdout, "trouble", None)
    return trouble


@cache
def standard_input() -> bytes:
    """Return all of standard input. Raises UsageError if it is closed."""
    from reducekit.errors import UsageError

    try:
        if sys.stdin.isatty():
            say("reducekit: reading standard input; Ctrl-D ends it")
        return sys.stdin.buffer.read()
    except (AttributeError, OSError):
        raise UsageError("standard input cannot be read: give a file instead of -") from None


def read_text(path: Path) -> bytes:
    """Return the text of a file, decompressed if necessary; `-` is standard input.

    Raises UsageError.
    """
    from reducekit.session.place.inputs import read_input, unpacked

    data = standard_input() if path == STANDARD_INPUT else read_input(path)
    return unpacked(data, str(path))
