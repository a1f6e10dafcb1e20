"""A reduction notices that nothing fails any more, and does not believe what it was told then."""

import random
import threading
from pathlib import Path

import pytest

from reducekit.events import Accepted, Checked, Event, RolledBack
from reducekit.executors.executor import InProcess, Repeat, Repeating
from reducekit.journal import Head, digest, load, open_journal
from reducekit.reduction import Reduction, Result
from reducekit.reduction.verdicts import Sightings
from reducekit.run import Limits
from reducekit.strategies.adaptive import adaptive
from tests.lines import Lines

TEXT = b"".join(b"line %d of the text\n" % number for number in range(64))
NEEDED = b"line 7 ", b"line 31 ", b"line 32 ", b"line 50 "
HEAD = Head.of(
    TEXT, version="1", frontend="text", strategy="adaptive", commands=[], criterion="", settings={}
)


def needs(text: bytes) -> bool:
    return all(line in text for line in NEEDED)


class Solver:
    """Fails on what is needed for some runs; after these it is gone."""

    def __init__(self, runs: int) -> None:
        self.left = runs
        self.runs = 0

    def __call__(self, text: bytes) -> bool:
        self.runs += 1
        self.left -= 1
        return self.left >= 0 and needs(text)


def reduce(
    solver: Solver, path: Path, *, width: int = 1, resume: bool = False
) -> tuple[Result, list[Event]]:
    events: list[Event] = []
    with open_journal(path, HEAD, TEXT, resume=resume) as journal:
        reduction = Reduction(
            Lines(),
            adaptive,
            InProcess(solver, width),
            lambda seconds: Limits(),
            width,
            repeats=2,
            listen=events.append,
            journal=journal,
        )
        if resume:
            reduction.restore(journal.found.verdicts)
            journal.replay()
        return reduction.run(TEXT, 0.0), events


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("runs", [0, 3, 20, 60])
def test_a_solver_that_goes_away(tmp_path: Path, runs: int, width: int) -> None:
    whole, _ = reduce(Solver(10**9), tmp_path / "whole", width=width)
    path = tmp_path / "journal"
    solver = Solver(runs)
    result, events = reduce(solver, path, width=width)
    assert result.stopped is not None
    assert "neither the best file nor the input fails any more" in result.stopped
    assert result.early
    assert needs(result.text)
    assert not any(isinstance(event, RolledBack) for event in events)
    accepted = [event.text for event in events if isinstance(event, Accepted)]
    assert result.text == (accepted[-1] if accepted else TEXT)
    if width == 1:  # with more, checks are started that are not needed
        assert solver.runs == result.counts.runs
    found = load(path)
    assert found.text(found.current) == result.text
    again, _ = reduce(Solver(10**9), path, width=width, resume=True)
    assert again.text == whole.text
    assert again.stopped is None


def test_the_verdicts_since_it_was_seen_last_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    texts = [b"a", b"b", b"c", b"d", b"e", b"f"]
    with open_journal(path, HEAD, TEXT, resume=False) as journal:
        for text, interesting in zip(texts[:3], (False, True, False), strict=True):
            journal.verdict(digest(text), interesting, 0.0)
        journal.seen(True)
        journal.verdict(digest(texts[3]), False, 0.0)
        journal.verdict(digest(texts[4]), False, 0.0)
        journal.seen(False)
        journal.verdict(digest(texts[5]), False, 0.0)
    assert set(load(path).verdicts) == {digest(text) for text in (b"a", b"b", b"c", b"f")}


def test_the_verdicts_of_a_journal_are_those_of_the_test(tmp_path: Path) -> None:
    asked: list[bytes] = []

    class Recording(Solver):
        def __call__(self, text: bytes) -> bool:
            asked.append(text)
            return super().__call__(text)

    result, _ = reduce(Recording(10**9), tmp_path / "journal")
    found = load(tmp_path / "journal").verdicts
    assert found == {digest(text): (needs(text), 0.0) for text in asked}
    assert {said for said, _ in found.values()} == {True, False}
    assert len(found) == result.counts.checks


def test_what_fails_less_often_than_the_input_is_taken_back_at_once() -> None:
    """Only short texts fail no more: the program is still there."""
    runs = 0

    def short_ones_pass_later(text: bytes) -> bool:
        nonlocal runs
        runs += 1
        return needs(text) and (runs < 30 or len(text) > 400)

    events: list[Event] = []
    reduction = Reduction(
        Lines(),
        adaptive,
        InProcess(short_ones_pass_later),
        lambda seconds: Limits(),
        repeats=2,
        listen=events.append,
    )
    result = reduction.run(TEXT, 0.0)
    assert result.stopped is None
    assert needs(result.text)
    assert 400 < len(result.text) < len(TEXT)
    assert any(isinstance(event, RolledBack) for event in events)


