"""Measures the speed-up of a reduction with many workers and an oracle that sleeps, in real time.

`python -m benchmarks.sleeping > benchmarks/results/sleeping.md`

The inputs are those of `benchmarks.scaling`, as SMT-LIB: 5,000 commands, one per line, reduced
by the default strategy in the pass that drops commands. Every run of the oracle is a process that
checks whether all needed commands are there, and takes half a second. The measured time is what a
user waits for: from the input, known to be interesting, to the last text. 128 sleepers need
processes, but hardly a processor; with `--quick`, all of it is tried in some seconds.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

from reducekit.executors.local import LocalExecutor
from reducekit.format import Schedule
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.passes.drop import Drop
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Oracle
from reducekit.oracle.printed import ExitZero
from reducekit.reduction import Reduction
from reducekit.run import Limits
from reducekit.search.strategy import Passes
from reducekit.strategies.adaptive import adaptive

WORKERS = (1, 2, 8, 32, 128)
COMMANDS, QUICK_COMMANDS = 5000, 200
SLEEP, QUICK_SLEEP = 0.5, 0.01
SEED = 0
WALL = 60.0
"""Seconds that a run may take: it sleeps, and the machine may be busy."""
NEEDED = "(define-fun n"
"""How the needed commands begin; the others define a name with another letter."""

# Reads the file in one go, counts, sleeps, and says so; about 1 ms of processor.
C = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
    double seconds = atof(argv[1]);
    struct timespec rest = { (time_t) seconds, (long) ((seconds - (time_t) seconds) * 1e9) };
    long needed = atol(argv[2]), found = 0;
    char line[256];
    FILE *file = argc > 3 ? fopen(argv[3], "r") : NULL;
    if (!file)
        return 2;
    while (fgets(line, sizeof line, file))
        found += strncmp(line, "NEEDED", sizeof "NEEDED" - 1) == 0;
    nanosleep(&rest, NULL);
    return found < needed;
}
""".replace("NEEDED", NEEDED)
SHELL = f"""\
#!/bin/sh
sleep "$1"
[ "$(grep -c '^{NEEDED}' "$3")" -ge "$2" ]
"""


class Input(NamedTuple):
    """A script, and how many of its commands are needed."""

    text: bytes
    needed: int


def scattered(count: int) -> Input:
    """Return a script with a hundredth of its commands needed, whatever becomes of the others."""
    return _script(count, count // 100, Random(SEED), share=0.0)


def declared(count: int) -> Input:
    """Return one with every second command using one before it; one of 400 needed, or a few."""
    return _script(count, max(3, count // 400), Random(SEED), share=0.5)


def _script(count: int, needed: int, choose: Random, share: float) -> Input:
    uses = {item: choose.randrange(item) for item in range(1, count) if choose.random() < share}
    kept = set(choose.sample(range(count), needed))
    names = [f"{'n' if item in kept else 'c'}{item}" for item in range(count)]
    lines = [
        f"(define-fun {name} () Int {names[uses[item]] if item in uses else 0})\n"
        for item, name in enumerate(names)
    ]
    return Input("".join(lines).encode("ascii"), needed)


INPUTS: dict[str, Callable[[int], Input]] = {
    "scattered": scattered,
    "declared": declared,
}


class OnePass(Smt2):
    """SMT-LIB scripts; whole commands are dropped, once."""

    def schedule(self, passes: Passes) -> Schedule:
        """Return the pass over the commands, in their order."""
        return Schedule(rounds=(), prepare=(Drop("commands"),))


@dataclass(frozen=True, slots=True)
class Cost:
    """What a reduction took, and what it came to."""

    seconds: float
    checks: int
    runs: int
    commands: int
    """Left at the end."""


def oracle_in(folder: Path) -> Path:
    """Write the oracle: its arguments are seconds, how many are needed, and a file."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    path = folder / "oracle"
    if compiler is None:
        path.write_text(SHELL, encoding="ascii")
        path.chmod(0o755)
        return path
    source = folder / "oracle.c"
    source.write_text(C, encoding="ascii")
    subprocess.run([compiler, "-O1", "-o", str(path), str(source)], check=True)
    return path


def measure(made: Input, workers: int, oracle: Path, sleep: float) -> Cost:
    """Reduce an input with `workers` workers. The program ends if the result is wrong."""
    command = Command.of(shlex.join([str(oracle), str(sleep), str(made.needed)]))
    with LocalExecutor(Oracle((command,), ExitZero()), workers, Smt2.suffix) as executor:
        reduction = Reduction(
            OnePass(), adaptive, executor, lambda seconds: Limits(wall=WALL), width=workers
        )
        begin = time.monotonic()
        found = reduction.run(made.text, sleep)
        seconds = time.monotonic() - begin
    lines = found.text.decode("ascii").splitlines()
    if sum(line.startswith(NEEDED) for line in lines) != made.needed:
        sys.exit("the result lacks what has to be kept")
    counts = found.counts
    return Cost(seconds, counts.checks, counts.runs, len(lines))


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def main(arguments: list[str] | None = None) -> None:
    """Print the table, each row as soon as it is known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--inputs", default=",".join(INPUTS), help="by commas; default: all")
    parser.add_argument("--workers", type=_numbers, help="how many, by commas; 1,2,8,32,128")
    parser.add_argument("--sleep", type=float, help=f"seconds a run; default: {SLEEP}")
    parser.add_argument("--commands", type=int, help=f"of an input; default: {COMMANDS}")
    parser.add_argument("--quick", action="store_true", help="small inputs and a short sleep")
    asked = parser.parse_args(arguments)
    names = asked.inputs.split(",")
    if unknown := set(names) - INPUTS.keys():
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    sleep = asked.sleep or (QUICK_SLEEP if asked.quick else SLEEP)
    count = asked.commands or (QUICK_COMMANDS if asked.quick else COMMANDS)
    print("# What many workers gain when the oracle sleeps\n")
    print(
        f"{count:,} commands; every run of the oracle is a process that sleeps {sleep:g} s.\n"
        "Speed-up is against the first row of the input; `busy` is the part of the time in\n"
        "which the workers sleep, all taken together: 100 % if none ever waits for work.\n"
        "Made by `python -m benchmarks.sleeping`; what is measured is said there.\n"
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs.\n"
    )
    print("| input | workers | wall, s | speed-up | checks | runs | busy | commands left |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory(prefix="sleeping-") as folder:
        oracle = oracle_in(Path(folder))
        for name in names:
            made, first = INPUTS[name](count), 0.0
            for workers in asked.workers or WORKERS:
                cost = measure(made, workers, oracle, sleep)
                first = first or cost.seconds
                cells = (
                    name,
                    str(workers),
                    f"{cost.seconds:.2f}",
                    f"{first / cost.seconds:.1f}x",
                    str(cost.checks),
                    str(cost.runs),
                    f"{100 * cost.runs * sleep / workers / cost.seconds:.0f} %",
                    str(cost.commands),
                )
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
