"""Many candidates in flight: what it costs, counted exactly, and that nothing is lost."""

import gc
from collections import deque
from collections.abc import Callable
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reducekit.change import Change, Edit
from reducekit.search.pass_search import Task
from reducekit.search.problem import Search
from reducekit.search.scheduler import Scheduler
from reducekit.strategies.adaptive import adaptive
from reducekit.strategies.ddmin import ddmin
from tests.simulator import Droppable, Dropped, Parallel, simulate_parallel

Interesting = Callable[[frozenset[int]], bool]


def scattered(count: int, needed: int, seed: int) -> tuple[Droppable, Interesting]:
    """So many items, of which some are needed, whatever becomes of the others."""
    which = frozenset(Random(seed).sample(range(count), needed))
    return Droppable(count), lambda kept: which <= kept


def declared(count: int, needed: int, seed: int) -> tuple[Droppable, Interesting]:
    """Every second item needs one before it, and falls with it."""
    choose = Random(seed)
    uses = {item: choose.randrange(item) for item in range(1, count) if choose.random() < 0.5}
    which = frozenset(choose.sample(range(count), needed))
    users: dict[int, list[int]] = {}
    for item, used in uses.items():
        users.setdefault(used, []).append(item)

    def interesting(kept: frozenset[int]) -> bool:
        assert all(uses[item] in kept for item in kept if item in uses), "not well-formed"
        return which <= kept

    return Droppable(count, users), interesting


def reduced(problem: tuple[Droppable, Interesting], width: int) -> Parallel:
    items, interesting = problem
    return simulate_parallel(items, adaptive, width, interesting)


def nightly(value: int) -> Any:
    return pytest.param(value, marks=pytest.mark.nightly)


WIDTHS = [1, 2, 8, 32, nightly(128)]
SCATTERED = {1: (489, 489), 2: (486, 243), 8: (533, 68), 32: (686, 25), 128: (1234, 13)}
DECLARED = {1: (169, 169), 2: (207, 103), 8: (245, 31), 32: (390, 14), 128: (919, 13)}


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_scattered(width: int) -> None:
    """5,000 items, 50 needed; runs, and time in runs."""
    found = reduced(scattered(5000, 50, 0), width)
    assert len(found.left) == 50
    assert (found.runs, found.steps) == SCATTERED[width]


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_declared_before_use(width: int) -> None:
    found = reduced(declared(5000, 12, 0), width)
    assert len(found.left) == 22
    assert (found.runs, found.steps) == DECLARED[width]


IN_A_ROW = {1: 157, 2: 98, 8: 46, 32: 31}
"""500 items, 20 needed: runs, each of which looks at so many candidates, up to a success."""


@pytest.mark.parametrize("width", IN_A_ROW)
def test_a_run_that_looks_at_many_goes_down_the_failures(width: int) -> None:
    items, interesting = scattered(500, 20, 0)
    found = simulate_parallel(items, adaptive, width, interesting, in_a_row=True)
    assert len(found.left) == 20
    assert found.steps == IN_A_ROW[width]


@pytest.mark.slow
@pytest.mark.parametrize("near", [nightly(5), 30, nightly(2000)])
def test_more_workers_are_never_slower_where_nobody_knows_who_needs_what(near: int) -> None:
    """Half of 2,000 items need one of those before them, and the search is not told."""
    choose = Random(near)
    uses = {
        i: choose.randrange(max(0, i - near), i) for i in range(1, 2000) if choose.random() < 0.5
    }
    which = frozenset(choose.sample(range(2000), 12))

    def interesting(kept: frozenset[int]) -> bool:
        return which <= kept and all(uses[item] in kept for item in kept if item in uses)

    time = {w: reduced((Droppable(2000), interesting), w).steps for w in (1, 2, 8, 128)}
    assert all(time[width] < time[1] for width in time if width > 1), time


@given(
    count=st.integers(1, 60),
    needed=st.integers(0, 8),
    seed=st.integers(0, 1000),
    width=st.sampled_from([1, 2, 3, 8, 40]),
)
@settings(max_examples=60, deadline=None)
def test_the_needed_items_stay_and_no_others(
    count: int, needed: int, seed: int, width: int
) -> None:
    found = reduced(scattered(count, min(count, needed), seed), width)
    assert len(found.left) == min(count, needed)


@pytest.mark.parametrize("width", [2, 8, 32])
@pytest.mark.parametrize("pairs", [1, 7, 40])
def test_successes_that_do_not_go_together(width: int, pairs: int) -> None:
    """Of each pair either may go, but not both: what is found at the same time clashes."""
    count = 3000

    def interesting(kept: frozenset[int]) -> bool:
        return all(10 * i in kept or count - 1 - 10 * i in kept for i in range(pairs))

    found = simulate_parallel(Droppable(count), adaptive, width, interesting)
    assert interesting(found.left)
    assert len(found.left) == pairs


