"""What is near a short trace, played many at a time: here by failures that are made up."""

from collections.abc import Callable, Sequence
from itertools import islice

import pytest

from reducekit.document import Patched
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.model.check import first_violation
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.passes.batches import smaller
from reducekit.frontends.trace.passes.neighbours import Neighbours, Sideways, surely_lawful, walks
from reducekit.frontends.trace.passes.options import OptionMode
from reducekit.frontends.trace.passes.view import TraceView

LINGELING = load_model("lingeling")
Fails = Callable[[list[str]], bool]


def view_of(text: str, fails: Fails, played: list[int] | None = None) -> TraceView:
    """Return a trace, one call a word with _ for blanks, that fails if its calls as words do."""

    def first_failing(traces: Sequence[Sequence[Call]]) -> int | None:
        for number, calls in enumerate(traces):
            if played is not None:
                played.append(len(calls))
            if fails([str(call) for call in calls]):
                return number
        return None

    lines = "".join(line.replace("_", " ") + "\n" for line in text.split())
    return TraceView(read_trace(lines.encode(), "lgl"), LINGELING, first_failing=first_failing)


def reduced(text: str, fails: Fails, options: OptionMode = "all") -> list[str]:
    """Return the calls, as words, that are left where `Neighbours` finds nothing any more."""
    view = view_of(text, fails)
    assert fails([str(call) for call in view.bare])
    while (found := Neighbours(options).problem(view)) is not None:
        (move,) = found.moves(0)
        calls = read_trace(Patched(view.document).render_with(dict(move.change.edits)), "lgl").calls
        assert first_violation(calls, LINGELING) is None
        view = view.of(calls)
    return [str(call) for call in view.bare]


def test_one_option_takes_the_place_of_two() -> None:
    def fails(calls: list[str]) -> bool:
        both = "option elim 0" in calls and "option block 0" in calls
        return "sat" in calls and (both or "option unhide 0" in calls)

    found = reduced("init option_elim_0 option_block_0 sat", fails)
    assert found == ["init", "option unhide 0", "sat"]
    found = reduced("init option_elim_0 option_block_0 sat", fails, "explicit")
    assert found == ["init", "option elim 0", "option block 0", "sat"]


def test_a_solve_takes_the_place_of_another() -> None:
    def fails(calls: list[str]) -> bool:
        return calls[-1] == "lkhd" or ("add 1" in calls and calls[-1] == "sat")

    assert reduced("init add_1 add_0 sat", fails, "none") == ["init", "lkhd"]


def test_a_literal_is_another_one_where_a_clause_goes() -> None:
    def fails(calls: list[str]) -> bool:
        return "sat" in calls and ("assume -3" in calls or {"add 2", "assume 1"} <= {*calls})

    assert reduced("init add_2 add_3 add_0 assume_1 sat", fails, "none")[1:] in (
        ["assume -3", "sat"],
        ["sat", "assume -3"],
    )


def test_variables_change_places_where_an_option_goes() -> None:
    def fails(calls: list[str]) -> bool:
        adds = [call for call in calls if call.startswith("add")]
        given = "option elim 0" in calls and adds == ["add 1", "add 2", "add 0", "add 1", "add 0"]
        return given or adds == ["add 2", "add 1", "add 0", "add 2", "add 0"]

    found = reduced("init option_elim_0 add_1 add_2 add_0 add_1 add_0", fails)
    assert found == ["init", "add 2", "add 1", "add 0", "add 2", "add 0"]


def test_several_things_go_in_one_step() -> None:
    clauses = " ".join(f"add_{number} add_0" for number in range(1, 11))

    def fails(calls: list[str]) -> bool:
        return {"add 2", "add 7", "sat"} <= {*calls} and len(calls) % 2 == 0

    view, steps = view_of(f"init {clauses} sat", fails), 0
    neighbours = Neighbours("none")
    while (found := neighbours.problem(view)) is not None:
        (move,) = found.moves(0)
        left = Patched(view.document).render_with(dict(move.change.edits))
        view, steps = view.of(read_trace(left, "lgl").calls), steps + 1
    assert len(view.bare) == 6
    assert steps <= 4  # eight clauses, two at a time by pairs alone


def test_a_replay_is_filled_before_the_next_one_begins() -> None:
    seen: list[int] = []

    def none(traces: Sequence[Sequence[Call]]) -> None:
        seen.append(sum(len(each) + 1 for each in traces))

    view = view_of("init add_1 add_2 add_0 sat", lambda calls: False)
    view.first_failing = none
    some = ([Call("init", ()), Call("add", (n,)), Call("add", (0,))] for n in range(1, 99_999))
    assert smaller(view, some, 50_000) is None
    assert seen == [20_000, 20_000, 10_000]


