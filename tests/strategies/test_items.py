"""The strategies over items: what they leave is 1-minimal, they end, and their counts are exact."""

import hashlib
from collections.abc import Callable, Collection
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.strategies import measure, paired
from reducekit.search.selecting import Selector
from reducekit.strategies.adaptive import Backward, backward, selector
from reducekit.strategies.cdd import selector as cdd
from reducekit.strategies.cdd import sizes
from reducekit.strategies.ddmin import Ddmin
from reducekit.strategies.ddmin import selector as ddmin
from reducekit.strategies.halving import selector as halving
from reducekit.strategies.probdd import Estimates, best_size
from reducekit.strategies.probdd import selector as probdd
from reducekit.strategies.sampling import Sampling
from reducekit.strategies.vulcan import Windows
from reducekit.strategies.vulcan import selector as vulcan
from tests.simulator import simulate

SELECTORS: dict[str, Callable[[int], Selector]] = {
    "adaptive": backward,
    "adaptive, free order": lambda count: selector(count, 0),
    "adaptive, partly free order": lambda count: selector(count, count // 3),
    "ddmin": ddmin,
    "halving": halving,
    "probdd": probdd,
    "cdd": cdd,
    "vulcan": vulcan,
}
every = pytest.mark.parametrize("name", SELECTORS)


def monotone(needed: Collection[int]) -> Callable[[frozenset[int]], bool]:
    wanted = frozenset(needed)
    return lambda kept: wanted <= kept


def arbitrary(seed: int, count: int, share: int) -> Callable[[frozenset[int]], bool]:
    """An oracle that says yes to the whole, and to `share` in 256 of the other sets."""

    def interesting(kept: frozenset[int]) -> bool:
        if len(kept) == count:
            return True
        text = f"{seed} {sorted(kept)}".encode()
        return hashlib.sha256(text).digest()[0] < share

    return interesting


def is_minimal(left: frozenset[int], interesting: Callable[[frozenset[int]], bool]) -> bool:
    """Tell whether no single item can go."""
    return not any(interesting(left - {item}) for item in left)


@every
@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_with_a_monotone_oracle_exactly_the_needed_items_stay(
    name: str, data: st.DataObject
) -> None:
    count = data.draw(st.integers(0, 40))
    needed = data.draw(st.frozensets(st.integers(0, max(0, count - 1)), max_size=count))
    needed = needed if count else frozenset()
    found = simulate(SELECTORS[name], count, monotone(needed))
    assert found.left == needed


@given(st.integers(0, 30), st.integers(), st.integers(0, 200))
@settings(max_examples=100, deadline=None)
def test_ddmin_is_1_minimal_in_one_go_whatever_the_oracle(
    count: int, seed: int, share: int
) -> None:
    interesting = arbitrary(seed, count, share)
    found = simulate(ddmin, count, interesting)
    assert interesting(found.left)
    assert is_minimal(found.left, interesting)


@every
@given(st.integers(0, 30), st.integers(), st.integers(0, 200))
@settings(max_examples=80, deadline=None)
def test_repeated_all_are_1_minimal_whatever_the_oracle(
    name: str, count: int, seed: int, share: int
) -> None:
    interesting = arbitrary(seed, count, share)
    found = simulate(SELECTORS[name], count, interesting, repeat=True)
    assert interesting(found.left)
    assert is_minimal(found.left, interesting)


@every
@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_no_selector_proposes_nothing_and_all_end(name: str, data: st.DataObject) -> None:
    """Whatever the verdicts, and whatever else a closure takes along."""
    count = data.draw(st.integers(0, 30))
    selector = SELECTORS[name](count)
    present = set(range(count))
    for _ in range(2 * (count + 2) ** 2):
        chosen = selector.propose()
        if chosen is None:
            break
        assert chosen
        assert len(set(chosen)) == len(chosen)
        assert present.issuperset(chosen)
        taken: Collection[int] = ()
        if data.draw(st.booleans()):
            more = data.draw(st.frozensets(st.sampled_from(sorted(present)), max_size=4))
            taken = frozenset(chosen) | more
        present.difference_update(taken)
        selector = selector.after(taken)
    else:
        pytest.fail("does not end")


@every
def test_a_selector_is_immutable(name: str) -> None:
    """What follows a failure is known before the verdict is: so a step changes nothing."""
    selector = SELECTORS[name](16)
    first = list(selector.propose() or ())
    selector.after(first).after(())
    selector.after(()).after(())
    assert list(selector.propose() or ()) == first


def test_adaptive_does_not_test_the_half_that_is_known_to_fail() -> None:
    found = simulate(backward, 8, monotone({0}))
    sizes = [len(kept) for kept in found.tested]
    # All; the back half goes; then each half of what is known to hold the needed one.
    assert sizes == [0, 4, 2, 1]


def test_adaptive_tests_the_last_suspect_where_other_items_went_along() -> None:
    """What failed was the run with all of them, so the one that is left may go too."""
    search: Selector = backward(8).after(()).after(())  # one of the last 4 is needed
    assert list(search.propose() or ()) == [6, 7]
    search = search.after((0, 6, 7))  # 0 went along
    assert list(search.propose() or ()) == [5]
    assert list(search.after((5,)).propose() or ()) == [3, 4]


def test_adaptive_goes_on_narrowing_a_failed_run_down_when_it_is_divided() -> None:
    search = Backward(top=32, count=32, size=8, gap=4.0, needed=2).after(())
    assert (search.size, search.suspect) == (4, 8)
    _, block = search.divide(4)
    assert (block.size, block.suspect) == (4, 8)
    assert block.items == tuple(range(24, 32))
    proposed = search.propose()
    assert proposed is not None
    assert block.propose() == tuple(proposed) == (28, 29, 30, 31)


def test_adaptive_gallops() -> None:
    selector: Selector = Backward(100, 100, 1)
    sizes = []
    while (chosen := selector.propose()) is not None:
        sizes.append(len(chosen))
        selector = selector.after(chosen)
    assert sizes == [1, 2, 4, 8, 16, 32, 37]


def test_halving_is_figure_8() -> None:
    """Blocks of all sizes from front to back; no block is looked at again after it went."""
    found = simulate(halving, 8, monotone({2, 5}))
    tested = ["".join(map(str, sorted(kept))) for kept in found.tested]
    assert tested == ["", "4567", "0123", "234567", "2367", "2345", "345", "245", "25", "2"]


def test_ddmin_goes_on_with_complements_where_a_complement_failed() -> None:
    """The chunks alone are those of before: each would only be looked up again."""
    search: Selector = Ddmin(tuple((item,) for item in range(4)), test=4)
    assert search.propose() == (0,)
    search = search.after((0,))
    assert [search.propose(), search.after(()).propose()] == [(1,), (2,)]
    fresh = Ddmin(tuple((item,) for item in range(4))).after((1, 2, 3))
    assert fresh.propose() == (0,)  # one element is left


def test_ddmin_on_the_example_of_the_paper() -> None:
    """Items 1, 7 and 8 of 8 are needed (Zeller and Hildebrandt, section 3.3)."""
    found = simulate(ddmin, 8, monotone({0, 6, 7}))
    tested = ["".join(str(item + 1) for item in sorted(kept)) for kept in found.tested]
    assert found.left == {0, 6, 7}
    assert tested == [
        *("1234", "5678"),
        *("12", "34", "56", "78", "345678", "125678"),
        "1278",
        *("1", "2", "7", "8", "278", "178"),
        *("18", "17"),
    ]


@pytest.mark.parametrize("probability", [0.001, 0.02, 0.1, 0.25, 0.3, 0.5, 0.63, 0.99])
def test_the_size_of_probdd_has_the_greatest_expected_gain(probability: float) -> None:
    gains = [size * (1 - probability) ** size for size in range(2000)]
    assert gains[best_size(probability)] == pytest.approx(max(gains), rel=1e-12)


def test_probdd_raises_probabilities_by_bayes_rule() -> None:
    """Of ten items of 0.1, one is needed with probability 1 - 0.9**10, if they fail together."""
    after = probdd(25).after(())
    assert isinstance(after, Estimates)
    first, second = after.groups
    assert (first.probability, first.items) == (0.1, tuple(range(10, 25)))
    assert second.items == tuple(range(10))
    assert second.probability == pytest.approx(0.1 / (1 - 0.9**10))


def test_probdd_mixes_probabilities_while_the_gain_grows() -> None:
    """Three of 0.1 are left, then come those of 0.15: three more add to the gain."""
    state = probdd(23).after(()).after(())
    assert state.propose() == [20, 21, 22, 0, 1, 2]


def test_probdd_tries_what_is_left_alone_in_the_end() -> None:
    found = simulate(probdd, 8, monotone({2, 5}))
    tested = ["".join(map(str, sorted(kept))) for kept in found.tested]
    assert tested == [
        *("", "567", "01234", "34567", "012567", "0127"),
        *("1256", "56", "126", "125", "25", "5"),
    ]


def test_the_sizes_of_cdd_follow_from_the_first_probability() -> None:
    assert sizes() == (10, 6, 3, 2, 1)
    assert sizes(0.25) == (4, 2, 1)
    assert sizes(0.9) == (1,)


def test_cdd_is_rounds_of_fixed_blocks() -> None:
    found = simulate(cdd, 12, monotone({2, 11}))
    gone = [sorted(set(range(12)) - kept) for kept in found.tested]
    assert gone[:7] == [
        [*range(10)],
        [10, 11],
        [*range(6)],
        [*range(6, 12)],
        [0, 1, 2],
        [3, 4, 5],
        [3, 4, 5, 6, 7, 8],
    ]
    assert found.left == {2, 11}
    assert len(found.tested) == 14


def test_windows_try_all_that_begins_with_an_item_the_small_sets_first() -> None:
    found = simulate(lambda count: Windows(tuple(range(count)), size=3), 4, lambda kept: False)
    whole = frozenset(range(4))
    gone = [sorted(whole - kept) for kept in found.tested]
    assert gone == [
        [0],
        [0, 1],
        [0, 2],
        [0, 1, 2],
        [1],
        [1, 2],
        [1, 3],
        [1, 2, 3],
        [2],
        [2, 3],
        [3],
    ]


def test_windows_go_back_to_the_first_one_that_what_went_was_in() -> None:
    search: Selector = Windows((0, 1, 2, 3, 4, 5), size=2)
    for _ in range(6):
        search = search.after(())
    assert search.propose() == [3]
    assert search.after([3]).propose() == [2]


def test_what_goes_only_two_at_a_time_stays_with_ddmin_and_goes_with_vulcan() -> None:
    oracle = paired(3, 40)
    ddmin_left = measure(oracle, ddmin, 40)
    vulcan_left = measure(oracle, vulcan, 40)
    assert (vulcan_left.left, len(oracle.smallest())) == (6, 6)
    assert ddmin_left.left > 6


@pytest.mark.parametrize("seed", range(4))
def test_samples_get_on_where_luck_decides(seed: int) -> None:
    count, lucky = 400, 8  # of 256
    by_samples = simulate(partial(Sampling, seed=seed), count, arbitrary(seed, count, lucky))
    one_by_one = simulate(backward, count, arbitrary(seed, count, lucky))
    assert len(by_samples.left) < 20
    assert by_samples.runs < 260
    assert len(one_by_one.left) > 380
    assert one_by_one.runs > 400


@pytest.mark.parametrize("count", [0, 1, 3, 4, 100, 400])
def test_samples_end_where_all_is_needed(count: int) -> None:
    found = simulate(partial(Sampling, seed=1), count, lambda kept: len(kept) == count)
    assert len(found.left) == count
    assert found.runs < 2 * max(1, count)
