"""Simulates the speed-up of a search with many workers: time and runs are exact and reproducible.

`python -m benchmarks.scaling > benchmarks/results/scaling.md`

All runs of the oracle take equally long; time is counted in them. `one success`
is what picire and the classic C-Vise do with as many candidates of halving sizes
as there are workers: the first success in order is kept, the others are lost.
"""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from reducekit.strategies.adaptive import adaptive
from tests.simulator import Droppable, simulate_parallel

WIDTHS = (1, 2, 8, 32, 128)
ITEMS = 5000
SEEDS = range(3)
Interesting = Callable[[frozenset[int]], bool]


class Cost(NamedTuple):
    """Time in runs, and runs."""

    steps: int
    runs: int


class Problem(NamedTuple):
    """What may be dropped, and the oracle."""

    items: Droppable
    interesting: Interesting


def scattered(seed: int) -> Problem:
    """50 needed items, whatever becomes of the others."""
    needed = frozenset(Random(seed).sample(range(ITEMS), 50))
    return Problem(Droppable(ITEMS), lambda kept: needed <= kept)


def declared(seed: int) -> Problem:
    """Every second item needs one before it and falls with it; 12 needed."""
    choose = Random(seed)
    users: dict[int, list[int]] = {}
    for item in range(1, ITEMS):
        if choose.random() < 0.5:
            users.setdefault(choose.randrange(item), []).append(item)
    needed = frozenset(choose.sample(range(ITEMS), 12))
    return Problem(Droppable(ITEMS, users), lambda kept: needed <= kept)


def unknown(seed: int) -> Problem:
    """Like declared before use, but unknown to the search: an item without its needs just fails."""
    choose = Random(seed)
    uses = {item: choose.randrange(item) for item in range(1, ITEMS) if choose.random() < 0.5}
    needed = frozenset(choose.sample(range(ITEMS), 12))

    def interesting(kept: frozenset[int]) -> bool:
        return needed <= kept and all(uses[item] in kept for item in kept if item in uses)

    return Problem(Droppable(ITEMS), interesting)


def one_success(problem: Problem, width: int) -> Cost:
    """Blocks of halving sizes from the back, a batch at a time; the first success is kept."""
    left = list(range(ITEMS))
    size, steps = ITEMS // 2, 0
    known: dict[frozenset[int], bool] = {}
    dropped_any = False
    while size:
        end = len(left)
        while end > 0:
            batch = []
            for last in range(end, max(0, end - width * size), -size):
                gone = frozenset(left[max(0, last - size) : last])
                gone |= problem.items.close(gone, frozenset(range(ITEMS)) - set(left)).required
                batch.append((last, frozenset(left) - gone))
            if any(kept not in known for _, kept in batch):
                steps += 1
            for _, kept in batch:
                if kept not in known:
                    known[kept] = problem.interesting(kept)
            success = next(((last, kept) for last, kept in batch if known[kept]), None)
            if success is None:
                end = batch[-1][0] - size
                continue
            left = sorted(success[1])
            dropped_any = True
            end = min(len(left), success[0] - size)
        if size > 1:
            size //= 2
        elif dropped_any:
            dropped_any = False  # once more with single ones, until none can go
        else:
            break
    return Cost(steps, len(known))


def ours(problem: Problem, width: int) -> Cost:
    """The default strategy."""
    found = simulate_parallel(problem.items, adaptive, width, problem.interesting)
    return Cost(found.steps, found.runs)


def main() -> None:
    """Print the table."""
    print("# What many workers gain\n")
    print(
        f"{ITEMS:,} items; means of {len(SEEDS)} inputs; time in runs of the oracle, all equally\n"
        "long / runs, and in brackets how much faster than one worker of the same.\n"
        "Made by `python -m benchmarks.scaling`; what is compared is said there.\n"
    )
    print("| input | search | " + " | ".join(f"{w} workers" for w in WIDTHS) + " |")
    print("|---|---|" + "---:|" * len(WIDTHS))
    problems = {"scattered": scattered, "declared before use": declared, "unknown needs": unknown}
    for name, make in problems.items():
        for label, search in (("reducekit", ours), ("one success", one_success)):
            cells, first = [], 0.0
            for width in WIDTHS:
                costs = [search(make(seed), width) for seed in SEEDS]
                steps = sum(cost.steps for cost in costs) / len(costs)
                runs = sum(cost.runs for cost in costs) / len(costs)
                first = first or steps
                cells.append(f"{steps:.0f} / {runs:.0f} ({first / steps:.1f}x)")
            print(f"| {name} | {label} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
