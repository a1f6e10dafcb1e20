"""The demo's input: z3 4.8.5 really fails on it, and a newer z3 finds nothing wrong with it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.solvers import z3

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "mod_by_zero.py"
INVALID = re.compile(r'\(error "line \d+ column \d+: an invalid model was generated"\)')


def generated(*options: str) -> str:
    command = [sys.executable, str(EXAMPLE), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def answers(program: str | Path, script: Path) -> tuple[int, list[str]]:
    command = [str(program), "model_validate=true", str(script)]
    run = subprocess.run(command, capture_output=True, text=True)
    return run.returncode, run.stdout.splitlines()


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "input.smt2"
    path.write_text(generated(), encoding="utf-8")
    return path


def test_the_script_is_large_and_repeats(script: Path) -> None:
    assert script.stat().st_size >= 20_000
    assert generated() == script.read_text(encoding="utf-8")
    assert generated("--seed", "5") != generated()


@pytest.mark.slow
def test_the_old_z3_fails(script: Path) -> None:
    status, lines = answers(z3("4.8.5.0"), script)
    assert status == 1
    assert [line for line in lines if INVALID.fullmatch(line)]
    assert {line for line in lines if not INVALID.fullmatch(line)} == {"sat"}


def test_a_new_z3_does_not(script: Path) -> None:
    newest = shutil.which("z3", path=str(Path(sys.executable).parent))
    assert newest is not None
    status, lines = answers(newest, script)
    assert status == 0
    assert set(lines) == {"sat"}
