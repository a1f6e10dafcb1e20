"""Answers of MiniSat and PicoSAT, whose calls take whole clauses or other names, are checked."""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from random import Random

import pytest

from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import DEFAULT_LIMITS, ReplayServer, find_library
from reducekit.frontends.trace.player.answers import Round, rounds_of, satisfied
from reducekit.frontends.trace.player.checker import AnswerChecker, Wrong
from reducekit.frontends.trace.player.live_replay import LiveReplay
from tests.frontends.trace.player.test_every_call import calls_of, marks
from tests.frontends.trace.player.test_ipasir import compiled

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


def right(calls: Sequence[Call]) -> list[tuple[int, int, bool]]:
    """Return the index of each solve of CaDiCaL, its answer, and whether a constraint was in it."""
    clauses: list[list[int]] = []
    opened: dict[str, list[int]] = {"add": [], "constrain": []}
    assumed: list[int] = []
    constraint: list[int] | None = None
    found = []
    for index, call in enumerate(calls):
        if call.name in opened:
            (literal,) = call.arguments
            assert isinstance(literal, int)
            if literal:
                opened[call.name].append(literal)
                continue
            whole, opened[call.name] = opened[call.name], []
            if call.name == "add":
                clauses.append(whole)
            else:
                constraint = whole
        elif call.name == "assume":
            assumed += call.arguments  # type: ignore[arg-type]
        elif call.name == "solve":
            own = [] if constraint is None else [constraint]
            wanted = [*clauses, *([each] for each in assumed), *own]
            sat = any(
                all(any(values[abs(lit) - 1] == (lit > 0) for lit in each) for each in wanted)
                for values in product((False, True), repeat=4)
            )
            found.append((index, 10 if sat else 20, constraint is not None))
            assumed, constraint = [], None
        elif call.name == "reset_assumptions":  # not the constraint; and `lookahead` drops nothing
            assumed = []
    return found


def drawn(seed: int) -> list[Call]:
    """Return a random trace of CaDiCaL over four variables with all that changes what is asked."""
    dice = Random(seed)
    calls = [Call("init", ()), Call("set", ("factor", 0))]

    def literal() -> int:
        return dice.choice((1, -1)) * dice.randint(1, 4)

    def group(name: str) -> list[Call]:
        return [
            Call(name, (each,))
            for each in (*(literal() for _ in range(dice.choice((1, 2, 2, 3)))), 0)
        ]

    for _ in range(dice.randint(2, 4)):
        for _ in range(dice.randint(1, 4)):
            calls += group("add")
        calls += [Call("assume", (literal(),)) for _ in range(dice.randint(0, 3))]
        if dice.random() < 0.3:
            calls.append(Call(dice.choice(("reset_assumptions", "lookahead")), ()))
            calls += [Call("assume", (literal(),)) for _ in range(dice.randint(0, 1))]
        elif dice.random() < 0.4:
            calls += group("constrain")
        calls.append(Call("solve", ()))
        if dice.random() < 0.4:  # once more, without what held for this one
            calls += group("constrain") if dice.random() < 0.5 else []
            calls.append(Call("solve", ()))
    return calls


def test_what_is_asked_is_checked_and_nothing_else() -> None:
    """Claims of a solver that tries all assignments are right; "unsat" for its "sat" is wrong.

    So is no claim that a constraint makes true, as it is not in what is solved again.
    """
    wrong, constrained = 0, 0
    with (
        ReplayServer(find_library("cadical", "cadical300")) as server,
        ReplayServer(find_library("ipasir", "cadical153")) as reference,
    ):
        own = AnswerChecker("cadical", server, reference, DEFAULT_LIMITS)
        for seed in range(60):
            calls = drawn(seed)
            results: list[int | None] = [None] * len(calls)
            truth = right(calls)
            for index, answer, _ in truth:
                results[index] = answer
            outcome = server.replay(calls)
            assert outcome.kind == "ok", outcome
            assert [outcome.results[index] for index, _, _ in truth] == [a for _, a, _ in truth]
            assert own.check(calls, results) is None, seed
            for index, answer, under in truth:
                constrained += under and answer == 20
                if answer == 10 and not under:
                    lie = [*results[:index], 20, *results[index + 1 :]]
                    found = own.check(calls, lie)
                    if isinstance(found, Wrong):
                        assert (found.kind, found.call) == ("unsat", index)
                        wrong += 1
                    else:
                        assert found == "unknown"  # asked what failed, the solver refuses
    assert wrong > 20
    assert constrained > 5


def test_clauses_that_a_pop_takes_back_are_not_followed() -> None:
    text = "init;add 1;add 0;sat -1;push;add -1;add 0;sat -1;pop;add 2;add 0;sat -1;reset"
    calls = calls_of(text)
    results = [{3: 10, 7: 20, 11: 10}.get(at) for at in range(len(calls))]
    literals, (first,) = rounds_of(calls, results, "picosat")
    assert literals == [1, 0]
    assert (first.index, first.answer) == (3, 10)


@pytest.mark.parametrize(("defined", "said"), [((), "unsat"), (("LIAR",), None)])
def test_a_model_of_the_reference_counts_only_if_it_is_one(
    tmp_path: Path, defined: tuple[str, ...], said: str | None
) -> None:
    """A reference that takes every formula for satisfiable proves nothing."""
    calls = calls_of("init;add 1;add 2;add 0;add -1;add 0;solve")
    with (
        ReplayServer(find_library("ipasir", "cadical153")) as server,
        ReplayServer(find_library("ipasir", compiled(tmp_path, *defined))) as reference,
    ):
        own = AnswerChecker("ipasir", server, reference, DEFAULT_LIMITS)
        found = own.check(calls, [*[None] * 6, 20])
        assert (found.kind if isinstance(found, Wrong) else found) == said


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("init;add 1;add 2;add 0;assume -1;solve", "unsat"),
        ("init;add 1;add 0;assume -1;assume 2;solve", "core"),
        ("init;add 1;add 0;add -1;add 0;assume 2;solve", None),
    ],
)
def test_a_wrong_answer_under_assumptions(tmp_path: Path, text: str, wrong: str | None) -> None:
    """The solver takes all for unsatisfiable, and names no assumption that failed."""
    calls = calls_of(text)
    with (
        ReplayServer(find_library("ipasir", compiled(tmp_path, "WRONG", "CORE"))) as server,
        ReplayServer(find_library("ipasir", "cadical153")) as reference,
    ):
        results = server.replay(calls).results
        assert results[-1] == 20
        own = AnswerChecker("ipasir", server, reference, DEFAULT_LIMITS)
        found = own.check(calls, results)
    assert (found.kind if isinstance(found, Wrong) else found) == wrong


@pytest.mark.parametrize("simplifies", [False, True])
def test_what_only_simplified_need_not_have_looked_at_assumptions(simplifies: bool) -> None:
    assert satisfied([1, 0], Round(0, 2, (-1,), 10, simplifies), [1], [1]) == simplifies
    assert not satisfied([1, 0], Round(0, 2, (), 10, simplifies), [1], [-1])
