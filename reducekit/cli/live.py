"""Shows a session on standard error: a live display and keys on a terminal, otherwise lines."""

from __future__ import annotations

import contextlib
import importlib.util
import shlex
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from reducekit.cli.process import Interrupts, moves_cursor
from reducekit.errors import UsageError
from reducekit.events import Accepted, Event, FailureFound, Notice, PassEnded
from reducekit.session import Options, Session
from reducekit.session.progress import SLOW, Limit, Progress
from reducekit.text import printable, printable_lines
from reducekit.usage.messages import spelled

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from reducekit.usage.block import Watched

NEEDS_TEXTUAL = "needs Textual: pip install textual"
PLAIN_EVERY = 10.0  # seconds between lines within a pass that makes progress
ALIVE_EVERY = 30.0  # seconds after which a line is printed in any case, as a sign of life
_CLOSING = 5.0  # seconds that the full screen has to close
_STYLES = {
    "strong": "bold", "quiet": "dim", "good": "green", "gone": "red", "come": "green",
    "warn": "yellow",
}  # fmt: skip


class Watcher:
    """Shows a session to the user; this one shows nothing."""

    def see(self, event: Event) -> None:
        """Record an event, and show it if appropriate."""

    def steer(self, session: Session) -> None:
        """Let the user's keys control a session, if there are any."""


def _message(event: Event) -> str | None:
    match event:
        case FailureFound(failure=failure):
            return f"keeping this failure: {failure}"
        case Notice(text=text):
            return f"reducekit: {spelled(text)}"
    return None


@dataclass(slots=True, eq=False)
class _Plain(Watcher):
    """Prints a line for each pass that helped, occasionally within one, and as a sign of life."""

    progress: Progress
    stream: IO[str]
    shown: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def see(self, event: Event) -> None:
        message, progress = _message(event), self.progress
        progress.see(event)
        if message is not None:
            self._print(message)
        if progress.replaying:
            return
        match event:
            case PassEnded(accepted=accepted) if accepted:
                self._print(progress.line())
            case Accepted() if time.monotonic() - self.shown >= PLAIN_EVERY:
                self._print(progress.line())

    def beat(self, over: threading.Event) -> None:
        """Print a line every 30 seconds: some environments kill silent processes."""
        while not over.wait(max(0.05, self.shown + ALIVE_EVERY - time.monotonic())):
            waited = self.progress.waited
            if time.monotonic() - self.shown >= ALIVE_EVERY:
                slow = f"; a check has been running for {waited:.0f} s" if waited > SLOW else ""
                self._print(self.progress.line() + slow)

    def _print(self, text: str) -> None:
        with self._lock:
            self.shown = time.monotonic()
            with contextlib.suppress(ValueError, OSError):
                self.stream.write(f"{text}\n")
                self.stream.flush()


@dataclass(slots=True, eq=False)
class _Screen(Watcher):
    watched: Watched
    live: Live
    waiting: list[str] = field(default_factory=list)
    """Messages that came while the full screen was shown."""
    _closed: threading.Event = field(default_factory=threading.Event)
    """Whether the full screen is not shown."""

    def __post_init__(self) -> None:
        self._closed.set()

    def see(self, event: Event) -> None:
        self.watched.see(event)
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
        self.watched.session = session

    def show_full(self) -> None:
        if not _has_textual():
            self.say(f"reducekit: the full screen {NEEDS_TEXTUAL}")
            return
        watched = self.watched
        self._closed.clear()
        try:
            self.live.stop()
            if not watched.over.is_set():
                from reducekit.usage.fullscreen import Fullscreen  # takes a while

                Fullscreen(watched).run()
        finally:
            self._closed.set()
        for message in self.waiting:
            self.say(message)
        self.waiting.clear()
        if not watched.over.is_set() and watched.progress.finished is None:
            self.live.start()

    def linger(self, interrupts: Interrupts) -> None:
        """Let the user look at the full screen of a finished run until a key or a signal."""
        if not self.watched.left:
            with contextlib.suppress(KeyboardInterrupt), interrupts.allowed():
                self._closed.wait()

    def close(self) -> None:
        self.watched.over.set()
        # A terminal that is gone may never let it close.
        self._closed.wait(_CLOSING)

    def key(self, key: str) -> None:
        match key:
            case "t":
                self.show_full()
            case "?":
                self.watched.help = not self.watched.help
            case "p":
                self.watched.pause()
            case "n":
                self.watched.skip()
            case "q":
                self.watched.stop()


@contextlib.contextmanager
def watch(
    options: Options, interrupts: Interrupts, *, quiet: bool, tui: bool = False
) -> Iterator[Watcher]:
    """Show a session on standard error in the appropriate form; yields its watcher.

    `tui`: begin with the full screen. Where that is shown at the end, it stays until the user
    closes it. Raises UsageError if it cannot be shown.
    """
    if tui:
        if not _has_textual():
            raise UsageError(f"--tui {NEEDS_TEXTUAL}")
        if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError("--tui needs a terminal")
        if not moves_cursor():
            raise UsageError("--tui needs a terminal that can move its cursor: set TERM")
    limit = Limit(
        options.max_checks, options.max_time, options.until, quick=options.effort == "quick"
    )
    command = options.command or options.oracle or ""
    words = command if isinstance(command, str) else shlex.join(command)
    progress = Progress(limit=limit)
    if quiet:
        yield Watcher()
    elif sys.stderr.isatty() and moves_cursor():
        from reducekit.usage.block import Watched
        from reducekit.usage.redrawing import keys  # with Rich, a fifth of a second

        watched = Watched(progress, options.jobs, words, options.cluster is not None)
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
        plain = _Plain(progress, sys.stderr)
        over = threading.Event()
        thread = threading.Thread(target=plain.beat, args=[over], daemon=True)
        thread.start()
        try:
            yield plain
        finally:
            over.set()


def _has_textual() -> bool:
    return importlib.util.find_spec("textual") is not None


@contextlib.contextmanager
def _live(watched: Watched) -> Iterator[_Screen]:
    # Importing rich takes a fifth of a second.
    from rich.console import Console
    from rich.text import Text

    from reducekit.usage.block import rows
    from reducekit.usage.redrawing import Redrawing

    console: Console = Console(file=getattr(sys.stderr, "styled", sys.stderr))

    def styled() -> list[Text]:
        styles = {} if console.no_color else _STYLES
        return [
            Text.assemble(
                *((printable(text), styles.get(style, "")) for text, style in row),
                no_wrap=True,
                overflow="crop",
            )
            # One column stays free: some terminals wrap a line that fills all of them.
            for row in rows(watched, console.width - 1, unicode=console.encoding.startswith("utf"))
        ]

    live = Redrawing(styled, console)
    with live.stoppable(), live:
        yield _Screen(watched, live)
