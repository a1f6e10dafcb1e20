"""Simulates the speed-up of a search with many workers: time and runs are exact and reproducible.

    python -m benchmarks.scaling > benchmarks/results/scaling.md
    python -m benchmarks.scaling --sleep 0.05

All runs of the oracle take equally long; time is counted in them. `one success`
is what picire and the classic C-Vise do with as many candidates of halving sizes
as there are workers: the first success in order is kept, the others are lost.

The second table is of whole reductions of SMT-LIB scripts of 4 KB, whose failure needs some pairs
of operators. Their search is one sequence, in which a candidate depends on all verdicts before it.
So only the likely verdicts are assumed, and there is a bound: if each check succeeds with chance p,
whatever is known, then `w` workers on the w most likely candidates of the tree of verdicts settle
as many checks at a time, on average, as the sum of the chances that these are needed.

`--sleep` measures the whole program with a shell script as its oracle, which sleeps. reducekit and
the shell add some milliseconds of processor time to each check, so use an idle machine; on a busy
one, only a longer sleep hides them.
"""

import argparse
import os
import re
import shlex
import tempfile
import time
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from random import Random
from statistics import geometric_mean, mean
from typing import NamedTuple

from benchmarks.make_input import OPERATORS, RELATIONS, generate
from reducekit.api import reduce
from reducekit.events import Checked, Event
from reducekit.executors.executor import Finished, InProcess
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.language.commands import head_of
from reducekit.frontends.smt2.language.parser import parse
from reducekit.reduction import Reduction
from reducekit.run import Limits
from reducekit.strategies.adaptive import adaptive
from tests.simulator import Droppable, simulate_parallel

WIDTHS = (1, 2, 8, 32, 128)
ITEMS = 5000
SEEDS = range(3)
SCRIPTS = range(2000, 2030)
"""Seeds of scripts; `_LEAST_CHANCE` was chosen on those from 1000 to 1049."""
_HEADS = "|".join(map(re.escape, (*OPERATORS, *RELATIONS, "bvnot", "ite", "mix")))
_PAIR = re.compile(rf"\(({_HEADS}) (?:[^\s()]+ )?\(({_HEADS}) ".encode())
"""An operator with another below it."""
_COMMANDS = frozenset(b"set-logic declare-fun define-fun assert check-sat".split())
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


