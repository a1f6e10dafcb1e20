"""An executor that replays candidates against a library instead of running a command on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reducekit.errors import ParseError
from reducekit.executors.executor import Executor, Finished
from reducekit.frontends.trace.calls import Call
from reducekit.frontends.trace.replay.client import ReplayServer
from reducekit.frontends.trace.replay.outcome import PARSE, ReplayOutcome
from reducekit.oracle.criterion import Criterion, verdict
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome


class ReplayExecutor(Executor):
    """Checks candidates by replay.

    `read` makes calls from a candidate's text, and may raise ParseError: the
    candidate is then not interesting, without a replay. `criterion` judges the
    outcome as that of a command; a broken contract, whatever the library did
    over it, is exit status 86. `observe`, if given, is called with each ticket
    and outcome before it is judged, so that the call that failed and the
    results are not lost. Limits that a check does not have are not set.
    The server is closed with the executor.
    """

    def __init__(
        self,
        server: ReplayServer,
        read: Callable[[bytes], Sequence[Call]],
        criterion: Criterion,
        observe: Callable[[int, ReplayOutcome], None] | None = None,
    ) -> None:
        self._server = server
        self._read = read
        self._criterion = criterion
        self._observe = observe
        self._unread: list[Finished] = []

    @property
    def free(self) -> int:
        """How many checks may be submitted now."""
        return self._server.free - len(self._unread)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Start a check of `text`; `ticket` is a number of the caller's, not in use."""
        assert self.free > 0, "more checks than jobs"
        try:
            calls = self._read(text)
        except ParseError as error:
            outcome = Outcome(PARSE, None, b"", str(error).encode(), None, 0.0)
            self._unread.append(Finished(ticket, verdict(self._criterion, [outcome]), (outcome,)))
            return
        self._server.submit(ticket, calls, limits)

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Wait for at least one check to finish, at most `timeout` seconds; return all finished."""
        finished, self._unread = self._unread, []
        for ticket, replayed in self._server.wait(0 if finished else timeout):
            if self._observe is not None:
                self._observe(ticket, replayed)
            outcome = replayed.as_outcome()
            finished.append(Finished(ticket, verdict(self._criterion, [outcome]), (outcome,)))
        return finished

    def cancel(self, ticket: int) -> None:
        """End a check and forget it; one that is not running is ignored."""
        self._unread = [done for done in self._unread if done.ticket != ticket]
        self._server.cancel(ticket)

    def close(self) -> None:
        """End all checks."""
        self._unread.clear()
        self._server.close()
