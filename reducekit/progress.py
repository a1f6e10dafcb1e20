"""Shows a reduction while it runs: one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reducekit.events import Accepted, Checked, Event, PassEnded, PassStarted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


@dataclass(slots=True)
class Progress:
    """What has been seen of a reduction so far."""

    size_before: int
    size: int = 0
    checks: int = 0
    hits: int = 0
    accepted: int = 0
    pass_name: str = ""
    round: int = 0
    begin: float = field(default_factory=time.monotonic)

    def see(self, event: Event) -> None:
        """Take an event in."""
        match event:
            case Checked(remembered=True):
                self.hits += 1
            case Checked():
                self.checks += 1
            case Accepted(text=text):
                self.size = len(text)
                self.accepted += 1
            case PassStarted(name=name, round=number):
                self.pass_name, self.round = name, number
            case PassEnded():
                pass

    def line(self) -> str:
        """Return the state in one line."""
        seconds = time.monotonic() - self.begin
        rate = self.checks / seconds if seconds > 0 else 0.0
        return (
            f"{self.size:,} bytes ({100 * self.size / self.size_before:.1f} %), "
            f"{self.checks:,} checks ({rate:.0f}/s), {self.accepted:,} accepted, "
            f"round {self.round}: {self.pass_name}, {seconds:.0f} s"
        )


@contextlib.contextmanager
def watch(size_before: int, *, quiet: bool) -> Iterator[Callable[[Event], None]]:
    """Show a reduction on standard error as fits it; yields what to tell of its events."""
    progress = Progress(size_before, size_before)
    if quiet:
        yield lambda event: None
    elif sys.stderr.isatty():
        with _live(progress) as show:
            yield show
    else:
        yield lambda event: _plain(progress, event)


def _plain(progress: Progress, event: Event) -> None:
    """Print a line whenever a pass has made the text smaller."""
    progress.see(event)
    if isinstance(event, PassEnded) and event.accepted:
        print(progress.line(), file=sys.stderr, flush=True)


@contextlib.contextmanager
def _live(progress: Progress) -> Iterator[Callable[[Event], None]]:
    # rich takes a fifth of a second to import: only where it is used.
    from rich.console import Console
    from rich.live import Live

    class Line:
        """Renders the state as it is when the screen is drawn."""

        def __rich__(self) -> Text:
            return _styled(progress)

    console: Console = Console(stderr=True)
    with Live(Line(), console=console, refresh_per_second=8, transient=True):
        yield progress.see


def _styled(progress: Progress) -> Text:
    from rich.text import Text

    share = progress.size / progress.size_before
    filled = round(24 * (1 - share))
    return Text.assemble(
        ("━" * filled, "green"), ("━" * (24 - filled), "bright_black"), " ", progress.line()
    )
