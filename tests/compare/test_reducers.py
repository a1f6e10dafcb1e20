"""Programs that reduce: what they leave, what they cost, and tables of both."""

import sys
from pathlib import Path

import pytest

from reducekit.compare.reducers import (
    Measured,
    Problem,
    Reducer,
    by_test_set,
    markdown,
    measure,
    measure_all,
    ratio,
    run,
)
from reducekit.errors import NotInterestingError, UsageError
from reducekit.session import Failure

HALF = "import sys; t = open(sys.argv[1]).read(); open(sys.argv[2], 'w').write(t[: len(t) // 2])"


def reducer(name: str, code: str) -> Reducer:
    return Reducer(name, (sys.executable, "-c", code, "{input}", "{output}", "{oracle}"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    case = tmp_path / "set 1" / "it's"
    case.mkdir(parents=True)
    (case / "input.txt").write_text("x" + "y" * 99)
    (case / "oracle").write_text('#!/bin/sh\nfor file; do :; done\nexec grep -q x "$file"\n')
    (case / "oracle").chmod(0o755)
    return case


def problem(folder: Path, oracle: str = "{dir}/oracle") -> Problem:
    return Problem.of(folder / "input.txt", "it", Failure(oracle=oracle))


@pytest.mark.parametrize("oracle", ["{dir}/oracle", "{dir}/oracle --some=a' 'b {}", "grep -q x"])
def test_the_runs_of_the_oracle_are_counted(folder: Path, oracle: str) -> None:
    code = f"{HALF}; import subprocess as s; [s.run([sys.argv[3], sys.argv[2]]) for _ in range(3)]"
    found = measure(problem(folder, oracle), reducer("half", code), None)
    assert (found.test_set, found.case, found.reducer) == ("set 1", "it", "half")
    assert (found.bytes_in, found.bytes, found.checks) == (100, 50, 3)
    assert (found.verified, found.capped, found.status) == (True, False, 0)
    assert found.reduction == 50
    assert found.rss > 1


def test_an_output_that_does_not_fail_is_no_reduction(folder: Path) -> None:
    found = measure(problem(folder), reducer("bad", "import sys; open(sys.argv[2], 'w')"), None)
    assert (found.verified, found.bytes, found.reduction) == (False, 100, 0)
    found = measure(problem(folder), reducer("none", "import sys; sys.exit(3)"), None)
    assert (found.verified, found.bytes, found.status) == (False, 100, 3)


def test_a_reducer_that_takes_too_long_is_stopped(folder: Path) -> None:
    found = measure(problem(folder), reducer("slow", f"{HALF}; import time; time.sleep(60)"), 1.0)
    assert found.capped
    assert found.bytes == 50, "what it had written counts"


def test_a_file_that_does_not_fail_is_refused(folder: Path) -> None:
    (folder / "input.txt").write_text("y")
    with pytest.raises(NotInterestingError):
        list(measure_all([problem(folder)], [reducer("half", HALF)]))
    with pytest.raises(UsageError):
        Problem.of(folder / "input.txt", "it", Failure(command="true"))


def test_what_a_program_costs() -> None:
    found = run([sys.executable, "-c", "b = bytearray(60_000_000); print(sum(range(10**6)))"])
    assert (found.status, found.capped, found.out) == (0, False, "499999500000\n")
    assert found.rss > 60
    assert found.cpu > 0


def row(reducer: str, case: str, size: int, checks: int, *, verified: bool = True) -> Measured:
    return Measured("s", case, reducer, 100, size, checks, 2.0, 4.0, 30, verified, False, 0)


ROWS = [
    row("a", "x", 50, 10), row("b", "x", 25, 40), row("a", "y", 10, 10), row("b", "y", 10, 10),
]  # fmt: skip


def test_test_sets_have_average_minimum_and_maximum() -> None:
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in by_test_set(ROWS).splitlines()
    ]
    assert lines[0][:6] == ["reducer", "set", "files", "percent, avg", "min", "max"]
    assert lines[2][:6] == ["a", "s", "2", "70.0", "50.0", "90.0"]
    assert lines[3][:6] == ["b", "s", "2", "82.5", "75.0", "90.0"]
    assert lines[3][9:12] == ["25", "10", "40"]
    assert lines[3][12:] == ["30", "30", "30"]


def test_ratios_are_geometric_means_over_the_cases() -> None:
    """Of repeated runs the medians; what is not verified counts for bytes only."""

    def found(rows: list[Measured], column: str) -> tuple[str, int]:
        value, cases = ratio(rows, column, "b", "a")
        return f"{value:.3f}", cases

    assert found(ROWS, "bytes") == ("0.707", 2)
    assert found(ROWS, "checks") == ("2.000", 2)
    more = [*ROWS, row("b", "y", 100, 90, verified=False), row("b", "y", 10, 10)]
    assert found(more, "bytes") == ("0.707", 2)
    assert found(more, "checks") == ("4.000", 1)
    assert "b / a, geometric means of the ratios: bytes 0.707 (2 cases)" in markdown(ROWS)
