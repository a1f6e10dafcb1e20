"""The status in a script tells who is wrong; no program that is asked for an answer sees it."""

import sys
from pathlib import Path

import pytest

from reducekit import reduce
from reducekit.events import Event, Notice
from reducekit.frontends.smt2.language.commands import status_of, without_status

Z3 = Path(sys.executable).with_name("z3")
TEXT = b"""(set-logic QF_LIA)
(set-info :status unsat)
(declare-const a Int) (declare-const b Int)
(assert (> b 3))
(assert (> a 0))
(assert (< a 0))
(check-sat)
"""
WRONG = f"""#!/bin/sh
grep -q ':status' "$1" && exit 3
{Z3} "$1" | sed s/unsat/sat/
"""


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    path = tmp_path / "wrong"
    path.write_text(WRONG)
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (b"unsat", "by the status in the input (unsat), the command is wrong"),
        (b"sat", "by the status in the input (sat), the reference is wrong"),
        (b"unknown", None),
    ],
)
def test_a_wrong_answer_of_a_script_with_a_status(
    wrong: str, status: bytes, said: str | None
) -> None:
    """z3, the reference, would compare its answer with the status, which is another one later."""
    notices: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Notice):
            notices.append(event.text)

    text = TEXT.replace(b"unsat", status)
    report = reduce(text, command=wrong, reference=str(Z3), listen=listen)
    assert report.failure == "the command answers sat, its reference unsat"
    assert b":status" not in report.text
    assert report.text.count(b"assert") <= 2
    assert [each for each in notices if "by the status" in each] == [said] * (said is not None)


def test_a_failure_by_the_status_is_kept() -> None:
    """Of a single program it is what fails: reducekit warns, and leaves it to the user."""
    report = reduce(TEXT.replace(b"unsat", b"sat"), command=str(Z3))
    assert "check annotation that says" in report.failure
    assert b":status sat" in report.text


@pytest.mark.parametrize(
    ("line", "status", "left"),
    [
        (b"(set-info :status sat)", "sat", b""),
        (b"(check-sat)(set-info :status unsat)(exit)", "unsat", b"(check-sat)(exit)"),
        (b"(set-info :status\n sat )", "sat", b""),
        (b"(set-info :status unknown)", None, b""),
        (b"(set-info :status sat)\n(set-info :status sat)", None, b"\n"),
        (b"; (set-info :status sat)", None, b"; (set-info :status sat)"),
        (b"(set-info :source |x|)", None, b"(set-info :source |x|)"),
    ],
)
def test_claims_of_a_script(line: bytes, status: str | None, left: bytes) -> None:
    assert status_of(b"\n" + line + b"\n") == status
    assert without_status(b"\n" + line + b"\n") == b"\n" + left + b"\n"
