"""The best text: told only on the way down, and taken back where it did not pay."""

from reducekit.events import Accepted, Event, RolledBack
from reducekit.reduction.best import Best
from reducekit.reduction.control import Budget, Control, Counts, Spending


class Listening:
    """A best text of 8 bytes, by length alone, and the events it tells."""

    def __init__(self, budget: Budget | None = None) -> None:
        self.events: list[Event] = []
        self.spending = Spending(budget or Budget(), Counts(), Control())
        self.best = Best(b"12345678", 8.0, len, self.spending, self.events.append, None)

    def accept(self, text: bytes) -> bool:
        return self.best.accept(text, float(len(text)), "change", "pass", None)


def test_only_what_is_strictly_below_is_told() -> None:
    told = Listening()
    best = told.best
    assert not told.accept(b"abcdefgh")  # other bytes, equal in the order
    assert not told.accept(b"abcdefghi")
    assert (best.text, best.seconds, best.reported) == (b"abcdefghi", 9.0, b"12345678")
    assert told.events == []
    assert told.accept(b"abcdefg")
    assert told.events == [Accepted(b"abcdefg", "change", "pass")]
    assert told.spending.counts.accepted == 1
    assert not best.is_below(b"abc", b"xyz")
    assert best.is_below(b"ab", b"xyz")


def test_what_did_not_get_below_is_rolled_back() -> None:
    told = Listening()
    best = told.best
    assert not best.roll_back()
    told.accept(b"123456")
    assert not best.roll_back()
    told.accept(b"1234567")
    assert best.roll_back()
    assert (best.text, best.seconds) == (best.reported, 6.0) == (b"123456", 6.0)


def test_it_returns_to_the_last_text_told_that_holds() -> None:
    told = Listening()
    for size in (7, 6, 5, 4):
        told.accept(b"x" * size)
    asked: list[int] = []

    def holds(text: bytes) -> bool:
        asked.append(len(text))
        return len(text) == 6

    told.best.return_to(holds, b"12345678")
    assert asked == [5, 6]  # the last one is known not to hold
    assert told.best.text == told.best.reported == b"x" * 6
    assert told.events[-1] == RolledBack(b"x" * 6, (b"xxxx", b"xxxxx"))
    told.best.return_to(lambda text: False, b"12345678")
    assert told.best.text == told.best.reported == b"12345678"


def test_large_texts_are_not_kept_for_going_back() -> None:
    told = Listening()
    told.best.text = told.best.reported = b"x" * 70_000
    for size in (65_537, 65_536, 5):
        told.accept(b"x" * size)
    told.best.return_to(lambda text: len(text) > 5, b"first")
    assert len(told.best.text) == 65_536
    told.best.return_to(lambda text: len(text) > 65_536, b"first")
    assert told.best.text == b"first"
