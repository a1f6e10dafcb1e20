"""What the events of a session add up to is what its journal records."""

import itertools
from pathlib import Path

from reducekit.events import (
    Accepted,
    Checked,
    Event,
    FailureFound,
    Finished,
    Notice,
    PassEnded,
    PassStarted,
    Resumed,
    RolledBack,
    Started,
)
from reducekit.journal import journal_path, load
from reducekit.reports.account import account
from reducekit.session import Options, Session
from reducekit.session.progress import Limit, Pace, PassTotal, Point, Progress, Step, in_words

TEXT = b"".join(b"(declare-fun x%d () Int) (assert (> x%d 7))\n" % (n, n) for n in range(30))


def test_the_time_of_a_finished_run_stands_still() -> None:
    now = 3.0
    progress = Progress(clock=lambda: now)
    progress.see(Started(80, None))
    now = 5.0
    progress.see(Accepted(b"x" * 8, "", ""))
    now = 9.0
    progress.see(Finished("enough", 7, verified=True))
    now = 100.0
    assert (progress.size, progress.elapsed, progress.since) == (7, 6.0, 4.0)
    assert progress.finished == Finished("enough", 7, verified=True)


def test_it_says_what_the_report_says(tmp_path: Path) -> None:
    source = tmp_path / "in.smt2"
    source.write_bytes(TEXT)
    ticks = itertools.count()
    progress = Progress(clock=lambda: float(next(ticks)))
    events: list[Event] = []

    def listen(event: Event) -> None:
        events.append(event)
        progress.see(event)

    options = Options(
        input=source,
        output=tmp_path / "out.smt2",
        format="smt2",
        interesting=lambda text: b"> x17 7" in text and b"declare-fun x17" in text,
    )
    report = Session(options, listen).run()
    assert progress.checks == report.counts.checks
    assert progress.accepted == report.counts.accepted
    assert (progress.size_before, progress.size) == (len(TEXT), len(report.text))
    assert progress.failure == report.failure
    assert progress.last is not None
    assert progress.last.after == report.text
    path = journal_path(tmp_path / "out.smt2")
    told = account(load(path), path)
    sizes = [(each.checks, each.size) for each in told.curve]
    assert [(each.checks, each.size) for each in progress.curve] == sizes[:-1]
    assert {each.name: (each.accepted, each.removed, each.checks) for each in told.passes} == {
        name: (each.accepted, each.removed, each.checks) for name, each in progress.passes.items()
    }


def test_what_is_left_is_limited_by_the_time() -> None:
    now = 0.0
    progress = Progress(clock=lambda: now, limit=Limit(seconds=100.0))
    progress.see(Started(1000, None))
    progress.see(FailureFound("it fails"))
    progress.see(PassStarted("lines", 1))
    for number in range(40):
        now += 2.0
        progress.see(Checked(False, number % 2 == 0, "drop", 900))
    assert (progress.checks, progress.remembered) == (20, 20)
    left = progress.left()
    assert left is not None
    assert left.low < left.high == 100.0 - now


def test_notices_are_kept_and_nothing_is_known_before_the_start() -> None:
    progress = Progress(clock=lambda: 5.0, limit=Limit(seconds=100.0))
    assert progress.left() is None
    progress.see(Notice("one"))
    progress.see(Notice("two"))
    assert progress.notices == ["one", "two"]


