"""What is said about the time left: honest ranges, rounded outward, or nothing."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.events import Accepted, Checked, Event, PassStarted
from reducekit.executors.executor import InProcess
from reducekit.frontends.smt2 import Smt2
from reducekit.reduction import Reduction
from reducekit.run import Limits
from reducekit.session.progress import Limit, Pace, Progress, Range, checks_left, in_words
from reducekit.strategies.adaptive import adaptive
from tests.frontends.smt2.make_scripts import script


def curve(seed: int) -> list[tuple[int, int, int]]:
    """Reduce a few scripts at once, some of their heads needed; return checks, bytes and rounds."""
    choose = Random(seed)
    parts = [script(choose).replace(b"(exit)\n", b"") for _ in range(choose.choice((2, 4, 8)))]
    text = b"".join(parts)
    heads = re.findall(rb"\((\w[\w-]*) ", text)
    places = sorted(choose.sample(range(len(heads)), choose.randint(2, 5)))
    needed = re.compile(
        b".*".join(rb"\(" + re.escape(heads[place]) + rb" " for place in places), re.DOTALL
    )
    points = []
    checks, size, number = 0, len(text), 0

    def listen(event: Event) -> None:
        nonlocal checks, size, number
        match event:
            case Checked(remembered=False):
                checks += 1
                points.append((checks, size, number))
            case Accepted(text=best):
                size = len(best)
            case PassStarted(round=found):
                number = found

    with InProcess(lambda text: needed.search(text) is not None) as executor:
        Reduction(Smt2(), adaptive, executor, lambda seconds: Limits(), listen=listen).run(text, 0)
    return points


@pytest.mark.slow
def test_the_range_holds_mostly() -> None:
    said = held = 0
    for seed in range(16):
        points = curve(seed)
        for checks, size, number in points[:-1]:
            left = checks_left(checks, size, number)
            if left is not None:
                said += 1
                held += left.low <= points[-1][0] - checks <= left.high
    assert said > 300
    assert held > 0.7 * said


def test_nothing_is_said_too_early() -> None:
    assert checks_left(0, 1000, 0) is None
    assert checks_left(19, 1000, 0) is None
    assert checks_left(20, 1000, 0) is not None


@given(st.integers(20, 10**9), st.integers(0, 10**9), st.integers(-1, 99))
def test_ranges_are_in_order(checks: int, size: int, number: int) -> None:
    left = checks_left(checks, size, number)
    assert left is not None
    assert 0 < left.low <= left.high
    later = checks_left(checks, size, number + 1)
    assert later is not None
    assert later.high <= left.high


def test_a_budget_ends_it() -> None:
    assert Range(3, 9).limited(None) == Range(3, 9)
    assert Range(3, 9).limited(5) == Range(3, 5)
    assert Range(3, 9).limited(1) == Range(1, 1)
    assert Range(3, 9).limited(-1) == Range(0, 0)


def test_the_pace_is_that_of_late() -> None:
    pace = Pace()
    assert pace.seconds_per_check is None
    assert pace.time_for(Range(1, 2)) is None
    pace.see(0, 5.0)
    assert pace.seconds_per_check is None
    for checks in range(1, 101):
        pace.see(checks, 10.0 * checks)
    assert pace.seconds_per_check == pytest.approx(10.0)
    slow = pace.time_for(Range(10, 20))
    assert slow is not None
    assert 50 < slow.low < 100 < 200 < slow.high < 400
    for checks in range(101, 401):
        pace.see(checks, 1000 + (checks - 100))
    assert pace.seconds_per_check == pytest.approx(1.0)
    found = pace.time_for(Range(10, 20))
    assert found is not None
    assert found.low < 10 < 20 < found.high


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (None, "unknown"),
        (Range(0, 0), "under 1 s"),
        (Range(0.2, 0.9), "under 1 s"),
        (Range(0.2, 8.1), "under 9 s"),
        (Range(2.7, 8.1), "2-9 s"),
        (Range(13.0, 87.0), "13-90 s"),
        (Range(41.0, 119.0), "40-120 s"),
        (Range(41.0, 125.0), "under 3 min"),
        (Range(130.0, 3000.0), "2-50 min"),
        (Range(4000.0, 40000.0), "1-12 h"),
    ],
)
def test_words(left: Range | None, words: str) -> None:
    assert in_words(left) == words


@given(st.floats(0, 1e7), st.floats(1, 100))
def test_words_promise_no_more_than_the_range(low: float, factor: float) -> None:
    left = Range(low, low * factor)
    said = in_words(left)
    unit = {"s": 1, "min": 60, "h": 3600}[said.split()[-1]]
    numbers = [int(number) * unit for number in re.findall(r"\d+", said)]
    assert numbers[-1] >= left.high
    assert len(numbers) == 1 or numbers[0] <= left.low


def test_progress_says_it() -> None:
    progress = Progress(10_000, 10_000)
    assert progress.line().endswith(" s")
    progress.see(PassStarted("commands", 0))
    assert progress.line().endswith("left: unknown")
    for _ in range(100):
        progress.see(Checked(interesting=False, remembered=False, what="", size=5))
    assert progress.left() is not None
    assert re.search(r"left: .*\d+ (s|min|h)$", progress.line())
    full = progress.left()
    assert full is not None
    assert full.low > 0
    for limit in (Limit(size=100), Limit(quick=True)):
        early = Progress(10_000, 10_000, limit=limit)
        early.see(PassStarted("commands", 0))
        for _ in range(100):
            early.see(Checked(interesting=False, remembered=False, what="", size=5))
        left = early.left()
        assert left is not None
        assert left.low == 0 < left.high
        assert re.search(r"left: under \d+ (s|min|h)$", early.line())
    spent = Progress(10_000, 10_000, limit=Limit(checks=100))
    spent.see(PassStarted("commands", 0))
    for _ in range(100):
        spent.see(Checked(interesting=False, remembered=False, what="", size=5))
    assert spent.left() == Range(0, 0)
    assert spent.line().endswith("left: under 1 s")