@pytest.mark.parametrize("seed", range(5))
def test_a_flaky_failure_is_not_taken_for_one_that_is_gone(seed: int) -> None:
    draw = random.Random(seed)
    executor = Repeating(InProcess(lambda text: needs(text) and draw.random() < 0.8), Repeat(2, 4))
    reduction = Reduction(Lines(), adaptive, executor, lambda seconds: Limits(), repeats=1)
    result = reduction.run(TEXT, 0.0)
    assert result.stopped is None
    assert needs(result.text)


def test_after_a_pause_the_best_text_is_run_again() -> None:
    asked: list[bytes] = []
    paused = threading.Event()

    def oracle(text: bytes) -> bool:
        asked.append(text)
        if len(asked) == 8:
            reduction.control.pause()
            paused.set()
        return len(asked) <= 8 and needs(text)

    reduction = Reduction(Lines(), adaptive, InProcess(oracle), lambda seconds: Limits(), repeats=2)
    results: list[Result] = []
    thread = threading.Thread(target=lambda: results.append(reduction.run(TEXT, 0.0)))
    thread.start()
    assert paused.wait(60)
    reduction.control.resume()
    thread.join(60)
    (result,) = results
    assert result.stopped is not None
    assert "fails any more" in result.stopped
    assert needs(result.text)
    # The best text and the input, three times each.
    assert len(asked) == 8 + 3 + 3


def test_after_the_process_was_stopped_the_best_text_is_run_again() -> None:
    asked: list[bytes] = []

    def oracle(text: bytes) -> bool:
        asked.append(text)
        if len(asked) == 8:
            reduction.control.continued()
        return len(asked) <= 8 and needs(text)

    reduction = Reduction(Lines(), adaptive, InProcess(oracle), lambda seconds: Limits(), repeats=2)
    result = reduction.run(TEXT, 0.0)
    assert result.stopped is not None
    assert "fails any more" in result.stopped
    assert len(asked) == 8 + 3 + 3


def test_a_streak_is_suspicious_that_is_twice_as_long_as_all_before() -> None:
    seen = Sightings(active=True)
    looks, checks = [], 0
    for successes_after in (5, 20, 50, 2000):
        for _ in range(successes_after):
            checks += 1
            seen.take(False, replayed=False)
            if seen.due:
                looks.append(checks)
                seen.seen()
        checks += 1
        seen.take(True, replayed=False)
    # In the streak of 50 after more than twice 20, and so on.
    assert looks == [68, 161, 328, 663, 1334]
    assert not seen.due


def test_an_earlier_run_has_looked_already() -> None:
    seen = Sightings(active=True)
    for _ in range(40):
        seen.take(False, replayed=True)
        assert not seen.due
    assert (seen.longest, seen.streak) == (33, 7)
    off = Sightings(active=False)
    for _ in range(100):
        off.take(False, replayed=False)
    assert not off.due


@pytest.mark.parametrize(("looks", "again"), [(0, 5), (1, 4), (3, 2), (4, 1), (7, 1)])
def test_a_look_at_the_result_replaces_one_of_its_reruns(looks: int, again: int) -> None:
    """Each pause is followed by a look, here once the result has been found."""
    asked, best = looks, TEXT

    def listen(event: Event) -> None:
        nonlocal asked, best
        if isinstance(event, Accepted):
            best = event.text
        if isinstance(event, Checked) and asked and best == alone.text:
            asked -= 1
            run.control.continued()

    alone = Reduction(Lines(), adaptive, InProcess(needs), lambda seconds: Limits()).run(TEXT, 0.0)
    run = Reduction(
        Lines(), adaptive, InProcess(needs), lambda seconds: Limits(), repeats=5, listen=listen
    )
    result = run.run(TEXT, 0.0)
    assert result.text == alone.text
    assert asked == 0
    assert result.counts.repeats == looks + again


def test_a_look_at_an_earlier_text_replaces_none() -> None:
    """Three looks at earlier texts, and one at the result."""
    accepted: list[bytes] = []
    looked = False

    def listen(event: Event) -> None:
        nonlocal looked
        if isinstance(event, Accepted):
            accepted.append(event.text)
            if len(accepted) <= 3:
                run.control.continued()
        if isinstance(event, Checked) and accepted and accepted[-1] == alone.text and not looked:
            looked = True
            run.control.continued()

    alone = Reduction(Lines(), adaptive, InProcess(needs), lambda seconds: Limits()).run(TEXT, 0.0)
    run = Reduction(
        Lines(), adaptive, InProcess(needs), lambda seconds: Limits(), repeats=5, listen=listen
    )
    result = run.run(TEXT, 0.0)
    assert len(accepted) > 3
    assert looked
    assert result.counts.repeats == 3 + 1 + 4
