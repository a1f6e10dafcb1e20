"""The result of a test of one input, and the hunt's instructions to testers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from reducekit.hunt.findings import Finding
from reducekit.hunt.inputs import Input
from reducekit.oracle.command import Command
from reducekit.reduction.control import POLL


@dataclass(frozen=True, slots=True)
class Rejection:
    """A program rejected an input that it need not accept, with these words."""

    program: str
    message: str


@dataclass(frozen=True, slots=True)
class InputResult:
    """An input that was tested, with the bugs that it shows."""

    input: Input
    findings: tuple[Finding, ...] = ()
    run_by: tuple[Command, ...] | None = None
    """The commands that show them; None: those of each finding."""
    timed_out: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    rejection: Rejection | None = None
    """Set if a program refused to read the input."""

    def commands(self, finding: Finding) -> tuple[Command, ...]:
        """Return the commands that reproduce one of the bugs."""
        return finding.commands if self.run_by is None else self.run_by


@dataclass(frozen=True, slots=True)
class Control:
    """What a hunt currently wants from testers."""

    waiting: Callable[[], bool]
    """Whether a new bug is waiting to be reduced."""
    left: Callable[[], float | None]
    """Returns the seconds left: 0 also if the hunt is to stop, None if there is no limit."""

    def patience(self) -> float:
        """Return the seconds to wait before checking again."""
        left = self.left()
        return POLL if left is None else min(POLL, left)
