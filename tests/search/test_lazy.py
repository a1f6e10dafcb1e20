"""A lazy sequence makes no more than is looked at, and makes nothing twice."""

from collections.abc import Iterator

import pytest

from reducekit.search.lazy import Lazy


def test_what_is_not_looked_at_is_not_made() -> None:
    made: list[int] = []

    def items() -> Iterator[str]:
        for number in range(4):
            made.append(number)
            yield str(number)

    lazy = Lazy(items())
    assert made == []
    assert (lazy[1], lazy[0]) == ("1", "0")
    assert made == [0, 1]
    assert list(lazy) == ["0", "1", "2", "3"]
    with pytest.raises(IndexError):
        lazy[4]
    assert (len(lazy), lazy[-1], lazy[1:3]) == (4, "3", ["1", "2"])
    assert made == [0, 1, 2, 3]
