"""Shows a session on standard error: a live display and keys on a terminal, otherwise lines."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shlex
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Protocol

from reducekit.cli.process import Interrupts
from reducekit.errors import UsageError
from reducekit.events import Accepted, Event, FailureFound, Notice, PassEnded
from reducekit.session import Options, Session
from reducekit.session.progress import Limit, Progress
from reducekit.text import printable, printable_lines
from reducekit.usage.block import SLOW, Screenful, Watched, rows
from reducekit.usage.messages import spelled
from reducekit.usage.redrawing import keys

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

NEEDS_TEXTUAL = "needs Textual: pip install textual"
PLAIN_EVERY = 10.0
"""Seconds between lines within a pass that makes progress."""
ALIVE_EVERY = 30.0
"""Seconds after which a line is printed in any case, as a sign of life."""
_CLOSING = 5.0
"""Seconds that the full screen has to close."""
_STYLES = {
    "strong": "bold", "quiet": "dim", "good": "green", "gone": "red", "come": "green",
    "warn": "yellow",
}  # fmt: skip


class Watcher(Protocol):
    """Shows a session to the user."""

    def see(self, event: Event) -> None:
        """Record an event, and show it if appropriate."""

    def steer(self, session: Session) -> None:
        """Let the user's keys control a session, if there are any."""


class _Silent:
    """Shows nothing."""

    def see(self, event: Event) -> None:
        pass

    def steer(self, session: Session) -> None:
        pass


def _message(event: Event) -> str | None:
    """Return the message of an event that gets its own line, if any."""
    match event:
        case FailureFound(failure=failure):
            return f"keeping this failure: {failure}"
        case Notice(text=text):
            return f"reducekit: {spelled(text)}"
    return None


@dataclass(slots=True)
class _Plain:
    """Prints a line for each pass that helped, occasionally within one, and as a sign of life."""

    watched: Watched
    stream: IO[str]
    shown: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def see(self, event: Event) -> None:
        self.watched.see(event)
        message = _message(event)
        if message is not None:
            self._print(message)
        if self.watched.progress.replaying:
            return
        match event:
            case PassEnded(accepted=accepted) if accepted:
                self._print(self.watched.progress.line())
            case Accepted() if time.monotonic() - self.shown >= PLAIN_EVERY:
                self._print(self.watched.progress.line())

    def steer(self, session: Session) -> None:
        pass

    def beat(self, over: threading.Event) -> None:
        """Print a line every 30 seconds: some environments kill silent processes."""
        while not over.wait(max(0.05, self.shown + ALIVE_EVERY - time.monotonic())):
            waited = time.monotonic() - self.watched.heard
            if time.monotonic() - self.shown >= ALIVE_EVERY:
                slow = f"; a check has been running for {waited:.0f} s" if waited > SLOW else ""
                self._print(self.watched.progress.line() + slow)

    def _print(self, text: str) -> None:
        with self._lock:
            self.shown = time.monotonic()
            with contextlib.suppress(ValueError, OSError):
                self.stream.write(f"{text}\n")
                self.stream.flush()


