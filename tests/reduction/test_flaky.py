"""Oracles that do not always end the same way: the result does, or the run says why not."""

from collections import Counter

import pytest

from reducekit.events import Accepted, Event, RolledBack
from reducekit.executors.executor import Finished, InProcess
from reducekit.frontends.smt2 import Smt2
from reducekit.reduction import Budget, Reduction, Result
from reducekit.run import Limits
from reducekit.strategies.adaptive import adaptive

TEXT = b"\n".join(
    b"(declare-fun v%d () Int)\n(assert (> (mod v%d 3) %d))" % (i, i, i) for i in range(40)
)


class Unsteady:
    """Needs `(mod`; in each text of fewer than `steady` bytes it sees it every other time only."""

    def __init__(self, steady: int) -> None:
        self.steady = steady
        self.runs = 0
        self.seen = Counter[bytes]()

    def __call__(self, text: bytes) -> bool:
        self.runs += 1
        self.seen[text] += 1
        return b"(mod" in text and (len(text) >= self.steady or self.seen[text] % 2 == 1)


def reduce(
    oracle: Unsteady,
    repeats: int,
    budget: Budget | None = None,
    executor_of: type[InProcess] = InProcess,
) -> tuple[Result, list[Event]]:
    events: list[Event] = []
    with executor_of(oracle) as executor:
        reduction = Reduction(
            Smt2(),
            adaptive,
            executor,
            lambda seconds: Limits(),
            repeats=repeats,
            budget=budget or Budget(),
            listen=events.append,
        )
        return reduction.run(TEXT, 0.0), events


@pytest.mark.parametrize("repeats", [1, 2, 5])
def test_the_result_is_one_that_fails_every_time(repeats: int) -> None:
    oracle = Unsteady(steady=100)
    result, events = reduce(oracle, repeats)
    assert 100 <= len(result.text) < 200
    # One more run may show by chance what does not show every time.
    assert 1 <= sum(isinstance(event, RolledBack) for event in events) <= (3 if repeats < 5 else 1)
    texts = [event.text for event in events if isinstance(event, (Accepted, RolledBack))]
    assert texts[-1] == result.text
    assert result.counts.runs == oracle.runs
    assert result.counts.discarded == 0


class Shared(InProcess):
    """Says that only what shares a run may end in another way."""

    @property
    def steady(self) -> bool:
        return True


def test_what_always_ends_the_same_way_by_itself_is_not_repeated_after_going_back() -> None:
    found, _ = reduce(Unsteady(steady=300), 2)
    result, events = reduce(Unsteady(steady=300), 2, executor_of=Shared)
    assert any(isinstance(event, RolledBack) for event in events)
    assert 300 <= len(result.text) <= 500
    assert result.counts.runs - result.counts.checks < found.counts.runs - found.counts.checks


def test_a_steady_oracle_costs_the_repeats_only() -> None:
    plain, _ = reduce(Unsteady(steady=0), 0)
    result, events = reduce(Unsteady(steady=0), 3)
    assert not any(isinstance(event, RolledBack) for event in events)
    assert result.text == plain.text
    assert result.counts.checks == plain.counts.checks == result.counts.runs - 3
    assert result.counts.repeats == 3


class Watched(InProcess):
    """Notes the texts in flight whenever somebody waits."""

    def __init__(self, jobs: int) -> None:
        super().__init__(Unsteady(steady=0), jobs)
        self.flights: list[list[bytes]] = []

    def wait(self, timeout: float | None = None) -> list[Finished]:
        self.flights.append(list(self._waiting.values()))
        return super().wait(timeout)


@pytest.mark.parametrize(("jobs", "together"), [(1, 1), (2, 2), (8, 3)])
def test_the_repeats_run_side_by_side(jobs: int, together: int) -> None:
    executor = Watched(jobs)
    reduction = Reduction(Smt2(), adaptive, executor, lambda seconds: Limits(), repeats=3)
    result = reduction.run(TEXT, 0.0)
    assert max(flight.count(result.text) for flight in executor.flights) == together
    assert result.counts.repeats == 3
    assert result.counts.runs == result.counts.checks + 3


def test_where_nothing_is_steady_the_input_stays() -> None:
    result, events = reduce(Unsteady(steady=len(TEXT)), 8)
    assert len(result.text) == len(TEXT)
    assert any(isinstance(event, RolledBack) for event in events)
    assert result.stopped is None or "always" in result.stopped


def test_a_spent_budget_still_goes_back() -> None:
    result, events = reduce(Unsteady(steady=500), 5, Budget(checks=20))
    assert len(result.text) >= 500
    assert any(isinstance(event, RolledBack) for event in events)
    assert result.stopped == "after 20 checks"
