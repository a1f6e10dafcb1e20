"""dd on changes that fail, pass or are unresolved by rules: what must hold of its end."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from reducekit.change import Change, Edit
from reducekit.frontends.isolate import search

Test = Callable[[frozenset[int]], bool | None]
NUMBERS = st.integers(1, 24)


def isolated(count: int, bounds: Sequence[int], test: Test) -> tuple[set[int], set[int], int]:
    """Return the passing and the failing side, as the changes in them, and the number of tests."""
    found = search(count, bounds, lambda chosen: Change(tuple(Edit(n, ()) for n in chosen)))
    passing, failing, tests = set[int](), set(range(count)), 0
    while (change := found.propose()) is not None:
        candidate = failing - {edit.node for edit in change.edits}
        assert passing < candidate < failing
        tests += 1
        match test(frozenset(candidate)):
            case True:
                failing, found = candidate, found.after(True)
            case False:
                passing, found = candidate, found.after(False)
            case None:
                found = found.unresolved()
    return passing, failing, tests


@given(data=st.data(), count=NUMBERS)
def test_no_change_can_go_to_either_side(data: st.DataObject, count: int) -> None:
    numbers = st.integers(0, count - 1)
    needed = data.draw(st.frozensets(numbers, min_size=1))
    pairs = data.draw(st.lists(st.tuples(numbers, numbers)))
    bounds = sorted({0, *data.draw(st.sets(numbers))})

    def test(chosen: frozenset[int]) -> bool | None:
        return None if any((a in chosen) != (b in chosen) for a, b in pairs) else needed <= chosen

    passing, failing, tests = isolated(count, bounds, test)
    assert passing == set() or test(frozenset(passing)) is False
    assert failing == set(range(count)) or test(frozenset(failing)) is True
    left = failing - passing
    if len(left) > 1:
        assert all(test(frozenset(passing | {each})) is None for each in left)
        assert all(test(frozenset(failing - {each})) is None for each in left)
    assert tests <= count**2 + 7 * count  # the bound of the paper's section 4.3


@given(count=NUMBERS, data=st.data())
def test_without_unresolved_outcomes_it_is_binary_search(count: int, data: st.DataObject) -> None:
    needed = data.draw(st.frozensets(st.integers(0, count - 1), min_size=1))
    passing, failing, tests = isolated(count, (0,), lambda chosen: needed <= chosen)
    assert len(failing - passing) == 1
    assert tests <= (count - 1).bit_length()


def test_hunks_are_cut_apart_first() -> None:
    seen = list[frozenset[int]]()

    def test(chosen: frozenset[int]) -> None:
        seen.append(chosen)

    isolated(8, (0, 5), test)
    assert seen[:2] == [frozenset(range(5)), frozenset(range(5, 8))]
    for first, second in pairwise((0, 2, 5, 6, 8)):
        assert frozenset(range(first, second)) in seen