@dataclass(slots=True)
class _Screen:
    """The live display; messages are printed above it."""

    watched: Watched
    live: Live
    session: Session | None = None
    full: Screenful | None = None
    """The full screen; None if Textual is missing."""
    waiting: list[str] = field(default_factory=list)
    """Messages that came while the full screen was shown."""
    _closed: threading.Event = field(default_factory=threading.Event)
    """Whether the full screen is not shown."""

    def __post_init__(self) -> None:
        self._closed.set()

    def see(self, event: Event) -> None:
        self.watched.see(event)
        if self.full is not None:
            self.full.see(event)
        message = _message(event)
        if message is not None:
            self.say(message)

    def say(self, message: str) -> None:
        """Print a message above the block, or later if the full screen is shown."""
        if self._closed.is_set():
            shown = printable_lines(message)
            self.live.console.print(shown, markup=False, highlight=False)
        else:
            self.waiting.append(message)

    def steer(self, session: Session) -> None:
        self.session = session
        if self.full is not None:
            self.full.session = session

    def show_full(self) -> None:
        """Show the full screen, in this thread, until it is closed."""
        if self.full is None:
            self.say(f"reducekit: the full screen {NEEDS_TEXTUAL}")
            return
        self._closed.clear()
        try:
            self.live.stop()
            if not self.full.over.is_set():
                from reducekit.usage.fullscreen import Fullscreen  # takes a while

                Fullscreen(self.full).run()
        finally:
            self._closed.set()
        for message in self.waiting:
            self.say(message)
        self.waiting.clear()
        if not self.full.over.is_set() and self.watched.progress.finished is None:
            self.live.start()

    def linger(self, interrupts: Interrupts) -> None:
        """Let the user look at the full screen of a finished run until a key or a signal."""
        if self.full is None or self.full.left:
            return
        with contextlib.suppress(KeyboardInterrupt), interrupts.allowed():
            self._closed.wait()

    def close(self) -> None:
        """Close the full screen if it is shown."""
        if self.full is not None:
            self.full.over.set()
        # A terminal that is gone may never let it close.
        self._closed.wait(_CLOSING)

    def key(self, key: str) -> None:
        """Handle a key."""
        session, watched = self.session, self.watched
        if key == "t":
            self.show_full()
        elif key == "?":
            watched.help = not watched.help
        elif session is None:
            return
        elif key == "p":
            watched.paused = not watched.paused
            (session.pause if watched.paused else session.resume)()
        elif key == "n":
            session.skip_pass()
        elif key == "q":
            session.stop("stopped by q")


@contextlib.contextmanager
def watch(
    options: Options, interrupts: Interrupts, *, quiet: bool, tui: bool = False
) -> Iterator[Watcher]:
    """Show a session on standard error in the appropriate form; yields its watcher.

    `tui`: begin with the full screen. Where that is shown at the end, it stays until the user
    closes it. Raises UsageError if it cannot be shown.
    """
    if tui:
        _require_full_screen()
    limit = Limit(
        options.max_checks, options.max_time, options.until, quick=options.effort == "quick"
    )
    command = options.command or options.oracle or ""
    words = command if isinstance(command, str) else shlex.join(command)
    watched = Watched(Progress(limit=limit), options.jobs, words)
    watched.on_cluster = options.cluster is not None
    if quiet:
        yield _Silent()
    elif sys.stderr.isatty() and _moves_cursor():
        # If not, a program may wait for the summary. Textual puts another stream there.
        printed_here = sys.stdout.isatty()
        with _live(watched) as screen, keys(screen.key, "t" if tui else ""):
            try:
                yield screen
                if printed_here:
                    screen.linger(interrupts)
            finally:
                screen.close()
    else:
        plain = _Plain(watched, sys.stderr)
        over = threading.Event()
        thread = threading.Thread(target=plain.beat, args=[over], daemon=True)
        thread.start()
        try:
            yield plain
        finally:
            over.set()


def _moves_cursor() -> bool:
    return os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")


def _require_full_screen() -> None:
    if importlib.util.find_spec("textual") is None:
        raise UsageError(f"--tui {NEEDS_TEXTUAL}")
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("--tui needs a terminal")
    if not _moves_cursor():
        raise UsageError("--tui needs a terminal that can move its cursor: set TERM")


def _full(watched: Watched) -> Screenful | None:
    """Return the full screen; it is imported when it is shown first, as that takes a while."""
    if importlib.util.find_spec("textual") is None:
        return None
    return Screenful(watched)


@contextlib.contextmanager
def _live(watched: Watched) -> Iterator[_Screen]:
    # Importing rich takes a fifth of a second.
    from rich.console import Console

    from reducekit.usage.redrawing import Redrawing

    console: Console = Console(file=getattr(sys.stderr, "styled", sys.stderr))
    live = Redrawing(lambda: _styled(watched, console), console)
    with live.stoppable(), live:
        yield _Screen(watched, live, full=_full(watched))


def _styled(watched: Watched, console: Console) -> list[Text]:
    from rich.text import Text

    # One column stays free: some terminals wrap a line that fills all of them.
    unicode = console.encoding.startswith("utf")
    styles = {} if console.no_color else _STYLES
    return [
        Text.assemble(
            *((printable(text), styles.get(style, "")) for text, style in row),
            no_wrap=True,
            overflow="crop",
        )
        for row in rows(watched, console.width - 1, unicode=unicode)
    ]
