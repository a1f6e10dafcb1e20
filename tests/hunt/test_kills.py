"""A hunt that is killed at random moments, and started again, has the bugs of one undisturbed."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.kills import WORKS


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in WORKS if name.startswith("hunt")])
def test_same_bugs_and_nothing_left(tmp_path: Path, name: str) -> None:
    words = ["--count", "3", "--only", name, "--out", str(tmp_path / "kills.md")]
    command = [sys.executable, "-m", "benchmarks.kills", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
