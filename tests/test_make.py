"""`make test-all` runs all tests, as CI and `make nightly` together; `make test` no slow ones."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from docs import demo

CHECKOUT = Path(__file__).resolve().parent.parent


def words_of(target: str) -> list[str]:
    """Return the arguments that a target of the Makefile gives to pytest."""
    # Without what the `make` that runs this test was given.
    environment = {name: text for name, text in os.environ.items() if "MAKE" not in name}
    made = subprocess.run(
        ["make", "--dry-run", "--always-make", "VENV=none", "TESTS=tests", "MARKS=", target],
        cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    (line,) = (line for line in made.splitlines() if " -m pytest " in line)
    return shlex.split(line.partition(" -m pytest ")[2])


COLLECT = """
import sys, pytest
class Marks:
    def pytest_collection_finish(self, session):
        for each in session.items:
            marks = {mark.name for mark in each.iter_markers()}
            print("item", " ".join(sorted(marks & {"slow", "nightly"})), each.nodeid, sep="\t")
sys.exit(pytest.main(sys.argv[1:], plugins=[Marks()]))
"""
"""Prints of each test whether it is slow or nightly; to collect all takes fifteen seconds."""


@pytest.mark.slow
def test_all_runs_what_there_is_and_the_rest_is_slow() -> None:
    words = words_of("test-all")
    assert {*words_of("test")} - {*words} == {"-m", "not slow"}
    options = ["--collect-only", "-q", "-p", "no:cacheprovider", "--numprocesses", "0"]
    made = subprocess.run(
        [sys.executable, "-c", COLLECT, *words, *options],
        cwd=CHECKOUT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    items = [line.split("\t", 2) for line in made.splitlines() if line.startswith("item\t")]
    everything = {name for _, _, name in items}
    nightly = {name for _, kind, name in items if kind == "nightly slow"}
    slow = nightly | {name for _, kind, name in items if kind == "slow"}
    assert "nightly" not in {kind for _, kind, _ in items}
    assert 0 < len(nightly) < len(slow) / 4
    assert {name.partition("::")[0] for name in everything} == {
        str(path.relative_to(CHECKOUT)) for path in (CHECKOUT / "tests").rglob("test_*.py")
    }
    for name in ("tests/test_packaging.py", "tests/acceptance/test_torture.py"):
        assert {each for each in everything if each.startswith(name)} <= slow
    assert len(slow) < len(everything) / 8


def test_nothing_is_left_out_of_all() -> None:
    """No option of `make test-all` selects: that would be seen only where all are collected."""
    words = words_of("test-all")
    assert "tests" in words
    left_out = ("-k", "-m", "--ignore", "--deselect", "--lf", "--last-failed", "--maxfail", "-x")
    assert [word for word in words if word.startswith(left_out)] == []


def test_ci_and_nightly_run_all() -> None:
    """What `make test` leaves out are slow tests, and without solvers, those of Debian's."""
    assert words_of("nightly")[-3:] == ["-m", "nightly", "tests"]
    lines = (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert any(line.startswith(".ci/bare make test ") for line in lines)
    others = 'make test-all MARKS="(slow or debian) and not nightly" '
    assert any(line.startswith(others) for line in lines)
    assert "set -euo pipefail" in lines


def test_bare_hides_what_tests_are_deselected_for(tmp_path: Path) -> None:
    marks = re.compile(r"mark\.debian\(([^)]*)\)")
    found = {
        name
        for path in (CHECKOUT / "tests").rglob("test_*.py")
        for words in marks.findall(path.read_text(encoding="utf-8"))
        for name in re.findall(r'"([\w+-]+)"', words)
    } - {"sh", "cc", "no-such-program"}
    assert {"z3", "cvc5", "boolector", "chromium", "yosys-abc"} <= found
    look = "import os, shutil, sys; print(*map(shutil.which, sys.argv[1:]), os.environ['HOME'])"
    said = subprocess.run(
        [CHECKOUT / ".ci" / "bare", sys.executable, "-c", look, "sh", "make", *found],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert said[2:-1] == ["None"] * len(found)
    assert "None" not in said[:2]
    assert not Path(said[-1]).exists(), "it is gone with the rest"


@pytest.mark.parametrize(
    "busy", [0, pytest.param(8, marks=[pytest.mark.slow, pytest.mark.nightly])]
)
def test_the_demo_prints_what_the_readme_shows(tmp_path: Path, busy: int) -> None:
    """Whatever else the machine does."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    try:
        said = demo.transcript(tmp_path)
    finally:
        for each in others:
            each.kill()
            each.wait()
    assert without_seconds(said) == without_seconds(demo.shown())


def without_seconds(said: str) -> str:
    return re.sub(r"\b[\d.,]+ s$", "N s", said, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("demo", ["installing reducekit into none with pip: about a minute"]),
        ("test", ["into none with pip: one to five minutes", "5 to 10 minutes on 2 cores"]),
        ("test-all", ["into none with pip: one to five minutes", "about 40 minutes on 2 cores"]),
    ],
)
def test_what_takes_minutes_is_said_before(target: str, said: list[str]) -> None:
    made = subprocess.run(
        ["make", "--dry-run", "--always-make", "VENV=none", target],
        cwd=CHECKOUT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    echoed = [line for line in made.splitlines() if line.startswith("echo ")]
    assert all(any(each in line for line in echoed) for each in said)
    assert made.index(said[0]) < made.index(" -m pip ")
