"""The queue of nodes gives the heaviest first, whatever was added and taken in between."""

from hypothesis import given
from hypothesis import strategies as st

from reducekit.strategies.topdown import Pending


@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=5) | st.none()))
def test_the_heaviest_comes_first_and_of_equal_ones_the_later(
    steps: list[list[tuple[int, int]] | None],
) -> None:
    queue, expected = Pending(), list[tuple[int, int]]()
    for step in steps:
        if step is not None:
            for weight, node in step:
                queue = queue.with_([node], lambda _, weight=weight: weight)  # type: ignore[misc]
            expected = sorted([*expected, *step])
        elif expected:
            before = queue
            assert queue.heaviest() == expected.pop()[1]
            queue = queue.without_heaviest()
            assert before.heaviest() != -1  # what was there is there still
        assert bool(queue.runs) == bool(expected)
    while expected:
        assert queue.heaviest() == expected.pop()[1]
        queue = queue.without_heaviest()
    assert not queue.runs


def test_no_step_copies_all_that_waits() -> None:
    queue = Pending().with_(range(100_000), lambda node: 1)
    for node in range(64):
        queue = queue.with_([node], lambda node: 2)
    assert queue.runs[0][1] == 100_000
    assert len(queue.runs) < 8


def test_a_node_may_weigh_more_than_fits_beside_its_number() -> None:
    queue = Pending().with_([3, 4], lambda node: 1 << (60 if node == 4 else 2))
    assert queue.heaviest() == 4
    assert queue.without_heaviest().heaviest() == 3
