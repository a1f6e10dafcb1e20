"""Candidates that share a replay: fewer replays, and the same verdicts as one by one."""

import signal
from collections.abc import Sequence
from dataclasses import replace

import pytest

from reducekit.frontends.trace.hunt.library_tests import Answers
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import (
    DEFAULT_LIMITS,
    ReplayOutcome,
    ReplayServer,
    find_library,
    read_fault,
)
from reducekit.frontends.trace.player.batch import BatchReplay, CrashCache, batching
from reducekit.frontends.trace.player.checker import AnswerChecker, Wrong
from reducekit.frontends.trace.player.replay_executor import MOST_TOGETHER, ReplayExecutor
from reducekit.oracle.printed import Matches
from reducekit.run import Limits
from tests.frontends.trace.patches import resolve

PASSES, FAILS = "init\nadd 1\nadd 0\nsat\n", "init\nfreeze 1\nmelt 1\n"
BREAKS = "init\nadd 1\nadd 0\nsat\nfailed 1\n"
TWO_SOLVERS = "init\nrelease\ninit\nfreeze 1\n"


def read(text: bytes) -> Sequence[Call]:
    return read_trace(text, "lgl").calls


@pytest.fixture(name="executor")
def faulty_executor() -> ReplayExecutor:
    library = find_library("lingeling")
    fault = read_fault("lglmelt+1:abort")
    assert fault is not None
    server = ReplayServer(library, patch=resolve(fault, library.path))
    ending = server.replay(read(FAILS.encode()))
    model = load_model("lingeling")
    return ReplayExecutor(
        server, read, Matches(exit_code=-signal.SIGILL), CrashCache(),
        proofs=False, model=model, batch=batching(model, ending),
    )  # fmt: skip


def verdicts(executor: ReplayExecutor, texts: Sequence[str]) -> list[bool]:
    """Submit all, and return what is said of each."""
    for ticket, text in enumerate(texts):
        assert executor.free > 0
        executor.submit(ticket, text.encode(), Limits(wall=10, cpu=10))
    found: dict[int, bool] = {}
    while len(found) < len(texts):
        found.update({each.ticket: each.interesting for each in executor.wait(1.0)})
    return [found[ticket] for ticket in range(len(texts))]


@pytest.mark.parametrize(
    ("texts", "runs"),
    [
        ([PASSES] * 5, 1),
        ([""], 0),
        ([FAILS], 1),
        ([FAILS, PASSES, PASSES], 2),  # a fresh process is as good as one by itself
        ([PASSES, PASSES, FAILS], 2),  # what fails after others is played once more
        ([PASSES, FAILS, PASSES, FAILS, PASSES], 3),  # what has passed is not played again
        ([PASSES, BREAKS, PASSES], 1),
        ([TWO_SOLVERS, PASSES, PASSES], 2),  # nothing shares a process with it
        ([PASSES, TWO_SOLVERS, PASSES], 3),
    ],
)
def test_verdicts_and_replays(executor: ReplayExecutor, texts: Sequence[str], runs: int) -> None:
    with executor:
        assert verdicts(executor, texts) == [text == FAILS for text in texts]
        assert executor.runs == runs


def test_what_is_cancelled_is_not_played(executor: ReplayExecutor) -> None:
    with executor:
        for ticket in range(3):
            executor.submit(ticket, PASSES.encode(), Limits(wall=10, cpu=10))
        executor.cancel(0)
        executor.cancel(1)
        assert [each.ticket for each in executor.wait(1.0)] == [2]


def test_how_far_to_look_ahead_depends_on_the_size(executor: ReplayExecutor) -> None:
    with executor:
        assert executor.lookahead(PASSES.encode()) == MOST_TOGETHER == executor.free
        assert executor.lookahead(b"add 1\n" * 1599) == 10
        assert executor.lookahead(b"add 1\n" * 100_000) == 1


def test_candidates_share_no_replay_that_most_of_them_end(executor: ReplayExecutor) -> None:
    with executor:
        for number in range(1, 13):
            broken = f"init\nadd {number}\nadd 0\nsat\nfailed 1\n"
            assert verdicts(executor, [broken]) == [False]
        assert executor.lookahead(PASSES.encode()) == 1
        number = 12
        while executor.lookahead(PASSES.encode()) < MOST_TOGETHER:  # until they pass again
            number += 4
            assert verdicts(executor, [fresh(number + each) for each in range(4)]) == [False] * 4
        assert 16 < number < 100


