"""Which version comes next, and which options can go: counted, without running anything."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.bisect.search import lowest, next_version, smallest, version_key


def test_names_are_sorted_by_the_versions_in_them() -> None:
    names = ["z3-4.8.10", "z3-4.8.9", "z3-4.8.10rc1", "z3-4.8.9.post1", "z3-4.12", "z3-5.0.dev3"]
    assert sorted(names, key=version_key) == [
        "z3-4.8.9",
        "z3-4.8.9.post1",
        "z3-4.8.10rc1",
        "z3-4.8.10",
        "z3-4.12",
        "z3-5.0.dev3",
    ]


def search(count: int, first_bad: int, untested: set[int]) -> tuple[int, int, int]:
    """Return last good, first bad, and the number of versions asked for, with the ends known."""
    good, bad, asked = 0, count - 1, 0
    skipped: set[int] = set()
    while (middle := next_version(good, bad, skipped)) is not None:
        asked += 1
        if middle in untested:
            skipped.add(middle)
        elif middle >= first_bad:
            bad = middle
        else:
            good = middle
    return good, bad, asked


@pytest.mark.parametrize("count", [2, 3, 10, 48, 49, 1000])
def test_the_first_bad_version_takes_a_logarithm_of_runs(count: int) -> None:
    for first_bad in range(1, count):
        good, bad, asked = search(count, first_bad, set())
        assert (good, bad) == (first_bad - 1, first_bad)
        assert asked <= math.ceil(math.log2(count - 1)) if count > 2 else asked == 0


@given(st.integers(2, 60), st.data())
def test_versions_that_cannot_be_tested_are_left_between(count: int, data: st.DataObject) -> None:
    first_bad = data.draw(st.integers(1, count - 1))
    untested = data.draw(st.sets(st.integers(1, max(1, count - 2)), max_size=count)) - {count - 1}
    good, bad, _ = search(count, first_bad, untested)
    assert good < first_bad <= bad
    assert set(range(good + 1, bad)) <= untested


def test_a_gap_of_broken_revisions_is_left_by_growing_steps() -> None:
    # One after the other would be 400 builds.
    good, bad, asked = search(2000, 300, set(range(800, 1200)))
    assert (good, bad) == (299, 300)
    assert asked <= 30


@pytest.mark.parametrize(
    ("count", "needed", "runs"),
    [(8, frozenset(), 1), (1, {0}, 1), (8, {3}, 6), (8, {1, 6}, 17), (3, {0, 1, 2}, 7)],
)
def test_the_smallest_set(count: int, needed: set[int], runs: int) -> None:
    asked: list[frozenset[int]] = []

    def shows(kept: frozenset[int]) -> bool:
        asked.append(kept)
        return needed <= kept

    assert smallest(count, shows) == needed
    assert len(asked) == runs
    assert len(set(asked)) == runs


def test_an_option_and_its_value_go_together() -> None:
    # Without its value, or without the option before it, the program would complain.
    def shows(kept: frozenset[int]) -> bool:
        return (1 in kept) == (2 in kept) and {0, 3} <= kept

    assert smallest(4, shows) == {0, 1, 2, 3}
    assert smallest(4, shows, pairs=[1]) == {0, 3}


@pytest.mark.parametrize("number", [0, 1, 2, 3, 900, 10**9])
@pytest.mark.parametrize("least", [0, 1, 2, 3, 40, 899])
def test_the_lowest_number_that_shows(number: int, least: int) -> None:
    asked: list[int] = []

    def shows(value: int) -> bool:
        asked.append(value)
        return value >= least

    assert lowest(number, shows) == min(number, least)
    assert len(asked) <= 2 + number.bit_length()
    assert number not in asked
