"""Many small traces in one replay: the first that fails is found, whatever the others do."""

import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.model.check import first_violation
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.passes.neighbours import Neighbours
from reducekit.frontends.trace.passes.options import OptionMode
from reducekit.frontends.trace.passes.schedule import OPTION_MODES
from reducekit.frontends.trace.passes.view import TraceView
from reducekit.frontends.trace.player import ReplayOutcome, ReplayServer, find_library, read_fault
from reducekit.frontends.trace.player.batch import BatchReplay, Reach, Trust
from tests.frontends.trace.patches import resolve

LINGELING = load_model("lingeling")
PASSES = "init/sat"
FAILS = "init/freeze 1/melt 1"
BREAKS = "init/add 1/add 0/sat/add 1"


def calls_of(text: str) -> Sequence[Call]:
    lines = text.replace("/", "\n") + "\n"
    return [Call(each.name, each.arguments) for each in read_trace(lines.encode(), "lgl").calls]


class Counted:
    """A faulty Lingeling: it aborts in lglmelt."""

    def __init__(self, server: ReplayServer) -> None:
        self.server = server
        self.runs = 0
        self.many = BatchReplay(self.replay, Call("release", ()), server.replay(calls_of(FAILS)))

    def replay(self, calls: Sequence[Call]) -> ReplayOutcome:
        self.runs += 1
        return self.server.replay(calls)


@pytest.fixture(name="faulty", scope="module")
def faulty_lingeling() -> Iterator[ReplayServer]:
    library = find_library("lingeling")
    fault = read_fault("lglmelt+1:abort")
    assert fault is not None
    with ReplayServer(library, patch=resolve(fault, library.path)) as server:
        yield server


def test_one_replay_for_many_that_pass(faulty: ReplayServer) -> None:
    counted = Counted(faulty)
    assert counted.many.first([calls_of(PASSES)] * 500) is None
    assert counted.runs == 1


def test_the_first_that_fails(faulty: ReplayServer) -> None:
    counted = Counted(faulty)
    traces = [calls_of(PASSES)] * 300 + [calls_of(FAILS)] * 2
    assert counted.many.wanted.signal == signal.SIGILL
    assert counted.many.first(traces) == 300
    assert counted.runs == 2  # once among the others, once by itself


def test_what_ends_in_another_way_is_passed_over(faulty: ReplayServer) -> None:
    counted = Counted(faulty)
    traces = [calls_of(each) for each in (PASSES, BREAKS, PASSES, BREAKS, FAILS)]
    assert counted.many.first(traces) == 4
    assert counted.runs == 3  # the last one begins a process: it is not played once more


def test_what_dies_when_the_solver_is_taken_down_is_no_failure(faulty: ReplayServer) -> None:
    counted = Counted(faulty)
    dies = replace(counted.many.wanted, last_call=len(calls_of(PASSES)))
    many = replace(counted.many, replay=lambda calls: dies)
    assert many.first([calls_of(PASSES)]) is None


def test_long_ones_take_a_replay_each(faulty: ReplayServer) -> None:
    counted = Counted(faulty)
    long = calls_of("init/" + "/".join(["add 1", "add 0"] * 6000))
    assert counted.many.first([long, long, calls_of(FAILS)]) == 2
    assert counted.runs == 3


def test_nothing_to_play(faulty: ReplayServer) -> None:
    assert Counted(faulty).many.first([]) is None


