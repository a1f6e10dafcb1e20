"""The order of the passes: stages, rounds, and where a quick schedule ends."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import pytest

from reducekit.errors import UsageError
from reducekit.format import Schedule
from reducekit.reduction.plan import PassChoice, first_position


@dataclass(frozen=True)
class Named:
    name: str

    def problem(self, view: Any) -> None:
        return None


P, A, B, R, C, S = map(Named, "PABRCS")
WHOLE = Schedule(prepare=(P,), once=(A, B), rounds=(R,), closing=(C,), sweep=(S,))


def order(schedule: Schedule, helping: Collection[int] = ()) -> str:
    """Return the names of the passes in order, where those at the numbers `helping` help."""
    place, names = first_position(schedule), ""
    while place is not None:
        names += place.pass_.name
        place = place.after(len(names) - 1 in helping)
    return names


@pytest.mark.parametrize(
    ("helping", "names"),
    [
        ((), "PABRCS"),
        ((0, 1, 2), "PABRCS"),
        ((3,), "PABRRCS"),
        ((4,), "PABRCRCS"),
        ((5,), "PABRCSRCSS"),  # the last time in full
    ],
)
def test_the_rounds_go_on_while_a_pass_of_their_stage_or_behind_helps(
    helping: tuple[int, ...], names: str
) -> None:
    assert order(WHOLE, helping) == names


def test_without_a_sweep_it_is_the_rounds() -> None:
    assert order(replace(WHOLE, sweep=())) == "PABRCR"


@pytest.mark.parametrize(
    ("helping", "tried"),
    [((5,), "PABRCSrcsS"), ((5, 8), "PABRCSrcsrcsS"), ((5, 9), "PABRCSrcsSrcsS")],
)
def test_a_sweep_that_follows_another_begins_with_what_has_changed(
    helping: Collection[int], tried: str
) -> None:
    """Small letters: what was refuted is not tried again where nothing has changed."""
    place, found = first_position(WHOLE), ""
    while place is not None:
        first = len(found) < 6 or place.mode.everything
        found += place.pass_.name if first else place.pass_.name.lower()
        place = place.after(len(found) - 1 in helping)
    assert found == tried


@pytest.mark.parametrize("helping", [(), (1, 2)])
def test_a_quick_schedule_ends_with_what_runs_once(helping: tuple[int, ...]) -> None:
    assert order(replace(WHOLE, effort="quick"), helping) == "PAB"


def test_a_quick_schedule_without_such_passes_ends_before_the_sweep() -> None:
    quick = replace(WHOLE, once=(), effort="quick")
    assert order(quick) == "PRC"
    assert order(quick, (1, 2, 4)) == "PRRRC", "the closing passes are not followed by rounds"


def test_a_schedule_without_passes_has_no_place() -> None:
    assert order(Schedule(rounds=())) == ""
    assert order(Schedule(rounds=(), closing=(C,), effort="quick")) == "C"


def test_rounds_are_counted() -> None:
    place, rounds = first_position(WHOLE), ""
    while place is not None:
        rounds += str(place.round)
        place = place.after(len(rounds) in (4, 5))
    assert rounds == "0001233" + "3"


def test_passes_are_chosen_by_name_however_it_is_written() -> None:
    schedule = Schedule(once=(Named("Drop Lines"), Named("quick one")), rounds=(Named("terms"),))
    assert PassChoice().of(schedule) is schedule
    only = PassChoice(only=("drop-LINES", "Terms")).of(schedule)
    assert (only.once, only.rounds) == (schedule.once[:1], schedule.rounds)
    without = PassChoice(without=("quick_one",)).of(schedule)
    assert (without.once, without.rounds) == (schedule.once[:1], schedule.rounds)
    both = PassChoice(("terms", "quick one"), ("TERMS",)).of(schedule)
    assert (both.once, both.rounds) == (schedule.once[1:], ())


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (PassChoice(only=("A", "Q")), "`only`: unknown pass 'Q'. Passes: A, B, C, P, R, S"),
        (
            PassChoice(without=("PP",)),
            "`without`: unknown pass 'PP'. Did you mean 'P'? Passes: A, B, C, P, R, S",
        ),
        (
            PassChoice(only=("A",), without=("a",)),
            "`only` and `without` exclude every pass: there is nothing to try",
        ),
    ],
)
def test_a_choice_that_cannot_be_made(choice: PassChoice, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        choice.of(WHOLE)
    assert str(caught.value) == message


def test_thorough_passes_come_last_and_only_if_asked_for() -> None:
    thorough = replace(WHOLE, thorough=(Named("T"),))
    assert order(thorough) == "PABRCS"
    assert order(replace(thorough, effort="thorough")) == "PABRCST"


def test_a_search_that_ends_early_still_tries_what_it_surely_tries() -> None:
    """All of it again while that helps, also where `drawn` would leave it out."""
    schedule = Schedule(rounds=(R, A), vain=0.25, surely=frozenset("A"), drawn=frozenset("A"))
    begin = first_position(schedule)
    assert begin is not None
    place, names = begin.surely(), ""
    while place is not None:
        assert not place.draws
        assert place.schedule.vain == 1
        names += place.pass_.name
        place = place.after(len(names) == 1)
    assert names == "AAAA"  # as a sweep, as a round, and a sweep of what changed, then of all
    assert PassChoice(without=("A",)).of(schedule).rounds == (R,)
    assert begin._replace(schedule=replace(schedule, rounds=(R,))).surely() is None


def test_thorough_effort_lifts_what_ends_a_search_early() -> None:
    schedule = Schedule(rounds=(R,), vain=0.25, drawn=frozenset("R")).to_the_end()
    assert (schedule.vain, schedule.drawn) == (1.0, frozenset())
    assert WHOLE.to_the_end() is WHOLE
