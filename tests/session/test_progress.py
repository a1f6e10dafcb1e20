"""What the events of a session add up to is what its journal records."""

from __future__ import annotations

import itertools
from pathlib import Path

from reducekit.events import Checked, Event, FailureFound, Notice, PassStarted, Started
from reducekit.journal import journal_path, load
from reducekit.reports.account import account
from reducekit.session import Options, Session
from reducekit.session.progress import Limit, Progress

TEXT = b"".join(b"(declare-fun x%d () Int) (assert (> x%d 7))\n" % (n, n) for n in range(30))


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
