"""Records the results of reductions, to show that a change to the code changes none of them.

    python -m benchmarks.frozen make FOLDER                   # generated CNF and AIGER cases
    python -m benchmarks.frozen run TABLE.tsv CASES...        # continues an unfinished table
    python -m benchmarks.frozen compare BEFORE.tsv AFTER.tsv  # exit status 1 if a row got worse

A case is a folder with a file `input.*` and an executable `oracle` or, for an API trace, with a
`case.toml` that names the fault to seed (`[case] fault`, see `reducekit trace --fault`). `run`
reduces each on the command line, so `--reducekit PROGRAM` records another version. It uses one job
and no journal: checks and bytes are as reproducible as the solver of the case.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from benchmarks.smt2_tables import tokens

_SLACK = 0.01
"""Checks may differ by so much in sum: what is allowed to a change that keeps the behaviour."""

_GENERATED = 12
"""Cases of a kind that `make` writes."""
_ORACLES = {
    "cnf": """#!/usr/bin/env python3
# Unsatisfiable, with a clause that has two negated literals.
import subprocess, sys
text = open(sys.argv[1]).read()
lines = [line.split() for line in text.splitlines() if line[:1] not in "cp"]
two = any(sum(each.startswith("-") for each in line) == 2 for line in lines)
run = two and subprocess.run(["cadical", "-q", "-n", sys.argv[1]], capture_output=True)
sys.exit(not (run and run.returncode == 20))
""",
    "aag": """#!/usr/bin/env python3
# A latch whose next state depends on a latch through a complemented gate.
import sys
rows = [line.split() for line in open(sys.argv[1]).read().splitlines()]
try:
    m, i, l, o, a = map(int, rows[0][1:6])
    more = sum(map(int, rows[0][6:]))
    latches = {int(row[0]): int(row[1]) for row in rows[1 + i : 1 + i + l]}
    gates = {int(row[0]): (int(row[1]), int(row[2])) for row in rows[1:] if len(row) == 3}
except (ValueError, IndexError):
    sys.exit(2)
for next_state in latches.values():
    todo, seen = [(next_state, False)], set()
    while todo:
        each = literal, turned = todo.pop()
        if each in seen:
            continue
        seen.add(each)
        if turned and literal & ~1 in latches:
            sys.exit(0)
        for operand in gates.get(literal & ~1, ()):
            todo.append((operand, turned or literal & 1))