class Simulated(InProcess):
    """An executor with a clock: all checks that are submitted together end after one more run."""

    now = 0

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Let all checks end."""
        self.now += bool(self._waiting)
        ended = list[Finished]()
        while self._waiting:
            ended += super().wait(timeout)
        return ended


def script(seed: int) -> tuple[bytes, Sequence[bytes]]:
    """Return a script, and the pairs of operators that its failure needs."""
    text, dice = generate(seed, 4000), Random(seed)
    pairs = sorted({found[0] for found in _PAIR.finditer(text)})
    return text, dice.sample(pairs, min(len(pairs), dice.choice((2, 4, 8))))


def reduced(seed: int, width: int) -> tuple[Cost, float]:
    """Reduce a script; return its cost, and the share of the checks that succeeded."""
    (text, needed), verdicts = script(seed), list[bool]()

    def interesting(text: bytes) -> bool:
        document = parse(text)  # solvers end at an unknown command
        known = all(head_of(document, node) in _COMMANDS for node in document.children(0))
        return known and all(each in text for each in needed)

    def listen(event: Event) -> None:
        if isinstance(event, Checked) and not event.remembered:
            verdicts.append(event.interesting)

    executor = Simulated(interesting, width)
    Reduction(Smt2(), adaptive, executor, lambda seconds: Limits(), width=width, listen=listen).run(
        text, 0.05
    )
    return Cost(executor.now, executor.runs), mean(verdicts)


def bound(chance: float, width: int) -> float:
    """Return how many checks are settled at a time at most, as said above."""
    tree, total = [-1.0], 0.0
    for _ in range(width):
        needed = -heappop(tree)
        total += needed
        heappush(tree, -needed * chance)
        heappush(tree, -needed * (1 - chance))
    return total


def scripts() -> None:
    """Print the table of whole reductions."""
    print(f"\n{len(SCRIPTS)} scripts of 4 KB; sums, and geometric means of the speed-ups.\n")
    print("| workers | time / runs | speed-up | bound |\n|---:|---:|---:|---:|", flush=True)
    alone = [reduced(seed, 1) for seed in SCRIPTS]
    for width in (1, 8, 32):
        found = (
            [reduced(seed, width)[0] for seed in SCRIPTS] if width > 1 else [a for a, _ in alone]
        )
        speed = geometric_mean(
            one.steps / many.steps for (one, _), many in zip(alone, found, strict=True)
        )
        steps, runs = (sum(cost[at] for cost in found) for at in (0, 1))
        most = geometric_mean(bound(share, width) for _, share in alone)
        print(f"| {width} | {steps:,} / {runs:,} | {speed:.2f}x | {most:.2f}x |", flush=True)
    print(f"\nOf the checks {100 * mean(share for _, share in alone):.0f} % succeed.")
    rates = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
    print("\n| workers | " + " | ".join(f"{100 * each:.0f} % succeed" for each in rates) + " |")
    print("|---:|" + "---:|" * len(rates))
    for width in (8, 32):
        print(f"| {width} | " + " | ".join(f"{bound(each, width):.1f}x" for each in rates) + " |")


def clauses(seed: int) -> tuple[bytes, Sequence[bytes]]:
    """Return a CNF of 1,000 clauses, and the 8 of them that its failure needs."""
    lines = [b"%d -%d 0\n" % (2 * each + 1, 2 * each + 2) for each in range(1000)]
    return b"p cnf 2000 1000\n" + b"".join(lines), Random(seed).sample(lines, 8)


def slept(seconds: float, count: int, jobs: Sequence[int]) -> None:
    """Print how fast reductions are whose oracle sleeps, and what they take of the processors."""
    print(f"# Jobs, with an oracle that sleeps for {seconds:g} s\n")
    print(f"{os.cpu_count()} processors; {os.getloadavg()[0]:.1f} processes wanted one before.\n")
    print("| inputs | jobs | seconds | speed-up | checks | ms of a processor for each |")
    print("|---|---:|---:|---:|---:|---:|", flush=True)
    for suffix, make in (("smt2", script), ("cnf", clauses)):
        inputs, alone = [make(seed) for seed in range(2000, 2000 + count)], list[float]()
        for many in jobs:
            times, checks, before = list[float](), 0, sum(os.times()[:4])
            for text, needed in inputs:
                begin = time.monotonic()
                checks += _checks(text, needed, suffix, seconds, many)
                times.append(time.monotonic() - begin)
            alone, each = alone or times, 1000 * (sum(os.times()[:4]) - before) / checks
            speed = geometric_mean(a / b for a, b in zip(alone, times, strict=True))
            row = f"{count} {suffix} | {many} | {sum(times):,.0f} | {speed:.1f}x | {checks:,}"
            print(f"| {row} | {each:.1f} |", flush=True)


def _checks(text: bytes, needed: Sequence[bytes], suffix: str, sleep: float, jobs: int) -> int:
    """Reduce a text with a program that sleeps and wants some strings; return the checks."""
    wanted = (shlex.quote(each.decode().strip()) for each in needed)
    tests = "".join(f"case $text in *{each}*) ;; *) exit 1 ;; esac\n" for each in wanted)
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
        file.write(f'sleep {sleep}\ntext=$(cat "$1")\n{tests}')
        file.flush()
        oracle = f"sh {file.name}"
        report = reduce(text, oracle=oracle, format=suffix, jobs=jobs, journal=False)
        return report.counts.checks


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sleep", type=float, help="seconds of a real oracle")
    parser.add_argument("--count", type=int, default=10, help="inputs of a kind that sleep")
    given = parser.parse_args()
    if given.sleep is not None:
        slept(given.sleep, given.count, (1, 8, 32))
        return
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
    scripts()


if __name__ == "__main__":
    main()
