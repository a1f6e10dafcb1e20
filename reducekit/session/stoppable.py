"""An executor whose waits end when the session is stopped, for runs outside the search."""

from __future__ import annotations

import math
import time

from reducekit.executors.executor import Executor, Finished
from reducekit.oracle.limits import Limits
from reducekit.reduction.control import POLL, Control


class Stoppable(Executor):
    """Waits in short slices, and checks between them whether `control` raises Stopped."""

    def __init__(self, inner: Executor, control: Control) -> None:
        self._inner = inner
        self._control = control

    @property
    def free(self) -> int:
        """How many checks may be submitted now."""
        return self._inner.free

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Start a check."""
        self._inner.submit(ticket, text, limits)

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Wait for checks to finish. Raises Stopped."""
        until = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            self._control.check()
            left = until - time.monotonic()
            finished = self._inner.wait(max(0.0, min(POLL, left)))
            if finished or left <= 0:
                return finished

    def cancel(self, ticket: int) -> None:
        """End a check and drop it."""
        self._inner.cancel(ticket)

    def close(self) -> None:
        """End all checks."""
        self._inner.close()
