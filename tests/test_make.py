"""`make test-all` runs every test there is, `make test` all but the slow ones, and CI runs all."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent


def words_of(target: str) -> list[str]:
    """Return the arguments that a target of the Makefile gives to pytest."""
    made = subprocess.run(
        ["make", "--dry-run", "--always-make", "VENV=none", target],
        cwd=CHECKOUT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    (line,) = (line for line in made.splitlines() if " -m pytest " in line)
    return shlex.split(line.partition(" -m pytest ")[2])


def collected(*arguments: str) -> set[str]:
    """Return the names of the tests that pytest collects in one process."""
    made = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider",
         *arguments, "--numprocesses", "0"],
        cwd=CHECKOUT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return {line for line in made.splitlines() if "::" in line}


@pytest.mark.slow
def test_all_runs_what_there_is_and_the_rest_is_slow() -> None:
    everything = collected(*words_of("test-all"))
    assert {name.partition("::")[0] for name in everything} == {
        str(path.relative_to(CHECKOUT)) for path in (CHECKOUT / "tests").rglob("test_*.py")
    }
    slow = everything - collected(*words_of("test"))
    for name in ("tests/test_packaging.py", "tests/acceptance/test_torture.py"):
        assert {each for each in everything if each.startswith(name)} <= slow
    assert len(slow) < len(everything) / 8


def test_nothing_is_left_out_of_all() -> None:
    """No option of `make test-all` selects: that would be seen only where all are collected."""
    words = words_of("test-all")
    assert "tests" in words
    left_out = ("-k", "-m", "--ignore", "--deselect", "--lf", "--last-failed", "--maxfail", "-x")
    assert [word for word in words if word.startswith(left_out)] == []


def test_ci_runs_all() -> None:
    lines = (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert any(line.startswith("make test-all") for line in lines)
    assert "set -euo pipefail" in lines


def test_the_demo_prints_what_the_readme_shows(tmp_path: Path) -> None:
    """What it makes and reduces; that it sets up an environment is left to those who call it."""
    done = subprocess.run(
        ["make", "--no-print-directory", f"VENV={sys.prefix}", f"DEMO={tmp_path}",
         "-o", f"{sys.prefix}/base.stamp", "demo"],
        cwd=CHECKOUT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    shown = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    sizes = [line for line in done.stdout.splitlines() if " -> " in line]
    assert len(sizes) == 4
    for line in (*sizes, *done.stdout.splitlines()[-2:]):
        assert line.strip() in shown
