"""What a session tells of the axioms that are left: by a real z3, in a good and in a bad run."""

from pathlib import Path
from typing import Any

import pytest

from reducekit import Report, reduce
from reducekit.journal import load
from reducekit.oracle.also import Also
from reducekit.oracle.cost import CostAtLeast
from reducekit.oracle.criterion import Criterion
from reducekit.oracle.flips import Flips
from reducekit.oracle.printed import Matches
from reducekit.reports.account import account
from reducekit.reports.page import page
from reducekit.run import Outcome
from reducekit.session.runs.variants import good_and_bad

IDLE = "".join(f"(declare-const q{k} Int)\n(assert (< q{k} {k}))\n" for k in range(9))
QUERY = f"""(declare-fun f (Int) Int)
{IDLE}(assert (forall ((x Int)) (! (> (f (+ x 1)) (f x)) :pattern ((f x)) :qid |it increases|)))
(assert (! (< (f 8) (f 0)) :named |what is asked|))
(check-sat)
"""
GOOD_RUN = "z3 smt.mbqi=false rlimit=100000"
LOST = f"{GOOD_RUN} smt.qi.max_instances=4"


def reduced(**options: Any) -> Report[str]:
    return reduce(QUERY, max_checks=2, journal=options.pop("journal", False), **options)


def test_lines_and_instances(tmp_path: Path) -> None:
    source = tmp_path / "in.smt2"
    source.write_text(QUERY)
    report = reduce(
        source, command=GOOD_RUN, match_out="^unsat", also_match=[(LOST, "^unknown")],
        only=("commands",),
    )  # fmt: skip
    found = {each.line: each for each in report.left}
    assert set(found) == {20, 21}, report.text
    axiom, asked = found[20], found[21]
    assert (axiom.name, asked.name) == ("it increases", "what is asked")
    assert axiom.now <= report.text.count(b"\n") + 1
    assert axiom.good is not None
    assert axiom.bad is not None
    assert axiom.good > axiom.bad > 0
    assert (asked.good, asked.bad) == (None, None)
    assert report.output is not None
    journal = report.output.with_name(report.output.name + ".journal")
    shown = page(account(load(journal), journal))
    assert "Remaining parts of the input" in shown
    row = f'<td>it increases</td><td class="number">20</td><td class="number">{axiom.now}</td>'
    assert f'{row}<td class="number">{axiom.good}</td><td class="number">{axiom.bad}</td>' in shown


def test_other_failures_leave_no_axioms() -> None:
    assert reduced(command=LOST, match_out="unknown").left == []


def ended(answer: bytes) -> Outcome:
    return Outcome(0, None, answer + b"\n", b"", None, 0.1)


GOOD, BAD = ended(b"unsat"), ended(b"unknown")
ALSO = Also(Matches(out=()), 1, (Matches(),))


@pytest.mark.parametrize(
    ("criterion", "outcomes", "expected"),
    [
        (Flips(3), (BAD, GOOD, BAD), (1, 0)),
        (Flips(2), (GOOD, GOOD), (0, None)),
        (ALSO, (GOOD, BAD), (0, 1)),
        (CostAtLeast("steps", 3, 3, times=2.0), (BAD, BAD, BAD, GOOD, GOOD, GOOD), (3, 0)),
        (CostAtLeast("steps", 1, at_least=9.0), (GOOD,), (None, 0)),
        (Also(CostAtLeast("steps", 1, 1, times=2.0), 2, (Matches(),)), (GOOD,) * 3, (1, 0)),
    ],
)
def test_good_and_bad_runs(
    criterion: Criterion, outcomes: tuple[Outcome, ...], expected: tuple[int | None, int | None]
) -> None:
    assert criterion.about_answers
    assert good_and_bad(criterion, outcomes) == expected
