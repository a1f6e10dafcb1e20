"""Which pass comes next: the order of a schedule, repeated until none of it helps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from reducekit.frontend import Pass, Schedule


@dataclass(frozen=True, slots=True)
class Mode:
    """Which candidates are worth a run."""

    everything: bool
    """Also what was refuted before where nothing has changed since."""
    sideways: bool = False
    """Also what is not smaller: only in passes that run once."""


_MODES = (
    Mode(everything=True, sideways=True),
    Mode(everything=False),
    Mode(everything=False),
    Mode(everything=False),
    Mode(everything=True),
)
_ONCE, _ROUNDS, _CLOSING, _END = 1, 2, 3, 5


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a schedule: a pass, and what came of those before it. Immutable.

    `round` is 0 before the rounds. `helped` says whether any pass of the
    present stage has made the text smaller.
    """

    schedule: Schedule
    stage: int = 0
    at: int = 0
    round: int = 0
    helped: bool = False

    @property
    def each(self) -> Pass:
        """The pass."""
        return self._passes()[self.at]

    @property
    def mode(self) -> Mode:
        """Which of its candidates are worth a run."""
        return _MODES[self.stage]

    def after(self, helped: bool) -> Place | None:
        """Return the place after the pass, by whether it has helped; None at the end."""
        place = replace(self, at=self.at + 1, helped=self.helped or helped)
        return place._settled()

    def ahead(self) -> Iterator[Place]:
        """Yield the places that follow as long as no pass helps."""
        place = self.after(False)
        while place is not None:
            yield place
            place = place.after(False)

    def _passes(self) -> Sequence[Pass]:
        schedule = self.schedule
        return (
            schedule.prepare,
            schedule.once,
            schedule.rounds,
            schedule.closing,
            schedule.sweep or schedule.rounds,
        )[self.stage]

    def _settled(self) -> Place | None:
        """Go on to the next stage where this one has ended."""
        place, schedule = self, self.schedule
        while place.at >= len(place._passes()):
            stage = _ROUNDS if place.helped and place.stage >= _ROUNDS else place.stage + 1
            if stage == _END or (schedule.quick and place.stage == _last_if_quick(schedule)):
                return None
            begins = stage == _ROUNDS
            place = Place(schedule, stage, 0, place.round + begins)
        return place


def _last_if_quick(schedule: Schedule) -> int:
    return _ONCE if schedule.once else _CLOSING


def first_place(schedule: Schedule) -> Place | None:
    """Return the first place of a schedule; None if it has no passes."""
    if not (schedule.prepare or schedule.once or schedule.rounds or schedule.closing):
        return None
    return Place(schedule)._settled()
