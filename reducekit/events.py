"""The events of a reduction: plain records, in the order in which things happen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Started:
    """A session has read its input, and runs the oracle on it for the first time."""

    size: int
    """Bytes of the input."""
    output: Path | None


@dataclass(frozen=True, slots=True)
class FailureFound:
    """The input fails every time: this failure is kept."""

    failure: str


@dataclass(frozen=True, slots=True)
class Resumed:
    """A session resumes an earlier run: it repeats its steps first, from memory."""

    size: int
    """Bytes of the best text so far."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know, in a sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A session is over."""

    stopped: str | None
    """Why it ended early; None: nothing helps any more."""
    size: int
    """Bytes of the result."""
    verified: bool | None
    """Whether the result showed the failure once more at the end; None: not checked."""


@dataclass(frozen=True, slots=True)
class PassStarted:
    """A pass begins; round 0 holds the passes that run once."""

    name: str
    round: int


@dataclass(frozen=True, slots=True)
class Checked:
    """A verdict was taken: from a run of the oracle, or from memory when `remembered`."""

    interesting: bool
    remembered: bool
    what: str
    size: int
    """Bytes of the candidate."""
    replayed: bool = False
    """The verdict is that of the run that is resumed."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """There is a new best text: strictly below all before, in the frontend's order.

    Detours over larger texts are not reported.
    """

    text: bytes
    what: str
    pass_name: str
    replayed: bool = False
    """This is a step of the run that is resumed; the output holds its best text already."""


@dataclass(frozen=True, slots=True)
class RolledBack:
    """The best text turned out not to fail every time: an earlier, larger one is the best again."""

    text: bytes
    given_up: tuple[bytes, ...]
    """All texts that did not fail again, the one that was the best first."""


@dataclass(frozen=True, slots=True)
class PassEnded:
    """A pass ends, with what it came to."""

    name: str
    round: int
    checks: int
    accepted: int
    """How often it gave a new best text."""
    size: int
    """Bytes of the best text."""


Event: TypeAlias = (
    Started
    | FailureFound
    | Resumed
    | Notice
    | PassStarted
    | Checked
    | Accepted
    | RolledBack
    | PassEnded
    | Finished
)
