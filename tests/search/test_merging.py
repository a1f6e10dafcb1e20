"""Successes found apart: tentative, proved by the way, or sorted out by group testing."""

from collections.abc import Collection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.change import Change, Edit
from reducekit.search.merging import Merging
from reducekit.search.pass_search import Task, with_edits
from tests.simulator import Dropped

Tasks = list[Task[Dropped, None]]


def fresh() -> Merging[Dropped, None]:
    return Merging(Dropped(), keep_edits=True)


def task(merging: Merging[Dropped, None], item: int) -> Task[Dropped, None]:
    """Propose to drop an item, on top of what is tentative now."""
    change = Change((Edit(item, ()),))
    found: Task[Dropped, None] = Task(None, None, 1.0, change=change, base=merging.tentative)
    found.id_bit, found.base_bits = 1 << item, merging.bits()
    return found


def union(merging: Merging[Dropped, None], bit: int) -> Task[Dropped, None]:
    """Propose what is to be checked by itself."""
    group = merging.to_check()
    edits = tuple(edit for each in group for edit in each.change.edits)
    found: Task[Dropped, None] = Task(None, None, 1.0, change=Change(edits))
    found.base = with_edits(merging.tentative, group)
    found.id_bit, found.base_bits = 1 << bit, merging.bits()
    for each in group:
        found.base_bits |= each.id_bit
    return found


def test_a_later_success_proves_what_is_tentative_without_a_run() -> None:
    merging = fresh()
    first, second = task(merging, 1), task(merging, 2)
    assert merging.succeeded(first)
    assert not merging.succeeded(second), "its text lacks the first one's edits"
    assert merging.accepted.items == {1}
    assert merging.tentative.items == {1, 2}
    assert merging.unproved
    third = task(merging, 3)
    assert not merging.proved(third)
    assert merging.succeeded(third)
    assert merging.accepted.items == {1, 2, 3}
    assert not merging.unproved
    assert merging.holds(Change((Edit(1, ()), Edit(2, ()))))
    assert not merging.holds(Change((Edit(1, ()), Edit(4, ()))))
    assert not merging.holds(Change(()))


def test_failures_on_what_is_tentative_make_it_doubtful() -> None:
    merging = fresh()
    first, second = task(merging, 1), task(merging, 2)
    merging.failed(task(merging, 5))
    assert not merging.doubted(1), "that one was on a proved base"
    merging.succeeded(first)
    merging.succeeded(second)
    for number in range(3):
        assert merging.doubted(3) == (number == 3)
        merging.failed(task(merging, 6 + number))
    assert merging.doubted(3)


def sort_out(count: int, conflicts: Collection[Collection[int]]) -> tuple[frozenset[int], int]:
    """Merge `count` successes found at once, no group of `conflicts` of which holds together.

    Returns what is accepted in the end, and how many unions were checked.
    """

    def holds(gone: frozenset[int]) -> bool:
        return not any(gone.issuperset(each) for each in conflicts)

    merging = fresh()
    tasks = [task(merging, item) for item in range(count)]
    for each in tasks:
        merging.succeeded(each)
    checks = 0
    while merging.unproved or merging.conflicts:
        whole = union(merging, count + checks)
        assert whole.base is not None
        before = merging.accepted.items
        merging.checked(whole, holds(whole.base.items))
        assert holds(merging.accepted.items), "only what was checked is accepted"
        assert before <= merging.accepted.items, "nothing that was accepted is lost"
        checks += 1
    assert merging.accepted is merging.tentative
    return merging.accepted.items, checks


@pytest.mark.parametrize(("count", "checks"), [(2, 1), (3, 3), (17, 9), (65, 13), (257, 17)])
def test_one_conflict_costs_two_checks_for_each_halving(count: int, checks: int) -> None:
    """The first success, which is accepted at once, conflicts with the last."""
    left, spent = sort_out(count, [(0, count - 1)])
    assert left == frozenset(range(count - 1))
    assert spent == checks


def test_what_does_not_conflict_takes_one_check() -> None:
    assert sort_out(50, []) == (frozenset(range(50)), 1)
    assert sort_out(1, []) == (frozenset({0}), 0)


@given(
    st.integers(1, 20),
    st.lists(st.frozensets(st.integers(0, 19), min_size=2, max_size=3), max_size=6),
)
@settings(max_examples=200, deadline=None)
def test_a_success_is_only_given_up_if_it_conflicts_with_what_is_accepted(
    count: int, conflicts: list[frozenset[int]]
) -> None:
    left, _ = sort_out(count, conflicts)
    for item in frozenset(range(count)) - left:
        assert any((left | {item}).issuperset(each) for each in conflicts)
