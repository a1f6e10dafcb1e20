"""Draws of random graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence


class Dice:
    """Draws by a function that returns numbers from 0 to 1, as `random.Random.random`.

    Of random's methods that one alone is promised to stay the same in later versions.
    """

    def __init__(self, chance: Callable[[], float]) -> None:
        self._chance = chance

    def below(self, count: int) -> int:
        """Return a random number from 0 to count - 1."""
        return int(self._chance() * count)

    def percent(self, share: int) -> bool:
        """Return True in `share` percent of the cases."""
        return self._chance() * 100 < share

    def some(self, things: Sequence[int]) -> int:
        """Return one of several."""
        return things[self.below(len(things))]
