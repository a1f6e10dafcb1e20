"""Means, ratios, sizes over the checks, dominance."""

import pytest

from reducekit.compare.runs import (
    checks_to,
    dominance,
    geometric_mean,
    mean_of_percents,
    mean_ratio,
    size_at,
    spread,
)
from tests.compare.made_runs import AUTO, EARLY, SLOW, SMALL, run


def test_percents_are_averaged_as_in_the_thesis() -> None:
    """Table 5.5: DDMIN's ten values come to 0.508."""
    ddmin = [0.048, 0.346, 0.653, 0.980, 0.143, 0.363, 0.266, 0.730, 1.107, 0.437]
    assert mean_of_percents(ddmin) == pytest.approx(0.508, abs=0.001)
    assert mean_of_percents([100.0, 3.0]) == 100.0


def test_mean_sizes_are_over_the_files() -> None:
    assert [size_at(AUTO, checks) for checks in (0, 2, 5, 9)] == [150, 120, 23, 7]


def test_dominance_over_a_slower_algorithm() -> None:
    found = dominance(AUTO, SLOW)
    assert (found.checks, found.size, found.there, found.curve) == (55, 9, 7, 9)
    assert (found.later, found.larger, found.dominated) == ((), (), True)


def test_dominance_is_on_average_and_the_files_where_it_fails_are_named() -> None:
    """On a both are at 40 nodes after 2 checks; on average it is 3.5 against 5.5."""
    found = dominance(AUTO, EARLY)
    assert (found.checks, found.there) == (5.5, 3.5)
    assert found.later == ("a",)
    assert found.curve == 5
    assert found.dominated


def test_no_dominance_over_an_algorithm_that_ends_smaller_somewhere() -> None:
    found = dominance(AUTO, SMALL)
    assert (found.there, found.curve) == (None, 9)
    assert (found.later, found.larger, found.dominated) == (("a",), ("a",), False)


def test_the_average_has_to_be_there_earlier_too() -> None:
    """On average over the files 1 check is enough, but the average is low only after 50."""
    one = [run("auto", [(0, 10), (1, 9), (50, 0)], 60), run("auto", [(0, 10), (1, 1)], 60, "b")]
    other = [run("x", [(0, 10), (3, 9)], 40), run("x", [(0, 10), (3, 1)], 40, "b")]
    assert dominance(one, other).dominated
    uneven = [run("x", [(0, 10), (3, 9)], 40), run("x", [(0, 10), (3, 0)], 40, "b")]
    assert not dominance(one, uneven).dominated


def test_geometric_means() -> None:
    assert geometric_mean([1, 4]) == pytest.approx(2)
    assert mean_ratio([(2, 1), (1, 8)], least=0.1) == pytest.approx(0.5)
    assert mean_ratio([(0, 0.01)], least=0.01) == pytest.approx(1), "nothing counts as the least"
    assert mean_ratio([], least=1) is None


def test_a_spread_is_average_minimum_and_maximum() -> None:
    assert spread([3, 1, 5]) == (3, 1, 5)


def test_checks_to_a_share_of_the_size() -> None:
    assert checks_to(AUTO, 0.5) == (3.5, 2)
    assert checks_to(EARLY, 0.1) == (3, 1), "20 of 200 is a tenth, 40 of 100 is not"
    assert checks_to(EARLY, 0.01) == (None, 0)
