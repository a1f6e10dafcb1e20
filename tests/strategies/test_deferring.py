"""Items that no other needs: most go in the first checks, and in the end the same are left."""

from collections.abc import Callable, Collection, Mapping, Set
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.strategies import COUNT, cluster, left_after, scatter
from reducekit.search.selecting import Selector
from reducekit.strategies.adaptive import adaptive, backward, selector
from reducekit.strategies.deferring import Deferring
from reducekit.strategies.pool import Pool
from tests.simulator import Droppable, simulate, simulate_parallel


class Free(Droppable):
    """Items of which those from `free` on are used by none."""

    def __init__(self, count: int, free: int, users: Mapping[int, Collection[int]]) -> None:
        super().__init__(count, users)
        self.free = free


def in_free_order(count: int) -> Selector:
    return selector(count, 0)


@pytest.mark.parametrize("needed", [3, 10, 30])
def test_more_is_gone_early_and_about_as_many_checks_are_made(needed: int) -> None:
    """In sums over ten oracles each."""
    early, late, runs, runs_one_by_one = 0, 0, 0, 0
    at = [4 * needed + 5]  # about half of the checks in all
    for seed in range(10):
        oracle = scatter(needed, seed=seed)
        early += left_after(oracle, in_free_order, at)[0]
        late += left_after(oracle, backward, at)[0]
        runs += simulate(in_free_order, COUNT, oracle.interesting).runs
        runs_one_by_one += simulate(backward, COUNT, oracle.interesting).runs
    assert early < 0.75 * late
    assert runs < 1.15 * runs_one_by_one


def test_neighbours_are_found_in_fewer_checks() -> None:
    oracle = cluster(30, seed=3)
    found = simulate(in_free_order, COUNT, oracle.interesting)
    assert found.left == oracle.needed
    assert found.runs <= simulate(backward, COUNT, oracle.interesting).runs


@given(
    count=st.integers(8, 160),
    share=st.floats(0, 1),
    needed=st.integers(0, 40),
    seed=st.integers(0, 1000),
    width=st.sampled_from([1, 2, 5, 40]),
)
@settings(max_examples=120, deadline=None)
def test_with_what_they_use_exactly_the_needed_items_stay(
    count: int, share: float, needed: int, seed: int, width: int
) -> None:
    """Those below `free` fall with all that uses them, whatever is set aside then."""
    draw, free = Random(seed), int(count * share)
    wanted = frozenset(draw.sample(range(count), min(count, needed)))
    uses = {item: draw.randrange(min(item, free)) for item in range(1, count) if free and item}
    users: dict[int, list[int]] = {}
    for item, used in uses.items():
        if draw.random() < 0.7:
            users.setdefault(used, []).append(item)
    needs = {item: used for used, some in users.items() for item in some}

    def interesting(kept: frozenset[int]) -> bool:
        assert all(needs[item] in kept for item in kept if item in needs), "not well-formed"
        return wanted <= kept

    expected, todo = set[int](), list(wanted)
    while todo:
        if (item := todo.pop()) not in expected:
            expected.add(item)
            todo += [needs[item]] if item in needs else []
    for in_a_row in (False, True):
        found = simulate_parallel(
            Free(count, free, users), adaptive, width, interesting, in_a_row=in_a_row
        )
        assert found.left == expected


@given(seed=st.integers(0, 10**6), width=st.sampled_from([1, 2, 16]))
@settings(max_examples=40, deadline=None)
def test_whatever_the_oracle_says_what_is_left_was_found_interesting(seed: int, width: int) -> None:
    said: dict[frozenset[int], bool] = {frozenset(range(30)): True}

    def interesting(kept: frozenset[int]) -> bool:
        return said.setdefault(kept, Random(f"{seed} {sorted(kept)}").random() < 0.3)

    found = simulate_parallel(Free(30, 10, {}), adaptive, width, interesting)
    assert said[found.left]


def played(search: Selector, failing: Callable[[frozenset[int]], bool], steps: int) -> Selector:
    """Make some steps of a search; `failing` says whether what is taken next has to stay."""
    for _ in range(steps):
        proposed = search.propose()
        assert proposed is not None
        search = search.after(() if failing(frozenset(proposed)) else proposed)
    return search


