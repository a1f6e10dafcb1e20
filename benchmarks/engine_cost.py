"""Measures the engine's cost per check, compared with a bare posix_spawn loop of the same command.

`python -m benchmarks.engine_cost` writes `results/engine_cost.tsv` and `.md`.

The oracle is `cmp -s ORIGINAL`: it accepts the input and nothing else, so all
candidates are close to the full size, the most expensive ones. The bare loop runs
the same command on one unchanging file, so the difference is the engine's work:
search, render, hash, write, watch. Start-up is excluded by subtracting a short run
from a long one, and has its own column.
"""

import argparse
import json
import os
import platform
import shlex
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.make_input import generate
from benchmarks.measure import Cost, run, spawn_loop

RESULTS = Path(__file__).resolve().parent / "results"
SIZES = {20_000: 1500, 300_000: 800, 3_000_000: 250}
"""Bytes of the input, and the checks of the long run."""
SHORT = 20
"""Checks of the short run."""
GOLDEN = 2
"""The golden run is two runs; the first check is the one after."""


class Row(NamedTuple):
    """One measured size. CPU in seconds, memory in MB (10**6 bytes)."""

    size: int
    checks: int
    bare_ms: float
    check_ms: float
    over_ms: float
    first_check_s: float
    peak_mb: float


def reduce(reducekit: Sequence[str], source: Path, oracle: str, checks: int) -> tuple[Cost, int]:
    """Run the reducer for `checks` checks; return its cost and the checks it made."""
    options = ["--oracle", oracle, "--max-checks", str(checks), "--json", "--quiet"]
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:  # nothing to resume there
        cost = run([*reducekit, "smt2", source, "-o", f"{folder}/output.smt2", *options])
    try:
        made = json.loads(cost.out)["checks"]
    except (ValueError, KeyError) as error:
        command = shlex.join([*reducekit, "smt2", str(source), *options])
        sys.exit(f"no `checks` in the JSON of {command}: {error}\n{cost.out}")
    return cost, int(made)


def first_check(reducekit: Sequence[str], source: Path) -> float:
    """Return the CPU seconds that the reducer has used when its first check starts.

    The oracle itself looks up its parent, the reducer, in /proc.
    """
    folder = source.parent
    log = folder / "parents"
    log.write_bytes(b"")
    oracle = folder / "look_up.sh"
    oracle.write_text(
        f'#!/bin/sh\ncat "/proc/$PPID/stat" >> {shlex.quote(str(log))}\n'
        f'exec cmp -s {shlex.quote(str(source))} "$1"\n',
        encoding="utf-8",
    )
    oracle.chmod(0o755)
    reduce(reducekit, source, str(oracle), SHORT)
    # Fields 14 and 15 of proc(5) stat; the command's name may hold blanks.
    lines = log.read_text(encoding="utf-8").splitlines()
    fields = lines[GOLDEN].rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(reducekit: Sequence[str], size: int, checks: int, repeats: int) -> Row:
    """Measure one size; the medians of the repeats."""
    with tempfile.TemporaryDirectory(prefix="engine-cost-") as name:
        source = Path(name) / "input.smt2"
        source.write_bytes(generate(1, size))
        oracle = f"cmp -s {shlex.quote(str(source))}"
        other = Path(name) / "candidate.smt2"
        other.write_bytes(source.read_bytes()[:-1] + b" \n")
        bare, per_check, peak, made_long = [], [], [], 0
        for _ in range(repeats):
            bare.append(spawn_loop([*shlex.split(oracle), other], checks))
            short, made_short = reduce(reducekit, source, oracle, SHORT)
            long, made_long = reduce(reducekit, source, oracle, checks)
            per_check.append((long.cpu - short.cpu) / max(1, made_long - made_short))
            peak.append(long.rss)
        bare_ms, check_ms = 1e3 * statistics.median(bare), 1e3 * statistics.median(per_check)
        return Row(
            size=source.stat().st_size,
            checks=made_long,
            bare_ms=bare_ms,
            check_ms=check_ms,
            over_ms=check_ms - bare_ms,
            first_check_s=statistics.median(first_check(reducekit, source) for _ in range(repeats)),
            peak_mb=max(peak),
        )


def write(rows: Sequence[Row], folder: Path) -> str:
    """Write the table as TSV and Markdown; returns the Markdown."""
    table = [
        (str(row.size), str(row.checks), *(f"{value:.3f}" for value in row[2:-1]), f"{row[-1]:.0f}")
        for row in rows
    ]
    folder.mkdir(parents=True, exist_ok=True)
    tsv = "\n".join("\t".join(line) for line in [Row._fields, *table]) + "\n"
    (folder / "engine_cost.tsv").write_text(tsv, encoding="utf-8")
    head = ("bytes", "checks", "bare loop, ms", "a check, ms", "over bare, ms")
    lines = [
        (*head, "CPU to the first check, s", "peak memory, MB"),
        ("---:",) * len(Row._fields),
        *table,
    ]
    markdown = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    text = (
        "# What the engine costs a check\n\n"
        "CPU time, user and system, of the reducer and the command together; medians. "
        "Made by `python -m benchmarks.engine_cost`; what is measured is said there.\n"
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs.\n\n"
        f"{markdown}\n"
    )
    (folder / "engine_cost.md").write_text(text, encoding="utf-8")
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures what the engine costs a check.")
    parser.add_argument("--sizes", help=f"bytes, as 20000,3000000; default {list(SIZES)}")
    parser.add_argument("--checks", type=int, help="checks of the long run")
    parser.add_argument("--repeats", type=int, default=3)
    script = Path(sys.executable).with_name("reducekit")
    parser.add_argument("--reducekit", default=shlex.quote(str(script)), metavar="COMMAND")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")] if options.sizes else list(SIZES)
    reducekit = shlex.split(options.reducekit)
    rows = [
        measure(reducekit, size, options.checks or SIZES.get(size, 300), options.repeats)
        for size in sizes
    ]
    print(write(rows, options.results))


if __name__ == "__main__":
    main()