@given(seed=st.integers(0, 10**6), width=st.sampled_from([2, 5, 16]))
@example(seed=19581, width=5)  # the check of what is tentative fails, after all of it was accepted
@settings(max_examples=30, deadline=None)
def test_whatever_the_oracle_says_what_is_left_was_found_interesting(seed: int, width: int) -> None:
    said: dict[frozenset[int], bool] = {frozenset(range(30)): True}

    def interesting(kept: frozenset[int]) -> bool:
        return said.setdefault(kept, Random(f"{seed} {sorted(kept)}").random() < 0.3)

    for strategy in (adaptive, ddmin):
        found = simulate_parallel(Droppable(30), strategy, width, interesting)
        assert said[found.left]


def test_it_ends_one_minimal() -> None:
    """Any two of six: not monotone upwards of one, but no single item can go in the end."""
    wanted = [frozenset(pair) for pair in combinations((3, 500, 900, 1500, 2000, 2999), 2)]
    for width in (1, 2, 8):
        found = simulate_parallel(
            Droppable(3000), adaptive, width, lambda kept: any(pair <= kept for pair in wanted)
        )
        assert len(found.left) == 2


@pytest.mark.parametrize("width", [3, 8, 32])
def test_what_is_proposed_is_needed(width: int) -> None:
    """Also when a search is divided while its next candidates are looked ahead at."""
    items, interesting = scattered(400, 30, 0)
    scheduler = Scheduler[Dropped, int].on(width, Dropped())
    for name in range(3):
        scheduler.add(name, adaptive.start(items))
    everything = frozenset(range(400))
    flight: deque[Task[Dropped, int]] = deque()
    while not scheduler.done:
        while len(flight) < width and (task := scheduler.next()) is not None:
            assert not task.obsolete
            flight.append(task)
        task = flight.popleft()
        assert task.base is not None
        scheduler.settle(task, interesting(everything - task.base.with_(task.edits).items))
        for each in [each for each in flight if each.obsolete]:
            flight.remove(each)
            scheduler.settle(each, False)
    assert len(everything - scheduler.merging.accepted.items) == 30


@pytest.mark.parametrize("widths", [(8, 1, 32), (1, 32, 2)])
def test_runs_may_look_at_more_and_at_less(widths: tuple[int, ...]) -> None:
    items, interesting = scattered(300, 12, 0)
    everything = frozenset(range(300))
    scheduler = Scheduler[Dropped, int].on(widths[0], Dropped(), in_a_row=True)
    scheduler.add(0, adaptive.start(items).in_a_row(widths[0]))
    flight: deque[Task[Dropped, int]] = deque()
    settled = 0
    while not scheduler.done:
        while len(flight) < scheduler.width and (task := scheduler.next()) is not None:
            flight.append(task)
        task = flight.popleft()
        assert task.base is not None
        scheduler.settle(task, interesting(everything - task.base.with_(task.edits).items))
        settled += 1
        if settled % 10 == 0:
            scheduler.resize(widths[settled // 10 % len(widths)])
            assert all(each.obsolete for each in flight)
        for each in [each for each in flight if each.obsolete]:
            flight.remove(each)
            scheduler.settle(each, False)
    assert len(everything - scheduler.merging.accepted.items) == 12
    assert settled > 40


@pytest.mark.parametrize("width", [2, 8, 40])
def test_what_is_settled_is_freed_without_the_collector_of_cycles(width: int) -> None:
    # A candidate holds its text: of a large input, a few too many fill the memory.
    gc.collect()
    gc.disable()
    try:
        reduced(declared(300, 5, 1), width)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = sum(isinstance(each, Task) for each in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert left == 0


class Coin(Search):
    """Proposes for ever what succeeds every other time."""

    def __init__(self, number: int) -> None:
        self.number = number

    def propose(self) -> Change:
        return Change((Edit(self.number, ()),))

    def after(self, ok: bool) -> Search:
        return Coin(2 * self.number + ok)

    def chance(self) -> float:
        return 0.5


@pytest.mark.parametrize(
    ("passes", "candidates"),
    [
        (1, 63),  # chances 1, 1/2 and so on down to 1/32
        (2, 63 + 31),  # in the second pass 0.85 of that: a 32nd of it is too little
        (6, 63 + 4 * 31 + 15),  # 0.85 ** 5 / 16 is too little
    ],
)
def test_what_is_hardly_ever_of_use_is_not_run(passes: int, candidates: int) -> None:
    scheduler = Scheduler[Dropped, int].on(64, Dropped())
    for number in range(passes):
        scheduler.add(number, Coin(1 << 32 * number))
    found = 0
    while scheduler.next() is not None:
        found += 1
    assert found == candidates
