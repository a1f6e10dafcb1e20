"""A model is evaluated by pySMT; real solvers print right ones, and one that lies is caught."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reducekit.frontends.smt2.model_check import judge, question

Z3 = str(Path(sys.executable).parent / "z3")
SCRIPT = b"""(set-logic QF_AUFBV)
(declare-const x (_ BitVec 8))
(declare-fun f ((_ BitVec 8)) (_ BitVec 8))
(declare-const a (Array (_ BitVec 8) (_ BitVec 8)))
(declare-const unused (_ BitVec 8))
(assert (= (f x) #x07))
(assert (bvult x (bvudiv x #x00)))
(assert (= (select a x) #x09))
(check-sat)
(exit)
"""


def exit_code(path: Path, *solver: str) -> tuple[int, str]:
    """Run the check as the docs say; return its exit code and what it says."""
    run = subprocess.run(
        [sys.executable, "-m", "reducekit.frontends.smt2.model_check", *solver, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    return run.returncode, run.stderr


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "in.smt2"
    path.write_bytes(SCRIPT)
    return path


@pytest.fixture
def liar(tmp_path: Path) -> str:
    """A solver that is z3, but for one digit of its models."""
    path = tmp_path / "liar"
    path.write_text(f"#!/bin/sh\n{Z3} \"$@\" | sed 's/#x09/#x0a/'\n")
    path.chmod(0o755)
    return str(path)


def test_models_of_real_solvers_are_right(script: Path) -> None:
    assert exit_code(script, Z3) == (1, "")


@pytest.mark.debian("cvc5", "boolector")
@pytest.mark.parametrize("solver", [("cvc5",), ("boolector", "--smt2-model")])
def test_models_of_packaged_solvers_are_right(script: Path, solver: tuple[str, ...]) -> None:
    assert exit_code(script, *solver) == (1, "")


@pytest.mark.slow
def test_a_wrong_model_is_told_and_reduced(script: Path, liar: str, tmp_path: Path) -> None:
    assert exit_code(script, liar) == (0, "assertion 3 is false under the model\n")
    out = tmp_path / "out.smt2"
    subprocess.run(
        [sys.executable, "-m", "reducekit", "smt2", str(script), "-o", str(out), "--max-checks",
         "10", "--oracle", f"{sys.executable} -m reducekit.frontends.smt2.model_check {liar}"],
        capture_output=True, check=False,
    )  # fmt: skip
    assert b"#x09" in out.read_bytes()
    assert len(out.read_bytes()) < len(SCRIPT)
    assert exit_code(out, liar)[0] == 0


@pytest.mark.parametrize(
    ("text", "output", "wrong", "unknown"),
    [
        (b"(declare-const p Bool)(assert p)(check-sat)", b"unsat\n", "", ""),
        (b"(declare-const p Bool)(assert p)(check-sat)", b"sat\n", "", "no model"),
        (b"(declare-const p Bool)(assert p)(check-sat)",
         b'sat\n(error "no models here")\n', "", "no models here"),
        (b"(declare-const p Bool)(assert true)(assert p)(check-sat)(assert (not p))(check-sat)",
         b"sat\n((define-fun p () Bool false))\nsat\n", "assertion 2", ""),
        (b"(declare-const p Bool)(assert p)(check-sat)",
         b"sat\n((define-fun p () Bool q)(define-fun q () Bool true))\n", "", ""),
        (b"(declare-fun f (Int) Int)(assert (> (f 2) (f 1)))(check-sat)",
         b"sat\n((define-fun f ((x Int)) Int (ite (= x 1) 5 4)))\n", "assertion 1", ""),
        (b"(declare-const p Bool)(push 1)(assert p)(check-sat)",
         b"sat\n((define-fun p () Bool true))\n", "", "push"),
        (b"(declare-const s String)(assert (= (str.replace_all s s s) s))(check-sat)",
         b'sat\n((define-fun s () String ""))\n', "", "pySMT"),
        (b"(declare-const p Bool)(declare-const q Bool)(assert (or p q))(check-sat)",
         b"sat\n((define-fun p () Bool false))\n", "", "no value"),
    ],
)  # fmt: skip
def test_what_a_model_is_worth(text: bytes, output: bytes, wrong: str, unknown: str) -> None:
    found = judge(text, output)
    assert (bool(found.wrong), bool(found.unknown)) == (bool(wrong), bool(unknown))
    assert wrong in found.wrong
    assert unknown in found.unknown


def test_a_model_is_asked_for_once() -> None:
    asked = question(b"(exit)(assert true)(check-sat)(get-model)(check-sat)")
    assert asked.count(b"get-model") == asked.count(b"(check-sat)") == 1
    assert b"exit" not in asked


def test_what_cannot_be_told(script: Path, tmp_path: Path) -> None:
    assert exit_code(script, "no-such-solver")[0] == 2
    assert "no-such-solver" in exit_code(script, "no-such-solver")[1]
    assert exit_code(tmp_path / "missing.smt2", Z3)[0] == 2
    assert exit_code(script)[0] == 2
