"""Standard output and error as they come: closed, full, or with nobody who reads them."""

from __future__ import annotations

import io
import os
import sys
from functools import cache
from pathlib import Path

STANDARD_INPUT = Path("-")


class Stream(io.TextIOWrapper):
    """A text stream that remembers in `trouble` why it failed, and swallows all from then on.

    That nobody can read what we print is no reason to stop in the middle.
    """

    trouble: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text; return its length."""
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

    def _give_up(self, error: OSError) -> None:
        self.trouble = self.trouble or error
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self.fileno())  # where the buffer goes that is left
        os.close(null)


def prepare() -> bool:
    """Make sure that standard output and error can be written to; say whether output is open.

    A closed stream is None in Python, and print() would take the other one for
    it. File names may hold bytes that are not valid in the locale's encoding;
    they are printed as they are.
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


def output_trouble() -> OSError | None:
    """Flush standard output; return why not all of it could be written, if so."""
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
        raise UsageError("standard input cannot be read: name a file instead of -") from None


def read_text(path: Path) -> bytes:
    """Return the text of a file, which may be compressed, or for `-` of standard input.

    Raises UsageError.
    """
    from reducekit.session.output import read_input
    from reducekit.session.unpack import unpacked

    data = standard_input() if path == STANDARD_INPUT else read_input(path)
    return unpacked(data, str(path))
