"""An executor that calls a Python function: for tests and oracles written in Python."""

from __future__ import annotations

from collections.abc import Callable

from reducekit.executors.executor import Executor, Finished
from reducekit.oracle.limits import Limits


class InProcess(Executor):
    """Checks a candidate by calling `interesting(text)`; limits do not hold here."""

    def __init__(self, interesting: Callable[[bytes], bool], jobs: int = 1) -> None:
        self._interesting = interesting
        self._jobs = jobs
        self.runs = 0
        self._waiting: dict[int, bytes] = {}

    @property
    def free(self) -> int:
        """How many checks may be submitted now."""
        return self._jobs - len(self._waiting)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Take a check; it is made when it is waited for."""
        self._waiting[ticket] = text

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Make the latest check: the order of verdicts must not matter."""
        if not self._waiting:
            return []
        ticket, text = self._waiting.popitem()
        self.runs += 1
        return [Finished(ticket, self._interesting(text), ())]

    def cancel(self, ticket: int) -> None:
        """Forget a check."""
        self._waiting.pop(ticket, None)

    def close(self) -> None:
        """Forget all checks."""
        self._waiting.clear()
