"""Standard output and error as they come: closed, full, or with nobody who reads them."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


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
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)
    return given


def say(text: str) -> None:
    """Print a message to standard error. One that cannot be printed is no reason to stop."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        silence(sys.stderr)


def output_trouble() -> OSError | None:
    """Flush standard output; if that does not work return why, and let what comes go nowhere."""
    try:
        sys.stdout.flush()
    except OSError as error:
        silence(sys.stdout)
        return error
    return None


def silence(stream: TextIO) -> None:
    """Let what a stream still holds, and what comes, go nowhere."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)
