"""Reduces API traces, and compares with the algorithm of lglddtrace, on any folder of cases.

A case is a folder with `input.trace` and `case.toml`, which names the fault to seed
into the library (`[case] fault`, see `reducekit trace --fault`) and the signal that ends
its replay (`signal`), and optionally the result of another reducer (`[reference]` with
`calls`, `options`, `runs`). The faults are in `faults.json` in the folder of the cases, or
spelled out as SYMBOL+OFFSET:abort.

    python -m benchmarks.trace_cases CASES > benchmarks/results/trace_cases.md

Runs are all replays, including those of the first and the last file.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import run

STRATEGIES = ("adaptive", "lglddtrace")


class Row(NamedTuple):
    """What a strategy left of a case, and what it cost. CPU in seconds."""

    case: str
    strategy: str
    calls: int
    options: int
    runs: int
    cpu: float
    capped: bool
    same: bool
    """Whether the replay of the result dies of the signal of the case."""
    lawful: bool
    """Whether the model of the API allows every call of the result."""


class Case(NamedTuple):
    """A case: its name, trace, the arguments that seed its fault, and what `case.toml` says."""

    name: str
    trace: Path
    fault: Sequence[str]
    about: Mapping[str, Mapping[str, object]]


def cases(folder: Path, patterns: Sequence[str]) -> list[Case]:
    """Return the cases in a folder whose name matches one of the patterns."""
    faults = folder / "faults.json"
    listed = ["--faults", str(faults)] if faults.exists() else []
    found = []
    for file in sorted(folder.glob("*/case.toml")):
        if any(fnmatch.fnmatch(file.parent.name, pattern) for pattern in patterns):
            about = tomllib.loads(file.read_text(encoding="utf-8"))
            fault = ["--fault", str(about["case"]["fault"]), *listed]
            found.append(Case(file.parent.name, file.parent / "input.trace", fault, about))
    return found


def measured(case: Case, strategy: str, options: str, cap: float) -> Row:
    """Reduce a case, and replay the result."""
    program = [sys.executable, "-m", "reducekit"]
    with tempfile.TemporaryDirectory(prefix="trace-cases-") as name:
        output = Path(name) / "output.trace"
        asked = ["--strategy", strategy, "--options", options, "-o", str(output), "-q", "--json"]
        cost = run([*program, "trace", str(case.trace), *case.fault, *asked], cap)
        report = json.loads(cost.out)
        again = subprocess.run(
            [*program, "replay", str(output), *case.fault], capture_output=True, check=False
        )
        checked = subprocess.run(
            [*program, "trace", str(output), "--check"], capture_output=True, check=False
        )
    after = report["after"]
    return Row(
        case.name,
        strategy,
        after["calls"],
        after["options"],
        report["runs"],
        cost.cpu,
        cost.capped,
        again.returncode == -signal.Signals[str(case.about["case"]["signal"])],
        checked.returncode == 0,
    )


def table(found: Sequence[Case], rows: Sequence[Row]) -> str:
    """Return the results in Markdown."""
    head = "case | calls + options | reference | ours | runs | CPU s | lglddtrace | runs | CPU s"
    lines = [f"| {head} | runs, ours / its |", "|---" + "|---:" * 9 + "|"]
    by = {(row.case, row.strategy): row for row in rows}
    for case in found:
        ours, theirs = (by.get((case.name, strategy)) for strategy in STRATEGIES)
        about, reference = case.about["case"], case.about.get("reference")
        left = "–" if reference is None else f"{reference['calls']}+{reference['options']}"
        lines.append(
            f"| {case.name} | {about['calls']}+{about['options']} | {left} | {_costs(ours)} | "
            f"{_costs(theirs)} | {_ratio(ours, theirs)} |"
        )
    lines.append("")
    for strategy in STRATEGIES:
        some = [row for row in rows if row.strategy == strategy]
        if not some:
            continue
        slips = [row.case for row in some if not row.same]
        unlawful = [row.case for row in some if not row.lawful]
        lines.append(
            f"- {strategy}: {sum(row.runs for row in some):,} runs, "
            f"{sum(row.cpu for row in some):.0f} s of CPU; median "
            f"{statistics.median(row.calls for row in some):g} calls, "
            f"{sum(row.calls for row in some)} calls and {sum(row.options for row in some)} "
            f"options in all; another signal: {', '.join(slips) or 'none'}; "
            f"against the contract of the API: {', '.join(unlawful) or 'none'}."
        )
    return "\n".join(lines) + "\n"


def _ratio(ours: Row | None, theirs: Row | None) -> str:
    return "–" if ours is None or theirs is None else f"{ours.runs / theirs.runs:.2f}"


def _costs(row: Row | None) -> str:
    if row is None:
        return "– | – | –"
    more = " (stopped)" if row.capped else ""
    return f"{row.calls}+{row.options}{more} | {row.runs:,} | {row.cpu:.1f}"


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", default="*", help="patterns of names, with commas between")
    parser.add_argument("--options", default="all", choices=("none", "explicit", "all"))
    parser.add_argument("--strategies", default=",".join(STRATEGIES), help="with commas between")
    parser.add_argument("--cap", type=float, default=300.0, help="seconds for each reduction")
    given = parser.parse_args()
    found = cases(given.folder, given.cases.split(","))
    rows = []
    for case in found:
        for strategy in given.strategies.split(","):
            rows.append(measured(case, strategy, given.options, given.cap))
            print(*rows[-1], file=sys.stderr)
    print("# API traces with seeded faults\n")
    print(f"`python -m benchmarks.trace_cases CASES --strategies {given.strategies} --options")
    print(f"{given.options}`; calls do not")
    print("count options and `return` lines, runs are all replays.\n")
    print(table(found, rows), end="")


if __name__ == "__main__":
    main()
