from __future__ import annotations

import pytest

from benchmarks.by_chance import ALGORITHMS, cases, sizes


@pytest.mark.parametrize("name", ALGORITHMS)
def test_without_chance_the_needed_items_are_left(name: str) -> None:
    for case in cases(4, 3):
        left = sizes(ALGORITHMS[name](case.count), case, 1.0)
        assert left[-1] == len(case.needed)
        assert left == sorted(left, reverse=True)


def test_a_chance_is_what_it_is_called() -> None:
    (case,) = cases(1, 3)
    subsets = [frozenset(range(case.count)) - {each} for each in range(case.count)]
    whole = [each for each in subsets if case.needed <= each]
    failing = sum(case.fails(each, 0.7) for each in whole)
    assert 0.5 < failing / len(whole) < 0.9
    assert not any(case.fails(each, 1.0) for each in subsets if each not in whole)
