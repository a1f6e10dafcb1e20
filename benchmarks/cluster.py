"""Measures the overhead of a cluster: the same reductions on it and on local slots, and bytes sent.

`python -m benchmarks.cluster > benchmarks/results/cluster.md`

The inputs are those of `benchmarks.scaling`, as SMT-LIB: 5,000 commands, one per line, reduced by
the default strategy in the pass that drops commands. Every run of the oracle is a process that
checks whether all needed commands are there, and sleeps 50 ms. The cluster is
a Dask scheduler and worker processes with many slots each, all on this machine: the checks only
sleep, so 64 of them need no 64 processors; the CPU time that they do need competes with Dask's
for the same few cores, which is worse for the cluster than separate machines.
Before the clock starts, every slot of both has run the input once, so the start of processes
(0.2 s on each worker) is not in the times; neither are
those for the next round, which start in the second between two rounds.

The second table counts the bytes of the messages to and from the workers for an input of 3 MB.
"""

import argparse
import contextlib
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from typing import NamedTuple

from reducekit.executors.cluster.connection import Connection
from reducekit.executors.cluster.executor import ClusterExecutor
from reducekit.executors.cluster.spec import ClusterSpec
from reducekit.executors.executor import Executor
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

SLOTS, QUICK_SLOTS = 64, 8
COMMANDS, QUICK_COMMANDS = 5000, 200
LARGE = 104_000  # commands: 3 MB
SLEEP, QUICK_SLEEP = 0.05, 0.01
PROCESSES = 4
REST = 1.0
"""Seconds before each round for what the one before has left to do."""


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


INPUTS: dict[str, Callable[[int], Input]] = {"scattered": scattered, "declared": declared}


class OnePass(Smt2):
    """SMT-LIB scripts; whole commands are dropped, once."""

    def schedule(self, passes: Passes) -> Schedule:
        """Return the pass over the commands, in their order."""
        return Schedule(rounds=(), prepare=(Drop("commands"),))


def oracle_in(folder: Path) -> Path:
    """Write the oracle: its arguments are seconds, how many are needed, and a file."""
    path = folder / "oracle"
    source = folder / "oracle.c"
    source.write_text(C, encoding="ascii")
    subprocess.run(["cc", "-O1", "-o", str(path), str(source)], check=True)
    return path


class Cost(NamedTuple):
    """What a reduction took, and what it came to: the quickest of some."""

    seconds: float
    usual: float
    """The median of some."""
    runs: int
    text: bytes
    client: float
    """Seconds of the processor for this process."""


