"""What the process was given: signals, and whether somebody can read its output."""

from __future__ import annotations

from dataclasses import dataclass

from reducekit.cli.interrupts import Interrupts

STOPPED_EARLY = 5
"""The exit code of a reduction that a limit or a request has ended: the best result is saved."""
INTERRUPTED = 130
"""The exit code of what a signal has ended."""


@dataclass(frozen=True, slots=True)
class ProcessContext:
    """The process of a command line."""

    interrupts: Interrupts
    output_open: bool
