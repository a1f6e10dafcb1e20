"""Measures checks per second with two jobs, compared with a bare posix_spawn loop of two children.

`python -m benchmarks.ceiling > benchmarks/results/ceiling.md`

The oracles accept 20 KB and nothing else: `cmp -s ORIGINAL`, as in `engine_cost`, and a
shell script that runs it. The bare loop runs them on one unchanging file. Loops and reducer
take turns, and the medians of the ratios count: wall time alone means little on a busy
machine. Start-up is excluded by subtracting a short run from a long one.

The *busy* loop is the same loop in a process that has computed for half a second before, as
the reducer has when it starts. That matters with as many children as cores: Linux remembers
how much of a core a task once needed (`util_est`, kernel/sched/fair.c), does not correct it
downwards for a task that has to wait for its core, and puts new processes on another core, which
is already busy. Sleeping resets this.

The last columns are the rested loop, computing for a given time between two runs: the limit
for a reducer that needs this time to make, write, watch and judge a candidate.
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
from typing import NamedTuple

from benchmarks.make_input import generate

SIZE, SHORT, LONG, REPEATS, JOBS = 20_000, 50, 1500, 7, 2
WORK = (0.0001, 0.0002, 0.0003)
"""Seconds."""
BURST, REST = 0.5, 0.2
"""Seconds computed, or slept, before a loop."""


def compute(seconds: float) -> None:
    """Keep a core busy for so long."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def bare(argv: list[str], checks: int, work: float = 0.0) -> float:
    """Return the rate of `checks` runs, `JOBS` at a time, with some work after each."""
    begin = time.perf_counter()
    started = 0
    while started < JOBS:
        os.posix_spawnp(argv[0], argv, os.environ)
        started += 1
    for _ in range(checks):
        os.wait()
        if work:
            compute(work)
        if started < checks:
            os.posix_spawnp(argv[0], argv, os.environ)
            started += 1
        elif started == checks:
            break
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return checks / (time.perf_counter() - begin)


def busy(argv: list[str], checks: int) -> float:
    """Return the runs a second of a loop in a process that has computed before."""
    compute(BURST)
    return bare(argv, checks)


def rested(argv: list[str], checks: int, work: float = 0.0) -> float:
    """Return the runs a second of a loop in a process that has slept before."""
    time.sleep(REST)
    return bare(argv, checks, work)


def reduce(source: Path, oracle: str, checks: int) -> tuple[float, int]:
    """Return the seconds of a reduction of `checks` checks, and the number of its runs."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:  # nothing to resume there
        command = [sys.executable, "-m", "reducekit", "smt2", str(source), "-o", f"{folder}/out"]
        command += ["--oracle", oracle, "--max-checks", str(checks), "--jobs", str(JOBS), "--json"]
        made = subprocess.run(command, capture_output=True, check=False)  # it is stopped early
    return time.perf_counter() - begin, json.loads(made.stdout)["runs"]


class Row(NamedTuple):
    """Runs a second."""

    rested: float
    busy: float
    reducer: float
    working: list[float]
    """The rested loop with each of `WORK`."""


def measure(source: Path, other: Path, oracle: str) -> Row:
    """Let the loops and the reducer take a turn each."""
    argv = [*shlex.split(oracle), str(other)]
    loops = rested(argv, LONG), busy(argv, LONG)
    short, few = reduce(source, oracle, SHORT)
    long, many = reduce(source, oracle, LONG)
    return Row(*loops, (many - few) / (long - short), [rested(argv, LONG, work) for work in WORK])


def main() -> None:
    """Print the table."""
    print("# Checks a second with two jobs\n")
    print(
        "Made by `python -m benchmarks.ceiling`; what is measured is said there. Medians of\n"
        f"{REPEATS} turns, with the lowest and the highest.\n"
    )
    heads = [
        "oracle",
        "bare loop",
        "busy loop",
        "reducekit",
        "of the bare loop",
        "of the busy loop",
    ]
    heads += [f"loop with {1000 * work:g} ms" for work in WORK]
    print(f"| {' | '.join(heads)} |\n|---|{'---:|' * (len(heads) - 1)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="ceiling-", dir="/dev/shm") as name:
        source = Path(name) / "input.smt2"
        source.write_bytes(generate(1, SIZE))
        other = Path(name) / "candidate.smt2"
        other.write_bytes(source.read_bytes()[:-1] + b" \n")
        script = Path(name) / "script"
        script.write_text(f'#!/bin/sh\ncmp -s {shlex.quote(str(source))} "$1"\n')
        script.chmod(0o755)
        oracles = {"a program": f"cmp -s {shlex.quote(str(source))}", "a script": str(script)}
        for kind, oracle in oracles.items():
            rows = [measure(source, other, oracle) for _ in range(REPEATS)]
            cells = [
                f"{statistics.median(row.rested for row in rows):.0f}",
                f"{statistics.median(row.busy for row in rows):.0f}",
                f"{statistics.median(row.reducer for row in rows):.0f}",
                _shares([row.reducer / row.rested for row in rows]),
                _shares([row.reducer / row.busy for row in rows]),
            ]
            cells += [
                _shares([row.working[at] / row.rested for row in rows]) for at in range(len(WORK))
            ]
            print(f"| {kind} | {' | '.join(cells)} |", flush=True)


def _shares(shares: list[float]) -> str:
    percent = sorted(100 * share for share in shares)
    return f"{statistics.median(percent):.0f} % ({percent[0]:.0f}-{percent[-1]:.0f})"


if __name__ == "__main__":
    main()
