"""What the full screen of a reduction shows and controls, without Textual."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from reducekit.events import Accepted, Event, PassStarted
from reducekit.usage.block import Watched

_STEPS = 1000  # in the history


class Ran(Protocol):
    """How a command ended."""

    @property
    def stdout(self) -> bytes:
        """What it printed."""

    @property
    def stderr(self) -> bytes:
        """What the last check printed as errors."""

    def describe(self) -> str:
        """Say how it ended."""


class Controlled(Protocol):
    """What the keys control: a session."""

    @property
    def best(self) -> bytes:
        """The smallest failing text so far."""

    @property
    def last_run(self) -> Sequence[Ran]:
        """How the commands of the last check ended."""

    @property
    def busy(self) -> float:
        """Seconds that the commands of all checks ran, in sum."""

    @property
    def timeouts(self) -> int:
        """Checks of which a command reached a time limit."""

    @property
    def time_limit(self) -> float | None:
        """Seconds of wall time that a run may take."""

    def stop(self, reason: str = ...) -> None:
        """Stop with the best so far."""

    def pause(self) -> None:
        """Start no more checks."""

    def resume(self) -> None:
        """Go on."""

    def skip_pass(self) -> None:
        """Leave the current pass."""


@dataclass(slots=True)
class Screenful:
    """What the full screen shows and controls; kept while it is closed."""

    watched: Watched
    session: Controlled | None = None
    off: set[str] = field(default_factory=set)
    """The passes to skip."""
    steps: deque[tuple[int, int, str, str]] = field(default_factory=lambda: deque(maxlen=_STEPS))
    """Checks, bytes, pass and change of each accepted text."""
    over: threading.Event = field(default_factory=threading.Event)
    """Set when the screen has to close."""
    left: bool = False
    """The user has stopped the run here: the screen closes at its end."""

    def see(self, event: Event) -> None:
        """Record an event, after `watched` has."""
        match event:
            case Accepted(text=text, what=what, pass_name=name):
                self.steps.append((self.watched.progress.checks, len(text), name, what))
            case PassStarted(name=name) if name in self.off and self.session is not None:
                self.session.skip_pass()
