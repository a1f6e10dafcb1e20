"""Small random formulas in place of a long trace's clauses."""

from collections.abc import Callable, Sequence

import pytest

from reducekit.document import Patched
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.model.check import first_violation
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.passes.batches import RandomFormulas
from reducekit.frontends.trace.passes.options import OptionMode
from reducekit.frontends.trace.passes.view import TraceView

LINGELING = load_model("lingeling")
MINISAT = load_model("minisat")
Fails = Callable[[Sequence[str]], bool]

CLAUSES = [line for each in range(1, 300) for line in (f"add {each}", f"add -{each + 1}", "add 0")]
LONG = ["init", "option elim 0", "freeze 1", "assume 7", *CLAUSES, "sat", "lkhd"]


class Player:
    """Says which of many traces fails first, and keeps what was played."""

    def __init__(self, fails: Fails) -> None:
        self.fails = fails
        self.replays: list[Sequence[Sequence[str]]] = []

    def __call__(self, traces: Sequence[Sequence[Call]]) -> int | None:
        spelt = [[str(call) for call in calls] for calls in traces]
        self.replays.append(spelt)
        failing = (number for number, calls in enumerate(spelt) if self.fails(calls))
        return next(failing, None)


def found(
    player: Player, options: OptionMode = "all", lines: Sequence[str] = LONG
) -> Sequence[str] | None:
    trace = read_trace("".join(line + "\n" for line in lines).encode(), "lgl")
    view = TraceView(trace, LINGELING, first_failing=player)
    problem = RandomFormulas(options).problem(view)
    if problem is None:
        return None
    (move,) = problem.moves(0)
    text = Patched(view.document).render_with(dict(move.change.edits))
    return [str(call) for call in read_trace(text, "lgl").calls]


def clauses(calls: Sequence[str]) -> int:
    return sum(call == "add 0" for call in calls)


def test_a_failure_that_takes_any_ten_clauses_ends_at_about_ten_of_them() -> None:
    calls = found(Player(lambda calls: clauses(calls) >= 10 and calls[-1] == "lkhd"))
    assert calls is not None
    assert 10 <= clauses(calls) <= 12
    assert len(calls) < 50


@pytest.mark.parametrize("needs", ["sat", "freeze", "assume"])
def test_other_calls_of_the_trace_come_with_some_formulas(needs: str) -> None:
    player = Player(lambda calls: any(call.split()[0] == needs for call in calls))
    calls = found(player, lines=LONG[:-1])
    assert calls is not None
    assert any(call.split()[0] == needs for call in calls)


def test_all_keep_to_the_contract_and_there_are_two_replays() -> None:
    player = Player(lambda calls: False)
    assert found(player) is None
    assert len(player.replays) == 2
    for replay in player.replays:
        assert sum(len(calls) + 1 for calls in replay) <= 20_000
        for calls in replay:
            text = "".join(line + "\n" for line in calls).encode()
            assert first_violation(read_trace(text, "lgl").calls, LINGELING) is None
    assert len({tuple(calls) for replay in player.replays for calls in replay}) > 700


def test_those_without_options_come_first() -> None:
    player = Player(lambda calls: False)
    found(player)
    first, last = player.replays
    assert not any("option elim 0" in calls for calls in first)
    assert all("option elim 0" in calls for calls in last)


def test_options_stay_where_they_are_not_to_be_reduced() -> None:
    player = Player(lambda calls: False)
    found(player, "none")
    assert all("option elim 0" in calls for replay in player.replays for calls in replay)


def test_the_same_are_made_of_the_same_trace() -> None:
    one, other = Player(lambda calls: False), Player(lambda calls: False)
    found(one)
    found(other)
    assert one.replays == other.replays


def test_clauses_are_added_by_the_call_that_adds_most() -> None:
    player = Player(lambda calls: False)
    lines = ["init", "constrain 1", "constrain 0", *CLAUSES, "solve"]
    cadical = load_model("cadical")
    trace = read_trace("".join(line + "\n" for line in lines).encode(), cadical.formats[0])
    RandomFormulas("all").problem(TraceView(trace, cadical, first_failing=player))
    assert any(call.startswith("add ") for calls in player.replays[0] for call in calls)
    assert not any(call.startswith("constrain") for calls in player.replays[0] for call in calls)


def test_nothing_is_made_where_traces_are_played_alone_or_clauses_are_one_call() -> None:
    trace = read_trace("".join(line + "\n" for line in LONG).encode(), "lgl")
    assert RandomFormulas("all").problem(TraceView(trace, LINGELING)) is None
    player = Player(lambda calls: True)
    one_call = read_trace(b"init\nnew_var\nadd_clause 1\nsolve\n", MINISAT.formats[0])
    view = TraceView(one_call, MINISAT, first_failing=player)
    assert RandomFormulas("all").problem(view) is None
    assert not player.replays
