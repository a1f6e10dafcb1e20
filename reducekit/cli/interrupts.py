"""Signals that end a run: noticed at any time, acted on only where that is safe."""

from __future__ import annotations

import contextlib
import ctypes
import signal
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

_system = ctypes.CDLL(None)
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """SIGINT, SIGTERM and SIGHUP as KeyboardInterrupt, once, and only while it is allowed.

    Elsewhere a signal is noted, and raises when it is allowed the next time. So
    no file is left half written and no process behind, and a second Ctrl-C
    during the clean-up changes nothing. A signal that was ignored when we were
    started (by `nohup`, or by a shell that runs us in the background) stays so.
    """

    def __init__(self) -> None:
        self.seen = 0
        self._allowed = False
        self._raised: KeyboardInterrupt | None = None
        """The first, kept with all that it came through: to free it may take seconds."""

    def install(self) -> None:
        """Take the signals over, for the rest of the process."""
        for number in _ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._note)

    def ignore(self) -> None:
        """Ignore the signals from now on: an ending interpreter would let them kill it."""
        ignored = [number for number in _ENDING if signal.getsignal(number) == self._note]
        # CPython complains of a signal that has come already and finds its handler gone. So the
        # system is told first, which keeps the handler: `signal` then runs it for what has come.
        for number in ignored:
            _system.signal(number, ctypes.c_void_p(int(signal.SIG_IGN)))
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.seen = self.seen or number
        if self._allowed:
            self._raise()

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has come and one is allowed to."""
        if self.seen:
            self._raise()

    def _raise(self) -> NoReturn:
        self._allowed = False
        error = KeyboardInterrupt()
        self._raised = self._raised or error
        raise error

    @contextlib.contextmanager
    def allowed(self) -> Iterator[None]:
        """Let a signal raise KeyboardInterrupt within, also one that has come before."""
        try:
            self._allowed = True
            self.check()
            yield
        finally:
            self._allowed = False

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold signals back within; the one that came raises after, where that is allowed."""
        before, self._allowed = self._allowed, False
        try:
            yield
        finally:
            self._allowed = before
        if before:
            self.check()