class Clock:
    """Seconds that pass when the test says so."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_what_each_event_adds() -> None:
    clock = Clock()
    progress = Progress(clock=clock)
    assert progress.begin == 100.0
    progress.see(Started(1000, Path("out")))
    assert (progress.output, progress.size_before, progress.size) == ("out", 1000, 1000)
    assert progress.line() == "1,000 bytes, running the command on it, 0 s"
    assert progress.line(12) == "1,000 bytes,"
    clock.now = 101.0
    progress.see(FailureFound("it fails"))
    progress.see(Resumed(600))
    assert (progress.size, progress.since, progress.started) == (600, None, None)
    progress.see(PassStarted("first", 0))
    assert (progress.pass_name, progress.round, progress.started) == ("first", 0, 101.0)
    clock.now = 103.0
    progress.see(Checked(True, False, "drop", 900, replayed=True))
    progress.see(Accepted(b"x" * 900, "drop", "first", replayed=True))
    assert (progress.size, progress.accepted, progress.replaying) == (600, 1, True)
    clock.now = 104.0
    progress.see(Checked(False, True, "cut", 850))
    progress.see(Checked(False, False, "cut", 850))
    progress.see(Checked(True, False, "cut", 500))
    progress.see(Accepted(b"y" * 500, "cut", "first"))
    assert progress.last == Step("cut", b"x" * 900, b"y" * 500)
    assert (progress.size, progress.accepted, progress.replaying) == (500, 2, False)
    clock.now = 106.0
    progress.see(PassEnded("first", 0, 3, 2, 500))
    progress.see(PassStarted("second", 1))
    assert progress.started == 101.0
    clock.now = 110.0
    progress.see(RolledBack(b"x" * 900, (b"y" * 500,)))
    progress.see(PassEnded("second", 1, 3, 0, 900))
    assert (progress.checks, progress.remembered) == (3, 1)
    assert (progress.interesting, progress.replayed) == (2, 1)
    assert (progress.elapsed, progress.since) == (10.0, 6.0)
    assert progress.curve == [
        Point(0, 0.0, 1000),
        Point(1, 3.0, 900),
        Point(3, 4.0, 500),
        Point(3, 10.0, 900),
    ]
    assert progress.passes == {
        "first": PassTotal("first", 2, 500, 3, 5.0, 1),
        "second": PassTotal("second", 0, 0, 0, 4.0, 1),
    }
    assert (progress.rate(10.0), progress.rate(0.0)) == (0.2, 0.0)
    progress.see(Accepted(b"z" * 890, "cut", "second"))
    assert progress.last == Step("cut", b"x" * 900, b"z" * 890)


def test_the_line_says_as_much_as_fits() -> None:
    clock = Clock()
    progress = Progress(clock=clock, begin=80.0)
    progress.see(Started(4000, None))
    assert progress.output == ""
    progress.see(PassStarted("lines", 2))
    for _ in range(50):
        progress.see(Checked(True, False, "drop", 1000))
    progress.see(Accepted(b"x" * 1000, "drop", "lines"))
    left = in_words(progress.left())
    lines = (
        "1,000 bytes (25.0 %), 50 checks (2/s), 1 accepted, round 2: lines, 20 s, left: " + left,
        "1,000 bytes (25.0 %), 50 checks (2/s), lines, 20 s, left: " + left,
        "1,000 bytes (25.0 %), 50 checks, 20 s, left: " + left,
        "1,000 bytes (25.0 %), 50 checks, 20 s",
        "1,000 bytes, 50 checks, 20 s",
    )
    assert progress.line() == lines[0]
    for wider, line in itertools.pairwise(lines):
        assert progress.line(len(wider) - 1) == progress.line(len(line)) == line
    assert progress.line(10) == lines[-1][:10]


class Noted(Pace):
    """A pace that remembers what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[tuple[int, float]] = []

    def see(self, checks: int, seconds: float) -> None:
        self.noted.append((checks, seconds))


def test_checks_before_the_first_pass_take_no_time_of_the_search() -> None:
    clock = Clock()
    progress = Progress(clock=clock, limit=Limit(seconds=100.0))
    progress.see(Started(1000, None))
    pace = progress.pace = Noted()
    for number in range(3):
        clock.now += 7.0
        progress.see(Checked(True, False, "guess", 900, replayed=number == 0))
    progress.see(PassStarted("lines", 1))
    clock.now += 2.0
    progress.see(Checked(True, False, "drop", 900))
    assert pace.noted == [(0, 0.0), (1, 0.0), (2, 0.0), (3, 2.0)]
