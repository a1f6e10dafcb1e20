"""Tests of random traces by a library: what is wrong is found, and only what the API allows."""

from dataclasses import replace

import pytest

from reducekit.frontends.trace import Traces
from reducekit.frontends.trace.hunt.library_tests import (
    CHECKED,
    Answers,
    LibraryTester,
    System,
    reduction,
)
from reducekit.frontends.trace.language.text import print_trace
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import DEFAULT_LIMITS, find_library
from reducekit.frontends.trace.player.answers import rounds_of
from reducekit.frontends.trace.player.target import fitted
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Oracle
from reducekit.reduction import Reduction
from reducekit.registry import strategy
from tests.frontends.trace.patches import seeded

WRONG_MODELS = "lglextend+0x110:delete=eb07"


@pytest.mark.parametrize("api", ["lingeling", "cadical", "ipasir"])
def test_answers_of_a_sound_library_are_right(api: str) -> None:
    library, reference = find_library(api), find_library("ipasir", "cadical153")
    model, answers = fitted(load_model(api), library), set[int]()
    system = System(model, library, None, reference, DEFAULT_LIMITS, variables=40)
    with LibraryTester(system) as tester:
        for seed in range(30):
            made, outcome, checked = tester.play(seed)
            assert (outcome.kind, checked) == ("ok", None)
            rounds = rounds_of(made.calls, outcome.results, api)[1]
            answers |= {each.answer for each in rounds}
    assert answers == {10, 20}


def test_the_same_seeds_give_the_same_bytes() -> None:
    """Whatever was made before, in another process that plays, and with answers checked or not."""
    library, other = find_library("lingeling"), find_library("ipasir", "cadical153")
    made = []
    for seeds, reference in (((5, 1, 2), None), ((2, 5, 1), other)):
        system = System(load_model("lingeling"), library, None, reference, DEFAULT_LIMITS)
        with LibraryTester(system) as tester:
            played = {seed: tester.play(seed) for seed in seeds}
        assert {checked for *_, checked in played.values()} == {None if reference else "unknown"}
        made.append(
            {seed: print_trace(each.recorded(), "lgl") for seed, (each, *_) in played.items()}
        )
    assert made[0] == made[1]
    assert len(set(made[0].values())) == 3


def test_a_wrong_answer_is_a_bug() -> None:
    """In an intact library there is none; with a jump deleted, models are extended wrongly."""
    library = find_library("lingeling")
    system = System(
        load_model("lingeling"), library, None, find_library("ipasir"), DEFAULT_LIMITS,
        variables=12,
    )  # fmt: skip
    with LibraryTester(system) as tester:
        results = [tester.test(seed) for seed in range(5)]
    assert all(
        each.counts[CHECKED] and each.criterion is None and not each.text for each in results
    )
    with LibraryTester(replace(system, patch=seeded(library, WRONG_MODELS))) as tester:
        found = tester.test(0)
    assert found.criterion == Answers("wrong answer: the model does not satisfy the formula")
    assert found.text.startswith(b"init\n")


def test_no_answer_is_wrong_after_a_broken_contract() -> None:
    library = find_library("lingeling")
    model = load_model("lingeling")
    # As if an API did not allow what this library does not mind.
    strict = replace(model.calls["maxvar"], source=model.sets["dead"])
    system = System(
        replace(model, calls={**model.calls, "maxvar": strict}), library,
        seeded(library, WRONG_MODELS), find_library("ipasir"), DEFAULT_LIMITS, variables=12,
    )  # fmt: skip
    with LibraryTester(system) as tester:
        (found,) = (tester.test(seed) for seed in range(1))
    assert found.criterion is not None
    begin, _, rest = found.text.partition(b"\n")
    texts = [found.text, b"\n".join((begin, b"maxvar", rest))]
    oracle = Oracle((Command(("x",)),), found.criterion)
    opener = reduction(Traces, system, found.criterion, found.text).opener
    assert opener is not None
    with opener(oracle, 1) as executor:
        verdicts = []
        for ticket, text in enumerate(texts):
            executor.submit(ticket, text, DEFAULT_LIMITS)
            verdicts += [finished.interesting for finished in executor.wait()]
    assert verdicts == [True, False]


@pytest.mark.slow
def test_candidates_of_a_bug_share_replays() -> None:
    library = find_library("lingeling")
    system = System(
        load_model("lingeling"), library, seeded(library, WRONG_MODELS), find_library("ipasir"),
        DEFAULT_LIMITS, variables=12,
    )  # fmt: skip
    with LibraryTester(system) as tester:
        found = tester.test(0)
    assert found.criterion is not None
    own = reduction(Traces, system, found.criterion, found.text)
    assert own.opener is not None
    with own.opener(Oracle((Command(("x",)),), found.criterion), 1) as executor:
        reduced = Reduction(
            own.frontend, strategy("adaptive"), executor, lambda seconds: DEFAULT_LIMITS, repeats=1
        ).run(found.text, 0.1)
        assert executor.runs < 30, "one by one it takes 58"
    assert own.size(found.text) > 100
    assert own.size(reduced.text) <= 3
