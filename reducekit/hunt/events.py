"""What a hunt tells those who watch it: plain records, in the order in which things happen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from reducekit import events
from reducekit.hunt.stats import Bug, HuntStats


@dataclass(frozen=True, slots=True)
class HuntStarted:
    """All options are in order, and the first input is about to be tested."""

    folder: Path


@dataclass(frozen=True, slots=True)
class InputTested:
    """One more input was tested."""

    stats: HuntStats


@dataclass(frozen=True, slots=True)
class NewBug:
    """A bug that neither this hunt nor the folder had."""

    bug: Bug
    which: str
    """Says which input shows it, such as `seed 7`; empty where its name is all."""


@dataclass(frozen=True, slots=True)
class KnownBug:
    """A bug was met that is known already."""

    bug: Bug


@dataclass(frozen=True, slots=True)
class Reducing:
    """The reduction of a bug tells something."""

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
    """Something the user should know, in a sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class HuntFinished:
    """The hunt is over."""

    stats: HuntStats


HuntEvent: TypeAlias = (
    HuntStarted | InputTested | NewBug | KnownBug | Reducing | Reduced | HuntNotice | HuntFinished
)
