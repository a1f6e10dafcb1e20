"""What a test of one input says, and what those who test are told by the hunt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from reducekit.hunt.findings import Finding
from reducekit.hunt.inputs import Input
from reducekit.oracle.command import Command
from reducekit.reduction.control import POLL


@dataclass(frozen=True, slots=True)
class InputResult:
    """An input that was tested, with the bugs that it shows."""

    input: Input
    findings: tuple[Finding, ...] = ()
    run_by: tuple[Command, ...] | None = None
    """The commands that show them; None: those of each finding."""
    timed_out: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    seed: int | None = None
    """That of the input where seeds are tested in their order; None: in any order."""


@dataclass(frozen=True, slots=True)
class Control:
    """What a hunt wants at the moment."""

    waiting: Callable[[], bool]
    """Whether a new bug waits to be reduced."""
    left: Callable[[], float | None]
    """Seconds that are left; 0 also where the hunt is to stop, None is no limit."""

    def patience(self) -> float:
        """Return the seconds to wait until the next look at what is wanted."""
        left = self.left()
        return POLL if left is None else min(POLL, left)
