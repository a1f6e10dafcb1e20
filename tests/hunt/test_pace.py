"""Runs of a hunt that take much longer than most get a quarter of the time."""

from collections import deque
from itertools import count

import pytest

from reducekit.executors.executor import Executor, Finished
from reducekit.hunt.events import Control
from reducekit.hunt.inputs import Input
from reducekit.hunt.testers import CommandTests, Pace
from reducekit.oracle.command import Command
from reducekit.run import Limits, Outcome

LIMITS = Limits(wall=10.0, memory=1 << 30)


class Programs(Executor):
    """Two programs that would take 0.01 s each, and on each tenth input for ever."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        """Of each run."""
        self._due: deque[Finished] = deque()

    @property
    def free(self) -> int:
        return 1 - len(self._due)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        assert limits.wall is not None
        assert limits.memory == LIMITS.memory
        endless = text.endswith(b"9")
        quick = Outcome(0, None, b"sat\n", b"", None, 0.01)
        late = Outcome(None, 9, b"", b"", "time", limits.wall)
        outcomes = (quick, late if endless else quick)
        self.seconds += [each.seconds for each in outcomes]
        self._due.append(Finished(ticket, False, outcomes))

    def cancel(self, ticket: int) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def wait(self, timeout: float | None = None) -> list[Finished]:
        return [self._due.popleft()]


@pytest.mark.parametrize("steady", [False, True])
def test_endless_runs_get_a_quarter_of_the_time(*, steady: bool) -> None:
    programs = Programs()
    commands = (Command(("a",)), Command(("b",)))
    tests = CommandTests(
        commands, False, LIMITS, programs, False, steady, lambda _: False, lambda _: False
    )
    inputs = (Input(str(n).encode(), "", number=n) for n in range(3000))
    late = sum(
        each is not None and each.timed_out
        for each in tests.results(inputs, Control(lambda: False, lambda: None))
    )
    assert late == 300
    long = [each for each in programs.seconds if each > 0.01]
    whole = [each for each in long if each == LIMITS.wall]
    if steady:
        assert whole == long
        return
    assert set(long) == {0.2, LIMITS.wall}
    beyond, each = len(whole) * 9.8, 9.8
    assert abs(beyond - sum(programs.seconds) / 4) <= 2 * each  # of them one is before any median


def test_programs_that_are_slow_to_start_have_all_the_time() -> None:
    pace = Pace(LIMITS)
    for number in range(100):
        pace.note([0.01, 10.0 if number % 2 else 0.6])
    assert pace.limits() == LIMITS


def test_nothing_is_long_without_a_limit_and_a_median() -> None:
    pace = Pace(Limits())
    for _, seconds in zip(range(9), count(1), strict=False):
        pace.note([seconds])
    pace.note([])
    assert pace.limits() == Limits()
    pace.note([1000.0])
    assert pace.limits() == Limits()
    pace.note([1000.0])
    assert pace.limits().wall == pytest.approx(20 * 6)
