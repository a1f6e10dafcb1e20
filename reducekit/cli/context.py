"""The environment of the process: signals, and whether its output can be read."""

from __future__ import annotations

from dataclasses import dataclass

from reducekit.cli.interrupts import Interrupts

STOPPED_EARLY = 5
"""The exit code of a reduction that a limit or a request stopped: the best result is saved."""
INTERRUPTED = 130
"""The exit code after a signal."""


@dataclass(frozen=True, slots=True)
class ProcessContext:
    """The process of a command line."""

    interrupts: Interrupts
    output_open: bool