def test_of_a_failing_run_that_loses_an_item_nothing_is_known_any_more() -> None:
    # All fail, 8 to 15 fail, as do 12 to 15; then 14 and 15 go.
    search = played(selector(16, 0), lambda taken: bool(taken & {2, 13}), 4)
    assert isinstance(search, Deferring)
    assert search.aside == ((12, 13),)
    assert search.propose() == (8, 9, 10, 11)
    for along, back, aside in ((12, (13,), ()), (5, (), ((12, 13),))):
        state = search.after([8, 9, 10, 11, along])
        assert isinstance(state, Deferring)
        assert (state.back, state.aside) == (back, aside)
        assert state.left == 9


def sizes_tried(search: Selector, failing: Callable[[int], bool], steps: int) -> list[int]:
    """Make some steps of a search in which only the number of items decides; return the numbers."""
    found = []
    for _ in range(steps):
        found.append(len(search.propose() or ()))
        search = played(search, lambda taken: failing(len(taken)), 1)
    return found


def test_after_4_6_and_8_checks_of_short_runs_a_long_one_is_tried() -> None:
    found = sizes_tried(selector(128, 0), lambda _: True, 40)
    assert found[:8] == [128, 64, 32, 16, 8, 4, 2, 1]
    long = {at: size for at, size in enumerate(found) if size > 1 and at > 7}
    # A 16th of what has not been tried, an 8th, a quarter, and again: the first one after 2 and
    # three times 1.
    assert long == {10: 7, 17: 14, 26: 27, 37: 6}


def test_where_a_far_run_goes_the_search_goes_on_before_it_and_comes_back_later() -> None:
    needed = frozenset(range(110, 128))
    search = played(selector(128, 0), lambda taken: bool(taken & needed), 11)
    assert isinstance(search, Deferring)
    assert search.taken == 7
    assert search.later[-1] == 124  # the last three are known to be needed
    run = search.propose()
    assert run is not None
    assert len(run) == 14
    assert max(run) < min(search.later) - 7
    while (run := search.propose()) is not None:
        search = played(search, lambda taken: bool(taken & needed), 1)
    found = simulate(in_free_order, 128, needed.issubset)
    assert found.left == needed


def test_what_comes_after_a_far_run_is_not_forgotten_where_the_search_turns_to_another() -> None:
    """Neither where workers share the items out, nor where one run checks several candidates."""
    needed = frozenset(range(110, 128))
    search = played(selector(128, 0), lambda taken: bool(taken & needed), 11)
    assert isinstance(search, Deferring)
    later = frozenset(search.later)
    assert later - needed
    pool, block = search.divide(4)
    undecided = {*pool.back, *block.items, *range(pool.top)} - set(pool.gone)
    assert later <= undecided
    assert len(undecided) == search.left
    left = {item for item in range(128) if item not in search.gone}
    assert later <= left
    in_a_row: Selector = search.in_a_row(4)
    while (run := in_a_row.propose()) is not None:
        gone = () if needed.intersection(run) else frozenset(run)
        left.difference_update(gone)
        in_a_row = in_a_row.after(gone)
    assert later & left <= needed


def test_a_dense_end_does_not_keep_the_search_from_what_goes_before_it() -> None:
    needed = frozenset(range(600, 640, 2)) | {17, 301, 402}
    near = left_at(backward, 640, needed, 40)
    assert near == 629
    assert left_at(in_free_order, 640, needed, 40) < near / 3


def left_at(algorithm: Callable[[int], Selector], count: int, needed: Set[int], at: int) -> int:
    """Return how many items are left after some checks."""
    left, search = set(range(count)), algorithm(count)
    for _ in range(at):
        proposed = frozenset(search.propose() or ())
        gone = frozenset() if proposed & needed else proposed
        left -= gone
        search = search.after(gone)
    return len(left)


def test_for_many_workers_it_is_shared_out_with_all_that_is_undecided() -> None:
    search = played(selector(60, 10), lambda taken: bool(taken & {20, 33, 52}), 7)
    assert isinstance(search, Deferring)
    pool, _ = search.divide(4)
    assert isinstance(pool, Pool)
    undecided = {*range(pool.top), *pool.back} - set(pool.gone)
    assert undecided >= {*range(10), 20, 33}
    assert search.left >= len(undecided) - 1


def test_where_nothing_goes_workers_share_the_items_out_after_three_far_runs() -> None:
    search = in_free_order(640)
    far = []
    for _ in range(40):
        assert isinstance(search, Deferring)
        if search.worth_dividing(2):
            far.append(search.far)
        search = search.after(())
    assert min(far) == 3
    assert len(far) > 10
