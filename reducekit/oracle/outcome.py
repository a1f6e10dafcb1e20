"""The outcome of one run of one command."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Outcome:
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