@contextlib.contextmanager
def cluster(processes: int, slots: int) -> Iterator[Connection]:
    """Start a scheduler and workers in processes of their own, and connect to them."""
    with tempfile.TemporaryDirectory(prefix="cluster-") as folder, contextlib.ExitStack() as stack:

        def start(*words: str) -> None:
            with open(os.path.join(folder, "log"), "a", encoding="utf-8") as log:
                process = subprocess.Popen(
                    [sys.executable, "-m", "dask", *words], cwd=folder, stdout=log, stderr=log
                )
            stack.callback(process.wait)
            stack.callback(process.terminate)

        about = os.path.join(folder, "scheduler.json")
        start("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", about)
        for _ in range(processes):
            start(
                *("worker", "--nthreads", str(slots // processes), "--memory-limit", "0"),
                *("--no-dashboard", "--no-nanny", "--scheduler-file", about),
            )
        while not os.path.exists(about):
            time.sleep(0.1)
        address = json.loads(Path(about).read_text(encoding="utf-8"))["address"]
        spec = ClusterSpec(address=address, workers=processes)
        yield stack.enter_context(Connection(spec))


def measure(made: Input, oracle: Path, sleep: float, width: int, executor: Executor) -> Cost:
    """Reduce an input. The program ends if the result is wrong."""
    time.sleep(REST)
    with executor:
        for ticket in range(width):  # the input is known to be interesting: it has run before
            executor.submit(-1 - ticket, made.text, Limits(wall=WALL))
        ended = 0
        while ended < width:
            ended += len(executor.wait())
        reduction = Reduction(
            OnePass(), adaptive, executor, lambda seconds: Limits(wall=WALL), width=width
        )
        begin, used = time.monotonic(), time.process_time()
        found = reduction.run(made.text, sleep)
        seconds, used = time.monotonic() - begin, time.process_time() - used
    if sum(line.startswith(NEEDED.encode()) for line in found.text.splitlines()) != made.needed:
        sys.exit("the result lacks what has to be kept")
    return Cost(seconds, seconds, found.counts.runs, found.text, used)


def alone(executor: Executor, sleep: float, checks: int) -> float:
    """Return the seconds that a check takes, one after the other, without the sleep."""
    with executor:
        times = []
        for ticket in range(checks):
            begin = time.monotonic()
            executor.submit(ticket, b"text", Limits(wall=WALL))
            while not executor.wait():
                pass
            times.append(time.monotonic() - begin)
    return median(times) - sleep


def best(rounds: int, *runs: Callable[[], Cost]) -> list[Cost]:
    """Run each so often, in turns, and return the quickest: others may use the machine."""
    found = [[run() for run in runs] for _ in range(rounds)]
    return [
        min(each, key=lambda cost: cost.seconds)._replace(
            usual=median(cost.seconds for cost in each)
        )
        for each in zip(*found, strict=True)
    ]


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few slots, and a short sleep")
    parser.add_argument("--slots", type=int, help=f"in all; default: {SLOTS}")
    parser.add_argument("--processes", type=int, default=PROCESSES, help="of workers")
    parser.add_argument("--inputs", default=",".join(INPUTS), help="by commas; default: all")
    parser.add_argument("--rounds", type=int, default=3, help="the quickest one counts")
    parser.add_argument("--no-wire", action="store_true", help="leave the second table out")
    asked = parser.parse_args(arguments)
    sleep = QUICK_SLEEP if asked.quick else SLEEP
    count = QUICK_COMMANDS if asked.quick else COMMANDS
    slots = asked.slots or (QUICK_SLOTS if asked.quick else SLOTS)
    wide = slots + slots // 4
    print("# What a cluster adds to local slots\n")
    print(
        f"{count:,} commands; every run of the oracle is a process that sleeps {sleep:g} s.\n"
        f"The cluster: a Dask scheduler and {asked.processes} worker processes with "
        f"{slots // asked.processes} slots each, on the same machine.\n"
        "Both have the width of the slots, so the same candidates are checked and the same\n"
        "bytes come out; but for the last row, with a quarter more candidates, which wait on the\n"
        "workers. "
        f"`wall` is that of the quickest of {asked.rounds} runs, and the\n"
        "median; the share is said for both, all else for the quickest. `client` is the time of\n"
        "the processor for the process that searches. Made by\n"
        f"`python -m benchmarks.cluster --rounds {asked.rounds}`; what is measured is said there.\n"
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs; "
        f"load by others before: {os.getloadavg()[0]:.1f}.\n"
    )
    with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
        oracle = oracle_in(Path(folder))
        with cluster(asked.processes, slots) as connection:

            def run(made: Input, width: int, opened: Callable[[Oracle], Executor]) -> Cost:
                words = shlex.join([str(oracle), str(sleep), str(made.needed)])
                executor = opened(Oracle((Command.of(words),), ExitZero()))
                return measure(made, oracle, sleep, width, executor)

            def there(oracle: Oracle) -> Executor:
                executor = ClusterExecutor(connection, oracle, slots, suffix=".smt2")
                executor.ready(asked.processes)
                return executor

            print(
                "| input | slots | wall, s: quickest, median | speed-up | runs | client, ms a run "
                "| share of the local speed-up |"
            )
            print("|---|---|---:|---:|---:|---:|---:|", flush=True)
            for name in asked.inputs.split(","):
                made = INPUTS[name](count)
                one = run(made, 1, lambda oracle: LocalExecutor(oracle, 1, ".smt2"))
                here, far, ahead = best(
                    asked.rounds,
                    partial(run, made, slots, lambda oracle: LocalExecutor(oracle, slots, ".smt2")),
                    partial(run, made, slots, there),
                    partial(run, made, wide, there),
                )
                if here.text != far.text:
                    sys.exit("the cluster came to another result")
                for label, cost in (
                    ("1 local", one),
                    (f"{slots} local", here),
                    (f"{slots} on Dask", far),
                    (f"{slots} on Dask, width {wide}", ahead),
                ):
                    share = (
                        f"{100 * here.seconds / cost.seconds:.0f} %, "
                        f"{100 * here.usual / cost.usual:.0f} %"
                        if cost is not one
                        else ""
                    )
                    speed = f"{one.seconds / cost.seconds:.1f}x"
                    print(
                        f"| {name} | {label} | {cost.seconds:.2f}, {cost.usual:.2f} | {speed} "
                        f"| {cost.runs} | {1000 * cost.client / cost.runs:.2f} | {share} |",
                        flush=True,
                    )
            nap = Oracle((Command.of(f"sleep {sleep}; :", shell=True),), ExitZero())
            times = [
                1000 * alone(executor, sleep, 40)
                for executor in (LocalExecutor(nap, 1), there(nap))
            ]
            print(
                f"\nOne at a time, a check takes {times[0]:.1f} ms more than its sleep with a "
                f"local slot, and {times[1]:.1f} ms on the cluster (medians)."
            )
            if asked.no_wire:
                return
            large = scattered(QUICK_COMMANDS if asked.quick else LARGE)
            sent, received = connection.sent, connection.received
            cost = run(large, slots, there)
            sent, received = connection.sent - sent, connection.received - received
            print(
                f"\nAn input of {len(large.text) / 1e6:.1f} MB, reduced on the same cluster in "
                f"{cost.runs:,} checks,\n"
                f"{1000 * cost.client / cost.runs:.1f} ms of the client each:\n\n"
                "| | MB | bytes for each check |\n|---|---:|---:|\n"
                f"| texts as they are | {cost.runs * len(large.text) / 1e6:,.0f} at most "
                f"| {len(large.text):,} |\n"
                f"| sent to the workers | {sent / 1e6:.2f} | {sent / cost.runs:,.0f} |\n"
                f"| received from them | {received / 1e6:.2f} | {received / cost.runs:,.0f} |"
            )


if __name__ == "__main__":
    main()
