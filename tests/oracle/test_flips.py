"""Unstable failures: which runs are good and bad, by answers, reasons and steps."""

import subprocess
from pathlib import Path

import pytest

from reducekit import reduce
from reducekit.events import Event, Notice
from reducekit.oracle.also import Accepts, Also
from reducekit.oracle.command import Command, Words
from reducekit.oracle.criterion import verdict
from reducekit.oracle.flips import Flips, Unstable
from reducekit.run import Limits, Outcome

NO_LIMITS = Limits()


def run(stdout: bytes, status: int = 0) -> Outcome:
    return Outcome(status, None, stdout, b"", None, 0.1)


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


def counted(answer: str, steps: int) -> Outcome:
    return run(f"{answer}\n(:rlimit-count {steps})\n".encode())


def bounded(command: str = "z3 rlimit=900 -st") -> Flips:
    criterion = Unstable(command=command, unstable=3).criterion()
    assert isinstance(criterion, Flips)
    return criterion


def pinned(*outcomes: Outcome) -> Flips:
    kept = bounded().shown_by(outcomes, NO_LIMITS)
    assert isinstance(kept, Flips)
    return kept


def test_good_runs_take_two_thirds_of_the_steps() -> None:
    good, late, spent = counted("unsat", 600), counted("unsat", 601), counted("unknown", 950)
    kept = pinned(good, late, spent)
    assert kept.describe() == (
        "of 3 runs at least 1 answer unsat within 600 steps and 1 end with unknown (out of steps)"
    )
    assert verdict(kept, [spent, good])
    assert not verdict(kept, [spent, late, late])
    said = bounded().missing_in([late, late, spent])
    assert said.endswith(
        "0 were answered, 1 were not, and 2 were answered with more steps: try `rlimit=910`"
    )


def test_steps_tell_one_unknown_from_another() -> None:
    good, spent, gave_up = counted("unsat", 60), counted("unknown", 900), counted("unknown", 899)
    kept = pinned(good, gave_up, good)
    assert kept.describe().endswith("end with unknown (incomplete)")
    assert not verdict(kept, [good, spent, spent])
    asked = run(b'unknown\n(:reason-unknown "why")\n(:rlimit-count 950)\n')
    kept = pinned(good, asked, asked)
    assert kept.unknown == b"unknown (why)"  # the solver knows best


def test_steps_of_several_queries_are_not_compared() -> None:
    """The bound is one for each query, the counter one for all."""
    several = run(b"sat\nunsat\n(:rlimit-count 800)\n")
    lost = run(b"sat\nunknown\n(:rlimit-count 990)\n")
    kept = pinned(several, lost, lost)
    assert kept.unknown == b"unknown"


@pytest.mark.parametrize(
    ("command", "bound", "steps"),
    [
        ("z3 rlimit=900", 900, "rlimit-count"),
        ("z3-4.8 rlimit=7 rlimit=900 -T:5", 900, "rlimit-count"),
        ("z3 rlimit={seed}00", None, "rlimit-count"),
        ("z3 smt.rlimit=9", None, "rlimit-count"),
        ("cvc5 --rlimit=900", 900, "resource::resourceUnitsUsed"),
        ("cvc5 --rlimit 900 -q", 900, "resource::resourceUnitsUsed"),
        ("yices-smt2 --timeout=9", None, ""),
        ("./solver rlimit=900", None, ""),
    ],
)
def test_bounds_of_solvers(command: str, bound: int | None, steps: str) -> None:
    def made(words: Words) -> Command:
        assert isinstance(words, str)
        return Command(tuple(words.split()))

    kind = Unstable(command=command, unstable=3)
    criterion = bounded(command)
    assert (criterion.bound, criterion.steps) == (bound, steps)
    asked = {"z": "-st", "c": "--stats-internal"}.get(command[0])
    for each in (*kind.commands(made), *kind.fresh(2, made)):
        assert (each.words[-1] == asked) == bool(steps)


LOOP = """(declare-fun f (Int) Int)
(assert (forall ((x Int)) (! (> (f (+ x 1)) (f x)) :pattern ((f x)))))
(assert (< (f 3) (f 0)))
(check-sat)
"""


def test_a_bound_is_advised_where_none_is_given() -> None:
    said: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Notice):
            said.append(event.text)

    command = "z3 smt.mbqi=false smt.qi.max_instances={seed}0"
    report = reduce(LOOP, command=command, unstable=3, max_checks=0, listen=listen)
    assert report.failure == "of 3 runs at least 1 answer unsat and 1 end with unknown"
    (advice,) = (each for each in said if "no bound of steps" in each)
    number = int(advice.rpartition("`rlimit=")[2].rstrip("`"))
    assert number % 10 == 0
    report = reduce(LOOP, command=f"{command} rlimit={number}", unstable=3, max_checks=0)
    assert " steps and 1 end with unknown (" in report.failure


@pytest.mark.slow
def test_a_flip_is_kept(tmp_path: Path) -> None:
    """Seed 0 has no limit here, the others have too little."""
    unused = "".join(f"(declare-const q{k} Int)\n(assert (< q{k} {k}))\n" for k in range(20))
    script = f"""(declare-fun f (Int) Int)
{unused}(assert (forall ((x Int)) (! (> (f (+ x 1)) (f x)) :pattern ((f x)))))
(assert (< (f 3) (f 0)))
(check-sat)
"""
    command = "z3 rlimit={seed}00"
    report = reduce(script, command=command, unstable=3, bad=2, max_checks=30, journal=False)
    assert len(report.reproducers) == 3
    assert "reducekit variant" in report.reproducers[2].command
    assert report.failure == "of 3 runs at least 1 answer unsat and 2 end with unknown"
    path = tmp_path / "small.smt2"
    path.write_text(report.text)
    ends = [
        subprocess.run(["z3", f"rlimit={seed}00", path], capture_output=True).stdout
        for seed in range(3)
    ]
    assert ends == [b"unsat\n", b"unknown\n", b"unknown\n"]
    assert report.after["asserts"] < report.before["asserts"]
