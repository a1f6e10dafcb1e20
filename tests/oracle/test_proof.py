"""Proofs that a checker rejects: which runs count, and a reduction with both programs."""

from pathlib import Path

import pytest

import reducekit
from reducekit.errors import UsageError
from reducekit.oracle.proof import main

TEXT = b"p cnf 2 3\n1 2 0\n-1 0\n-2 0\n"


def program(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("solver", "checker", "code"),
    [
        ("echo 0 >$2; exit 20", "echo s NOT VERIFIED", 0),
        ("echo 0 >$2; echo unsat", "grep -q 1 $2", 0),
        ("echo 0 >$2; exit 20", "echo s VERIFIED; exit 1", 1),
        ("echo 0 >$2; exit 20", "grep -q 0 $2 && grep -q cnf $1", 1),
        ("echo 0 >$2; exit 10", "exit 1", 1),
        ("exit 20", "exit 1", 1),
        ("echo 0 >$2; exit 20", "kill -SEGV $$", 2),
    ],
)
def test_only_a_proof_that_is_rejected_counts(
    tmp_path: Path, solver: str, checker: str, code: int
) -> None:
    (tmp_path / "in.cnf").write_bytes(TEXT)
    words = [program(tmp_path / "solver", solver), "{proof}", "{then}"]
    words += [program(tmp_path / "checker", checker), str(tmp_path / "in.cnf")]
    assert main(words) == code


def test_formula_and_proof_are_reduced_together(tmp_path: Path) -> None:
    solver = program(tmp_path / "solver", 'grep -q "^-2 0" "$3" && cp "$3" "$2" && exit 20')
    checker = program(tmp_path / "checker", 'cmp -s "$1" "$2" && echo s NOT VERIFIED')
    found = reducekit.reduce(TEXT, proof=[solver, "-p", "{proof}", "{}"], checker=checker).text
    assert found == b"p cnf 2 1\n-2 0\n"
    with pytest.raises(UsageError, match="require each other"):
        reducekit.reduce(TEXT, proof=[solver, "{proof}"])
    with pytest.raises(UsageError, match=r"write \{proof\} where"):
        reducekit.reduce(TEXT, proof=solver, checker=checker)
