"""Hunts compared with other tools: processor seconds, usable seeds, failures told apart."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from benchmarks import hunts_beside
from benchmarks.hunts_beside import Found, Setting, compare, prepared, run, script, table
from tests.cli.tool import until


def is_over(pid: int) -> bool:
    """Return whether a process has ended; a zombie counts as ended."""
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True


def test_a_tool_is_stopped_with_all_its_processes(tmp_path: Path) -> None:
    busy = "while :; do :; done"
    used = run(["sh", "-c", f"sh -c '{busy}' & echo $!; {busy}"], 0.5, tmp_path)
    assert used >= 0.5
    child = int((tmp_path / "log").read_text())
    until(lambda: is_over(child))
    assert run(["true"], 5, tmp_path) < 5


def test_seeds_that_a_program_does_not_solve_are_left_out(tmp_path: Path) -> None:
    paths = []
    for name, answer in (("a", "sat"), ("b", "unsat"), ("c", "(error x)"), ("d", "unknown")):
        path = tmp_path / f"{name}.smt2"
        path.write_text(f"{answer}\n")
        paths.append(path)
    program = script(tmp_path / "program", "cat", tmp_path / "results")
    assert prepared(paths, program, program, tmp_path) == (2, 1)
    assert sorted(each.read_text() for each in (tmp_path / "seeds").iterdir()) == [
        "sat\n",
        "unsat\n",
    ]
    assert [each.read_text() for each in (tmp_path / "sat").iterdir()] == ["sat\n"]


@pytest.mark.parametrize(
    ("ending", "status"), [("exit 3", 3), ("kill -s SEGV $$", -signal.SIGSEGV)]
)
def test_a_program_runs_once_on_each_text(tmp_path: Path, ending: str, status: int) -> None:
    solver, runs = tmp_path / "solver", tmp_path / "runs"
    solver.write_text(f"#!/bin/sh\necho . >> {runs}\necho out\necho err >&2\n{ending}\n")
    solver.chmod(0o755)
    program = script(tmp_path / "program", str(solver), tmp_path / "results")
    for name, text in (("a", "one"), ("b", "one"), ("c", "two")):
        path = tmp_path / name
        path.write_text(text)
        done = subprocess.run([program, path], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (status, "out\n", "err\n")
    assert len(runs.read_text().split()) == 2


def test_what_a_tool_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "hunt --logic any"
    monkeypatch.setattr(hunts_beside, "TOOLS", {name: hunts_beside.TOOLS[name]})
    solver = tmp_path / "solver"
    broken = 'if grep -q BitVec "$1"; then echo "Fatal failure in mul.cpp:7" >&2; exit 1; fi'
    solver.write_text(f"#!/bin/sh\n{broken}\necho sat\n")
    solver.chmod(0o755)
    reference = script(tmp_path / "reference", "echo sat; true", tmp_path / "results")
    folder = tmp_path / "empty"
    folder.mkdir()
    setting = Setting(solver, reference, folder, folder, folder, 1)
    (found,) = compare(str(solver), reference, setting, 0.8, tmp_path / "kept", folder)
    assert found.seconds >= 0.8
    assert found.inputs > 0
    assert 0 < found.failing <= found.inputs
    assert len(found.bugs) == 1
    told = table("mine", [found])
    assert f"| {name} | " in told
    assert "1 failures:" in told
    assert "mul.cpp" in told


def test_failures_that_one_tool_alone_finds() -> None:
    rows = [
        Found("a", 2.0, 1, 10, 3, {"x": "one", "y": "two"}),
        Found("b", 2.0, 4, 20, 1, {"x": "one"}),
    ]
    lines = table("t", rows).splitlines()
    assert "| a | 2 | 1 | 10 | 3 | 2 | 1 |" in lines
    assert "| b | 2 | 4 | 20 | 1 | 1 | 0 |" in lines
    assert "- one (0 bytes): a, b" in lines
    assert os.linesep.join(lines).count("two") == 1
