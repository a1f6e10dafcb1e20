"""What every run of a command has: limits, an outcome, and a guard against signals."""

from __future__ import annotations

import signal
from contextlib import AbstractContextManager, nullcontext
from typing import Literal, NamedTuple, Protocol, Self


class Limits(NamedTuple):
    """Limits of each single run of a command; None means no limit.

    `wall` and `cpu` are seconds. `cpu` and `memory` (bytes of address space) apply to each process
    separately; `cpu` is rounded up to whole seconds. `output` is the number of bytes kept of each
    stream; a run that prints more is stopped.
    """

    wall: float | None = None
    cpu: float | None = None
    memory: int | None = None
    output: int = 8 << 20


class Outcome(NamedTuple):
    """The outcome of one run: exactly one of `status` and `signal` is not None.

    `limit` names the limit that ended the run, whatever signal was used for it: "time" (wall or
    CPU) or "output" (the output is then cut off there). `stdout` and `stderr` are empty if they
    were not captured. `seconds` is wall time.
    """

    status: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    limit: Literal["time", "output"] | None
    seconds: float

    def describe(self) -> str:
        """Describe how the run ended, such as `exit status 1` or `signal SIGSEGV`."""
        if self.limit == "time":
            return f"stopped after {self.seconds:.1f} s"
        if self.limit == "output":
            size = max(len(self.stdout), len(self.stderr))
            return f"stopped after {size} bytes of output"
        return ended(self.status, self.signal)


def ended(status: int | None, number: int | None) -> str:
    """Describe an exit status, or the signal if there is one."""
    if number is None:
        return f"exit status {status}"
    try:
        return f"signal {signal.Signals(number).name}"
    except ValueError:  # the real-time signals have no names
        return f"signal {number}"


class Closing(Protocol):
    """A context manager that calls `close` at its end: inherit from it, and implement `close`."""

    def close(self) -> None:
        """Release all resources; a second call does nothing."""

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()


class Guard(Protocol):
    """Controls when KeyboardInterrupt may be raised.

    Ctrl-C must take effect within a second, even while a text of 100 MB is parsed, and must never
    leave a half-written file or a running solver. So a frontend that receives signals raises
    KeyboardInterrupt only inside `allowed`, and the session wraps what must not be interrupted in
    `held`. Callers without signals use `NoSignals`, which does nothing.
    """

    def allowed(self) -> AbstractContextManager[None]:
        """Let a signal raise KeyboardInterrupt inside, including one that came before."""
        return nullcontext()

    def held(self) -> AbstractContextManager[None]:
        """Defer signals inside; a deferred one is raised afterwards, where that is allowed."""
        return nullcontext()

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has come."""
        return


class NoSignals(Guard):
    """The guard of a caller that receives no signals."""
