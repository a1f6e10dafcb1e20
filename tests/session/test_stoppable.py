"""Waits of runs outside the search: they end with a result, at their time, or when asked to."""

import time

import pytest

from reducekit.executors.executor import Executor, Finished
from reducekit.reduction.control import POLL, Control, Stopped
from reducekit.run import Limits
from reducekit.session.runs.run import Stoppable


class Slow(Executor):
    """Returns a result after `waits` empty waits."""

    def __init__(self, waits: int) -> None:
        self.waits = waits
        self.asked: list[float | None] = []

    @property
    def free(self) -> int:
        return 3

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        raise NotImplementedError

    def wait(self, timeout: float | None = None) -> list[Finished]:
        self.asked.append(timeout)
        if len(self.asked) > self.waits:
            return [Finished(7, True, ())]
        time.sleep(timeout or 0.0)
        return []

    def cancel(self, ticket: int) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


def test_it_waits_in_slices_until_there_is_a_result() -> None:
    inner = Slow(2)
    assert [each.ticket for each in Stoppable(inner, Control()).wait()] == [7]
    assert inner.asked == [POLL] * 3


def test_it_waits_as_long_as_asked() -> None:
    inner, begin = Slow(10**9), time.monotonic()
    assert Stoppable(inner, Control()).wait(2.5 * POLL) == []
    assert time.monotonic() - begin >= 2.5 * POLL
    assert all(each is not None and 0 <= each <= POLL for each in inner.asked)


def test_it_ends_when_asked_to_stop() -> None:
    control, inner = Control(), Slow(10**9)
    control.stop("enough")
    with pytest.raises(Stopped, match="enough"):
        Stoppable(inner, control).wait()
    assert inner.asked == []
