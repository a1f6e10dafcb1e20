"""The expected speed-up of a cluster, from the simulator of the search and a few measured costs.

`python -m benchmarks.cluster_model > benchmarks/results/cluster_model.md`

The simulator gives the number of rounds and runs of a reduction for a number of candidates in
flight; all its runs take equally long. A round on a cluster takes the time of a check and the
round trip, and no run can start before the client has made its candidate, which takes longer for a
longer text. So the time is the larger of the two,

    rounds * (check + way)    and    runs * (candidate + text * size),

and the constants below are what `benchmarks.cluster` measures on this machine, rounded up: the
processor time per megabyte is doubled, as memory is slow on a busy machine.
"""

from __future__ import annotations

import argparse
from functools import cache
from typing import NamedTuple

from benchmarks.scaling import declared, scattered
from reducekit.strategies.adaptive import adaptive
from tests.simulator import simulate_parallel

WORKERS = (16, 64, 256, 1000, 4000, 10_000)
CHECKS = (0.05, 1.0, 10.0, 60.0)
WAY = 0.005
"""Seconds from a verdict to the start of the next check: `benchmarks.cluster`, one at a time."""
CANDIDATE = 0.0015
"""Seconds of the client for each candidate of a small text: search, edits, messages."""
SIZE = 0.003
"""Seconds of the client for each candidate and megabyte of text: rendering, hash, edits."""
SEARCH = 3e-6
"""Seconds of the search for each candidate and each one in flight: all are looked at."""


class Simulated(NamedTuple):
    """The cost of a reduction with a number of candidates in flight."""

    rounds: int
    runs: int


@cache
def simulated(name: str, workers: int) -> Simulated:
    """Simulate a reduction of 5,000 items."""
    problem = {"scattered": scattered, "declared": declared}[name](0)
    found = simulate_parallel(problem.items, adaptive, workers, problem.interesting)
    return Simulated(found.steps, found.runs)


def seconds(found: Simulated, workers: int, check: float, megabytes: float) -> float:
    """Return how long it takes on a cluster."""
    made = CANDIDATE + SIZE * megabytes + SEARCH * workers
    return max(found.rounds * (check + WAY), found.runs * made)


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workers", default=",".join(map(str, WORKERS)), help="slots, by commas")
    parser.add_argument("--inputs", default="scattered,declared", help="by commas")
    asked = parser.parse_args(arguments)
    widths = [int(each) for each in asked.workers.split(",")]
    print("# The speed-up to expect of a cluster, on paper\n")
    print(
        "Reductions of 5,000 items, against one local slot: text of 0.1 MB / 3 MB. `ideal` is\n"
        "what the search allows when nothing but checks takes time.\n"
        "Made by `python -m benchmarks.cluster_model`; the model is said there.\n"
    )
    for name in asked.inputs.split(","):
        one = simulated(name, 1)
        print(f"| {name}: a check takes | " + " | ".join(f"{w:,} slots" for w in widths) + " |")
        print("|---|" + "---:|" * len(widths))
        ideal = [one.runs / simulated(name, width).rounds for width in widths]
        print("| ideal | " + " | ".join(f"{each:.0f}x" for each in ideal) + " |", flush=True)
        for check in CHECKS:
            cells = []
            for width in widths:
                found = simulated(name, width)
                small, large = (
                    one.runs * (check + CANDIDATE + SIZE * size)
                    / seconds(found, width, check, size)
                    for size in (0.1, 3.0)
                )  # fmt: skip
                cells.append(f"{small:.0f}x / {large:.0f}x")
            print(f"| {check:g} s | " + " | ".join(cells) + " |", flush=True)
        print()


if __name__ == "__main__":
    main()
