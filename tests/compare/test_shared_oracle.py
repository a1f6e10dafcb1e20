"""One oracle for several sessions: every text runs once, and nobody waits in vain."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from reducekit.compare.sessions import SharedOracle
from reducekit.executors.executor import Executor, Finished, InProcess
from reducekit.oracle.criterion import Everything, Oracle
from reducekit.oracle.printed import ExitZero
from reducekit.run import Limits, Outcome

ORACLE = Oracle((), ExitZero())
GOLDEN = Oracle((), Everything(1))


def ask(executor: Executor, text: bytes, ticket: int = 7) -> Finished:
    executor.submit(ticket, text, Limits())
    while not (finished := executor.wait(1.0)):
        pass
    return finished[0]


class Counting:
    """Counts how often each text is run; those that start with `wait` do so for `go`."""

    def __init__(self) -> None:
        self.runs = Counter[bytes]()
        self.begun = threading.Event()
        self.go = threading.Event()

    def __call__(self, text: bytes) -> bool:
        self.runs[text] += 1
        if text.startswith(b"wait"):
            self.begun.set()
            assert self.go.wait(60)
        return b"x" in text

    def shared(self) -> SharedOracle:
        return SharedOracle(lambda oracle, jobs: InProcess(self, jobs))


def test_a_text_is_run_once_for_all() -> None:
    counting = Counting()
    shared = counting.shared()
    first, second = shared.open(ORACLE), shared.open(ORACLE)
    assert [ask(first, b"x").interesting, ask(first, b"y").interesting] == [True, False]
    again = ask(second, b"x", ticket=9)
    assert (again.ticket, again.interesting) == (9, True)
    assert ask(first, b"x").interesting
    assert counting.runs == {b"x": 1, b"y": 1}
    assert (first.runs, second.runs) == (2, 0)


def test_who_asks_while_it_runs_gets_the_same_verdict() -> None:
    counting = Counting()
    shared = counting.shared()
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask, shared.open(ORACLE), b"wait x") for _ in range(4)]
        assert counting.begun.wait(60)
        counting.go.set()
        assert [each.result().interesting for each in asked] == [True] * 4
    assert counting.runs == {b"wait x": 1}


def test_a_check_that_is_given_up_is_run_by_who_waits_for_it() -> None:
    """Here the first one starts a check that never ends, and is closed."""

    class Never(InProcess):
        def wait(self, timeout: float | None = None) -> list[Finished]:
            return []

    made = iter([Never(lambda text: True), InProcess(lambda text: False)])
    shared = SharedOracle(lambda oracle, jobs: next(made))
    first, second = shared.open(ORACLE), shared.open(ORACLE)
    first.submit(1, b"x", Limits())
    assert first.wait(0) == []
    second.submit(2, b"x", Limits())
    assert second.wait(0) == []
    first.close()
    assert second.wait(1.0) == [Finished(2, False, ())]


def test_a_failure_to_run_is_not_kept() -> None:
    broken = InProcess(lambda text: 1 // 0 > 0)
    made = iter([broken, InProcess(lambda text: True)])
    shared = SharedOracle(lambda oracle, jobs: next(made))
    with pytest.raises(ZeroDivisionError):
        ask(shared.open(ORACLE), b"x")
    assert ask(shared.open(ORACLE), b"x").interesting


def test_golden_runs_are_made_as_often_as_asked_and_known_to_the_next_session() -> None:
    """And what they showed is the verdict on their text."""
    ends = [Outcome(status, None, b"", b"", None, 0.1) for status in (0, 1)]

    class Played(InProcess):
        def wait(self, timeout: float | None = None) -> list[Finished]:
            return [
                Finished(each.ticket, each.interesting, (ends.pop(0),))
                for each in super().wait(timeout)
            ]

    shared = SharedOracle(lambda oracle, jobs: Played(lambda text: True, jobs))
    golden = shared.open(GOLDEN)
    first = [ask(golden, b"x").outcomes[0].status for _ in range(2)]
    assert first == [0, 1]
    golden = shared.open(GOLDEN)
    assert [ask(golden, b"x").outcomes[0].status for _ in range(2)] == first
    assert ask(shared.open(ORACLE), b"x").interesting
