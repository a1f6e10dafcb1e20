"""Reducers side by side on any folder of cases.

A case is a folder that holds one file `input.*` and an executable `oracle`, which
exits with 0 if its last argument, a file, is interesting. Reducers are command
lines with {input}, {output} and {oracle}:

    python -m benchmarks.side_by_side CASES \\
        --reducer 'ddsmt=ddsmt -j1 {input} {output} {oracle}' \\
        --reducer 'reducekit=reducekit smt2 {input} -o {output} --oracle {oracle}'

Every run is counted by the oracle itself, costs are of the whole process tree
that the reducer waited for, and every output is checked with the oracle
afterwards. Ratios compare each reducer with the first.
"""

from __future__ import annotations

import argparse
import fnmatch
import math
import shlex
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import run

RATIOS = {"bytes": 1.0, "checks": 1.0, "cpu": 0.01}
"""The columns that are compared, and the least value that counts in each."""


class Row(NamedTuple):
    """One run of one reducer on one case. CPU and wall in seconds, memory in MB (10**6 bytes)."""

    case: str
    reducer: str
    bytes_in: int
    bytes: int
    """Of a verified output; else those of the input, as nothing is won."""
    checks: int
    cpu: float
    wall: float
    rss: float
    verified: bool
    capped: bool
    status: int


def cases(folder: Path, patterns: Sequence[str]) -> list[Path]:
    """Return the folders of the cases whose name matches one of the patterns."""
    return [
        oracle.parent
        for oracle in sorted(folder.glob("*/oracle"))
        if any(fnmatch.fnmatch(oracle.parent.name, pattern) for pattern in patterns)
    ]


def counting(oracle: Path, folder: Path) -> tuple[Path, Path]:
    """Write an oracle that adds a byte to a file and then is the given one; returns both files."""
    script, count = folder / "oracle", folder / "count"
    count.write_bytes(b"")
    script.write_text(
        f"#!/bin/sh\nprintf . >> {shlex.quote(str(count))}\n"
        f'exec {shlex.quote(str(oracle.resolve()))} "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return script, count


def one(case: Path, reducer: str, template: str, cap: float) -> Row | None:
    """Run one reducer on one case; None if the oracle does not fire on the input."""
    with tempfile.TemporaryDirectory(prefix="side-by-side-") as name:
        folder = Path(name)
        (given,) = case.glob("input.*")
        oracle = case / "oracle"
        if run([oracle.resolve(), given]).status != 0:
            return None
        source, output = folder / given.name, folder / f"output{given.suffix}"
        source.write_bytes(given.read_bytes())
        script, count = counting(oracle, folder)
        values = {"{input}": source, "{output}": output, "{oracle}": script}
        words = [_filled(word, values) for word in shlex.split(template)]
        cost = run(words, cap)
        checks = count.stat().st_size
        verified = output.exists() and run([oracle.resolve(), output]).status == 0
        return Row(
            case=case.name,
            reducer=reducer,
            bytes_in=source.stat().st_size,
            bytes=(output if verified else given).stat().st_size,
            checks=checks,
            cpu=round(cost.cpu, 2),
            wall=round(cost.wall, 2),
            rss=round(cost.rss),
            verified=verified,
            capped=cost.capped,
            status=cost.status,
        )


def _filled(word: str, values: Mapping[str, Path]) -> str:
    for name, value in values.items():
        word = word.replace(name, str(value))
    return word


def ratio(rows: Sequence[Row], column: str, first: str, other: str) -> float | None:
    """Return the geometric mean over the cases of other / first, medians of the repeats.

    Cases where one of the two has an output that is not verified count for bytes only.
    """
    least = RATIOS[column]
    logs = []
    for case in dict.fromkeys(row.case for row in rows):
        both = [
            [row for row in rows if (row.case, row.reducer) == (case, name)]
            for name in (first, other)
        ]
        if not all(both):
            continue
        if column != "bytes" and not all(row.verified for each in both for row in each):
            continue
        a, b = (
            max(least, statistics.median(getattr(row, column) for row in each)) for each in both
        )
        logs.append(math.log(b / a))
    return math.exp(statistics.fmean(logs)) if logs else None


def summary(rows: Sequence[Row]) -> str:
    """Return the table and the ratios as Markdown."""
    columns = ("case", "reducer", "bytes_in", "bytes", "checks", "cpu", "wall", "rss")
    lines: list[tuple[str, ...]] = [(*columns, "verified"), ("---",) * 2 + ("---:",) * 6 + ("---",)]
    for row in rows:
        verified = ("yes" if row.verified else "NO") + (", capped" if row.capped else "")
        lines.append((*(str(getattr(row, column)) for column in columns), verified))
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
    first, *others = dict.fromkeys(row.reducer for row in rows)
    for other in others:
        means = {column: ratio(rows, column, first, other) for column in RATIOS}
        said = ", ".join(f"{k} {v:.3f}" for k, v in means.items() if v is not None)
        text += f"\n{other} / {first}, geometric means: {said}\n"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares reducers on a folder of cases.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reducer", action="append", required=True, metavar="NAME=COMMAND")
    parser.add_argument("--cases", default="*", help="patterns, as 'grep-*,loop-*'")
    parser.add_argument("--cap", type=float, default=120.0, help="seconds for each run")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a TSV file, written after every run")
    options = parser.parse_args()
    reducers = [reducer.partition("=")[::2] for reducer in options.reducer]
    rows: list[Row] = []
    for case in cases(options.folder, options.cases.split(",")):
        for repeat in range(options.repeats):
            for name, template in reducers if repeat % 2 == 0 else reversed(reducers):
                row = one(case, name, template, options.cap)
                if row is None:
                    print(f"{case.name}: its oracle does not fire on its input", file=sys.stderr)
                    break
                rows.append(row)
                print(*row, sep="\t", file=sys.stderr)
                if options.out:
                    lines = ["\t".join(map(str, line)) for line in (Row._fields, *rows)]
                    options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if not rows:
        sys.exit("no case was run: a case is a folder with input.* and an executable oracle")
    print(summary(rows))


if __name__ == "__main__":
    main()
