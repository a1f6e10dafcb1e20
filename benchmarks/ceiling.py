"""How many checks a second with two jobs, beside a bare posix_spawn loop with two children.

`python -m benchmarks.ceiling > benchmarks/results/ceiling.md`

The oracle is `cmp -s ORIGINAL` on 20 KB, as in `engine_cost`. Loop and reducer
take turns, and the medians of the ratios count: wall time on a busy machine
says little by itself. Start-up is left out, by a short and a long run.

The other columns are the same bare loop, computing for so long between two runs: what a
reducer could reach that needs no more than that to write, watch, judge and make a candidate.
"""

from __future__ import annotations

import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.make_input import generate

SIZE, SHORT, LONG, REPEATS, JOBS = 20_000, 50, 1500, 7, 2
WORK = (0.0001, 0.0002, 0.0003)
"""Seconds."""


def bare(argv: list[str], checks: int, work: float = 0.0) -> float:
    """Return the seconds of so many runs, `JOBS` at a time, with so much work after each."""
    begin = time.perf_counter()
    started = 0
    while started < JOBS:
        os.posix_spawnp(argv[0], argv, os.environ)
        started += 1
    for _ in range(checks):
        os.wait()
        end = time.perf_counter() + work
        while work and time.perf_counter() < end:
            pass
        if started < checks:
            os.posix_spawnp(argv[0], argv, os.environ)
            started += 1
        elif started == checks:
            break
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return time.perf_counter() - begin


def reduce(source: Path, oracle: str, checks: int) -> tuple[float, int]:
    """Return the seconds of a reduction of so many checks, and the runs it made."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "reducekit", "smt2", str(source)]
    output = str(source.with_suffix(".out"))
    options = [
        "-o",
        output,
        "--oracle",
        oracle,
        "--max-checks",
        str(checks),
        "--json",
        "--jobs",
        str(JOBS),
    ]
    made = subprocess.run([*command, *options], capture_output=True, check=True)
    return time.perf_counter() - begin, json.loads(made.stdout)["runs"]


def main() -> None:
    """Print the table."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="ceiling-", dir="/dev/shm") as name:
        source = Path(name) / "input.smt2"
        source.write_bytes(generate(1, SIZE))
        other = Path(name) / "candidate.smt2"
        other.write_bytes(source.read_bytes()[:-1] + b" \n")
        oracle = f"cmp -s {shlex.quote(str(source))}"
        for _ in range(REPEATS):
            argv = [*shlex.split(oracle), str(other)]
            loop = LONG / bare(argv, LONG)
            busy = [LONG / bare(argv, LONG, work) for work in WORK]
            short, few = reduce(source, oracle, SHORT)
            long, many = reduce(source, oracle, LONG)
            rows.append((loop, (many - few) / (long - short), *busy))
    print("# Checks a second with two jobs\n")
    print("Made by `python -m benchmarks.ceiling`; what is measured is said there.\n")
    heads = ["bare loop", "reducekit", *(f"loop with {1000 * work:g} ms" for work in WORK)]
    print(f"| {' | '.join(heads)} |\n|{'---:|' * len(heads)}")
    for loop, *others in rows:
        cells = [f"{each:.0f} ({100 * each / loop:.0f} %)" for each in others]
        print(f"| {loop:.0f} | {' | '.join(cells)} |")
    medians = [statistics.median(row[at] / row[0] for row in rows) for at in range(1, len(heads))]
    print(f"| median | {' | '.join(f'{100 * each:.0f} %' for each in medians)} |")


if __name__ == "__main__":
    main()
