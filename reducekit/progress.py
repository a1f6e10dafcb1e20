"""Shows a reduction while it runs: one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Protocol

from reducekit.eta import Pace, Range, checks_left, in_words
from reducekit.events import Accepted, Checked, Event, PassEnded, PassStarted, WentBack

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

_BAR = 24
_PLAIN_EVERY = 10.0  # seconds between plain lines within a pass that goes well


@dataclass(frozen=True, slots=True)
class Limit:
    """After how many checks and seconds, and at what size, the reduction is stopped; None: never.

    `quick`: it ends behind the first passes.
    """

    checks: int | None = None
    seconds: float | None = None
    size: int | None = None
    quick: bool = False

    @property
    def any_moment(self) -> bool:
        """Whether it may end long before a full reduction would.

        One success can reach the size, and a quick schedule ends sooner by an unknown
        share: of what full reductions took, only the upper end is still true.
        """
        return self.size is not None or self.quick


@dataclass(slots=True)
class Progress:
    """What has been seen of a reduction so far. Round -1 is before the first pass."""

    size_before: int
    size: int
    checks: int = 0
    accepted: int = 0
    pass_name: str = ""
    round: int = -1
    begin: float = field(default_factory=time.monotonic)
    limit: Limit = Limit()
    pace: Pace = field(default_factory=Pace)
    started: float | None = None
    """When the first pass began."""

    def see(self, event: Event) -> None:
        """Take an event in."""
        match event:
            case Checked(remembered=False):
                self.checks += 1
                self.pace.see(self.checks, self._searching())
            case Accepted(text=text):
                self.size = len(text)
                self.accepted += 1
            case WentBack(text=text):
                self.size = len(text)
            case PassStarted(name=name, round=number):
                self.pass_name, self.round = name, number
                if self.started is None:
                    self.started = time.monotonic()

    def left(self) -> Range | None:
        """Return how many seconds are left to the end; None if that cannot be known."""
        checks = checks_left(self.checks, self.size, self.round)
        if checks is None:
            return None
        if self.limit.any_moment:
            checks = checks.ended_early()
        most = None if self.limit.checks is None else self.limit.checks - self.checks
        seconds = self.pace.time_for(checks.limited(most))
        if seconds is None or self.limit.seconds is None:
            return seconds
        return seconds.limited(self.limit.seconds - self._searching())

    def _searching(self) -> float:
        return 0.0 if self.started is None else time.monotonic() - self.started

    def line(self, width: int = 1000) -> str:
        """Return the state in one line of at most `width` columns, as much as fits."""
        seconds = time.monotonic() - self.begin
        time_part = f"{seconds:.0f} s"
        size = f"{self.size:,} bytes"
        if self.round < 0:
            return f"{size}, running the command on it, {time_part}"[:width]
        share = f"{size} ({100 * self.size / self.size_before:.1f} %)"
        rate = self.checks / seconds if seconds > 0 else 0.0
        checks = f"{self.checks:,} checks"
        left = f"left: {in_words(self.left())}"
        forms = (
            (
                share,
                f"{checks} ({rate:.0f}/s)",
                f"{self.accepted:,} accepted",
                f"round {self.round}: {self.pass_name}",
                time_part,
                left,
            ),
            (share, f"{checks} ({rate:.0f}/s)", self.pass_name, time_part, left),
            (share, checks, time_part, left),
            (share, checks, time_part),
            (size, checks, time_part),
        )
        lines = [", ".join(parts) for parts in forms]
        return next((line for line in lines if len(line) <= width), lines[-1][:width])


class Watcher(Protocol):
    """Shows what happens to somebody."""

    def see(self, event: Event) -> None:
        """Take an event in, and show it as fits."""

    def note(self, text: str) -> None:
        """Show a message of its own line."""


class _Silent:
    """Shows nothing."""

    def see(self, event: Event) -> None:
        pass

    def note(self, text: str) -> None:
        pass


@dataclass(slots=True)
class _Plain:
    """A line whenever a pass has made the text smaller, and now and then within one."""

    progress: Progress
    stream: IO[str]
    shown: float = field(default_factory=time.monotonic)

    def see(self, event: Event) -> None:
        self.progress.see(event)
        now = time.monotonic()
        match event:
            case PassEnded(accepted=accepted) if accepted:
                pass
            case Accepted() if now - self.shown >= _PLAIN_EVERY:
                pass
            case _:
                return
        self.shown = now
        self.note(self.progress.line())

    def note(self, text: str) -> None:
        self.stream.write(f"{text}\n")
        self.stream.flush()


@dataclass(slots=True)
class _Screen:
    """The live line; notes stand above it."""

    progress: Progress
    live: Live

    def see(self, event: Event) -> None:
        self.progress.see(event)

    def note(self, text: str) -> None:
        self.live.console.print(text, markup=False, highlight=False, soft_wrap=True)


@contextlib.contextmanager
def watch(size_before: int, *, quiet: bool, limit: Limit = Limit()) -> Iterator[Watcher]:
    """Show a reduction on standard error as fits it; yields what to tell of its events."""
    progress = Progress(size_before, size_before, limit=limit)
    if quiet:
        yield _Silent()
    elif sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown"):
        with _live(progress) as screen:
            yield screen
    else:
        yield _Plain(progress, sys.stderr)


@contextlib.contextmanager
def _live(progress: Progress) -> Iterator[_Screen]:
    # rich takes a fifth of a second to import: only where it is used.
    from rich.console import Console
    from rich.live import Live

    console: Console = Console(stderr=True)

    class Line:
        """Renders the state as it is when the screen is drawn."""

        def __rich__(self) -> Text:
            return _styled(progress, console.width, console.encoding)

    live = Live(
        Line(),
        console=console,
        refresh_per_second=8,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with live:
        yield _Screen(progress, live)


def _styled(progress: Progress, width: int, encoding: str) -> Text:
    from rich.text import Text

    # One column is left free: some terminals wrap a line that fills them.
    line = progress.line(width - 1)
    if len(line) + _BAR + 2 > width or progress.round < 0:
        return Text(line, no_wrap=True, overflow="crop")
    done, rest = "━━" if encoding.startswith("utf") else "#-"
    filled = round(_BAR * (1 - progress.size / progress.size_before))
    return Text.assemble(
        (done * filled, "green"),
        (rest * (_BAR - filled), "bright_black"),
        " ",
        line,
        no_wrap=True,
        overflow="crop",
    )
