"""Measures the speed-up of real reductions with several workers, if each check takes a second.

`python -m benchmarks.workers CASES --only 'a,b*' > benchmarks/results/workers.md`

Verdicts are real, time is not: every run counts as one second on a simulated clock, so that a
machine with two cores can measure 128 workers, and the reducer's own time is excluded. All runs
count, including those on the input and the result. `CASES` is a folder as for
`benchmarks.side_by_side`; verdicts are kept in the file given by `--known`, so that a rerun on the
same cases is fast.

With `--real` the whole command runs in real time, and every run of the oracle first
sleeps for a second. Several cases then run at the same time: they sleep nearly all
the time.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import pickle
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from reducekit.compare.statistics import geometric_mean
from reducekit.executors.executor import Executor, Finished
from reducekit.executors.local import LocalExecutor
from reducekit.frontends.smt2 import Smt2
from reducekit.journal import digest
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.session import Options, Session

_WALL = 60.0
"""Seconds: the oracles have limits of their own, and the machine may be busy."""
_AT_ONCE = 2
"""How many cases share the machine with `--real`."""
_SLEEPING = 'sleep 1; exec "$0" "$1"'

Known = dict[tuple[str, bytes], tuple[Outcome, ...]]
"""What came of the runs of a command on a text, by its hash."""


@dataclass(slots=True)
class Clock:
    """The time, in seconds, and what is known of texts."""

    known: Known
    now: float = 0.0


class Virtual(Executor):
    """Runs checks for real, one at a time, and simulates one second each, several in parallel."""

    def __init__(self, clock: Clock, oracle: Oracle, jobs: int, suffix: str) -> None:
        self.runs = 0
        self._clock = clock
        self._oracle = oracle
        self._jobs = jobs
        self._real = LocalExecutor(oracle, 1, suffix)
        self._flight: dict[int, tuple[float, bytes, Limits]] = {}

    @property
    def free(self) -> int:
        """How many checks may be submitted now."""
        return self._jobs - len(self._flight)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Start a check that ends one second from now."""
        self.runs += 1
        self._flight[ticket] = (self._clock.now + 1.0, text, limits)

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Turn the clock to the first end, and check what ends there."""
        self._clock.now = min(end for end, _, _ in self._flight.values())
        ended = [each for each, (end, _, _) in self._flight.items() if end <= self._clock.now]
        return [self._checked(each, *self._flight.pop(each)[1:]) for each in ended]

    def cancel(self, ticket: int) -> None:
        """Forget a check."""
        self._flight.pop(ticket, None)

    def close(self) -> None:
        """Forget all checks."""
        self._flight.clear()
        self._real.close()

    def _checked(self, ticket: int, text: bytes, limits: Limits) -> Finished:
        key = (self._oracle.commands[0].shell_line(""), digest(text))
        if key not in self._clock.known:
            self._real.submit(0, text, replace(limits, wall=_WALL))
            while not (finished := self._real.wait()):
                pass
            self._clock.known[key] = finished[0].outcomes
        outcomes = self._clock.known[key]
        return Finished(ticket, self._oracle.criterion.judge(outcomes) is True, outcomes)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds on the clock, runs, and bytes at the end."""

    seconds: float
    runs: int
    size: int


def reduce(source: Path, oracle: Path, width: int, known: Known) -> Cost:
    """Reduce a file with `width` workers on a simulated clock."""
    clock = Clock(known)
    options = Options(
        input=source.read_bytes(),
        oracle=[str(oracle)],
        jobs=width,
        opener=lambda oracle, jobs: Virtual(clock, oracle, jobs, Smt2.suffix),
    )
    report = Session(options).run()
    return Cost(clock.now, report.runs, len(report.text))


def reduce_on_the_clock(source: Path, oracle: Path, width: int) -> Cost:
    """Reduce a file by the real command; every run takes a second more than the oracle."""
    with tempfile.TemporaryDirectory(prefix="workers-") as folder:
        output = Path(folder) / "output.smt2"
        sleeping = shlex.join(["sh", "-c", _SLEEPING, str(oracle), "{}"])
        command = [sys.executable, "-m", "reducekit", "smt2", str(source), "-o", str(output)]
        command += ["--oracle", sleeping, "--jobs", str(width), "--timeout", str(_WALL)]
        begin = time.perf_counter()
        made = subprocess.run([*command, "--quiet", "--json"], capture_output=True, check=True)
        seconds = time.perf_counter() - begin
        return Cost(seconds, json.loads(made.stdout)["runs"], output.stat().st_size)


def _costs(
    cases: list[Path], widths: list[int], known_file: Path | None, *, real: bool
) -> Iterator[list[Cost]]:
    """Yield the cost of each case with each number of workers, in order."""
    if real:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            yield from pool.map(
                lambda case: [
                    reduce_on_the_clock(case / "input.smt2", case / "oracle", width)
                    for width in widths
                ],
                cases,
            )
        return
    known: Known = {}
    if known_file is not None and known_file.exists():
        known = pickle.loads(known_file.read_bytes())
    for case in cases:
        yield [reduce(case / "input.smt2", case / "oracle", width, known) for width in widths]
        if known_file is not None:
            known_file.write_bytes(pickle.dumps(known))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("--only", default="*", help="names of cases, with *, by commas")
    parser.add_argument("--widths", default="1,2,8,32", help="how many workers, by commas")
    parser.add_argument("--known", type=Path, help="a file that keeps verdicts")
    parser.add_argument("--real", action="store_true", help="on the clock, with a second of sleep")
    asked = parser.parse_args()
    widths = [int(each) for each in asked.widths.split(",")]
    patterns = asked.only.split(",")
    cases = [
        folder
        for folder in sorted(asked.cases.iterdir())
        if (folder / "input.smt2").exists()
        and any(fnmatch.fnmatch(folder.name, each) for each in patterns)
    ]
    print("# Reductions with several workers, one second a check\n")
    made = (
        "Made by `python -m benchmarks.workers --real`: the whole command on the clock,\n"
        "with a second of sleep in each run of the oracle; see there.\n"
        if asked.real
        else "Made by `python -m benchmarks.workers`, with real verdicts and a clock that\n"
        "counts a second for each run; see there.\n"
    )
    print("Seconds / runs / bytes at the end, in brackets the time against one worker.")
    print(made)
    print("| case | " + " | ".join(f"{width} workers" for width in widths) + " |")
    print("|---|" + "---:|" * len(widths), flush=True)
    rows: list[list[Cost]] = []
    for folder, costs in zip(
        cases, _costs(cases, widths, asked.known, real=asked.real), strict=True
    ):
        rows.append(costs)
        cells = [
            f"{cost.seconds:.0f} / {cost.runs} / {cost.size} "
            f"({cost.seconds / costs[0].seconds:.2f})"
            for cost in costs
        ]
        print(f"| {folder.name} | " + " | ".join(cells) + " |", flush=True)
    means = [
        f"time {geometric_mean([row[at].seconds / row[0].seconds for row in rows]):.3f}, "
        f"runs {geometric_mean([row[at].runs / row[0].runs for row in rows]):.2f}, "
        f"bytes {geometric_mean([row[at].size / row[0].size for row in rows]):.3f}"
        for at in range(len(widths))
    ]
    print("| geometric means against one | " + " | ".join(means) + " |")


if __name__ == "__main__":
    main()
