"""The engine's promises: only steps down, no text asked twice, budgets kept, everything told."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from itertools import pairwise, takewhile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.change import Change, Edit, Template
from reducekit.document import Document
from reducekit.errors import ParseError
from reducekit.events import Accepted, Checked, Event, PassEnded, PassStarted
from reducekit.executors.executor import Finished, InProcess, Repeat, Repeating
from reducekit.format import Frontend, Schedule, by_size
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.language.parser import parse
from reducekit.reduction import Budget, Reduction, Result
from reducekit.reduction.control import POLL
from reducekit.reduction.skips import Skip
from reducekit.run import Limits
from reducekit.search.problem import IndependentChanges
from reducekit.search.strategy import Passes, Strategy
from reducekit.strategies.adaptive import adaptive
from reducekit.strategies.ddmin import ddmin
from reducekit.strategies.halving import halving
from reducekit.strategies.thesis import hdd
from tests.lines import Lines, LinesView, drop_lines

STRATEGIES = (adaptive, ddmin, halving, hdd)
every = pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)

TEXT = b"""; what fails
(set-logic QF_LIA)
(declare-fun count () Int)
(declare-fun other () Int)
(assert (and (< count 7) (or (= other 1) (> (+ count other) 12))))
(assert (let ((sum (+ count other))) (not (= sum (* 2 sum)))))
(check-sat)
(exit)
"""


class Watched:
    """An oracle that keeps what it was asked, and a listener that keeps what it was told."""

    def __init__(self, interesting: Callable[[bytes], bool]) -> None:
        self.interesting = interesting
        self.asked: list[bytes] = []
        self.events: list[Event] = []

    def __call__(self, text: bytes) -> bool:
        self.asked.append(text)
        return self.interesting(text)

    @property
    def steps(self) -> list[tuple[bytes, str]]:
        """The texts accepted, each with the pass that made it."""
        accepted = (event for event in self.events if isinstance(event, Accepted))
        return [(event.text, event.pass_name) for event in accepted]

    @property
    def accepted(self) -> list[bytes]:
        return [text for text, _ in self.steps]


def reduction(
    oracle: Watched,
    strategy: Strategy = adaptive,
    *,
    frontend: Frontend | None = None,
    budget: Budget | None = None,
    jobs: int = 1,
    width: int | None = None,
) -> Reduction:
    return Reduction(
        frontend or Smt2(),
        strategy,
        InProcess(oracle, jobs),
        lambda seconds: Limits(),
        width or jobs,
        budget or Budget(),
        oracle.events.append,
    )


def contains(*words: bytes) -> Callable[[bytes], bool]:
    return lambda text: all(word in text for word in words)


def whimsical(seed: int, share: int) -> Callable[[bytes], bool]:
    """Say yes to `share` in 256 of all texts."""
    return lambda text: hashlib.sha256(b"%d " % seed + text).digest()[0] < share


@every
@given(seed=st.integers(0, 10**6), share=st.integers(0, 256))
@settings(max_examples=12, deadline=None)
def test_whatever_the_oracle_it_ends_and_goes_down(
    strategy: Strategy, seed: int, share: int
) -> None:
    oracle = Watched(whimsical(seed, share))
    result = reduction(oracle, strategy).run(TEXT, 0.0)
    assert result.stopped is None
    assert all(map(oracle.interesting, oracle.accepted))
    # The layout may make a text larger, but only at first.
    laid_out = sum(1 for _ in takewhile(lambda step: step[1] == "layout", oracle.steps))
    steps = [text for text, _ in oracle.steps][max(0, laid_out - 1) :]
    for before, after in pairwise(steps):
        assert by_size(after) < by_size(before)
    assert len(result.text) <= len(TEXT)
    assert result.text == [TEXT, *oracle.accepted][-1]
    # No text is asked again after a no; a yes becomes the best text, and is not asked again.
    assert len(set(oracle.asked)) == len(oracle.asked)
    assert result.counts.checks == len(oracle.asked)
    assert result.counts.accepted == len(oracle.accepted)


class Sharing(InProcess):
    """Checks more texts in a run the shorter they are, and every so often only one."""

    def __init__(self, interesting: Callable[[bytes], bool]) -> None:
        super().__init__(interesting, 64)
        self.widths: set[int] = set()

    def lookahead(self, text: bytes) -> int:
        width = 1 if self.runs // 5 % 3 == 2 else 1 + 3000 // (len(text) + 1)
        self.widths.add(width)
        return width


@pytest.mark.parametrize("share", [0, 40, 128])
def test_how_many_texts_a_run_checks_may_change_at_any_time(share: int) -> None:
    oracle = Watched(whimsical(share, share))
    executor = Sharing(oracle)
    run = Reduction(
        Smt2(), adaptive, executor, lambda seconds: Limits(), listen=oracle.events.append
    )
    result = run.run(TEXT, 0.0)
    assert result.stopped is None
    assert result.text == [TEXT, *oracle.accepted][-1]
    assert all(map(oracle.interesting, oracle.accepted))
    assert len(set(oracle.asked)) == len(oracle.asked)
    assert len(executor.widths) > 1


def test_the_order_of_texts() -> None:
    texts = [b"aa", b"b", b"", b"a"]
    assert sorted(texts, key=by_size) == [b"", b"a", b"b", b"aa"]


@every
def test_a_fixpoint_stays_as_it_is(strategy: Strategy) -> None:
    first = Watched(contains(b"count", b"check-sat"))
    result = reduction(first, strategy).run(TEXT, 0.0)
    assert result.counts.accepted
    again = Watched(contains(b"count", b"check-sat"))
    same = reduction(again, strategy).run(result.text, 0.0)
    assert same.text == result.text
    assert same.counts.accepted == 0
    assert again.accepted == []


@pytest.mark.parametrize("checks", [0, 1, 2, 5])
@pytest.mark.parametrize("jobs", [1, 3])
def test_a_budget_of_checks_is_kept_to_the_check(checks: int, jobs: int) -> None:
    oracle = Watched(contains(b"count"))
    result = reduction(oracle, budget=Budget(checks=checks), jobs=jobs).run(TEXT, 0.0)
    assert result.counts.checks == checks
    if jobs == 1:
        assert len(oracle.asked) == result.counts.runs == checks
    single = reduction(Watched(contains(b"count")), budget=Budget(checks=checks), width=jobs)
    assert result.text == single.run(TEXT, 0.0).text
    assert result.stopped == f"after {checks} check" + "s" * (checks != 1)
    assert result.text == [TEXT, *oracle.accepted][-1]


def test_a_budget_that_is_not_used_up_is_not_mentioned() -> None:
    oracle = Watched(contains(b"count"))
    free = reduction(oracle).run(TEXT, 0.0)
    exact = reduction(Watched(contains(b"count")), budget=Budget(checks=free.counts.checks))
    result = exact.run(TEXT, 0.0)
    assert (result.text, result.stopped) == (free.text, None)


def test_a_budget_of_no_time_ends_at_once_with_the_input() -> None:
    oracle = Watched(contains(b"count"))
    result = reduction(oracle, budget=Budget(seconds=0.0)).run(TEXT, 0.0)
    assert oracle.asked == []
    assert result.text == TEXT
    assert result.stopped == "after 0 s"


@every
def test_events_tell_it_all_in_order(strategy: Strategy) -> None:
    oracle = Watched(contains(b"count", b"check-sat"))
    result = reduction(oracle, strategy).run(TEXT, 0.0)
    passes: list[PassStarted] = []
    size, checks, accepted = len(TEXT), 0, 0
    total = 0
    last: Event | None = None
    for event in oracle.events:
        match event:
            case PassStarted():
                assert len(passes) == 0
                passes.append(event)
                checks = accepted = 0
            case Checked():
                checks += not event.remembered
                assert len(passes) == 1
            case Accepted():
                assert isinstance(last, Checked)
                assert last.interesting
                assert (last.what, last.size) == (event.what, len(event.text))
                assert passes[-1].name == event.pass_name
                accepted += 1
                size = len(event.text)
            case PassEnded():
                started = passes.pop()
                assert (started.name, started.round) == (event.name, event.round)
                assert (event.checks, event.accepted, event.size) == (checks, accepted, size)
                total += checks
        last = event
    assert passes == []
    assert size == len(result.text)
    assert total == result.counts.checks
    rounds = [event.round for event in oracle.events if isinstance(event, PassStarted)]
    assert rounds == sorted(rounds)
    assert rounds[-1] <= result.rounds


class Breaking(Frontend):
    """A frontend whose only pass makes a text that does not parse any more."""

    name = "breaking"
    suffix = ".txt"
    strict = False

    class Open:
        name = "open"

        def problem(self, view: Plain) -> IndependentChanges:
            return IndependentChanges([Change((Edit(0, (b"(",)),), "open")])

    def parse(self, text: bytes) -> Plain:
        return Plain(parse(text))

    def schedule(self, passes: Passes) -> Schedule:
        return Schedule(rounds=(self.Open(),))

    def order(self, text: bytes) -> tuple[int, bytes]:
        return by_size(text)

    def measure(self, view: Plain) -> Mapping[str, int]:
        return {}


class Plain:
    def __init__(self, document: Document) -> None:
        self.document = document


def test_a_best_text_that_no_longer_parses_ends_it_and_is_kept() -> None:
    oracle = Watched(lambda text: True)
    result = reduction(oracle, frontend=Breaking()).run(b"(check-sat)", 0.0)
    assert result.text == b"("
    assert result.stopped is not None
    assert "line 1, column 1: this '(' is never closed" in result.stopped


def test_an_input_that_does_not_parse_is_an_error() -> None:
    oracle = Watched(lambda text: True)
    with pytest.raises(ParseError):
        reduction(oracle).run(b"(check-sat", 0.0)
    assert oracle.asked == []


def test_changes_that_do_nothing_or_grow_cost_no_run() -> None:
    class Useless(Breaking):
        class Grow:
            name = "grow"

            def problem(self, view: Plain) -> IndependentChanges:
                edits: list[tuple[int, Template]] = [
                    (1, (1, b"x")),
                    (1, (1,)),
                    (1, (b"(check-sat)",)),
                    (1, (b"(check-sau)",)),
                ]
                changes = [Change((Edit(*edit),)) for edit in edits]
                return IndependentChanges([*changes, Change(())])

        def schedule(self, passes: Passes) -> Schedule:
            return Schedule(rounds=(self.Grow(),))

    oracle = Watched(lambda text: True)
    result: Result = reduction(oracle, halving, frontend=Useless()).run(b"(check-sat)", 0.0)
    assert result.text == b"(check-sat)"
    assert result.counts.checks == 0
    assert oracle.asked == []


@every
@pytest.mark.parametrize("width", [2, 3, 8])
@pytest.mark.parametrize("seed", range(4))
def test_the_width_alone_decides(strategy: Strategy, width: int, seed: int) -> None:
    """Verdicts come in the reverse order with several jobs; nothing but the runs may differ."""

    def outcome(jobs: int) -> tuple[bytes, int, int, list[bytes]]:
        oracle = Watched(whimsical(seed, 60))
        found = reduction(oracle, strategy, jobs=jobs, width=width).run(TEXT, 0.0)
        return found.text, found.counts.checks, found.counts.cache_hits, oracle.accepted

    assert outcome(1) == outcome(width) == outcome(2 * width)


@every
@pytest.mark.parametrize("seed", range(4))
def test_what_is_needed_first_is_started_first(strategy: Strategy, seed: int) -> None:
    """One worker, eight candidates in flight: little runs in vain."""
    oracle = Watched(whimsical(seed, 60))
    counts = reduction(oracle, strategy, width=8).run(TEXT, 0.0).counts
    assert counts.discarded <= (counts.accepted + 1) // 2


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("seed", range(4))
def test_taking_verdicts_as_they_come(width: int, seed: int) -> None:
    oracle = Watched(whimsical(seed, 60))
    hasty = reduction(oracle, jobs=width)
    hasty.fast = True
    result = hasty.run(TEXT, 0.0)
    assert result.text == [TEXT, *oracle.accepted][-1]
    assert all(map(oracle.interesting, oracle.accepted))


class Counting(Watched):
    """An oracle that finds only the texts asked at some turns interesting."""

    def __init__(self, *turns: int) -> None:
        super().__init__(lambda text: len(self.asked) in turns)


LINES = b"".join(b"line %d\n" % number for number in range(50))


@pytest.mark.parametrize(
    ("turns", "checks"),
    [
        ((), 4),
        ((4,), 8),
        ((3,), 7),
        ((3, 7), 11),
        ((5,), 4),  # comes too late
    ],
)
def test_patience_ends_after_so_many_checks_without_success(
    turns: tuple[int, ...], checks: int
) -> None:
    oracle = Counting(*turns)
    run = reduction(oracle, frontend=Lines(), budget=Budget(patience=4))
    result = run.run(LINES, 0.0)
    assert result.stopped == "after 4 consecutive checks without success"
    assert result.counts.checks == len(oracle.asked) == checks
    assert result.text == [LINES, *oracle.accepted][-1]
    assert not result.early


@pytest.mark.parametrize("width", [2, 5])
def test_patience_with_several_candidates_in_flight(width: int) -> None:
    """Verdicts count in their turn, not as they come in."""
    oracle = Watched(contains(b"line 0\n", b"line 1\n"))
    result = reduction(oracle, frontend=Lines(), budget=Budget(patience=4), width=width)
    parallel = Watched(oracle.interesting)
    other = reduction(
        parallel, frontend=Lines(), budget=Budget(patience=4), width=width, jobs=width
    ).run(LINES, 0.0)
    assert result.run(LINES, 0.0).counts.checks == other.counts.checks
    assert other.stopped == "after 4 consecutive checks without success"
    assert parallel.accepted == oracle.accepted


def test_without_patience_a_reduction_goes_on_to_the_end() -> None:
    free = reduction(Watched(lambda text: False), frontend=Lines()).run(LINES, 0.0)
    assert free.stopped is None
    enough = Budget(patience=free.counts.checks + 1)
    result = reduction(Watched(lambda text: False), frontend=Lines(), budget=enough)
    assert result.run(LINES, 0.0).stopped is None


def test_verdicts_are_taken_in_turn_unless_as_they_come_is_asked_for() -> None:
    """Four jobs, whose verdicts come in the reverse order."""

    def told(*, fast: bool, jobs: int) -> list[Event]:
        oracle = Watched(contains(b"line 7\n", b"line 31\n"))
        run = reduction(oracle, frontend=Lines(), width=4, jobs=jobs)
        run.fast = fast
        run.run(LINES, 0.0)
        return oracle.events

    in_turn = told(fast=False, jobs=1)
    assert told(fast=False, jobs=4) == in_turn
    assert told(fast=True, jobs=4) != in_turn


def test_it_stops_at_the_size_asked_for() -> None:
    oracle = Watched(contains(b"count"))
    result = reduction(oracle, budget=Budget(size=len(TEXT) // 2)).run(TEXT, 0.0)
    assert len(result.text) <= len(TEXT) // 2
    assert result.stopped is not None
    assert result.stopped.startswith(f"at {len(result.text):,} bytes")
    assert len(oracle.accepted[-2]) > len(TEXT) // 2


def test_executors_hear_what_candidates_are_made_from() -> None:
    class Hearing(InProcess):
        heard: list[bytes]

        def build_on(self, text: bytes) -> None:
            self.heard.append(text)

    lines = [b"(assert (= x%d 0))\n" % each for each in range(64)]
    kept = (b" x7 ", b" x50 ")
    inner = Hearing(lambda text: all(each in text for each in kept), 8)
    inner.heard = []
    with Repeating(inner, Repeat(1, 1)) as executor:
        reduction = Reduction(Lines(), adaptive, executor, lambda _: Limits(), width=8)
        found = reduction.run(b"".join(lines), 0.0)
    assert all(each in found.text for each in kept)
    assert min(map(len, inner.heard)) < len(b"".join(lines)) / 8


class Drawing(Lines):
    """Drops lines; before that, a pass draws something else each time, and it never helps."""

    class Draw:
        name = "draw"

        def problem(self, view: LinesView) -> IndependentChanges:
            drawn = b"-%d" % len(view.document.text)
            return IndependentChanges([Change((Edit(0, (drawn,)),), "draw")])

    def schedule(self, passes: Passes) -> Schedule:
        return Schedule(rounds=(self.Draw(), drop_lines), drawn=frozenset(("draw",)))


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize(("dropped", "draws"), [(b"x" * 60, 2), (b"x", 1)])
def test_what_was_drawn_in_vain_is_left_out_until_the_text_is_much_smaller(
    dropped: bytes, draws: int, width: int
) -> None:
    oracle = Watched(contains(b"needed " * 10))
    text = b"needed " * 10 + b"\n" + dropped + b"\n"
    result = reduction(oracle, frontend=Drawing(), width=width).run(text, 0.0)
    assert result.text == b"needed " * 10 + b"\n"
    assert sum(each.startswith(b"-") for each in oracle.asked) == draws


def test_limits_are_those_of_the_best_text() -> None:
    """In seconds: what a check may take depends on what the best text took."""
    asked: list[float] = []

    def limits(seconds: float) -> Limits:
        asked.append(seconds)
        return Limits()

    oracle = InProcess(contains(b"count"))
    Reduction(Smt2(), adaptive, oracle, limits, budget=Budget(checks=3)).run(TEXT, 12.5)
    assert asked[0] == 12.5
    assert set(asked) <= {12.5, 0.0}  # a function takes no time


def test_what_smaller_texts_to_begin_with_came_to() -> None:
    def ended(*starts: bytes) -> PassEnded:
        oracle = Watched(contains(b"count"))
        reduction(oracle).run(TEXT, 0.0, starts)
        return next(each for each in oracle.events if isinstance(each, PassEnded))

    assert ended(b"(exit)") == PassEnded("earlier steps", 0, 1, 0, len(TEXT))
    good = b"(declare-fun count () Int)"
    assert ended(b"(exit)", good, TEXT[:200]) == PassEnded("earlier steps", 0, 2, 1, len(good))
    oracle = Watched(contains(b"count"))
    reduction(oracle).run(TEXT, 0.0, [good])
    first = next(each for each in oracle.events if isinstance(each, Accepted))
    assert first == Accepted(good, "of a test that has changed", "earlier steps")


def test_no_wait_is_longer_than_the_time_that_is_left() -> None:
    class Slow(InProcess):
        """Has no result before the second wait."""

        waits: list[float]

        def wait(self, timeout: float | None = None) -> list[Finished]:
            assert timeout is not None
            self.waits.append(timeout)
            return super().wait(timeout) if len(self.waits) % 2 == 0 else []

    executor = Slow(contains(b"count"))
    executor.waits = []
    limit = Budget(seconds=POLL / 2)
    Reduction(Smt2(), adaptive, executor, lambda seconds: Limits(), budget=limit).run(TEXT, 0.0)
    assert executor.waits
    assert all(0 < each <= POLL / 2 for each in executor.waits)


@pytest.mark.parametrize(("width", "minds"), [(1, True), (4, True), (1, False)])
def test_of_what_the_format_cannot_read_a_few_run(width: int, minds: bool) -> None:
    class Careful(Smt2):
        def misread(self, view: Any, base: bytes, text: bytes) -> bool:
            return b"exit" in base and b"exit" not in text

    wanted = (b"count", b"exit") if minds else (b"count",)
    oracle = Watched(contains(*wanted))
    result = reduction(oracle, frontend=Careful(), width=width).run(TEXT, 0.0)
    skipped = result.counts.skipped[Skip.UNREADABLE]
    ran = sum(b"exit" not in text for text in oracle.asked)
    assert (b"exit" in result.text) == minds
    assert ran > 0
    assert not minds or ran <= (ran + skipped).bit_length()


@pytest.mark.parametrize("width", [1, 4])
def test_what_the_format_refuses_takes_no_run(width: int) -> None:
    class Choosy(Smt2):
        def refuses(self, text: bytes) -> str | None:
            return None if b"exit" in text else "without an exit"

    oracle = Watched(contains(b"count"))
    result = reduction(oracle, frontend=Choosy(), width=width).run(TEXT, 0.0)
    assert oracle.asked
    assert all(b"exit" in text for text in oracle.asked)
    assert result.counts.skipped[Skip.REFUSED] > 0
    assert b"exit" in result.text
    assert len(result.text) < len(TEXT)
