"""The executors of one run of the command line: closed whatever happens, and counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from reducekit.cli.interrupts import Interrupts
from reducekit.executors.executor import Closing, Executor, Finished
from reducekit.executors.local import LocalExecutor
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle


class Counting(Executor, Protocol):
    """An executor that counts."""

    runs: int
    """How many runs were started."""


Opener = Callable[[Oracle, int], Counting]
"""Opens an executor for an oracle and so many checks at a time."""


def local(interrupts: Interrupts, suffix: str) -> Opener:
    """Return what opens executors on this machine; candidates are files of that suffix."""
    return lambda oracle, jobs: _Local(interrupts, oracle, jobs, suffix)


class Executors(Closing):
    """Opens executors, local ones without an `opener`; closes at the end what is still open."""

    def __init__(self, interrupts: Interrupts, suffix: str, opener: Opener | None = None) -> None:
        self._interrupts = interrupts
        self._suffix = suffix
        self._opener = opener or local(interrupts, suffix)
        self._opened: list[Counting] = []

    def open(self, oracle: Oracle, jobs: int = 1) -> Counting:
        """Open an executor."""
        with self._interrupts.held():
            executor = self._opener(oracle, jobs)
            self._opened.append(executor)
        return executor

    @property
    def runs(self) -> int:
        """How many runs of commands were started."""
        return sum(each.runs for each in self._opened)

    def close(self) -> None:
        """Close what is open, the latest first."""
        for each in reversed(self._opened):
            each.close()


class _Local(LocalExecutor):
    """A local executor that counts, and that no signal interrupts where it tidies up."""

    def __init__(self, interrupts: Interrupts, oracle: Oracle, jobs: int, suffix: str) -> None:
        super().__init__(oracle, jobs, suffix)
        self._interrupts = interrupts
        self.runs = 0

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Start a check."""
        super().submit(ticket, text, limits)
        self.runs += 1

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Wait for checks to finish."""
        finished = super().wait(timeout)
        for each in finished:
            self.runs += len(each.outcomes) - 1
        return finished

    def close(self) -> None:
        """End all checks, in one piece."""
        with self._interrupts.held():
            super().close()
