"""Signals that end a run: recorded at any time, acted on only where that is safe."""

from __future__ import annotations

import contextlib
import ctypes
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import NoReturn

_system = ctypes.CDLL(None)
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

STOPPED_EARLY = 5
"""The exit code of a reduction that a limit or a request stopped: the best result is saved."""
INTERRUPTED = 130
"""The exit code after a signal."""


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
        # CPython complains if a pending signal finds its handler gone. So the system is told
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


@dataclass(frozen=True, slots=True)
class ProcessContext:
    """The process of a command line."""

    interrupts: Interrupts
    output_open: bool
