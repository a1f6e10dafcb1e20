"""What a reduction tells those who watch it: plain records, in the order in which things happen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


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


@dataclass(frozen=True, slots=True)
class Accepted:
    """The best text so far is a new, smaller one."""

    text: bytes
    what: str
    pass_name: str


@dataclass(frozen=True, slots=True)
class WentBack:
    """The best text turned out not to fail every time: an earlier, larger one is the best again."""

    text: bytes
    size: int
    """Bytes of the text that was given up."""


@dataclass(frozen=True, slots=True)
class PassEnded:
    """A pass ends, with what it came to."""

    name: str
    round: int
    checks: int
    accepted: int
    size: int


Event: TypeAlias = PassStarted | Checked | Accepted | WentBack | PassEnded
