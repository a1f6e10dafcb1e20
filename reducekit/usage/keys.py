"""Single keys pressed in a terminal: read in a thread; the terminal is restored at the end."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
import threading
from collections.abc import Callable, Iterator

_LOOK = 0.5  # seconds between looks at the terminal's mode
_LOCAL, _CHARACTERS = 3, 6  # of what termios.tcgetattr returns


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
