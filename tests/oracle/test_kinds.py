"""Options ask for kinds of failure, and exclude each other where no kind has both."""

from __future__ import annotations

import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from reducekit import reduce
from reducekit.errors import UsageError
from reducekit.oracle.also import Accepts, Also
from reducekit.oracle.cost import CostAtLeast
from reducekit.oracle.criterion import verdict
from reducekit.oracle.flips import Flips
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome
from reducekit.session import Failure

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
    ],
)
def test_what_does_not_go_together(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Failure(command="true", **given).commands_and_criterion()


def costly(**given: Any) -> CostAtLeast:
    _, criterion = Failure(**given).commands_and_criterion()
    assert isinstance(criterion, CostAtLeast)
    return criterion


def test_costs_have_one_bound() -> None:
    assert costly(command="true", cost="steps", at_least=3).at_least == 3
    twice = costly(command="true", cost="steps", times=2, reference="true")
    assert (twice.times, twice.runs, twice.references) == (2, 1, 1)
    for given in ({}, {"at_least": 3, "times": 2, "reference": "true"}):
        with pytest.raises(UsageError, match="requires `at_least`, or `times` and `reference`"):
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
        UsageError, match="knows the steps of z3, cvc5, cadical only, not of 'true'"
    ):
        costly(command="true", reference="z3", regression=True)
    with pytest.raises(UsageError, match="the programs count different steps: give `cost`"):
        costly(command="z3", reference="cvc5", regression=True)


def test_every_pair_is_a_failure_or_refused_in_words() -> None:
    """No two options are taken with one of them ignored."""
    asking: dict[str, Any] = {
        "oracle": "true", "reference": "true", "slower_than": 1.0, "exit_code": 1,
        "match_out": ["x"], "ignore_out": True, "unstable": 8,
    }  # fmt: skip
    allowed = {
        frozenset(pair) for pair in [("reference", "slower_than"), ("exit_code", "match_out")]
    }
    for one, other in combinations(asking, 2):
        given = Failure(command="true", **{each: asking[each] for each in (one, other)})
        if {one, other} in allowed:
            given.commands_and_criterion()
        else:
            with pytest.raises(UsageError):
                given.commands_and_criterion()


def test_flips() -> None:
    good, bad = run(b"unsat\n"), run(b"unknown\n")
    kept = Flips(3).shown_by([good, bad, bad], NO_LIMITS)
    assert kept is not None
    assert kept.describe() == "of 3 runs at least 1 answer unsat and 1 end with unknown"
    assert kept.judge([bad, bad]) is None
    assert kept.judge([bad, good]) is True  # the third need not run
    assert not verdict(kept, [good, good, good])
    assert not verdict(kept, [bad, run(b"sat\n"), bad])  # another answer is no good run
    error = run(b'(error "x")\n', status=1)
    assert verdict(kept, [bad, error, good])  # whichever comes first: it is neither
    assert not verdict(kept, [bad, error, error])
    assert kept.judge([error]) is False  # the text itself is broken
    assert Flips(3, good=2).judge([bad, bad]) is False  # the third need not run
    assert Flips(2).shown_by([bad, bad], NO_LIMITS) is None


def test_the_runs_that_decided_are_next() -> None:
    good, bad = run(b"unsat\n"), run(b"unknown\n")
    kept = Flips(5, good=2, answer=b"unsat", unknown=b"unknown")
    assert kept.next_order(range(5), [good, run(b"sat\n"), good, good, bad]) == [0, 2, 4, 1, 3]
    assert kept.next_order([0, 2, 4, 1, 3], [bad, good, good]) == [0, 2, 4, 1, 3]
    assert kept.next_order([0, 2, 4, 1, 3], [good, bad, bad, bad, good]) == [0, 2, 3, 4, 1]
    assert kept.next_order(range(5), [run(b"sat\n"), bad, good, good]) == [0, 1, 2, 3, 4]
    also = Also(Flips(3), 3, (Accepts(),))
    assert also.next_order(range(4), [good, good, bad, good]) == (0, 2, 1, 3)


def test_flips_tell_one_unknown_from_another() -> None:
    def unknown(why: str) -> Outcome:
        return run(f'unknown\n(:reason-unknown "{why}")\n'.encode())

    incomplete, spent = unknown("(incomplete quantifiers)"), unknown("max. resource limit exceeded")
    kept = Flips(2).shown_by([run(b"unsat\n"), incomplete], NO_LIMITS)
    assert kept is not None
    assert verdict(kept, [run(b"unsat\n"), incomplete])
    assert not verdict(kept, [run(b"unsat\n"), spent])


@pytest.mark.slow
def test_a_flip_is_kept(tmp_path: Path) -> None:
    """Seed 0 has no limit here, the others have too little."""
    spare = "".join(f"(declare-const q{k} Int)\n(assert (< q{k} {k}))\n" for k in range(20))
    script = f"""(declare-fun f (Int) Int)
{spare}(assert (forall ((x Int)) (! (> (f (+ x 1)) (f x)) :pattern ((f x)))))
(assert (< (f 3) (f 0)))
(check-sat)
"""
    command = "z3 rlimit={seed}00"
    report = reduce(script, command=command, unstable=3, bad=2, max_checks=60, journal=False)
    assert len(report.reproducers) == 3
    assert "reducekit variant" in report.reproducers[2].command
    assert report.failure == "of 3 runs at least 1 answer unsat and 2 end with unknown"
    path = tmp_path / "small.smt2"
    path.write_bytes(report.text)
    ends = [
        subprocess.run(["z3", f"rlimit={seed}00", path], capture_output=True).stdout
        for seed in range(3)
    ]
    assert ends == [b"unsat\n", b"unknown\n", b"unknown\n"]
    assert report.after["asserts"] < report.before["asserts"]


def test_a_cost_has_all_that_is_given() -> None:
    seeds = costly(command="true {seed}", cost="steps", times=2.5, reference="true", floor=7)
    assert seeds == CostAtLeast("steps", 3, 1, None, 2.5, 7.0)
    assert costly(command="true", cost="steps", at_least=3) == CostAtLeast("steps", 1, 0, 3.0)
