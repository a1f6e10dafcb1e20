"""Counts the oracle runs of each strategy on simulated oracles: exact, without any process.

    python -m benchmarks.strategies

writes the table to `results/strategies.md`. Strategies see plain items here,
without a frontend's knowledge of them.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from reducekit.search.selecting import Selector
from reducekit.strategies.adaptive import backward, selector
from reducekit.strategies.cdd import selector as cdd
from reducekit.strategies.ddmin import selector as ddmin
from reducekit.strategies.halving import selector as halving
from reducekit.strategies.probdd import selector as probdd
from reducekit.strategies.vulcan import selector as vulcan
from tests.simulator import simulate

TABLE = Path(__file__).parent / "results" / "strategies.md"
COUNT = 1000
"""Items of each oracle."""

STRATEGIES: Mapping[str, Callable[[int], Selector]] = {
    "adaptive": backward,
    "adaptive, free order": lambda count: selector(count, 0),
    "ddmin": ddmin,
    "halving": halving,
    "probdd": probdd,
    "cdd": cdd,
    "vulcan": vulcan,
}


EARLY = (10, 25, 50, 100, 200)
"""After these numbers of runs the rest is counted."""


class Made(NamedTuple):
    """A made-up oracle: the items that are needed, and what each item uses (-1: nothing)."""

    name: str
    needed: frozenset[int]
    uses: Sequence[int] = ()

    def interesting(self, kept: frozenset[int]) -> bool:
        """Return whether all needed items are there, with everything that the present ones use."""
        if not self.needed <= kept:
            return False
        uses = self.uses
        return not uses or all(uses[item] < 0 or uses[item] in kept for item in kept)

    def smallest(self) -> frozenset[int]:
        """Return the needed items with all that they use."""
        found: set[int] = set()
        for each in self.needed:
            item = each
            while item >= 0 and item not in found:
                found.add(item)
                item = self.uses[item] if self.uses else -1
        return frozenset(found)


def scatter(needed: int, count: int = COUNT, seed: int = 0) -> Made:
    """Needed items all over the place."""
    chosen = random.Random(seed).sample(range(count), needed)
    return Made(f"scatter, {needed} needed", frozenset(chosen))


def cluster(needed: int, count: int = COUNT, seed: int = 0) -> Made:
    """Adjacent needed items."""
    first = random.Random(seed).randrange(count - needed)
    return Made(f"cluster, {needed} needed", frozenset(range(first, first + needed)))


def declared(needed: int, reach: int, count: int = COUNT, seed: int = 0) -> Made:
    """Each item uses one of the `reach` items before it: no item can stay without what it uses."""
    choose = random.Random(seed)
    uses = [-1, *(choose.randrange(max(0, item - reach), item) for item in range(1, count))]
    chosen = frozenset(choose.sample(range(count), needed))
    return Made(f"declared within {reach} items before use, {needed} needed", chosen, uses)


def paired(needed: int, count: int = COUNT, seed: int = 0) -> Made:
    """Items that go only two at a time: each uses its neighbour."""
    chosen = random.Random(seed).sample(range(count), needed)
    return Made(f"pairs, {needed} needed", frozenset(chosen), [item ^ 1 for item in range(count)])


ORACLES: Sequence[Made] = (
    *(scatter(needed) for needed in (1, 10, 50, 200, 500)),
    cluster(50),
    declared(1, COUNT),
    declared(10, COUNT),
    declared(10, 100),
    paired(10),
)


class Cell(NamedTuple):
    """What a strategy came to: oracle runs, and items left."""

    runs: int
    left: int


def measure(oracle: Made, start: Callable[[int], Selector], count: int = COUNT) -> Cell:
    """Run a strategy until it finds nothing more."""
    found = simulate(start, count, oracle.interesting, repeat=True)
    return Cell(found.runs, len(found.left))


def left_after(oracle: Made, start: Callable[[int], Selector], runs: Sequence[int]) -> list[int]:
    """Return how many items are left after some numbers of runs."""
    tested = simulate(start, COUNT, oracle.interesting).tested
    sizes = [len(each) if oracle.interesting(each) else COUNT for each in tested]
    return [min(sizes[:number], default=COUNT) for number in runs]


def table() -> str:
    """Return the tables as Markdown."""
    lines = [
        "# Oracle runs of the strategies",
        "",
        f"On {COUNT} items, repeated until nothing more can go; sets tested before are not run",
        "again. Exact: `python -m benchmarks.strategies` writes this file, and a test compares it.",
        "",
        "| oracle | smallest | " + " | ".join(STRATEGIES) + " |",
        "|---|--:|" + "--:|" * len(STRATEGIES),
    ]
    for oracle in ORACLES:
        smallest = len(oracle.smallest())
        cells = (measure(oracle, start) for start in STRATEGIES.values())
        shown = (
            f"{cell.runs}" if cell.left == smallest else f"{cell.runs} ({cell.left} left)"
            for cell in cells
        )
        lines.append(f"| {oracle.name} | {smallest} | {' | '.join(shown)} |")
    lines += [
        "",
        "In *free order* it is known that no item needs another, as of the assertions of a script.",
        "It matters for what remains early, on the same oracles:",
        "",
        f"| oracle | algorithm | {' | '.join(f'{runs} runs' for runs in EARLY)} |",
        "|---|---|" + "--:|" * len(EARLY),
    ]
    for oracle in ORACLES:
        if oracle.uses or len(oracle.needed) > COUNT // 5:
            continue
        for name, start in STRATEGIES.items():
            left = left_after(oracle, start, EARLY)
            lines.append(f"| {oracle.name} | {name} | {' | '.join(map(str, left))} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(table())
