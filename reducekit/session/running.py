"""The state that all phases of a session share: messages, stopping, executors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reducekit.events import Event, Notice
from reducekit.executors.executor import Executor
from reducekit.executors.guard import Guard
from reducekit.oracle.oracle import Oracle
from reducekit.reduction.control import Control
from reducekit.session.executors import Executors
from reducekit.session.options import Options
from reducekit.session.stoppable import Stoppable


@dataclass(frozen=True, slots=True)
class Running:
    """A session that runs."""

    options: Options
    executors: Executors
    listen: Callable[[Event], None]
    """Called with every event."""
    guard: Guard
    control: Control
    begin: float
    """The start, by the monotonic clock."""

    def say(self, sentence: str | None) -> None:
        """Send a message to the user, if there is one."""
        if sentence is not None:
            self.listen(Notice(sentence))

    def open_stoppable(self, oracle: Oracle, jobs: int = 1) -> Executor:
        """Open an executor whose waits end when the session is stopped."""
        return Stoppable(self.executors.open(oracle, jobs), self.control)
