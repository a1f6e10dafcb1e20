"""A status that says that a candidate can be judged neither way."""

from dataclasses import replace

import pytest

from reducekit.bisect.search import Judge
from reducekit.errors import UsageError
from reducekit.executors.local import LocalExecutor
from reducekit.oracle.also import Accepts, Also, Resolved
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion, Oracle, innermost
from reducekit.oracle.flips import Flips
from reducekit.oracle.own import OwnFailure
from reducekit.oracle.printed import ExitZero, Matches
from reducekit.run import Limits, Outcome
from reducekit.session.options import Options
from reducekit.session.runs.run import run_once
from reducekit.session.runs.variants import frequency


def run(status: int | None = 0, signal: int | None = None, *, late: bool = False) -> Outcome:
    return Outcome(status, signal, b"", b"", "time" if late else None, 0.1)


TEST = Resolved(ExitZero(), 125)
SHOWN = Resolved(OwnFailure(), -9).shown_by([run(3)], Limits())
assert SHOWN is not None


@pytest.mark.parametrize(
    ("criterion", "outcome", "judged", "unresolved"),
    [
        (TEST, run(0), True, False),
        (TEST, run(1), False, False),
        (TEST, run(125), False, True),
        (ExitZero(), run(125), False, False),
        (ExitZero(), run(None, 9, late=True), False, True),
        (Resolved(Matches(exit_code=1), 2), run(1), True, False),
        (Resolved(Matches(exit_code=1), 1), run(1), False, True),
        (SHOWN, run(3), True, False),
        (SHOWN, run(0), False, False),
        (SHOWN, run(4), False, True),  # it fails in another way
        (SHOWN, run(None, 9), False, True),
    ],
)
def test_three_outcomes(
    criterion: Criterion, outcome: Outcome, *, judged: bool, unresolved: bool
) -> None:
    assert criterion.judge([outcome]) is judged
    if not judged:
        assert criterion.unresolved([outcome]) is unresolved


def test_what_another_program_refuses_is_unresolved() -> None:
    also = Resolved(Also(Matches(exit_code=1), 1, (Accepts(),)), 125)
    assert also.judge([run(1)]) is None
    assert also.judge([run(1), run(2)]) is False
    assert also.unresolved([run(1), run(2)])
    assert not also.unresolved([run(0)])
    assert also.unresolved([run(1), run(125)])


def test_an_input_that_cannot_be_judged() -> None:
    assert TEST.shown_by([run(125)], Limits()) is None
    said = "it ended with exit status 125, which `unresolved` takes for no answer"
    assert TEST.missing_in([run(125)]) == said
    assert TEST.missing_in([run(1)]).startswith("the test said no")


def test_a_version_that_cannot_be_judged_is_skipped() -> None:
    judge = Judge(TEST)
    assert judge.of([run(1)], shown=False) == "good"
    assert Judge(Resolved(ExitZero(), 7)).of([run(7)], shown=False) == "skipped"
    also = Also(Resolved(ExitZero(), 7), 1, (Accepts(),))
    assert Judge(also).of([run(7)], shown=False) == "skipped"
    assert innermost(also) == ExitZero()


def test_unstable_runs_may_be_unresolved() -> None:
    flips = Resolved(Flips(2, 1, 1), 7)
    answered = run(0)._replace(stdout=b"unsat\n")
    assert frequency([answered, run(0)._replace(stdout=b"unknown\n")], flips) == (1, 1)


def test_only_a_command_has_a_status() -> None:
    options = Options(input=b"x", interesting=bool, unresolved=1)
    with pytest.raises(UsageError, match="`unresolved` requires `command` or `oracle`"):
        options.commands_and_criterion()
    given = replace(options, interesting=None, oracle="true", unresolved=7)
    assert given.commands_and_criterion()[1] == Resolved(ExitZero(), 7)


@pytest.mark.parametrize("resolves", [False, True])
def test_only_where_it_matters_an_executor_tells_what_is_unresolved(resolves: bool) -> None:
    """Telling reads all that a program prints, which may be a long model, for each candidate."""
    command = Command.of(["sh", "-c", "exit 7", "sh"])
    oracle = Oracle((command,), Resolved(ExitZero(), 7), resolves=resolves)
    with LocalExecutor(oracle, 1, ".txt") as executor:
        finished = run_once(executor, b"text", Limits())
    assert (finished.interesting, finished.unresolved) == (False, resolves)
