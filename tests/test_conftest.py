"""Tests that need Debian programs never vanish, and one that fails is named at once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

@pytest.mark.debian("sh", "no-such-program")
def test_a(): pass

@pytest.mark.debian("sh")
def test_b(): pass

def test_c(): pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def outcome(folder: Path, required: str, *options: str) -> tuple[int, str]:
    program = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*program, "--rootdir", str(folder), str(folder), *options],
        cwd=folder,
        env={**os.environ, "REDUCEKIT_DEBIAN": required, "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )
    return run.returncode, run.stdout


def test_missing_programs_are_named(folder: Path) -> None:
    status, out = outcome(folder, "")
    assert status == 0
    assert "2 passed, 1 deselected" in out
    assert "no-such-program not on PATH" in out
    assert "apt-get install no-such-program" in out


def test_missing_programs_fail_where_they_are_required(folder: Path) -> None:
    status, out = outcome(folder, "1")
    assert status == 1
    assert "1 error" in out
    assert "2 passed" in out
    assert "deselected" not in out


def test_programs_of_packages_come_after_all_others() -> None:
    *_, last = os.get_exec_path()
    assert last == str(Path(sys.executable).parent)
    assert shutil.which("z3")
