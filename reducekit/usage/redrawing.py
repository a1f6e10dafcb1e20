"""The live block in a terminal: rows that are redrawn in place, and single keys.

Most terminals wrap rows when the window becomes narrower, and a shell writes below the block while
the process is stopped by Ctrl-Z. Rich handles neither: rows of the block would remain, or rows of
the shell would be overwritten.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console, ConsoleRenderable, Group
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType
from rich.text import Text

_LOOK = 0.5  # seconds between looks at the terminal's mode
_LOCAL, _CHARACTERS = 3, 6  # of what termios.tcgetattr returns
_PATIENCE = 1.0  # seconds for a drawing that is under way


@contextlib.contextmanager
def keys(take: Callable[[str], None], first: str = "") -> Iterator[bool]:
    """Call `take` with each key, and with `first` before; yields whether there is a keyboard.

    The terminal passes keys on at once and does not show them; Ctrl-C and Ctrl-Z keep their
    meaning. In the background the terminal is left alone, since changing it would stop us; it is
    changed again after a shell has put us into the foreground.
    """
    try:
        keyboard = sys.stdin.fileno()
        before = termios.tcgetattr(keyboard)
    except (OSError, ValueError, AttributeError, termios.error):
        yield False
        return
    over = threading.Event()

    def foreground() -> bool:
        try:
            return os.tcgetpgrp(keyboard) == os.getpgrp()
        except OSError:
            return False

    def single() -> None:
        with contextlib.suppress(termios.error):
            now = termios.tcgetattr(keyboard)
            if now[_LOCAL] & (termios.ICANON | termios.ECHO):
                now[_LOCAL] &= ~(termios.ICANON | termios.ECHO)
                now[_CHARACTERS][termios.VMIN], now[_CHARACTERS][termios.VTIME] = 1, 0
                termios.tcsetattr(keyboard, termios.TCSANOW, now)

    def read() -> None:
        if first:
            take(first)
        while not over.is_set():
            if not foreground():
                over.wait(_LOOK)
                continue
            single()
            try:
                ready, _, _ = select.select([keyboard], [], [], _LOOK)
                pressed = os.read(keyboard, 1) if ready and not over.is_set() else None
            except OSError:
                return
            if pressed == b"":
                return
            if pressed:
                take(pressed.decode("ascii", "replace"))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield True
    finally:
        over.set()
        thread.join(2 * _LOOK)
        if foreground():
            with contextlib.suppress(termios.error):
                termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


class Redrawing(Live):
    """A live display of the rows that `rows` returns."""

    def __init__(self, rows: Callable[[], list[Text]], console: Console) -> None:
        self._rows = rows
        self._columns: list[int] = []
        """The widths of the rows to be drawn next."""
        self._drawn: list[int] = []
        """The widths of the rows on the screen; none while there is no block."""
        super().__init__(
            console=console,
            get_renderable=self._block,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )

    def _block(self) -> Group:
        found = self._rows()
        self._columns = [len(each) for each in found]
        return Group(*found)

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Start drawing where the block begins."""
        with self._lock:
            width = self.console.width
            found = super().process_renderables(renderables)
            if not self._drawn:
                found[0] = Control()
            elif lower := wrapped(self._drawn, width):
                found.insert(1, _up(lower))
            self._drawn = [min(width, each) for each in self._columns]
            return found

    def erase(self) -> None:
        """Erase the block; it is drawn again below whatever is written until then."""
        if self._drawn:
            lower = len(self._drawn) - 1 + wrapped(self._drawn, self.console.width)
            start = Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2))
            shown = Control(ControlType.SHOW_CURSOR)
            self._write(f"{start}{_up(lower)}{shown}")
        self._drawn = []

    def _write(self, codes: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.console.file.write(codes)
            self.console.file.flush()

    @contextlib.contextmanager
    def stoppable(self) -> Iterator[None]:
        """Erase the block when the process is stopped by Ctrl-Z.

        The shell gets the keyboard as it is now: not every shell restores it.
        """
        if (
            threading.current_thread() is not threading.main_thread()
            or signal.getsignal(signal.SIGTSTP) is not signal.SIG_DFL
        ):
            yield
            return

        keyboard: list[Any] | None = None
        with contextlib.suppress(termios.error):  # there is none
            keyboard = termios.tcgetattr(0)

        def stop(number: int, frame: object) -> None:
            mine = self._lock.acquire(timeout=_PATIENCE)
            try:
                shown = self.is_started
                if shown:
                    self.erase()
                if keyboard is not None:
                    with contextlib.suppress(termios.error):
                        termios.tcsetattr(0, termios.TCSANOW, keyboard)
                signal.signal(signal.SIGTSTP, signal.SIG_DFL)
                os.kill(os.getpid(), signal.SIGTSTP)  # returns when the process goes on
                signal.signal(signal.SIGTSTP, stop)
                if shown:
                    self._write(str(Control(ControlType.HIDE_CURSOR)))
            finally:
                if mine:
                    self._lock.release()

        signal.signal(signal.SIGTSTP, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)


def wrapped(drawn: list[int], width: int) -> int:
    """Return by how many rows a block has grown in a window of that many columns."""
    return sum(max(0, length - 1) // width for length in drawn)


def _up(rows: int) -> Control:
    return Control(*((ControlType.CURSOR_UP, 1), (ControlType.ERASE_IN_LINE, 2)) * rows)
