"""The queries that the benchmark makes fail as they should, and its table tells what is left."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.slow_generated import Case, core, rows, slow, steps, table, unstable
from reducekit.compare.reducers import Reducer
from tests.solvers import z3

VERSION = "4.12.1.0"


def accepted(case: Case, text: str, folder: Path) -> bool:
    oracle, file = folder / "oracle", folder / "in.smt2"
    oracle.write_text(case.oracle, encoding="utf-8")
    oracle.chmod(0o755)
    file.write_text(text, encoding="utf-8")
    return subprocess.run([oracle, "--first", file]).returncode == 0


@pytest.mark.slow
def test_the_unstable_query(tmp_path: Path) -> None:
    program = z3(VERSION)
    case = unstable(program)
    bound = int(case.options["command"].partition("rlimit=")[2].split()[0])
    taken = steps(program, case.text)
    assert min(taken) * 1.5 <= bound < max(taken)
    assert accepted(case, case.text, tmp_path)
    hard = case.text.replace("(assert (or (not a", "(assert (or a0_0 (not a")
    assert not accepted(case, hard, tmp_path)  # no seed is fast
    assert not accepted(case, "(check-sat)", tmp_path)  # none is slow
    left = core(case.text.encode(), program)
    assert left.count(b"(assert") < case.text.count("(assert")


@pytest.mark.slow
def test_the_slow_query_and_its_rows(tmp_path: Path) -> None:
    program = z3(VERSION)
    case = slow(program)
    assert not accepted(case, case.text.replace("(f z)", "(f 0)"), tmp_path)
    copying = Reducer.of("copy=sh -c 'cp $0 $1' {input} {output} {oracle}")
    found = rows(case, program, [copying], 2.0, tmp_path)
    assert [each.reducer for each in found] == ["copy", "z3's core", "reducekit, by options"]
    assert [each.accepted for each in found] == [True, True, True]
    assert found[0].text == case.text.encode()
    assert len(found[2].text) < len(found[0].text)
    first, *_ = table(case, found).splitlines()
    size = f"{len(case.text):,}"
    assert first.startswith(f"| slow | copy | 135 → 135 | {size} → {size} |  | ")
    assert first.endswith(" | yes | done |")
