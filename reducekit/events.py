"""The events of a reduction: plain records, in the order in which things happen."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, TypeAlias


class Started(NamedTuple):
    """A session has read its input, and runs the oracle on it for the first time."""

    size: int
    """Bytes of the input."""
    output: Path | None


class FailureFound(NamedTuple):
    """The input fails every time: this failure is kept."""

    failure: str


class Resumed(NamedTuple):
    """A session resumes an earlier run: it repeats its steps first, from memory."""

    size: int
    """Bytes of the best text so far."""


class Notice(NamedTuple):
    """Something the user should know, in a sentence."""

    text: str


class Finished(NamedTuple):
    """A session is over."""

    stopped: str | None
    """Why it ended early; None: nothing helps any more."""
    size: int
    """Bytes of the result."""
    verified: bool | None
    """Whether the result showed the failure once more at the end; None: not checked."""


class PassStarted(NamedTuple):
    """A pass begins; round 0 holds the passes that run once."""

    name: str
    round: int


class Checked(NamedTuple):
    """A verdict was taken: from a run of the oracle, or from memory when `remembered`."""

    interesting: bool
    remembered: bool
    what: str
    size: int
    """Bytes of the candidate."""
    replayed: bool = False
    """The verdict is that of the run that is resumed."""


class Accepted(NamedTuple):
    """There is a new best text: strictly below all before, in the frontend's order.

    Detours over larger texts are not reported.
    """

    text: bytes
    what: str
    pass_name: str
    replayed: bool = False
    """This is a step of the run that is resumed; the output holds its best text already."""


class RolledBack(NamedTuple):
    """The best text turned out not to fail every time: an earlier, larger one is the best again."""

    text: bytes
    given_up: tuple[bytes, ...]
    """All texts that did not fail again, the one that was the best first."""


class PassEnded(NamedTuple):
    """A pass ends, with what it came to."""

    name: str
    round: int
    checks: int
    accepted: int
    """How often it gave a new best text."""
    size: int
    """Bytes of the best text."""


Event: TypeAlias = (
    Started | FailureFound | Resumed | Notice | PassStarted | Checked | Accepted | RolledBack
    | PassEnded | Finished
)  # fmt: skip
