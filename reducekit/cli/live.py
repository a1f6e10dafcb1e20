"""Shows a session on standard error: a live block and keys on a terminal, else plain lines."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Protocol

from reducekit.events import Accepted, Event, FailureFound, Notice, PassEnded
from reducekit.session import Options, Session
from reducekit.session.progress import Limit, Progress
from reducekit.usage.advice import spelled
from reducekit.usage.block import SLOW, Watched, rows
from reducekit.usage.keys import keys

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.live import Live

PLAIN_EVERY = 10.0
"""Seconds between plain lines within a pass that goes well."""
ALIVE_EVERY = 30.0
"""Seconds after which a plain line says that we live, whatever happens."""
_STYLES = {
    "strong": "bold", "quiet": "dim", "good": "green", "gone": "red", "come": "green",
    "warn": "yellow",
}  # fmt: skip


class Watcher(Protocol):
    """Shows a session to somebody."""

    def see(self, event: Event) -> None:
        """Take an event in, and show it as fits."""

    def steer(self, session: Session) -> None:
        """Let the user's keys steer a session, if there are any."""


class _Silent:
    """Shows nothing."""

    def see(self, event: Event) -> None:
        pass

    def steer(self, session: Session) -> None:
        pass


def _message(event: Event) -> str | None:
    """Return what an event says in a line of its own, if anything."""
    match event:
        case FailureFound(failure=failure):
            return f"keeping this failure: {failure}"
        case Notice(text=text):
            return f"reducekit: {spelled(text)}"
    return None


@dataclass(slots=True)
class _Plain:
    """A line whenever a pass has made the text smaller, now and then within one, and as a beat."""

    watched: Watched
    stream: IO[str]
    shown: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def see(self, event: Event) -> None:
        self.watched.see(event)
        message = _message(event)
        if message is not None:
            self._print(message)
        match event:
            case PassEnded(accepted=accepted) if accepted:
                self._print(self.watched.progress.line())
            case Accepted() if time.monotonic() - self.shown >= PLAIN_EVERY:
                self._print(self.watched.progress.line())

    def steer(self, session: Session) -> None:
        pass

    def beat(self, over: threading.Event) -> None:
        """Say every 30 seconds that we live: some machines kill what is silent."""
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
    """The live block; messages stand above it."""

    watched: Watched
    live: Live
    session: Session | None = None

    def see(self, event: Event) -> None:
        self.watched.see(event)
        message = _message(event)
        if message is not None:
            self.live.console.print(message, markup=False, highlight=False, soft_wrap=True)

    def steer(self, session: Session) -> None:
        self.session = session

    def key(self, key: str) -> None:
        """Do what a key stands for."""
        session, watched = self.session, self.watched
        if key == "?":
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
def watch(options: Options, *, quiet: bool) -> Iterator[Watcher]:
    """Show a session on standard error as fits it; yields what to tell of its events."""
    limit = Limit(
        options.max_checks, options.max_time, options.until, quick=options.effort == "quick"
    )
    command = options.command or options.oracle or ""
    words = command if isinstance(command, str) else shlex.join(command)
    watched = Watched(Progress(limit=limit), options.jobs, words)
    watched.on_cluster = options.cluster is not None
    if quiet:
        yield _Silent()
    elif sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown"):
        with _live(watched) as screen, keys(screen.key):
            yield screen
    else:
        plain = _Plain(watched, sys.stderr)
        over = threading.Event()
        thread = threading.Thread(target=plain.beat, args=[over], daemon=True)
        thread.start()
        try:
            yield plain
        finally:
            over.set()


@contextlib.contextmanager
def _live(watched: Watched) -> Iterator[_Screen]:
    # rich takes a fifth of a second to import: only where it is used.
    from rich.console import Console
    from rich.live import Live

    console: Console = Console(stderr=True)

    class Block:
        """Renders the state as it is when the screen is drawn."""

        def __rich__(self) -> Group:
            return _styled(watched, console)

    live = Live(
        Block(),
        console=console,
        refresh_per_second=4,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        vertical_overflow="crop",
    )
    with live:
        yield _Screen(watched, live)


def _styled(watched: Watched, console: Console) -> Group:
    from rich.console import Group
    from rich.text import Text

    # One column is left free: some terminals wrap a line that fills them.
    unicode = console.encoding.startswith("utf")
    styles = {} if console.no_color else _STYLES
    return Group(
        *(
            Text.assemble(
                *((text, styles.get(style, "")) for text, style in row),
                no_wrap=True,
                overflow="crop",
            )
            for row in rows(watched, console.width - 1, unicode=unicode)
        )
    )
