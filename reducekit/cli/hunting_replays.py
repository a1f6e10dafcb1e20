"""Checks of traces that were answered wrongly: replays whose answers are looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace

from reducekit.errors import ParseError
from reducekit.executors.executor import Executor, Finished
from reducekit.frontends.trace.calls import Call
from reducekit.frontends.trace.model import Model
from reducekit.frontends.trace.replay import PARSE, ReplayServer
from reducekit.frontends.trace.replay.answers import AnswerChecker
from reducekit.frontends.trace.replay.lawful import was_lawful
from reducekit.oracle.criterion import Criterion, verdict
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome


class CheckedReplays(Executor):
    """Checks traces by replay, one at a time; what is wrong with an answer is standard error.

    Nothing is wrong with an answer where a call was made that `model` does not allow.
    What `opened` holds is closed with it.
    """

    def __init__(
        self,
        server: ReplayServer,
        read: Callable[[bytes], Sequence[Call]],
        criterion: Criterion,
        checker: AnswerChecker,
        model: Model,
        opened: ExitStack,
    ) -> None:
        self._server = server
        self._read = read
        self._criterion = criterion
        self._checker = checker
        self._model = model
        self._opened = opened
        self._waiting: list[tuple[int, bytes, Limits]] = []

    @property
    def free(self) -> int:
        """How many checks may be submitted now."""
        return 1 - len(self._waiting)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Note a check; it is made when it is waited for."""
        self._waiting.append((ticket, text, limits))

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Make the checks that were submitted: they take milliseconds, whatever the timeout."""
        finished = []
        for ticket, text, limits in self._waiting:
            outcome = self._outcome(text, limits)
            finished.append(Finished(ticket, verdict(self._criterion, [outcome]), (outcome,)))
        self._waiting.clear()
        return finished

    def cancel(self, ticket: int) -> None:
        """Forget a check."""
        self._waiting = [each for each in self._waiting if each[0] != ticket]

    def close(self) -> None:
        """End the servers."""
        self._opened.close()

    def _outcome(self, text: bytes, limits: Limits) -> Outcome:
        try:
            calls = self._read(text)
        except ParseError as error:
            return Outcome(PARSE, None, b"", str(error).encode(), None, 0.0)
        replayed = self._server.replay(calls, limits)
        outcome = replayed.as_outcome()
        if replayed.kind != "ok":
            return outcome
        wrong = self._checker.check(calls, replayed.results)
        if wrong is None or not was_lawful(self._model, calls, replayed):
            return outcome
        return replace(outcome, stderr=wrong.describe().encode())
