"""Answers of MiniSat and PicoSAT, whose calls take whole clauses or other names, are checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from reducekit.frontends.trace.calls import Call
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.replay import DEFAULT_LIMITS, ReplayServer, find_library
from reducekit.frontends.trace.replay.answers import AnswerChecker, Round, rounds_of
from reducekit.frontends.trace.replay.checker import Wrong
from reducekit.frontends.trace.replay.live_replay import LiveReplay
from tests.frontends.trace.replay.test_every_call import calls_of, marks

APIS = [pytest.param(api, marks=marks(api)) for api in ("minisat", "picosat")]
SOLVES = ("solve", "solve_limited", "sat")
TRACES = {
    "minisat": "new;new_var;new_var;add_clause 1 2;add_clause -1;solve_limited;solve -2",
    "picosat": "init;add 1;add 2;add 0;add -1;add 0;sat -1;assume -2;sat -1",
}
NUMBERS = {"minisat": (1, 0), "picosat": (10, 20)}


@pytest.fixture(params=APIS)
def checker(request: pytest.FixtureRequest) -> Iterator[tuple[str, AnswerChecker]]:
    with (
        ReplayServer(find_library(request.param)) as server,
        ReplayServer(find_library("ipasir")) as reference,
    ):
        yield request.param, AnswerChecker(request.param, server, reference, DEFAULT_LIMITS)


def claimed(api: str, calls: Sequence[Call], *answers: int) -> list[int | None]:
    """Return results whose solves answer sat (0) or unsat (1)."""
    left = iter(answers)
    return [NUMBERS[api][next(left)] if call.name in SOLVES else None for call in calls]


@pytest.mark.parametrize("api", ["minisat", "picosat"])
def test_what_was_asked(api: str) -> None:
    calls = calls_of(TRACES[api])
    literals, (first, second) = rounds_of(calls, claimed(api, calls, 0, 1), api)
    assert literals == [1, 2, 0, -1, 0]
    assert (first.assumed, first.answer, first.simplifies) == ((), 10, False)
    assert second == Round(len(calls) - 1, 5, (-2,), 20, False)


def test_an_answer_that_a_budget_cut_short_is_none() -> None:
    calls = calls_of(TRACES["minisat"])
    assert len(rounds_of(calls, [*[None] * 5, -1, 0], "minisat")[1]) == 1


def test_claims(checker: tuple[str, AnswerChecker]) -> None:
    """What is claimed is not what the library answers; the check must find out."""
    api, own = checker
    calls = calls_of(TRACES[api])
    solves = [at for at, call in enumerate(calls) if call.name in SOLVES]
    assert own.check(calls, claimed(api, calls, 0, 1)) is None
    assert own.check(calls, claimed(api, calls, 1, 1)) == Wrong("unsat", solves[0])
    # PicoSAT has no model to ask for then: nothing is known. MiniSat's is that of the solve before.
    model = Wrong("model", solves[1]) if api == "minisat" else "unknown"
    assert own.check(calls, claimed(api, calls, 0, 0)) == model


def test_generated_traces_have_right_answers(checker: tuple[str, AnswerChecker]) -> None:
    api, own = checker
    answers = set()
    with LiveReplay(find_library(api)) as live:
        for seed in range(15):
            live.begin()
            calls = Generator(load_model(api)).generate(seed, live.play).calls
            results = live.finish().results
            answers |= {each.answer for each in rounds_of(calls, results, api)[1]}
            assert own.check(calls, results) is None
    assert answers == {10, 20}
