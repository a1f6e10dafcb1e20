"""What a hunt has come to so far: inputs counted, bugs met."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from reducekit.hunt.findings import Finding


@dataclass(slots=True)
class Bug:
    """A bug that is kept: how often it was met, in which file, and how small it became."""

    finding: Finding
    path: Path
    """The input that showed it first."""
    size: int
    """Bytes of that input."""
    count: int = 1
    known_before: bool = False
    """The folder had it from an earlier hunt."""
    reduced_size: int | None = None
    """Bytes of the reduced input; None: not reduced."""
    not_reduced: str = ""
    """Why not, if that was tried."""
    unwritten: bool = False
    """A file of it could not be written."""

    @property
    def reduced_path(self) -> Path:
        """Where the reduced input is."""
        return self.path.with_suffix(f".reduced{self.path.suffix}")

    @property
    def note_path(self) -> Path:
        """Where it says how to make and run the input."""
        return self.path.with_suffix(".how.txt" if self.path.suffix == ".txt" else ".txt")

    def cannot_be_written(self, why: str) -> None:
        """Note that, for the summary and the exit code: the hunt goes on."""
        self.reduced_size, self.not_reduced, self.unwritten = None, why, True


@dataclass(slots=True)
class HuntStats:
    """The state of a hunt, and at its end the result.

    Each input is counted once, each bug is in `bugs` once, by the name of its finding.
    """

    noun: str = "input"
    """What an input is called."""
    inputs: int = 0
    timeouts: int = 0
    """Inputs with a run out of time."""
    bugs: dict[str, Bug] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    """What the format counts besides, such as calls."""
    details: tuple[str, ...] = ()
    """What the format says of these counts at the end, in sentences."""
    stopped: str | None = None
    """Why it ended early: "interrupted" by a signal, or what `Hunt.stop` was told."""
    begin: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    """Wall time, set at the end."""

    @property
    def elapsed(self) -> float:
        """Seconds since the hunt began."""
        return time.monotonic() - self.begin

    @property
    def complete(self) -> bool:
        """Whether all that was found could be written."""
        return not any(each.unwritten for each in self.bugs.values())
