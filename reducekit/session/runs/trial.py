"""One run of the commands on a text, to show what they print: no search, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from reducekit.errors import StoppedError
from reducekit.executors.local import LocalExecutor
from reducekit.oracle.compared import Disagree
from reducekit.oracle.criterion import Oracle, verdict
from reducekit.oracle.own import OwnFailure
from reducekit.oracle.printed import ExitZero
from reducekit.oracle.signature import failure_line, is_failure, signature
from reducekit.reduction.control import Control, Stopped
from reducekit.run import Limits, Outcome
from reducekit.session.failure import Failure
from reducekit.session.runs.run import Stoppable, run_once
from reducekit.session.runs.slippage import captured

_SECONDS = 60.0  # time limit of a run if none is given: somebody is waiting


@dataclass(frozen=True, slots=True)
class Seen:
    """The outcome of one run of the commands."""

    interesting: bool
    words: str  # what a reduction would preserve, or why there is nothing to preserve
    line: bytes = b""  # the line that reports the failure, if any
    stream: str = "output"  # the stream that has it: output or errors


@dataclass(slots=True)
class Trial:
    """Runs the commands of a `Failure` once each on a text; any thread may call `stop`."""

    failure: Failure
    text: bytes
    suffix: str
    _control: Control = field(default_factory=Control)

    def stop(self, reason: str = "stopped") -> None:
        """End the current run; no other starts."""
        self._control.stop(reason)

    def run(self) -> Iterator[tuple[str, Outcome]]:
        """Yield each command as a shell line and how it ended. Raises UsageError, StoppedError."""
        commands, _ = self.failure.commands_and_criterion()
        for command in commands:
            oracle = Oracle((command,), captured(ExitZero()))
            with LocalExecutor(oracle, 1, self.suffix) as executor:
                try:
                    finished = run_once(Stoppable(executor, self._control), self.text, self._limits)
                except Stopped as stopped:
                    raise StoppedError(str(stopped)) from None
                yield command.shell_line(f"FILE{self.suffix}"), finished.outcomes[0]

    @property
    def _limits(self) -> Limits:
        limits = self.failure.limits()
        return limits if limits.wall is not None else limits._replace(wall=_SECONDS)

    def verdict(self, outcomes: Sequence[Outcome]) -> Seen:
        """Return what the outcomes of `run` show, and what a reduction would preserve of it."""
        _, criterion = self.failure.commands_and_criterion()
        first = outcomes[0]
        if isinstance(criterion, ExitZero):
            if verdict(criterion, outcomes):
                return Seen(True, "Interesting: the test accepts it (exit status 0)")
            return Seen(False, f"Not interesting: the test ended with {first.describe()}, not 0")
        if not isinstance(criterion, OwnFailure):
            kept = criterion.shown_by(outcomes, self._limits)
            disagree = isinstance(criterion, Disagree)
            if kept is not None:
                found = "Disagreement. " if disagree else ""
                return Seen(True, f"{found}Reduce will keep: {kept.describe()}")
            if disagree:
                return Seen(False, "The two programs agree: there is nothing to keep")
            return Seen(False, f"Not shown: {criterion.describe()} ({first.describe()})")
        return _failure_seen(first)


def _failure_seen(first: Outcome) -> Seen:
    if not is_failure(first):
        return Seen(False, f"No failure: {first.describe()}. What should be kept?")
    words = signature(first).describe()
    crashed = first.signal is not None
    for stream, text in (("errors", first.stderr), ("output", first.stdout)):
        line = failure_line(
            b"" if stream == "errors" else text,
            text if stream == "errors" else b"",
            crashed=crashed,
        )
        if line is not None and line in text:
            return Seen(True, f"This is a failure. Reduce will keep: {words}", line, stream)
    return Seen(True, f"This is a failure. Reduce will keep: {words}")
