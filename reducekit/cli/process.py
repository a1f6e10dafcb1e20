"""The process: signals that end a run, and standard output and error in any condition.

Signals are recorded at any time, and acted on only where that is safe. Streams may be closed, full,
or without a reader.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import IO, Any, NamedTuple, NoReturn, cast

from reducekit.text import printable, printable_lines

_system = ctypes.CDLL(None)
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

STOPPED_EARLY = 5  # the exit code if a limit or a request stopped it: the best result is saved
INTERRUPTED = 130  # the exit code after a signal
STANDARD_INPUT = STANDARD_OUTPUT = Path("-")
_BYTES = "".join(map(chr, range(0xDC80, 0xDD00)))  # of file names that are no text


class Interrupts:
    """Turns SIGINT, SIGTERM and SIGHUP into KeyboardInterrupt, once, and only where allowed.

    Elsewhere a signal is recorded, and raises at the next place where that is allowed. So no file
    is left half-written and no process running, and a second Ctrl-C during the clean-up has no
    effect. A signal that was ignored when this process started (by `nohup`, or by a shell that
    runs it in the background) stays ignored.
    """

    def __init__(self) -> None:
        self.seen = 0
        self._allowed = False
        self._raised: KeyboardInterrupt | None = None
        """The first one, kept with its traceback: freeing that may take seconds."""

    def install(self) -> None:
        """Handle the signals for the rest of the process."""
        for number in _ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._note)
        sys.unraisablehook = self._lost

    def ignore(self) -> None:
        """Ignore the signals from now on: otherwise they could kill an exiting interpreter."""
        ignored = [number for number in _ENDING if signal.getsignal(number) == self._note]
        # CPython complains if a pending signal finds its handler gone. So the system gets it
        # first, which keeps the handler; `signal` then runs it for pending signals.
        for number in ignored:
            _system.signal(number, ctypes.c_void_p(int(signal.SIG_IGN)))
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)

    def _lost(self, lost: sys.UnraisableHookArgs) -> None:
        """Say nothing of an interrupt in a finalizer or a callback of a weak reference.

        It cannot leave these, so Python would show a traceback; it raises at the next place.
        """
        if not (self.seen and isinstance(lost.exc_value, KeyboardInterrupt)):
            sys.__unraisablehook__(lost)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.seen = self.seen or number
        if self._allowed:
            self._raise()

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has come and raising is allowed."""
        if self.seen:
            self._raise()

    def _raise(self) -> NoReturn:
        self._allowed = False
        error = KeyboardInterrupt()
        self._raised = self._raised or error
        raise error

    @contextlib.contextmanager
    def allowed(self) -> Iterator[None]:
        """Let a signal raise KeyboardInterrupt inside, including one that came before."""
        try:
            self._allowed = True
            self.check()
            yield
        finally:
            self._allowed = False

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Defer signals inside; a deferred one raises afterwards, where that is allowed."""
        before, self._allowed = self._allowed, False
        try:
            yield
        finally:
            self._allowed = before
        if before:
            self.check()


class ProcessContext(NamedTuple):
    """The process of a command line."""

    interrupts: Interrupts
    output_open: bool


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
        os.dup2(null, self.fileno())  # receives the rest of the buffer
        os.close(null)


def moves_cursor() -> bool:
    """Return whether the terminal takes more than plain text."""
    return os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")


def has_colours(stream: IO[str]) -> bool:
    """Return whether a text to this stream may have colours (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and moves_cursor()


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
    """Return the text of a file, perhaps decompressed; `-` is standard input. Raises UsageError."""
    from reducekit.session.place import inputs

    return (
        inputs.unpacked(standard_input(), "-") if path == STANDARD_INPUT else inputs.read_text(path)
    )
