"""The events of a hunt: plain records, in chronological order."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from reducekit import events
from reducekit.hunt.stats import Bug, HuntStats


@dataclass(frozen=True, slots=True)
class HuntStarted:
    """The options are valid, and the first input is about to be tested."""

    folder: Path


@dataclass(frozen=True, slots=True)
class InputTested:
    """Another input was tested."""

    stats: HuntStats


@dataclass(frozen=True, slots=True)
class NewBug:
    """A bug that is new to both this hunt and the folder."""

    bug: Bug
    which: str
    """Names the input that shows it, such as `seed 7`; empty if its name is enough."""


@dataclass(frozen=True, slots=True)
class KnownBug:
    """A known bug was found again."""

    bug: Bug


@dataclass(frozen=True, slots=True)
class Reducing:
    """An event of the reduction of a bug."""

    bug: Bug
    event: events.Event


@dataclass(frozen=True, slots=True)
class Reduced:
    """A bug was reduced; the sizes are in `unit`."""

    bug: Bug
    before: int
    after: int
    unit: str


@dataclass(frozen=True, slots=True)
class HuntNotice:
    """A notice to the user, in a sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class HuntFinished:
    """The hunt is over."""

    stats: HuntStats


HuntEvent: TypeAlias = (
    HuntStarted | InputTested | NewBug | KnownBug | Reducing | Reduced | HuntNotice | HuntFinished
)
