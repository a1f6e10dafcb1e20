"""The models of real SAT and MaxSAT solvers are right, and one that lies is caught."""

import subprocess
import sys
from pathlib import Path

import pytest

from reducekit.frontends.cnf import Cnf
from reducekit.frontends.cnf.generate import Parameters, generate_text
from reducekit.frontends.cnf.model_check import judge
from reducekit.frontends.model_verdict import Finding

CNF = b"p cnf 4 4\n1 2 0\n-1 3 0\n-2 3 0\nc on its own\n4 0\n"
OLD = b"p wcnf 2 3 9\n9 1 2 0\n2 -1 0\n3 -2 0\n"
XOR = b"p cnf 3 2\nx1 2 0\nx 1 2 3 0\n"
KNF = b"p knf 3 1\nk 2 1 2 3 0\n"
NEW = b"h 1 2 0\n2 -1 0\n3 -2 0\n"


def exit_code(path: Path, *solver: str) -> tuple[int, str]:
    """Run the check as the docs say; return its exit code and what it says."""
    run = subprocess.run(
        [sys.executable, "-m", "reducekit.frontends.cnf.model_check", *solver, str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return run.returncode, run.stderr


@pytest.mark.debian("cadical", "picosat")
@pytest.mark.parametrize("solver", ["cadical", "picosat"])
def test_models_of_real_solvers_are_right(solver: str, tmp_path: Path) -> None:
    path = tmp_path / "in.cnf"
    satisfied = 0
    for seed in range(20):
        text = generate_text(Parameters(40, "uniform", 3, 4.267, "cnf"), seed)
        path.write_bytes(text)
        output = subprocess.run([solver, path], capture_output=True, check=False).stdout
        assert judge(text, output) == Finding()
        satisfied += b"s SATISFIABLE" in output.splitlines()
    assert 5 < satisfied < 20


@pytest.mark.slow
@pytest.mark.debian("cadical")
def test_a_wrong_model_is_told_and_reduced(tmp_path: Path) -> None:
    path, liar, out = tmp_path / "in.cnf", tmp_path / "liar", tmp_path / "out.cnf"
    path.write_bytes(CNF)
    liar.write_text("#!/bin/sh\ncadical \"$@\" | sed '/^v/s/ 4/ -4/'\n")
    liar.chmod(0o755)
    assert exit_code(path, "cadical") == (1, "")
    assert exit_code(path, str(liar)) == (0, "clause 4 is false under the model\n")
    subprocess.run(
        [sys.executable, "-m", "reducekit", "cnf", path, "-o", out, "--cmd", liar, "--wrong-model"],
        capture_output=True, check=True,
    )  # fmt: skip
    assert out.read_bytes() == b"p cnf 4 1\n4 0\n"


@pytest.mark.parametrize(
    ("text", "output", "wrong", "unknown"),
    [
        (CNF, b"s UNSATISFIABLE\n", "", ""),
        (CNF, b"c s SATISFIABLE\nv 0\n", "", ""),
        (CNF, b"s SATISFIABLE\nv -1 2\nv 3 4 0\n", "", ""),
        (CNF, b"s SATISFIABLE\r\nv 1 3 4 0\r\n", "", ""),
        (CNF, b"s SATISFIABLE\nv -1 2 -3 4 0\n", "clause 3 is false under the model", ""),
        (CNF, b"s SATISFIABLE\nv 1 -1 3 4 0\n",
         "variable 1 is both true and false in the model", ""),
        (CNF, b"s SATISFIABLE\nv 1 4 0\n", "", "clause 2 has no value under the model"),
        (CNF, b"s SATISFIABLE\n", "", "no model: there is no line with 'v'"),
        (CNF, b"s SATISFIABLE\nv x1 0\n", "", "the lines with 'v' are neither literals nor digits"),
        (OLD, b"o 2\ns OPTIMUM FOUND\nv 1 -2 0\n", "", ""),
        (OLD, b"o 0\ns OPTIMUM FOUND\nv -1 -2 0\n", "clause 1 is false under the model", ""),
        (NEW, b"o 2\ns OPTIMUM FOUND\nv 10\n", "", ""),
        (NEW, b"o 0\ns OPTIMUM FOUND\nv 00\n", "clause 1 is false under the model", ""),
        (XOR, b"s SATISFIABLE\nv 1 -2 3 0\n", "clause 2 is false under the model", ""),
        (XOR, b"s SATISFIABLE\nv 1 -2 0\n", "", "clause 2 has no value under the model"),
        (KNF, b"s SATISFIABLE\nv 1 -2 3 0\n", "", ""),
        (KNF, b"s SATISFIABLE\nv 1 -2 -3 0\n", "clause 1 is false under the model", ""),
        (b"p cnf 1 1\na 1 0\n1 0\n", b"s SATISFIABLE\nv 1 0\n", "",
         "models of qdimacs are not checked"),
    ],
)  # fmt: skip
def test_what_a_model_is_worth(text: bytes, output: bytes, wrong: str, unknown: str) -> None:
    found = judge(text, output)
    assert (found.wrong, found.unknown) == (wrong, unknown)


def test_no_formula_has_a_wrong_model() -> None:
    """Of a hunt with files: they may be anything."""
    assert not Cnf().wrong_model(b"p cnf x\n", b"s SATISFIABLE\nv 1 0\n")
    assert not Cnf().wrong_model(CNF, b"s UNSATISFIABLE\n")
    assert Cnf().wrong_model(CNF, b"s SATISFIABLE\nv -1 2 -3 4 0\n")


def test_what_cannot_be_told(tmp_path: Path) -> None:
    path = tmp_path / "in.cnf"
    path.write_bytes(b"p cnf x\n")
    code, said = exit_code(path, "true")
    assert code == 2
    assert said.startswith("line 1, column 1: ")
    assert exit_code(tmp_path / "none.cnf", "true")[0] == 2
    assert exit_code(path)[1].startswith("usage: python -m reducekit.frontends.cnf.model_check")
