"""The workers of a cluster that may get work: each is asked first, and left out if it fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from reducekit.errors import UsageError
from reducekit.executors.cluster.admission import (
    Shipped,
    Tell,
    ask,
    listed,
    needs_of,
    why_no_answer,
    why_not,
)
from reducekit.executors.cluster.connection import Connection
from reducekit.executors.executor import ExecutorError
from reducekit.oracle.command import Command

_REST = 3.0  # seconds until a worker that has failed gets work again
_STRIKES = 3  # times in a row that it may fail
_LATECOMERS = 1.0  # seconds that those who answer later are waited for, once one is admitted


class Members:
    """Asks workers whether they have what `commands` need; all is done in `look`.

    `wake` is called, in any thread, when there is something to look at.
    """

    def __init__(
        self,
        connection: Connection,
        commands: Sequence[Command],
        shipped: Sequence[Shipped],
        tell: Tell,
        wake: Callable[[], None],
    ) -> None:
        self.admitted: set[str] = set()
        self.refused: dict[str, str] = {}
        """With what is wrong with each."""
        self.needs = needs_of(commands)
        self._connection = connection
        self._shipped = shipped
        self._wanted = self.needs, tuple(each.path for each in shipped)
        self._tell = tell
        self._wake = wake
        self._asked: dict[str, Future[tuple[str, tuple[str, ...]]]] = {}
        self._strikes: dict[str, int] = {}
        self._resting: dict[str, float] = {}
        self._alone: float | None = None
        """Since when there is no worker."""

    @property
    def seconds_alone(self) -> float | None:
        """For how long there has been none; None: there is one, or one is being asked."""
        return None if self._alone is None else time.monotonic() - self._alone

    def look(self) -> None:
        """Take in who has come, gone, and answered."""
        now, workers = time.monotonic(), self._connection.workers
        self.admitted.intersection_update(workers)
        for address in self.refused.keys() - workers.keys():
            del self.refused[address]
        for address in workers:
            known = address in self.admitted or address in self.refused or address in self._asked
            if known or self._resting.get(address, 0.0) > now:
                continue
            if (address, self._wanted) in self._connection.fit:
                self.admitted.add(address)
            else:
                answer = ask(self._connection, address, self.needs, self._shipped)
                self._asked[address] = answer
                answer.add_done_callback(lambda _: self._wake())
        for address in [each for each, answer in self._asked.items() if answer.done()]:
            self._take(address, self._asked.pop(address))
        if self.admitted or self._asked:
            self._alone = None
        elif self._alone is None:
            self._alone = now

    def wait_for_first(self) -> None:
        """Wait until somebody is admitted. Raises UsageError if nobody is any good."""
        self.look()
        end = time.monotonic() + _LATECOMERS
        while self._asked and not (self.admitted and time.monotonic() > end):
            time.sleep(0.01)
            self.look()
        if not self.admitted:
            raise UsageError(
                "no worker of the cluster can run this:\n"
                f"{listed(self.refused)}\n"
                "`ship` sends a program or file along"
            )

    def refuse(self, address: str, why: str) -> None:
        """Give a worker no work any more."""
        self.admitted.discard(address)
        self.refused[address] = why
        self._tell(f"worker {address} gets no checks: {why}")

    def strike(self, address: str, why: str) -> None:
        """Let a worker rest that has failed; give it up after a few times in a row."""
        self.admitted.discard(address)
        self._strikes[address] = strikes = self._strikes.get(address, 0) + 1
        if strikes >= _STRIKES:
            self.refuse(address, why)
        else:
            self._resting[address] = time.monotonic() + _REST * strikes

    def forgive(self, address: str) -> None:
        """Take note that a worker does its work."""
        self._strikes.pop(address, None)

    def require(self) -> None:
        """Raise ExecutorError if there has been no worker for too long, or none is any good."""
        alone = self.seconds_alone
        if alone is None:
            return
        workers = self._connection.workers
        if workers and workers.keys() <= self.refused.keys():
            raise ExecutorError(
                f"no worker of the cluster can run checks any more:\n{listed(self.refused)}"
            )
        patience, why = self._connection.spec.wait, self._connection.why or "none is left"
        if alone > patience:
            raise ExecutorError(f"no worker of the cluster came back in {patience:g} s: {why}")

    def _take(self, address: str, answer: Future[tuple[str, tuple[str, ...]]]) -> None:
        """Admit a worker that has answered, or refuse it and say why."""
        if address not in self._connection.workers:
            return
        error = answer.exception()
        if error is not None and not isinstance(error, ModuleNotFoundError):
            self.strike(address, why_no_answer(error))
            return
        why = why_not(answer.result()) if error is None else why_no_answer(error)
        if why:
            self.refuse(address, why)
        else:
            self.admitted.add(address)
            self._connection.fit.add((address, self._wanted))