def test_which_failures_can_be_told_when_traces_share_a_process() -> None:
    model = load_model("lingeling")
    with ReplayServer(find_library("lingeling")) as server:
        passed = server.replay(read(PASSES.encode()))
    assert batching(model, passed) is None
    dead = replace(passed, kind="signal", status=None, signal=int(signal.SIGSEGV))
    assert batching(model, dead) is not None
    assert batching(load_model("boolector"), dead) is None


def test_a_call_that_the_library_lacks_does_not_spoil_the_others() -> None:
    library = find_library("cadical")
    fault = read_fault("_ZN10CaDiCaL1956Solver9lookaheadEv:abort")
    assert fault is not None
    with ReplayServer(library, patch=resolve(fault, library.path)) as server:
        fails = [Call("init", ()), Call("lookahead", ())]
        wanted = server.replay(fails)
        assert wanted.signal == signal.SIGILL
        lacks = [Call("init", ()), Call("no_such_call", (1,))]
        batch = BatchReplay(server.replay, Call("reset", ()), wanted, server.playable)
        assert batch.first([*[lacks] * 20, fails]) == 20


class _Inverted(ReplayServer):
    """Plays with the literals of queries negated, so that each model is wrong."""

    def replay(self, calls: Sequence[Call], limits: Limits = DEFAULT_LIMITS) -> ReplayOutcome:
        turned = [
            Call("deref", (-call.arguments[0],))  # type: ignore[operator]  # it takes a literal
            if call.name == "deref"
            else call
            for call in calls
        ]
        return super().replay(turned, limits)


def test_wrong_answers_share_a_replay() -> None:
    """Satisfiable is answered wrongly, unsatisfiable is not; all calls after that are cut off."""
    library, model = find_library("lingeling"), load_model("lingeling")
    right = "init\nadd {0}\nadd 0\nadd -{0}\nadd 0\nsat\n"
    wrong = "init\nadd {0}\nadd 0\nsat\nmaxvar\nrelease\n"
    unlawful = "init\nassume {0}\nadd 1\nadd 0\nfailed {0}\nsat\n"
    with _Inverted(library) as queried, ReplayServer(find_library("ipasir")) as reference:
        checker = AnswerChecker("lingeling", queried, reference, DEFAULT_LIMITS)
        server = ReplayServer(library)
        calls = read(wrong.format(1).encode())
        ending = checker.judged(calls, server.replay(calls))
        assert (ending.kind, ending.last_call) == ("mismatch", 3)
        with ReplayExecutor(
            server, read, Answers(ending.reason), CrashCache(),
            proofs=True, model=model, checker=checker, batch=batching(model, ending),
        ) as executor:  # fmt: skip
            some = [right.format(number) for number in range(1, 20)]
            some += [wrong.format(20), right.format(21), unlawful.format(22)]
            assert verdicts(executor, some) == [False] * 19 + [True, False, False]
            # All together; the wrong one by itself; what comes after it, which ends unlawfully.
            assert executor.runs == 3
            before = executor.runs
            cut = wrong.format(20).removesuffix("maxvar\nrelease\n")
            assert verdicts(executor, [cut]) == [True]
            assert executor.runs == before  # it is known where it went wrong
        many = BatchReplay(
            lambda calls: checker.judged(calls, queried.replay(calls)),
            Call("release", ()), ending, queried.playable,
        )  # fmt: skip
        texts = [right.format(30), right.format(31), cut]
        assert many.first([read(text.encode()) for text in texts]) == 2


def test_asking_one_solver_does_not_hide_what_another_answered() -> None:
    """A trace that ends when it is asked is passed over, those after it are looked at."""
    dies = "init\nadd 1\nadd 0\nsat\nrelease\n"
    wrong = "init\nadd 2\nadd 0\nsat\nrelease\n"

    class Dies(_Inverted):
        def replay(self, calls: Sequence[Call], limits: Limits = DEFAULT_LIMITS) -> ReplayOutcome:
            end = next((at for at, call in enumerate(calls) if str(call) == "deref 1"), len(calls))
            return super().replay(calls[:end], limits)

    with (
        Dies(find_library("lingeling")) as queried,
        ReplayServer(find_library("ipasir")) as reference,
    ):
        checker = AnswerChecker("lingeling", queried, reference, DEFAULT_LIMITS)
        calls = read((dies + wrong).encode())
        assert checker.check(calls, queried.replay(calls).results) == Wrong("model", 8)
        calls = read(dies.encode())
        assert checker.check(calls, queried.replay(calls).results) == "unknown"


def fresh(number: int) -> str:
    """Return a trace that passes, and that nobody has played before."""
    return f"init\nadd {number}\nadd 0\nsat\n"