def test_what_has_no_neighbours_has_none_with_other_numbers_either() -> None:
    played: list[int] = []
    neighbours = Neighbours("none")
    for text, more in (("add_3 add_-5", True), ("add_1 add_-2", False), ("add_2 add_-1", True)):
        before = len(played)
        view = view_of(f"init {text} add_0 sat", lambda calls: False, played)
        assert neighbours.problem(view) is None
        assert (len(played) > before) == more


def test_numbers_and_signs_change_at_once() -> None:
    def fails(calls: list[str]) -> bool:
        return calls[1:] in (
            ["add -17", "add -30", "add 0", "sat"],
            ["add 1", "add 2", "add 0", "sat"],
        )

    assert reduced("init add_-17 add_-30 add_0 sat", fails)[1:3] == ["add 1", "add 2"]


def test_a_long_trace_is_not_played_anew_for_fewer_bytes() -> None:
    clauses = " ".join(f"add_{number} add_0" for number in range(40, 60))

    def fails(calls: list[str]) -> bool:
        return len(calls) >= 42

    view = view_of(f"init {clauses} sat", fails)
    assert Neighbours("none").problem(view) is None


def test_no_more_is_played_than_is_wanted_nor_made_than_is_played() -> None:
    played: list[int] = []
    view = view_of("init add_1 add_2 add_0 sat", lambda calls: False, played)
    made: list[int] = []

    def endless() -> object:
        number = 0
        while True:
            number += 1
            made.append(number)
            yield [Call("init", ()), Call("add", (number,)), Call("add", (0,))]

    assert smaller(view, endless(), 50_000) is None  # type: ignore[arg-type]
    assert sum(played) + len(played) <= 50_000
    assert len(made) <= len(played) + 1
    assert len({*made}) == len(made)


def test_walks_are_the_same_each_time_and_keep_to_the_contract() -> None:
    view = view_of("init option_elim_0 add_1 add_-2 add_0 freeze_1 sat melt_1 sat", lambda c: False)
    some = [*islice(walks(view, "all"), 500)]
    assert some == [*islice(walks(view, "all"), 500)]
    for calls in some:
        assert first_violation(calls, LINGELING) is None
    assert {call.name for calls in some for call in calls} > {"lkhd", "assume", "option"}
    assert all(
        call.name != "option" or call.arguments == ("elim", 0)
        for calls in islice(walks(view, "none"), 500)
        for call in calls
    )


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("init assume_1 sat", True),
        ("init assume_1 sat failed_1", False),  # if it is not satisfiable
        ("init add_1 add_0 sat deref_1", False),
        ("init add_1 add_0 sat reuse_1", False),
        ("init add_1 sat", False),
    ],
)
def test_what_is_lawful_whatever_is_returned(text: str, *, sure: bool) -> None:
    view = view_of(text, lambda calls: False)
    assert surely_lawful(view, view.bare, frozenset()) is sure


def test_a_trace_as_long_leads_on() -> None:
    def fails(calls: list[str]) -> bool:
        clause = [f"add {each}" for each in (1, 2, 3, 4, 5, 6, 0)]
        other = [f"add {each}" for each in (1, 2, 3, 4, 5, 7, 0)]
        if "sat" not in calls:
            return False
        middle = calls[1 : calls.index("sat")]
        return middle in (["freeze 7", *clause], ["freeze 7", *other]) or middle == other

    text = "init freeze_7 add_1 add_2 add_3 add_4 add_5 add_6 add_0 sat"
    view = view_of(text, fails)
    found = Sideways("none").problem(view)
    assert found is not None
    (move,) = found.moves(0)
    left = Patched(view.document).render_with(dict(move.change.edits))
    assert b"add 7\n" in left
    assert b"freeze" not in left


def test_from_a_trace_as_long_an_option_takes_the_place_of_a_call() -> None:
    def fails(calls: list[str]) -> bool:
        called = [call for call in calls[1:] if not call.startswith("option")]
        by_call = called[:-1] == ["simp 0", "add 2", "add 0", "sat"]
        by_option = called == ["add 2", "add 0", "sat", "lkhd"] and "option simplify 0" in calls
        return by_option or (by_call and called[-1] in ("simp 1", "lkhd"))

    view = view_of("init simp_0 add_2 add_0 sat simp_1", fails)
    assert Neighbours("all").problem(view) is None
    found = Sideways("all").problem(view)
    assert found is not None
    (move,) = found.moves(0)
    left = Patched(view.document).render_with(dict(move.change.edits))
    assert b"option simplify 0\n" in left
    assert left.endswith(b"add 2\nadd 0\nsat\nlkhd\n")
    assert b"simp 0" not in left
