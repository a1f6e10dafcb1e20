"""A solver that compares its answer with `(set-info :status ...)`: the person is told."""

import pytest

from tests.cli.inprocess import Shell, shell

pytestmark = pytest.mark.reduction

__all__ = ["shell"]

SCRIPT = """\
(set-logic QF_BV)
(set-info :status {status})
(declare-const x (_ BitVec 8))
(assert (= (bvadd x #x01) #x03))
(check-sat)
"""


@pytest.mark.debian("cvc5")
def test_a_result_that_needs_the_line(shell: Shell) -> None:
    shell.write("in.smt2", SCRIPT.format(status="unsat"))
    done = shell("smt2", "in.smt2", "--cmd", "cvc5 -q")
    assert done.code == 0
    assert "the failure needs (set-info :status ...)" in done.err
    assert "remove" not in done.err
    assert done.err.rstrip().endswith("--reference")


def test_a_result_without_the_line(shell: Shell) -> None:
    shell.write("in.smt2", SCRIPT.format(status="sat"))
    done = shell("smt2", "in.smt2", "--oracle", "grep -q bvadd {}")
    assert done.code == 0
    assert ":status" not in done.err


def test_not_done_yet(shell: Shell) -> None:
    """Whether the line is needed is not known then."""
    shell.write("in.smt2", SCRIPT.format(status="sat"))
    done = shell("smt2", "in.smt2", "--oracle", "grep -q bvadd {}", "--max-checks", "1")
    assert ":status" not in done.err
