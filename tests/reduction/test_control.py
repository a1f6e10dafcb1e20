"""Requests from outside: a reduction stops, pauses, goes on and skips a pass, from any thread."""

import threading
import time
from collections.abc import Callable

import pytest

from reducekit.events import Checked, Event, PassStarted
from reducekit.executors.executor import Executor, Finished, InProcess
from reducekit.reduction import Reduction, Result
from reducekit.run import Limits
from reducekit.strategies.adaptive import adaptive
from tests.lines import Lines

TEXT = b"".join(b"line %d\n" % number for number in range(64))
NEEDED = b"line 7\n", b"line 31\n"


def needs(text: bytes) -> bool:
    return all(line in text for line in NEEDED)


def reduction(
    oracle: Callable[[bytes], bool],
    listen: Callable[[Event], None] = lambda event: None,
    *,
    width: int = 1,
    executor: Executor | None = None,
) -> Reduction:
    executor = executor or InProcess(oracle, width)
    return Reduction(Lines(), adaptive, executor, lambda seconds: Limits(), width, listen=listen)


class Stuck(Executor):
    """Checks that never end; `cancelled` are those that were cancelled."""

    def __init__(self) -> None:
        self.running: set[int] = set()
        self.cancelled: set[int] = set()
        self.started = threading.Event()

    @property
    def free(self) -> int:
        return 2 - len(self.running)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        self.running.add(ticket)
        self.started.set()

    def wait(self, timeout: float | None = None) -> list[Finished]:
        assert timeout is not None, "nothing asked from outside would be heard"
        time.sleep(timeout)
        return []

    def cancel(self, ticket: int) -> None:
        self.running.discard(ticket)
        self.cancelled.add(ticket)

    def close(self) -> None:
        self.running.clear()


@pytest.mark.parametrize("width", [1, 2])
def test_it_stops_while_checks_that_never_end_are_running(width: int) -> None:
    executor = Stuck()
    run = reduction(needs, width=width, executor=executor)
    results: list[Result] = []
    thread = threading.Thread(target=lambda: results.append(run.run(TEXT, 0.0)))
    thread.start()
    assert executor.started.wait(60)
    run.control.stop("on request")
    run.control.stop("again")
    thread.join(60)
    (result,) = results
    assert (result.text, result.stopped) == (TEXT, "on request")
    assert executor.running == set()
    assert executor.cancelled


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("number", [1, 5, 20])
def test_a_stop_between_checks_keeps_what_was_found(width: int, number: int) -> None:
    asked: list[bytes] = []

    def oracle(text: bytes) -> bool:
        asked.append(text)
        if len(asked) == number:
            run.control.stop("enough")
        return needs(text)

    run = reduction(oracle, width=width)
    run.repeats = 3
    result = run.run(TEXT, 0.0)
    assert result.stopped == "enough"
    assert needs(result.text)
    assert len(asked) == number, "nothing is checked after the request, repetitions included"


def test_a_stop_ends_the_repetitions_of_the_result() -> None:
    asked: list[bytes] = []

    def oracle(text: bytes) -> bool:
        asked.append(text)
        if asked.count(text) == 3:
            run.control.stop("enough")
        return needs(text)

    run = reduction(oracle)
    run.repeats = 100
    result = run.run(TEXT, 0.0)
    assert (result.text, result.stopped) == (b"".join(NEEDED), "enough")
    assert asked.count(result.text) == 3


@pytest.mark.parametrize("width", [1, 4])
def test_a_paused_reduction_starts_nothing_and_ends_with_the_same_result(width: int) -> None:
    asked: list[bytes] = []
    paused = threading.Event()

    def oracle(text: bytes) -> bool:
        asked.append(text)
        if len(asked) == 5:
            run.control.pause()
            paused.set()
        return needs(text)

    run = reduction(oracle, width=width)
    results: list[Result] = []
    thread = threading.Thread(target=lambda: results.append(run.run(TEXT, 0.0)))
    thread.start()
    assert paused.wait(60)
    time.sleep(0.5)
    before = len(asked)
    time.sleep(0.5)
    assert thread.is_alive()
    assert len(asked) == before <= 4 + width
    run.control.resume()
    thread.join(60)
    alone = reduction(needs, width=width).run(TEXT, 0.0)
    assert results[0].text == alone.text
    assert results[0].counts == alone.counts
    assert run.control.seconds_paused > 0.3


def test_a_paused_reduction_can_be_stopped() -> None:
    run = reduction(needs)
    run.control.pause()
    results: list[Result] = []
    thread = threading.Thread(target=lambda: results.append(run.run(TEXT, 0.0)))
    thread.start()
    time.sleep(0.3)
    assert thread.is_alive()
    run.control.stop("enough")
    thread.join(60)
    assert (results[0].text, results[0].stopped) == (TEXT, "enough")


def test_a_paused_reduction_can_be_stopped_while_its_check_never_ends() -> None:
    executor = Stuck()
    run = reduction(needs, executor=executor)
    results: list[Result] = []
    thread = threading.Thread(target=lambda: results.append(run.run(TEXT, 0.0)))
    thread.start()
    assert executor.started.wait(60)
    run.control.pause()
    assert run.control.paused
    time.sleep(0.3)
    run.control.resume()
    assert run.control.paused is False
    run.control.pause()
    time.sleep(0.3)
    run.control.stop("enough")
    thread.join(60)
    assert (results[0].text, results[0].stopped) == (TEXT, "enough")


@pytest.mark.parametrize("width", [1, 2, 8])
def test_a_skipped_pass_is_left_and_the_next_one_begins(width: int) -> None:
    events: list[Event] = []

    def listen(event: Event) -> None:
        events.append(event)
        if isinstance(event, Checked) and not skipped:
            skipped.append(event)
            run.control.skip_pass()

    skipped: list[Event] = []
    run = reduction(lambda text: NEEDED[0] in text, listen, width=width)
    result = run.run(TEXT, 0.0)
    names = [event.name for event in events if isinstance(event, PassStarted)]
    assert names[:2] == ["lines", "tokens"] or names[:2] == ["lines", "lines"]
    between = events[: next(i for i, e in enumerate(events) if e in skipped) + 1]
    assert sum(isinstance(event, Checked) for event in between) == 1
    assert result.stopped is None
    assert result.text == NEEDED[0], "what one pass skipped, the next round finds"


def test_a_pass_is_skipped_while_its_check_never_ends() -> None:
    executor = Stuck()
    started: list[str] = []
    run = reduction(
        needs,
        lambda event: started.append(event.name) if isinstance(event, PassStarted) else None,
        executor=executor,
    )
    thread = threading.Thread(target=run.run, args=(TEXT, 0.0))
    thread.start()
    assert executor.started.wait(60)
    run.control.skip_pass()
    for _ in range(100):
        if len(started) > 1 and executor.running:
            break
        time.sleep(0.05)
    run.control.stop("enough")
    thread.join(60)
    assert started[:2] == ["lines", "tokens"]
    assert 1 in executor.cancelled
