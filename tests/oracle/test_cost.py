"""Counters of solvers: read from what they print, and compared with a bound or a reference."""

from dataclasses import replace

import pytest

from reducekit.errors import UsageError
from reducekit.oracle.cost import CostAtLeast, cost, counter
from reducekit.oracle.criterion import verdict
from reducekit.run import Limits, Outcome


def run(stdout: bytes = b"", stderr: bytes = b"") -> Outcome:
    return Outcome(0, None, stdout, stderr, None, 0.1)


@pytest.mark.parametrize(
    ("name", "output", "number"),
    [
        ("conflicts", b"unsat\n(:arith-conflicts 9\n :conflicts       7)\n", 7),
        (":conflicts", b"(:conflicts 7)\n", 7),
        ("conflicts", b"(:arith-conflicts 9)\n", 0),
        ("sat::conflicts", b"sat::conflicts = 12\n", 12),
        ("conflicts", b"c conflicts:                 3451      17.2 per second\n", 3451),
        ("time", b"(:time 0.25)\n", 0.25),
        ("rlimit-count", b"(:rlimit-count 5)\n(:rlimit-count 11)\n", 11),
        (r"took (\d+) steps", b"took 40 steps\n", 40),
        (r"took (\w+) steps", b"took many steps\n", 0),
    ],
)
def test_the_number_of_a_counter(name: str, output: bytes, number: float) -> None:
    assert cost(counter(name), run(output)) == number
    assert cost(counter(name), run(stderr=output)) == number


def test_a_bad_pattern() -> None:
    with pytest.raises(UsageError, match=r"`cost`: '\(' is not a regular expression"):
        counter("(")


def test_every_seed_must_reach_the_bound() -> None:
    kept = CostAtLeast("steps", runs=3, at_least=10)
    assert kept.judge([run(b"steps 10")]) is None
    assert kept.judge([run(b"steps 10"), run(b"steps 9")]) is False
    assert verdict(kept, [run(b"steps 10")] * 3)
    assert kept.describe() == "steps is 10 or more"
    missing = kept.missing_in([run(b"steps 9")] * 3)
    assert missing == "steps is 10 or more; it is 9, 9, 9, and 10 is wanted"


def test_a_multiple_of_the_reference() -> None:
    kept = CostAtLeast("steps", runs=1, references=1, times=5, floor=4)
    assert kept.judge([run(b"steps 19")]) is False  # whatever the reference needs
    assert kept.judge([run(b"steps 20")]) is None
    assert verdict(kept, [run(b"steps 20"), run()])  # a missing number is 0, which counts as 4
    assert verdict(kept, [run(b"steps 50"), run(b"steps 10")])
    assert not verdict(kept, [run(b"steps 49"), run(b"steps 10")])
    stopped = run()._replace(limit="time")  # it may have had no time to print its cost
    assert not verdict(kept, [run(b"steps 20"), stopped])
    assert kept.describe() == "steps is 5 times that of the reference, or more"


def test_a_tenth_of_the_input_s_cost_stays() -> None:
    asked = CostAtLeast("steps", runs=1, references=1, times=2, answered=True)
    given = [run(b"unknown\nsteps 5678"), run(b"unsat\nsteps 1000")]
    kept = asked.shown_by(given, Limits())
    assert kept == replace(
        asked, at_least=560.0, kept=(frozenset({b"unknown"}), frozenset({b"unsat"}))
    )
    assert kept.describe() == (
        "steps is 2 times that of the reference and 560, or more, the command answers unknown, "
        "its reference unsat"
    )
    assert verdict(kept, [run(b"unknown\nsteps 560"), run(b"unsat\nsteps 280")])
    assert not verdict(kept, [run(b"unknown\nsteps 559"), run(b"unsat\nsteps 1")])
    assert asked.shown_by(given[::-1], Limits()) is None


@pytest.mark.parametrize(("floor", "at_least"), [(4.0, None), (None, 9.0)])
def test_who_says_less_gets_less(floor: float | None, at_least: float | None) -> None:
    asked = CostAtLeast("steps", 1, 1, at_least, times=2, floor=floor)
    kept = asked.shown_by([run(b"unsat\nsteps 5000"), run(b"unsat\nsteps 1000")], Limits())
    assert kept is not None
    assert verdict(kept, [run(b"unsat\nsteps 9"), run(b"unsat\nsteps 2")])


def test_the_answers_of_the_input_stay() -> None:
    asked = CostAtLeast("steps", runs=1, references=1, times=2)
    given = [run(b"unsat\nsteps 50"), run(b"unsat\nsteps 10")]
    kept = asked.shown_by(given, Limits())
    assert kept is not None
    assert verdict(kept, given)
    assert not verdict(kept, [run(b"sat\nsteps 50"), given[1]])
    assert not verdict(kept, [run(b"steps 50"), given[1]])
    assert not verdict(kept, [given[0], run(b"unknown\nsteps 10")])
    assert not verdict(kept, [run(b'(error "x")\nunsat\nsteps 50'), given[1]])
    several = [run(b"unsat\nunknown\nsteps 50"), run(b"unsat\nunsat\nsteps 10")]
    kept = asked.shown_by(several, Limits())
    assert isinstance(kept, CostAtLeast)
    assert kept.at_least == 25  # the half: many cheap queries may cost a tenth
    assert verdict(kept, [run(b"unknown\nsteps 50"), run(b"unsat\nsteps 10")])
    free = replace(asked, free=True).shown_by(given, Limits())
    assert free is not None
    assert verdict(free, [run(b"sat\nsteps 50"), given[1]])


def test_a_program_that_answers_nothing_need_not_answer() -> None:
    kept = CostAtLeast("turns", runs=1).shown_by([run(b"turns 50")], Limits())
    assert kept is not None
    assert kept.describe() == "turns is 5 or more"
    assert verdict(kept, [run(b"turns 5")])


def test_what_all_runs_without_a_cost_have_in_common_is_told() -> None:
    refused = run(b'(error "unknown parameter")\n')._replace(status=1)
    said = CostAtLeast("steps", runs=3).missing_in([refused] * 3)
    assert said == (
        "steps is high; it is 0, 0, 0, and 1 is wanted; all 3 exited with 1: unknown parameter"
    )


def test_a_reference_that_has_to_answer() -> None:
    kept = CostAtLeast("steps", runs=1, references=1, times=2, answered=True)
    slow = run(b"unknown\nsteps 20")
    assert verdict(kept, [slow, run(b"unsat\nsteps 10")])
    assert not verdict(kept, [slow, run(b"unknown\nsteps 10")])
    assert not verdict(kept, [slow, run(b'(error "x")\nsteps 1')])
