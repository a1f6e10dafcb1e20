"""One run of the commands on a text, to see what they say: no search, nothing written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reducekit.errors import StoppedError
from reducekit.executors.local import LocalExecutor
from reducekit.oracle.criterion import ExitZero
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.reduction.control import Control, Stopped
from reducekit.session.golden import run_once
from reducekit.session.options import Failure
from reducekit.session.slippage import captured
from reducekit.session.stoppable import Stoppable

_SECONDS = 60.0
"""Wall time of a run where none is given: somebody waits for it."""


class Trial:
    """Runs what a `Failure` names, once each, on a text; `stop` may be called from any thread."""

    def __init__(self, failure: Failure, text: bytes, suffix: str) -> None:
        self._failure = failure
        self._text = text
        self._suffix = suffix
        self._control = Control()

    def stop(self, reason: str = "stopped") -> None:
        """End the run that is under way; no other begins."""
        self._control.stop(reason)

    def run(self) -> Iterator[tuple[str, Outcome]]:
        """Yield each command as a shell line and how it ended. Raises UsageError, StoppedError."""
        commands, _ = self._failure.commands_and_criterion()
        limits = self._failure.limits()
        if limits.wall is None:
            limits = replace(limits, wall=_SECONDS)
        for command in commands:
            oracle = Oracle((command,), captured(ExitZero()))
            with LocalExecutor(oracle, 1, self._suffix) as executor:
                try:
                    finished = run_once(Stoppable(executor, self._control), self._text, limits)
                except Stopped as stopped:
                    raise StoppedError(str(stopped)) from None
                yield command.shell_line(f"FILE{self._suffix}"), finished.outcomes[0]
