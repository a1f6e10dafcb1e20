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
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import DEFAULT_LIMITS, find_library, read_fault
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Oracle
from reducekit.reduction import Reduction
from reducekit.registry import strategy
from tests.frontends.trace.patches import resolve

WRONG_MODELS = "lglextend+0x110:delete=eb07"


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
    fault = read_fault(WRONG_MODELS)
    assert fault is not None
    with LibraryTester(replace(system, patch=resolve(fault, library.path))) as tester:
        found = tester.test(0)
    assert found.criterion == Answers("wrong answer: the model does not satisfy the formula")
    assert found.text.startswith(b"init\n")


def test_no_answer_is_wrong_after_a_broken_contract() -> None:
    library = find_library("lingeling")
    fault = read_fault(WRONG_MODELS)
    assert fault is not None
    model = load_model("lingeling")
    # As if an API did not allow what this library does not mind.
    strict = replace(model.calls["maxvar"], source=model.sets["dead"])
    system = System(
        replace(model, calls={**model.calls, "maxvar": strict}), library,
        resolve(fault, library.path), find_library("ipasir"), DEFAULT_LIMITS, variables=12,
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
    fault = read_fault(WRONG_MODELS)
    assert fault is not None
    system = System(
        load_model("lingeling"), library, resolve(fault, library.path), find_library("ipasir"),
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
