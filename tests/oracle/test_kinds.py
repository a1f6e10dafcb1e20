"""Options ask for kinds of failure, and exclude each other where no kind has both."""

from dataclasses import fields
from importlib import import_module
from itertools import combinations
from typing import Any

import pytest

from reducekit.errors import UsageError
from reducekit.oracle.cost import CostAtLeast
from reducekit.oracle.printed import Printing
from reducekit.run import Limits, Outcome
from reducekit.session import Failure
from reducekit.session.failure import KINDS

NO_LIMITS = Limits()


def run(out: bytes = b"", err: bytes = b"", status: int = 0) -> Outcome:
    return Outcome(status, None, out, err, None, 0.1)


STOPPED = Outcome(None, 9, b"", b"", "time", 2.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"good": 2}, "`good` requires `unstable`"),
        ({"unstable": 8, "slower_than": 2}, "mutually exclusive: give one"),
        ({"unstable": 8}, "files of this format have no variants, so the command needs {seed}"),
        ({"unstable": 1}, "`unstable` 1 is too few for `good` and `bad`: give 2"),
        (
            {"slower_than": 2, "timeout": 3},
            "^`slower_than` is the time limit: it does not go with `timeout`$",
        ),
    ],
)
def test_what_does_not_go_together(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Failure(command="true", **given).commands_and_criterion()


def costly(**given: Any) -> CostAtLeast:
    _, criterion = Failure(**given).commands_and_criterion()
    assert isinstance(criterion, CostAtLeast)
    return criterion


def test_bounds_of_costs() -> None:
    assert costly(command="true", cost="steps", at_least=3).at_least == 3
    twice = costly(command="true", cost="steps", times=2, reference="true")
    assert (twice.times, twice.runs, twice.references) == (2, 1, 1)
    assert costly(command="true", cost="steps").at_least is None  # a tenth of the input's
    both = costly(command="true", cost="steps", reference="true", at_least=3)
    assert (both.times, both.at_least) == (4, 3)
    for given in ({"times": 2}, {"floor": 2}):
        with pytest.raises(UsageError, match=f"`{next(iter(given))}` requires `reference`"):
            costly(command="true", cost="steps", **given)


@pytest.mark.parametrize("command", ["z3 -T:9", ["z3", "-T:9"], ["z3", "-T:9", "-st"]])
def test_a_regression_asks_the_solver_for_its_steps(command: Any) -> None:
    failure = Failure(command=command, reference="z3", regression=True)
    (own, other), criterion = failure.commands_and_criterion()
    assert isinstance(criterion, CostAtLeast)
    assert (criterion.name, criterion.times, criterion.answered) == ("rlimit-count", 4, True)
    assert own.words[1:] == ("-T:9", "-st")
    assert other.words[1:] == ("-st",)


def test_a_regression_of_other_programs() -> None:
    with pytest.raises(
        UsageError, match="knows the steps of z3, cvc5, yices, cadical only, not of 'true'"
    ):
        costly(command="true", reference="z3", regression=True)
    with pytest.raises(UsageError, match="the programs count different steps: give `cost`"):
        costly(command="z3", reference="yices-smt2", regression=True)


def test_every_pair_is_a_failure_or_refused_in_words() -> None:
    """No two options are taken with one of them ignored."""
    asking: dict[str, Any] = {
        "oracle": "true", "reference": "true", "slower_than": 1.0, "exit_code": 1,
        "match_out": ["x"], "ignore_out": True, "unstable": 8,
    }  # fmt: skip
    allowed = {
        frozenset(pair)
        for pair in [
            ("reference", "slower_than"),
            ("exit_code", "match_out"),
            ("reference", "exit_code"),
            ("reference", "match_out"),
        ]
    }
    for one, other in combinations(asking, 2):
        given = Failure(command="true", **{each: asking[each] for each in (one, other)})
        if {one, other} in allowed:
            given.commands_and_criterion()
        else:
            with pytest.raises(UsageError):
                given.commands_and_criterion()


def test_the_table_of_kinds_has_the_fields_of_their_classes() -> None:
    for home, (asked_by, more) in KINDS.items():
        module, _, name = home.partition(":")
        own = {each.name for each in fields(getattr(import_module(module), name))}
        assert own == {*asked_by, *more}, home
        assert own <= {each.name for each in fields(Failure)}


@pytest.mark.parametrize("given", [{}, {"regression": True}, {"cost": "x", "times": 2}])
def test_patterns_go_with_a_reference(given: dict[str, Any]) -> None:
    failure = Failure(command="z3", reference="z3", exit_code=0, match_err=["a", "b"], **given)
    _, criterion = failure.commands_and_criterion()
    assert isinstance(criterion, Printing)
    assert criterion.describe().endswith(
        "and exit status 0 and stderr matching 'a' and stderr matching 'b'"
    )


def test_a_cost_has_all_that_is_given() -> None:
    seeds = costly(command="true {seed}", cost="turns", times=2.5, reference="true", floor=7)
    assert seeds == CostAtLeast("turns", 3, 1, None, 2.5, 7.0)
    assert costly(command="true", cost="turns", at_least=3) == CostAtLeast("turns", 1, 0, 3.0)