@pytest.mark.parametrize("options", OPTION_MODES)
def test_the_smallest_neighbour_first_and_none_breaks_the_contract(options: OptionMode) -> None:
    text = (
        b"init\noption elim 0\noption block 0\nfreeze 2\nadd 1\nadd -2\nadd 0\nassume 2\nsat\n"
        b"deref 2\nmelt 2\nadd 3\nadd 0\nsat\n"
    )
    seen: list[Sequence[Sequence[Call]]] = []

    def none(traces: Sequence[Sequence[Call]]) -> None:
        seen.append(traces)

    view = TraceView(read_trace(text, "lgl"), LINGELING, first_failing=none)
    assert Neighbours(options).problem(view) is None
    traces = [each for batch in seen for each in batch]
    assert len(traces) > 300
    for batch in seen:
        assert sum(len(each) + 1 for each in batch) <= 20_000  # as many as one replay takes
        sizes = [
            (len(each) - given, given)
            for each in batch
            for given in [sum(call.name == "option" for call in each)]
        ]
        assert sizes == sorted(sizes)
        assert max(sizes) <= (12, 2)
    given = {call for each in traces for call in each if call.name == "option"}
    if options == "none":
        assert {len([c for c in each if c.name == "option"]) for each in traces} == {2}
    if options == "explicit":
        assert {call.arguments[0] for call in given} == {"elim", "block"}
    if options == "all":
        assert len(given) > 200
    for each in traces:
        assert first_violation(each, LINGELING) is None, each


def fresh(number: int) -> Sequence[Call]:
    """Return a trace that passes, and that nobody has played before."""
    return calls_of(f"init/add {number}/add 0/sat")


def test_what_failed_again_often_enough_is_trusted(faulty: ReplayServer) -> None:
    counted = Counted(faulty)
    proved: list[tuple[Sequence[Call], ReplayOutcome]] = []
    trust = Trust()
    many = replace(counted.many, prove=lambda *known: proved.append(known), trust=trust)
    costs = []
    for number in range(1, 4):
        before = counted.runs
        assert many.first([fresh(number), calls_of(FAILS), fresh(number + 100)]) == 1
        costs.append(counted.runs - before)
        assert trust.earned == (number > 1)
    assert costs == [2, 2, 1]
    alone = faulty.replay(calls_of(FAILS))
    assert len(proved) == 3
    for calls, outcome in proved:
        assert calls == calls_of(FAILS)
        assert (outcome.kind, outcome.signal, outcome.last_call) == (
            alone.kind,
            alone.signal,
            alone.last_call,
        )
        assert [*outcome.results] == [*alone.results]
    trust.note(again=False)
    for _ in range(9):
        trust.note(again=True)
    assert not trust.earned


def test_what_has_passed_is_not_played_again(faulty: ReplayServer) -> None:
    counted = Counted(faulty)
    some = [fresh(number) for number in range(1, 9)]
    assert counted.many.first([*some, calls_of(FAILS)]) == 8
    before = counted.runs
    assert counted.many.first(some) is None
    assert counted.runs == before
    assert counted.many.first([*some, calls_of(FAILS)]) == 8  # it has a fresh process now
    assert counted.runs == before + 1


def test_what_breaks_the_contract_is_passed_over(faulty: ReplayServer) -> None:
    counted = Counted(faulty)
    refused = calls_of(FAILS)
    many = replace(counted.many, lawful=lambda calls, outcome: calls != refused)
    other = calls_of("init/freeze 2/melt 2")
    assert many.first([fresh(1), refused, other]) == 2


def test_where_what_fails_passes_by_itself_processes_are_not_shared(faulty: ReplayServer) -> None:
    counted = Counted(faulty)
    trust = Trust(agreed=10)
    many = replace(counted.many, trust=trust)
    for _ in range(19):
        trust.note(again=False)
        assert not trust.lost
    trust.note(again=False)
    assert trust.lost
    assert many.first([calls_of(FAILS)]) is None
    assert not Trust(refused=9).lost
    assert Trust(refused=10).lost


def test_traces_follow_none_that_runs_out_of_time() -> None:
    reach = Reach()
    many = reach.traces
    reach.note(5, stray=True)
    assert 5 < reach.traces < many
    reach.note(5, stray=True, late=True)
    assert reach.traces == 1
    while reach.traces < many:
        reach.note(1, stray=False)
    reach.note(0, stray=False, late=True)  # the failure is a hang
    assert reach.traces > many // 2
