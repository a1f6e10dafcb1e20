"""Several runs, one verdict: as if all of them had been made, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.errors import UsageError
from reducekit.executors.executor import Finished, InProcess, Repeat, Repeating
from reducekit.executors.local import LocalExecutor
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Oracle
from reducekit.run import Limits, Outcome
from tests.executors.runner import LIMITS, Captured

REPEATS = st.integers(1, 7).flatmap(
    lambda runs: st.integers(1, runs).map(lambda needed: Repeat(needed, runs))
)


@dataclass
class Chaos(InProcess):
    """The runs of each text say what is foretold, in the order of their start; they end in any.

    The status of each outcome is the number of the run among those of its text.
    """

    foretold: dict[bytes, Sequence[bool]]
    jobs: int
    choose: Random
    waiting: dict[int, tuple[bytes, int]] = field(default_factory=dict)
    started: dict[bytes, int] = field(default_factory=dict)
    most: int = 0

    @property
    def free(self) -> int:
        return self.jobs - len(self.waiting)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        assert self.free > 0
        assert ticket not in self.waiting
        number = self.started.get(text, 0)
        self.started[text] = number + 1
        self.waiting[ticket] = text, number
        self.most = max(self.most, len(self.waiting))

    def wait(self, timeout: float | None = None) -> list[Finished]:
        tickets = list(self.waiting)
        ended = self.choose.sample(tickets, self.choose.randint(1, len(tickets)))
        found = []
        for ticket in ended:
            text, number = self.waiting.pop(ticket)
            outcome = Outcome(number, None, b"", b"", None, 0.0)
            found.append(Finished(ticket, self.foretold[text][number], (outcome,)))
        return found

    def cancel(self, ticket: int) -> None:
        self.waiting.pop(ticket, None)

    def close(self) -> None:
        self.waiting.clear()


def one_after_the_other(repeat: Repeat, runs: Sequence[bool]) -> tuple[bool, int]:
    """Return the verdict, and the number of runs it takes."""
    for number, good in enumerate(accumulate(runs), 1):
        verdict = repeat.verdict(good, number - good)
        if verdict is not None:
            return verdict, number
    raise AssertionError("too few runs")


@given(
    REPEATS,
    st.lists(st.lists(st.booleans(), min_size=7, max_size=7), min_size=1, max_size=6),
    st.integers(1, 9),
    st.randoms(use_true_random=False),
)
def test_timing_changes_nothing(
    repeat: Repeat, runs: list[list[bool]], jobs: int, choose: Random
) -> None:
    texts = [b"%d" % number for number in range(len(runs))]
    inner = Chaos(dict(zip(texts, runs, strict=True)), jobs, choose)
    executor = Repeating(inner, repeat)
    todo = dict(enumerate(texts))
    verdicts: dict[int, Finished] = {}
    while todo or len(verdicts) < len(texts):
        while todo and executor.free:
            ticket, text = todo.popitem()
            executor.submit(ticket, text, Limits())
        for finished in executor.wait():
            verdicts[finished.ticket] = finished
    assert inner.most <= jobs
    assert not inner.waiting
    assert executor.wait() == []
    for ticket, text in enumerate(texts):
        verdict, count = one_after_the_other(repeat, runs[ticket])
        assert (
            verdicts[ticket].interesting
            == verdict
            == (sum(runs[ticket][: repeat.runs]) >= repeat.needed)
        )
        assert inner.started[text] == count
        (outcome,) = verdicts[ticket].outcomes
        assert outcome.status == count - 1  # the run that decided
        assert runs[ticket][count - 1] == verdict
    assert executor.runs == sum(inner.started.values())


@given(REPEATS, st.randoms(use_true_random=False))
def test_what_is_cancelled_is_gone(repeat: Repeat, choose: Random) -> None:
    inner = Chaos({b"a": [True] * 7, b"b": [False] * 7}, 8, choose)
    with Repeating(inner, repeat) as executor:
        executor.submit(1, b"a", Limits())
        executor.submit(2, b"b", Limits())
        executor.cancel(1)
        executor.cancel(7)
        assert len(inner.waiting) == 1
        found: list[Finished] = []
        while not found:
            found = executor.wait()
        assert [(each.ticket, each.interesting) for each in found] == [(2, False)]
        assert executor.free == 8


def test_free_slots_are_used() -> None:
    inner = Chaos({b"a": [True] * 5}, 8, Random(0))
    executor = Repeating(inner, Repeat(3, 5))
    executor.submit(1, b"a", Limits())
    assert inner.most == 1
    while not executor.wait():
        pass
    assert inner.most == inner.started[b"a"] == 3


def test_a_time_limit_of_the_wait_holds() -> None:
    oracle = Oracle((Command.of(["sh", "-c", "sleep 30"]),), Captured())
    with Repeating(LocalExecutor(oracle, 2), Repeat(2, 3)) as executor:
        executor.submit(1, b"", LIMITS)
        assert executor.wait(0.05) == []
        executor.cancel(1)
        assert executor.wait() == []


def test_real_runs(tmp_path: Path) -> None:
    """The second run of three is not interesting; the outcome is that of the third."""
    log = tmp_path / "log"
    script = f'echo run >> {log}; n=$(wc -l < {log}); echo $n; [ "$n" != 2 ]'
    oracle = Oracle((Command.of(["sh", "-c", script]),), Captured())
    for repeat, verdict, runs in ((Repeat(2, 3), True, 3), (Repeat(3, 3), False, 2)):
        log.write_text("")
        with Repeating(LocalExecutor(oracle, 1), repeat) as executor:
            executor.submit(5, b"text", LIMITS)
            (finished,) = executor.wait()
            assert (finished.ticket, finished.interesting) == (5, verdict)
            assert finished.outcomes[0].stdout == b"%d\n" % runs
            assert executor.runs == runs
            assert executor.free == 1


def test_a_command_that_cannot_run() -> None:
    oracle = Oracle((Command(("/nowhere/at/all",)),), Captured())
    with Repeating(LocalExecutor(oracle, 2), Repeat(2, 3)) as executor:
        with pytest.raises(UsageError):
            executor.submit(1, b"", LIMITS)
        assert executor.free == 2
        assert executor.runs == 0
        assert executor.wait() == []


@pytest.mark.parametrize("text", ["3-of-5", "3/5", "3 of 5", " 3-OF-5 ", "3of5"])
def test_spellings(text: str) -> None:
    assert Repeat.parse(text) == Repeat(3, 5)


def test_all_of_them() -> None:
    assert Repeat.parse("5") == Repeat(5, 5)
    assert str(Repeat.parse("5")) == "5-of-5"
    assert Repeat.parse(str(Repeat(2, 9))) == Repeat(2, 9)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected K-of-N"),
        ("often", "expected K-of-N"),
        ("-1", "expected K-of-N"),
        ("1.5", "expected K-of-N"),
        ("٣/٥", "expected K-of-N"),
        ("9" * 5000, "expected K-of-N"),
        ("0", "at least one"),
        ("0/5", "at least one"),
        ("5/3", "3 runs cannot reach 5"),
        ("1/1001", "at most 1000 runs"),
    ],
)
def test_wrong_ones(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Repeat.parse(text)
