"""Runs and the tables they make up."""

import pytest

from reducekit.compare.runs import tables
from tests.compare.made_runs import ALL, AUTO, run


def test_a_curve_is_a_step_function() -> None:
    found = AUTO[0]
    assert [found.size_at(checks) for checks in (0, 1, 2, 8, 9, 1000)] == [100, 100, 40, 40, 8, 8]
    assert [found.reached(size) for size in (100, 99, 40, 39, 8, 7)] == [0, 2, 2, 9, 9, None]
    assert (found.before, found.after) == (100, 8)
    assert found.reduction == pytest.approx(92)
    assert found.per_check == pytest.approx(4.6)


def test_a_run_without_a_check_and_an_empty_file_divide_by_nothing() -> None:
    assert run("x", [(0, 5)], 0).per_check == 0
    assert run("x", [(0, 0)], 3).reduction == 0


def test_a_table_has_only_algorithms_that_have_run_on_all_files() -> None:
    (found,) = tables(ALL[:-1])
    assert found.files == ("a", "b")
    assert list(found.rows) == ["auto", "slow", "early"]
