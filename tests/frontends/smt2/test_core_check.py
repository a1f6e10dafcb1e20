"""A core is solved again: real solvers name right ones, and one that leaves names out is caught."""

import subprocess
import sys
from pathlib import Path

import pytest

Z3 = str(Path(sys.executable).parent / "z3")
SCRIPT = """(set-logic QF_LIA)
(set-info :status sat)
(declare-const a Int)
(assert (! (> a 0) :named positive))
(assert (< a 7)) (assert (< a 0))
(check-sat)
(exit)
"""
LIAR = f"#!/bin/sh\n{Z3} \"$@\" | sed 's/reducekit![0-9]*)/)/'\n"
"""Leaves the last name out of a core."""


def exit_code(path: Path, *words: str) -> tuple[int, str]:
    """Run the check as the docs say; return its exit code and what it says."""
    run = subprocess.run(
        [sys.executable, "-m", "reducekit.frontends.smt2.core_check", *words, str(path)],
        capture_output=True,
        text=True,
    )
    return run.returncode, run.stderr


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "in.smt2"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def liar(tmp_path: Path) -> str:
    path = tmp_path / "liar"
    path.write_text(LIAR)
    path.chmod(0o755)
    return str(path)


def test_a_right_core(script: Path) -> None:
    assert exit_code(script, Z3) == (1, "")


def test_a_core_that_lacks_an_assertion(script: Path, liar: str) -> None:
    said = "the core of 1 assertions is satisfiable\n"
    assert exit_code(script, liar) == (0, said)
    assert exit_code(script, liar, "--", Z3, "-T:60") == (0, said)
    assert exit_code(script, liar, "--", "true") == (
        2, "the core of 1 assertions is not decided: no answer\n",
    )  # fmt: skip


def test_no_core(script: Path, liar: str) -> None:
    script.write_text(SCRIPT.replace("(< a 0)", "(< a 9)"))
    assert exit_code(script, liar) == (1, "")
    script.write_text("(assert (")
    assert exit_code(script, Z3)[0] == 2
    assert exit_code(script)[0] == 2
    assert exit_code(script, "no such program")[0] == 2
