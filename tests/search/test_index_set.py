"""Sets of indices are sets, and know what is not in them."""

from hypothesis import given
from hypothesis import strategies as st

from reducekit.search.selecting import IndexSet

indices = st.sets(st.integers(0, 40))


@given(indices, indices)
def test_it_is_a_set(first: set[int], second: set[int]) -> None:
    small = IndexSet(first)
    large = small.with_(second)
    assert set(small) == first
    assert sorted(large) == list(large)
    assert set(large) == first | second
    assert len(large) == len(first | second)
    assert small == IndexSet(list(first))
    assert hash(small) == hash(IndexSet(iter(first)).with_(()))
    assert set(frozenset(second) | small) == set(large)
    assert frozenset(second) - small == second - first
    assert small.isdisjoint(second) == first.isdisjoint(second)
    assert all((item in small) == (item in first) for item in range(-1, 50))


@given(indices, st.integers(0, 200), st.integers(1, 200))
def test_the_last_that_are_not_in_it(items: set[int], below: int, count: int) -> None:
    expected = [item for item in range(below) if item not in items][-count:]
    assert list(IndexSet(items).holes(below, count)) == expected