sys.exit(1)
""",
}
"""Tests that need nothing but Python and CaDiCaL, by the suffix of their inputs."""


class Row(NamedTuple):
    """The end of one reduction. `size` is in tokens for SMT-LIB scripts, in bytes for the rest."""

    case: str
    checks: int
    bytes: int
    size: int
    verified: bool
    capped: bool


def make(top: Path) -> None:
    """Write generated cases into a folder, the same each time."""
    for suffix, oracle in _ORACLES.items():
        kind = {"aag": "aiger"}.get(suffix, suffix)
        shape = ["--ratio", "6", "--shape", "uniform"] if kind == "cnf" else ["--gates", "300"]
        for seed in range(_GENERATED):
            folder = top / kind / f"{kind}-{seed}"
            folder.mkdir(parents=True, exist_ok=True)
            words = ["generate", kind, "--seed", str(seed), *shape, "--no-vary"]
            (folder / f"input.{suffix}").write_bytes(
                subprocess.run(["reducekit", *words], capture_output=True, check=True).stdout
            )
            script = folder / "oracle"
            script.write_text(oracle)
            script.chmod(0o755)


def case_folders(tops: Sequence[Path]) -> Iterator[Path]:
    """Yield the folders of cases in some folders, sorted by name."""
    for top in tops:
        yield from sorted(each.parent for each in top.glob("*/input.*"))


def run(folder: Path, reducekit: str, cap: float) -> Row:
    """Reduce the input of a case. Raises RuntimeError if that does not end with a result."""
    source = next(folder.glob("input.*"))
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch, "out" + source.suffix)
        command = [reducekit, _format(source), str(source), "-o", str(output), "--no-journal"]
        command += [*_test(folder), "--jobs", "1", "--max-time", str(cap), "--json", "-q"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        report = json.loads(done.stdout)
        if "error" in report:
            raise RuntimeError(f"{folder.name}: {report['error']}")
        text = output.read_bytes()
    size = tokens(text) if source.suffix == ".smt2" else len(text)
    capped = report["stopped"] is not None
    return Row(folder.name, report["checks"], len(text), size, bool(report["verified"]), capped)


def _format(source: Path) -> str:
    formats = {".smt2": "smt2", ".trace": "trace", ".cnf": "cnf", ".aag": "aiger"}
    return formats.get(source.suffix, "btor")


def _test(folder: Path) -> list[str]:
    """Return the options that define the failure."""
    about = folder / "case.toml"
    if about.exists() and "fault" in (case := tomllib.loads(about.read_text()).get("case", {})):
        listed = folder.parent / "faults.json"
        named = ["--faults", str(listed)] if listed.exists() else []
        return ["--fault", str(case["fault"]), *named]
    return ["--oracle", str(folder / "oracle")]


def read(path: Path) -> dict[str, Row]:
    """Return the rows of a table by case; none where there is no such file.

    A table of `benchmarks.faults reduce` works too: its size is calls and options.
    """
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {row.case: row for row in map(_row, csv.DictReader(file, delimiter="\t"))}


def _row(line: Mapping[str, str]) -> Row:
    if "case" not in line:
        size = int(line["calls"]) + int(line["settings"])
        return Row(
            line["name"], int(line["runs"]), size, size, line["fails"] == "1", line["ended"] != "1"
        )
    checks, size_in_bytes, size = (int(line[name]) for name in ("checks", "bytes", "size"))
    verified, capped = (line[name] == "True" for name in ("verified", "capped"))
    return Row(line["case"], checks, size_in_bytes, size, verified, capped)


def compare(before: Mapping[str, Row], after: Mapping[str, Row]) -> tuple[list[str], bool]:
    """Return the rows that differ and the sums, as lines, and whether the behaviour was kept.

    It was if no result is larger or missing, and the checks of the cases that did not get smaller
    differ by at most 1 % in sum. Cases that ran out of time on either side have no exact count, so
    they are listed and not judged.
    """
    lines, kept, sums = [], True, [0, 0]
    for name, old in before.items():
        new = after.get(name)
        if new is None:
            lines.append(f"{name}: missing")
            kept = False
            continue
        timed = old.capped or new.capped
        if old[1:4] != new[1:4]:
            what = " (stopped by the time limit)" if timed else ""
            lines.append(
                f"{name}: size {old.size} -> {new.size}, bytes {old.bytes} -> {new.bytes}, "
                f"checks {old.checks} -> {new.checks}{what}"
            )
        if not timed:
            kept = kept and new.size <= old.size and new.verified >= old.verified
            if new.size == old.size:
                sums = [sums[0] + old.checks, sums[1] + new.checks]
    ratio = sums[1] / sums[0] if sums[0] else 1.0
    lines.append(f"checks at equal size: {sums[0]:,} -> {sums[1]:,} ({ratio:.4f})")
    return lines, kept and ratio <= 1 + _SLACK


def main() -> None:
    """Freeze, or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    actions = parser.add_subparsers(dest="action", required=True)
    runs = actions.add_parser("run")
    runs.add_argument("table", type=Path)
    runs.add_argument("folders", type=Path, nargs="+")
    runs.add_argument("--cases", default="*", help="patterns of names, with commas between")
    runs.add_argument("--reducekit", default="reducekit", help="the program to run")
    runs.add_argument("--cap", type=float, default=900.0, help="seconds for each reduction")
    makes = actions.add_parser("make")
    makes.add_argument("folder", type=Path)
    compares = actions.add_parser("compare")
    compares.add_argument("before", type=Path)
    compares.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.action == "compare":
        lines, kept = compare(read(given.before), read(given.after))
        print("\n".join(lines))
        sys.exit(not kept)
    if given.action == "make":
        make(given.folder)
        return
    done = read(given.table)
    for folder in case_folders(given.folders):
        if folder.name in done or not any(fnmatch(folder.name, p) for p in given.cases.split(",")):
            continue
        try:
            row = run(folder, given.reducekit, given.cap)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            continue
        new = not given.table.exists()
        with open(given.table, "a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter="\t", lineterminator="\n")
            writer.writerows([Row._fields, row] if new else [row])
        print(*row, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
