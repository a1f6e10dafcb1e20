"""How well algorithms do where texts fail as if by chance, as those of unstable queries do.

    python -m benchmarks.by_chance [--cases N]

A case has 60 to 1,000 items, of which 1 to 30 % are needed. A subset with all needed items fails
with a given chance, always or never: a hash decides. Prints for each chance and algorithm:

* the checks, as a share of the items;
* how many times the needed items are left at the end, and after 150 checks (geometric means).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from statistics import geometric_mean, mean

from reducekit.search.selecting import Selector
from reducekit.strategies import adaptive, cdd, ddmin, halving, probdd

CHANCES = (0.2, 0.4, 0.7, 0.95)
_SIZES = (60, 100, 200, 350, 650, 1000)
_SHARES = (0.01, 0.03, 0.05, 0.1, 0.3)
_EARLY = 150
_MOST = 5000


def _probdd(first: float) -> Callable[[int], Selector]:
    return lambda count: probdd.Estimates((probdd.Group(first, tuple(range(count))),))


ALGORITHMS: Mapping[str, Callable[[int], Selector]] = {
    "adaptive": adaptive.backward,
    "adaptive, any order": lambda count: adaptive.selector(count, 0),
    "halving": halving.selector,
    "ddmin": ddmin.selector,
    "cdd": cdd.selector,
    "probdd": probdd.selector,
    "probdd from 0.02": _probdd(0.02),
    "probdd from 0.01": _probdd(0.01),
}


@dataclass(frozen=True, slots=True)
class Case:
    """Items, the needed ones, and what the hashes are salted with."""

    count: int
    needed: frozenset[int]
    salt: int

    def fails(self, items: Collection[int], chance: float) -> bool:
        """Say whether a subset of the items fails."""
        if not self.needed.issubset(items):
            return False
        text = f"{self.salt} {','.join(map(str, sorted(items)))}"
        drawn = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
        return drawn < chance * 2**64


def cases(count: int, seed: int) -> list[Case]:
    """Return random cases."""
    chance, found = Random(seed), []
    for salt in range(count):
        items = chance.choice(_SIZES)
        needed = max(1, int(items * chance.choice(_SHARES)))
        found.append(Case(items, frozenset(chance.sample(range(items), needed)), salt))
    return found


def sizes(selector: Selector, case: Case, chance: float) -> list[int]:
    """Return how many items are left after each check of a search."""
    left = set(range(case.count))
    found: list[int] = []
    while (proposed := selector.propose()) and len(found) < _MOST:
        rest = left.difference(proposed)
        taken = frozenset(proposed) if case.fails(rest, chance) else frozenset()
        left -= taken
        selector = selector.after(taken)
        found.append(len(left))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("| chance | algorithm | checks/items | left/needed | after 150 checks |")
    print("|--:|---|--:|--:|--:|")
    drawn = cases(given.cases, given.seed)
    for chance in CHANCES:
        for name, start in ALGORITHMS.items():
            runs = [(case, sizes(start(case.count), case, chance)) for case in drawn]
            checks = mean(len(run) / case.count for case, run in runs)
            end = geometric_mean(run[-1] / len(case.needed) for case, run in runs)
            early = geometric_mean(run[:_EARLY][-1] / len(case.needed) for case, run in runs)
            print(f"| {chance} | {name} | {checks:.2f} | {end:.2f} | {early:.2f} |", flush=True)


if __name__ == "__main__":
    main()
