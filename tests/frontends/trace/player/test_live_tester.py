"""LiveTester: traces that are made, played and checked in one replay."""

import signal
from collections.abc import Iterator
from itertools import pairwise

import pytest

from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import print_trace
from reducekit.frontends.trace.model.check import first_violation
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import (
    DEFAULT_LIMITS,
    Patch,
    ReplayServer,
    find_library,
    read_fault,
)
from reducekit.frontends.trace.player.answers import rounds_of
from reducekit.frontends.trace.player.checker import AnswerChecker
from reducekit.frontends.trace.player.faults import read_code
from reducekit.frontends.trace.player.live_replay import LiveReplay
from reducekit.frontends.trace.player.live_tester import TOGETHER, LiveTester, Trial
from reducekit.frontends.trace.player.target import fitted
from reducekit.hunt.testers import CHUNK
from tests.frontends.trace.patches import resolve

APIS = ("lingeling", "cadical", "ipasir")
OTHER = "cadical153"


@pytest.fixture(scope="module")
def live() -> Iterator[LiveReplay]:
    with LiveReplay(find_library("lingeling")) as opened:
        yield opened


def calls_of(text: str) -> list[Call]:
    return [
        Call(name, tuple(map(int, arguments)))
        for name, *arguments in (each.split() for each in text.split(";"))
    ]


@pytest.mark.parametrize("api", APIS)
def test_answers_of_a_sound_library_are_right(api: str) -> None:
    library, reference = find_library(api), find_library("ipasir", OTHER)
    generator = Generator(fitted(load_model(api), library), variables=40)
    answers = set()
    with LiveTester(generator, library, reference=reference) as trials:
        for seed in range(30):
            trial = trials.run(seed)
            assert (trial.outcome.kind, trial.checked, trial.wrong) == ("ok", True, None)
            rounds = rounds_of(trial.made.calls, trial.outcome.results, api)[1]
            answers |= {each.answer for each in rounds}
    assert answers == {10, 20}


def test_being_watched_changes_nothing() -> None:
    generator, library = Generator(load_model("lingeling"), variables=40), find_library("lingeling")
    with (
        LiveTester(generator, library) as alone,
        LiveTester(generator, library, reference=find_library("ipasir", OTHER)) as watched,
    ):
        for seed in range(20):
            one, other = alone.run(seed), watched.run(seed)
            assert (one.checked, other.checked) == (False, True)
            texts = [print_trace(each.made.recorded(), "lgl") for each in (one, other)]
            assert texts[0] == texts[1]


def test_the_same_seeds_give_the_same_bytes() -> None:
    """Whatever was made before, and in another process that plays."""
    generator, library = Generator(load_model("lingeling")), find_library("lingeling")
    made = []
    for seeds in ((5, 1, 2), (2, 5, 1)):
        with LiveTester(generator, library) as trials:
            made.append(
                {seed: print_trace(trials.run(seed).made.recorded(), "lgl") for seed in seeds}
            )
    assert made[0] == made[1]
    assert len(set(made[0].values())) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", ["none", "lglextend+0x110:delete=eb07", "lglmelt+1:abort", "lglfixate+1:abort"]
)
def test_company_changes_nothing(fault: str) -> None:
    """Traces that share a process are, answer and end as each does in one of its own."""
    library, reference = find_library("lingeling"), find_library("ipasir", OTHER)
    generator = Generator(load_model("lingeling"), variables=12)
    read = read_fault(fault)
    patch = None if read is None else resolve(read, library.path)
    found = []
    for seeds in (range(2 * TOGETHER + 3), range(2 * TOGETHER + 2, -1, -1)):
        with LiveTester(generator, library, patch=patch, reference=reference) as trials:
            found.append({seed: _facts(trials.run(seed)) for seed in seeds})
    assert found[0] == found[1]


def _facts(trial: Trial) -> tuple[object, ...]:
    outcome = trial.outcome
    ended = (outcome.kind, outcome.signal, outcome.last_call, list(outcome.results))
    return (trial.made.recorded(), *ended, trial.checked, trial.wrong, trial.company)


def test_processes_are_shared_in_rows() -> None:
    """Where a row begins decides what is shared, so others that test seeds see the same."""
    generator, library = Generator(load_model("lingeling"), variables=10), find_library("lingeling")
    with LiveTester(generator, library) as trials:
        shared = []
        for seed in (*range(5, 27), 40, 41, 3):
            trials.run(seed)
            shared.append(trials._live.company)
    assert shared == [*range(TOGETHER), *range(TOGETHER), 0, 1, 0, 1, 0]
    assert CHUNK % TOGETHER == 0


