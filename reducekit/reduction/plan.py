"""Which pass comes next: the order of a schedule, repeated until no pass helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import NamedTuple

from reducekit.errors import UsageError
from reducekit.format import Pass, Schedule

STAGES: dict[str, str] = {
    "prepare": "first, once",
    "once": "then, once",
    "rounds": "in rounds, while any of them helps",
    "closing": "on the result of the rounds",
    "sweep": "once more, on the result of all",
    "thorough": "where nothing else helps, with thorough effort",
}
"""The stages of a schedule in order, each with its description."""


class PassChoice(NamedTuple):
    """Which passes of a schedule to run: those in `only` if it is given, except those in `without`.

    Names ignore case, and treat blanks, dashes and underscores alike. The passes `own`, which are
    the user's, come last in each round.
    """

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    own: tuple[Pass, ...] = ()

    def of(self, schedule: Schedule) -> Schedule:
        """Return the schedule restricted to these passes.

        Raises UsageError for an unknown name, or if no pass is left.
        """
        if self.own:
            alone = schedule.alone.union(each.name for each in self.own)
            schedule = replace(schedule, rounds=(*schedule.rounds, *self.own), alone=alone)
        if not self.only and not self.without:
            return schedule
        stages = {name: getattr(schedule, name) for name in STAGES}
        known = {_key(each.name): each.name for stage in stages.values() for each in stage}
        for option, names in (("only", self.only), ("without", self.without)):
            for name in names:
                if _key(name) not in known:
                    close = get_close_matches(_key(name), known, 1)
                    hint = f" Did you mean {known[close[0]]!r}?" if close else ""
                    there = ", ".join(sorted(known.values()))
                    raise UsageError(f"`{option}`: unknown pass {name!r}.{hint} Passes: {there}")
        chosen = {*map(_key, self.only or known)} - {*map(_key, self.without)}
        kept = {
            stage: tuple(each for each in passes if _key(each.name) in chosen)
            for stage, passes in stages.items()
        }
        if not any(kept.values()):
            raise UsageError("`only` and `without` exclude every pass: there is nothing to try")
        return replace(schedule, **kept)  # type: ignore[arg-type]  # all are sequences of passes


def _key(name: str) -> str:
    return name.casefold().replace("-", " ").replace("_", " ")


class Mode(NamedTuple):
    """Which candidates are worth a run."""

    everything: bool
    """Include candidates refuted before that would be skipped as unchanged since."""
    allow_growth: bool = False
    """Include candidates that are not smaller: one of them begins a transaction (see `best`)."""


_PREPARE, _ONCE, _ROUNDS, _CLOSING, _SWEEP, _THOROUGH, _END = range(7)


class SchedulePosition(NamedTuple):
    """A position in a schedule: a pass, and the outcome of those before it. Immutable.

    `round` is 0 before the rounds. `helped` tells whether any pass of the current stage has made
    the text smaller.
    """

    schedule: Schedule
    stage: int = 0
    at: int = 0
    round: int = 0
    helped: bool = False
    swept: bool = False
    """Whether a sweep has tried everything: the next one starts with what has changed since."""
    allow_growth: bool = True
    """Whether the preparing passes may make the text larger."""

    @property
    def pass_(self) -> Pass:
        """The pass."""
        return self._passes()[self.at]

    @property
    def mode(self) -> Mode:
        """Which of the pass's candidates are worth a run."""
        # A preparing pass may lead upward: its end is paid for by what the others remove then.
        growing = self.stage == _PREPARE and self.allow_growth
        # The first sweep tries all again that was skipped for its surroundings, as these may have
        # changed further away than `LocalContext` looks. Later ones only look at what is new.
        sweeps = self.stage == _SWEEP and not self.swept
        return Mode(self.stage == _PREPARE or sweeps, growing)

    @property
    def draws(self) -> bool:
        """Whether the pass draws its candidates at random, and so never runs out of them."""
        return self.pass_.name in self.schedule.drawn

    def after(self, helped: bool) -> SchedulePosition | None:
        """Return the next position, given whether this pass helped; None at the end."""
        position = self._replace(at=self.at + 1, helped=self.helped or helped)
        return position._settled()

    def surely(self) -> SchedulePosition | None:
        """Return the first position of what is tried in any case, where the search ends early."""
        schedule = self.schedule
        if schedule.vain == 1:  # these were tried
            return None
        rounds = [each for each in schedule.rounds if each.name in schedule.surely]
        schedule = replace(
            schedule, vain=1.0, drawn=frozenset(), rounds=rounds, closing=(), sweep=(), thorough=()
        )
        return SchedulePosition(schedule, _SWEEP, round=self.round)._settled()

    def _passes(self) -> Sequence[Pass]:
        schedule = self.schedule
        return (
            schedule.prepare,
            schedule.once,
            schedule.rounds,
            schedule.closing,
            schedule.sweep or schedule.rounds,
            schedule.thorough if schedule.effort == "thorough" else (),
        )[self.stage]

    def _settled(self) -> SchedulePosition | None:
        """Move to the next stage if this one has ended."""
        position, schedule = self, self.schedule
        while position.at >= len(position._passes()):
            # Anything that helped after the rounds began may have made room for the cheap passes,
            # so these come first again: an expensive pass runs on as small a text as can be.
            stage = _ROUNDS if position.helped and position.stage >= _ROUNDS else position.stage + 1
            swept = position.swept or position.stage == _SWEEP
            if position.stage == _SWEEP and position.swept and not position.helped:
                # What has changed since the last sweep does not help: try everything again.
                stage, swept = _SWEEP, False
            last_if_quick = _ONCE if schedule.once else _CLOSING
            if stage == _END or (schedule.effort == "quick" and position.stage == last_if_quick):
                return None
            begins = stage == _ROUNDS
            # `allow_growth` is of the first stage, which no position comes back to.
            position = SchedulePosition(schedule, stage, 0, position.round + begins, swept=swept)
        return position


def first_position(schedule: Schedule, allow_growth: bool = True) -> SchedulePosition | None:
    """Return the first position of a schedule; None if it has no passes."""
    if not (schedule.prepare or schedule.once or schedule.rounds or schedule.closing):
        return None
    return SchedulePosition(schedule, allow_growth=allow_growth)._settled()
