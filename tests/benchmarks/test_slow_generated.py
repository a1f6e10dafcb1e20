"""The queries that the benchmark makes fail as they should, and its table tells what is left."""

import re
from functools import partial
from pathlib import Path

import pytest

from benchmarks.slow_generated import (
    Row,
    accepts,
    again,
    by_options,
    core,
    means,
    regressed,
    rows,
    slow,
    table,
    unstable,
)
from reducekit.compare.reducers import Reducer
from tests.solvers import z3

VERSION = "4.12.1.0"


@pytest.mark.slow
def test_the_unstable_query() -> None:
    program = z3(VERSION)
    case = next(unstable(program))
    seen = case.text.replace("(check-sat)", "(assert (> (f 0) 0))\n(check-sat)")
    assert not accepts(case, seen.encode())  # each seed solves it
    assert not accepts(case, b"(check-sat)")  # none is lost
    assert 2 <= core(case.text.encode(), program).count(b"(assert") < 10


@pytest.mark.slow
def test_the_slow_query_and_its_rows(tmp_path: Path) -> None:
    program = z3(VERSION)
    case = slow(program)
    few = re.sub(r"\(assert \(> \(f [0-9]+\) [0-9]+\)\)\n", "", case.text)
    assert not accepts(case, few.encode())
    copying = Reducer.of("copy=sh -c 'cp $0 $1' {input} {output} {oracle}")
    found = rows(case, program, [copying], 3, tmp_path, 60)
    assert [each.reducer for each in found] == ["copy", "z3's core", "reducekit, by options"]
    assert [each.accepted for each in found] == [True, True, True]
    assert found[0].text == case.text.encode()
    first, *_ = table(case, found).splitlines()
    size = f"{len(case.text):,}"
    assert first.startswith(f"| slow | copy | 315 → 315 | {size} → {size} |  | ")
    assert first.endswith(" | yes | done |")


def test_the_mean_over_queries() -> None:
    half, whole, tenth = (
        Row("copy", b"x" * size, 1, 0.0, accepted, capped=False)
        for size, accepted in ((50, True), (100, False), (2, True))
    )
    assert (
        means([[half], [whole], [tenth]], [100, 100, 200])
        == "| copy | 3 | 2 | 0.171 | 0.010 | 1.000 |"
    )


@pytest.mark.slow
def test_a_regression_gives_the_same_bytes_under_load() -> None:
    case = regressed(z3(VERSION))
    assert case.options["command"] != case.options["reference"]
    row = again(case.name, case.text.encode(), partial(by_options, case, 3), 2)
    assert row.startswith("| regressed | ")
    assert row.endswith("| 2 | 1 |")
