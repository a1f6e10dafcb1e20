"""Other programs beside the one that fails: what each of them showed on the input."""

import re

import pytest

from reducekit.oracle.also import Accepts, Also
from reducekit.oracle.compared import Disagree
from reducekit.oracle.criterion import Criterion
from reducekit.oracle.own import OwnFailure
from reducekit.oracle.printed import Matches
from reducekit.run import Limits, Outcome

NO_LIMITS = Limits()


def run(out: bytes = b"", status: int = 0) -> Outcome:
    return Outcome(status, None, out, b"", None, 0.1)


UNKNOWN = Matches(out=(re.compile(rb"^unknown"),))
KEPT = Also(OwnFailure(), 1, (Accepts(), UNKNOWN), ("one", "other"))


def test_each_criterion_is_what_its_commands_showed() -> None:
    shown = KEPT.shown_by([run(b"boom\n", 3), run(b"sat\n"), run(b"unknown\n")], NO_LIMITS)
    assert isinstance(shown, Also)
    assert shown.inner.describe() == "exit status 3"
    accepts, unknown = shown.others
    assert accepts == Accepts()
    assert isinstance(accepts, Accepts)
    assert accepts.understood
    assert unknown == UNKNOWN


@pytest.mark.parametrize(
    "outcomes",
    [
        (run(b"sat\n"), run(b"sat\n"), run(b"unknown\n")),  # no failure
        (run(b"boom\n", 3), run(b"(error)\n", 1), run(b"unknown\n")),  # not accepted
        (run(b"boom\n", 3), run(b"sat\n"), run(b"unsat\n")),  # another answer
    ],
)
def test_nothing_is_shown_unless_all_is(outcomes: tuple[Outcome, ...]) -> None:
    assert KEPT.shown_by(outcomes, NO_LIMITS) is None


@pytest.mark.parametrize(("said", "understood"), [(b"sat\n", True), (b"unsupported\nsat\n", False)])
def test_answers_that_skip_a_command_are_told_apart(said: bytes, *, understood: bool) -> None:
    shown: Criterion | None = Disagree().shown_by([run(said), run(b"unsat\n")], NO_LIMITS)
    assert isinstance(shown, Disagree)
    assert (shown.expected, shown.understood) == ((b"sat", b"unsat"), understood)