def test_what_dies_of_several_traces_is_all_of_them() -> None:
    """A release that sets the rounding of the x87, and dies if it is set: of the second trace."""
    library = find_library("lingeling")
    code = read_code(library.path)
    new = bytes.fromhex("d97c24f8 f64424f90c 7402 0f0b 804c24f90c d96c24f8 c3")
    old = code.at(code.symbols["lglrelease"], len(new))
    assert old is not None
    patch = Patch("lglrelease", 0, old, new)
    generator = Generator(load_model("lingeling"), variables=10)
    with LiveTester(generator, library, patch=patch) as trials:
        first, second, third = (trials.run(seed) for seed in range(3))
    assert (first.outcome.kind, first.company) == ("ok", 0)
    assert (second.outcome.signal, second.company) == (signal.SIGILL, 1)
    both = second.made.calls
    assert both[: len(first.made.calls)] == first.made.calls
    assert second.outcome.last_call == len(both) - 1
    assert [call.name for call in both].count("release") == 2
    # It is one trace, and dies as one; so it can be reduced.
    with ReplayServer(library, patch=patch) as server:
        whole = server.replay(both)
    assert (whole.signal, whole.last_call) == (signal.SIGILL, len(both) - 1)
    assert list(whole.results) == list(second.outcome.results)
    assert first_violation(second.made.recorded(), load_model("lingeling")) is None
    # The next one is alone again, with a process that knows nothing of it.
    assert third.made.calls[0].name == "init"
    assert (third.outcome.signal, third.company) == (signal.SIGILL, 1)


@pytest.mark.slow
def test_wrong_answers_are_the_same_by_one_replay_or_by_several() -> None:
    library, reference = find_library("lingeling"), find_library("ipasir", OTHER)
    generator = Generator(load_model("lingeling"), variables=12)
    fault = read_fault("lglextend+0x110:delete=eb07")  # models are extended wrongly
    assert fault is not None
    patch = resolve(fault, library.path)
    wrong = 0
    with (
        LiveTester(generator, library, patch=patch, reference=reference) as trials,
        ReplayServer(library, patch=patch) as server,
        ReplayServer(reference) as other,
    ):
        checker = AnswerChecker("lingeling", server, other, DEFAULT_LIMITS)
        for seed in range(20):
            trial = trials.run(seed)
            again = server.replay(trial.made.calls)
            assert list(again.results) == list(trial.outcome.results)
            assert trial.wrong == checker.check(trial.made.calls, again.results)
            wrong += trial.wrong is not None
    assert 0 < wrong < 20


def test_a_copy_is_asked_and_the_trace_is_none_the_wiser(live: LiveReplay) -> None:
    live.begin()
    live.play(calls_of("init;add 1;add 2;add 0;add -1;add 0;sat"))
    asked = live.ask("deref", [1, 2, -2])
    # A contract that the copy breaks is its own matter.
    broken = live.ask("failed", [1])
    assert list(live.play(calls_of("changed;deref 2"))) == [0, 1]
    assert live.answer(asked) == [-1, 1, -1]
    assert live.answer(broken) is None
    outcome = live.finish()
    assert (outcome.kind, outcome.stderr, outcome.last_call) == ("ok", b"", 8)
    assert live.answer(asked) == [-1, 1, -1]


def test_a_copy_that_crashes_is_no_crash_of_the_trace() -> None:
    library = find_library("lingeling")
    fault = read_fault("lglderef+1:abort")
    assert fault is not None
    with LiveReplay(library, patch=resolve(fault, library.path)) as faulty:
        faulty.begin()
        faulty.play(calls_of("init;add 1;add 0;sat"))
        asked = faulty.ask("deref", [1])
        assert list(faulty.play(calls_of("maxvar"))) == [1]
        assert faulty.answer(asked) is None
        assert faulty.finish().kind == "ok"


def test_many_numbers_in_one_record(live: LiveReplay) -> None:
    live.begin()
    live.put(calls_of("init"))
    live.each("add", [each for a, b in pairwise(range(1, 500)) for each in (-a, b, 0)])
    live.each("add", [1, 0])
    assert list(live.play(calls_of("sat;maxvar;deref 499"))) == [10, 499, 1]
    assert live.finish().last_call == 3


@pytest.mark.parametrize("engine", ["cadical153", "cadical195", "cadical300"])
def test_copies_of_other_solvers(engine: str) -> None:
    with LiveReplay(find_library("ipasir", engine)) as player:
        player.begin()
        player.play(calls_of("init;add 1;add 2;add 0;add -1;add 0;solve"))
        model = player.ask("val", [1, 2])
        player.play(calls_of("assume -2;assume 7;solve"))
        core = player.ask("failed", [-2, 7])
        assert player.finish().kind == "ok"
        values = player.answer(model)
        assert values is not None
        assert [value > 0 for value in values] == [False, True]
        assert player.answer(core) == [1, 0]
