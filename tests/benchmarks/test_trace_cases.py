"""The table of reduced traces, on a case of our own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRACE = "init\noption elim 0\nadd 1\nadd 2\nadd 0\nfreeze 1\nsat\nmelt 1\nsat\n"
CASE = """\
[case]
fault = "lglmelt+1:abort"
signal = "SIGILL"
calls = 8
options = 1
"""
REFERENCE = "[reference]\ncalls = 3\noptions = 0\nruns = 20\n"


@pytest.mark.slow
def test_a_table_of_a_folder(tmp_path: Path) -> None:
    for name, more in (("first", REFERENCE), ("second", "")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "input.trace").write_text(TRACE)
        (folder / "case.toml").write_text(CASE + more)
    command = [
        sys.executable,
        "-m",
        "benchmarks.trace_cases",
        str(tmp_path),
        "--options",
        "explicit",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines() if " | " in line]
    assert [row[0] for row in rows] == ["| case", "| first", "| second"]
    assert [row[1:4] for row in rows[1:]] == [["8+1", "3+0", "3+0"], ["8+1", "–", "3+0"]]
    assert "- adaptive: " in done.stdout
    assert done.stdout.count("another signal: none; ") == 2
