"""Reduces cases one by one, and compares the results with those of another reducer.

`python -m benchmarks.smt2_tables CASES --reference PUBLISHED.tsv --out TABLE`

A case is a folder with an `input.smt2` and an `oracle`. The reference is a file of tab-separated
columns: `case`, and those that `--columns SIZE,CHECKS` names (tokens and oracle runs of a
published reducer), or a file of `reducekit compare --reducer --tsv`. TABLE.md and TABLE.tsv are
written after every case, and with `--resume`, cases in TABLE.tsv are not run again.

`ideal s` is the processor time of the oracle on the accepted candidates alone, each run once: what
a reduction would cost that proposes nothing else.
"""

import argparse
import csv
import fnmatch
import math
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import msgspec

from benchmarks.measure import run as run_command
from reducekit.api import reduce
from reducekit.events import Accepted, Checked, Event
from reducekit.format import Effort

_TOKEN = re.compile(
    rb"""[ \t\r\n]+ | ;[^\r\n]* | ( [()] | "(?:[^"]|"")*"? | \|[^|]*\|? | :[^\s()|";]+
    | [^\s()|";:]+ | [\s\S] )""",
    re.VERBOSE,
)
_SHARES = (0.5, 0.1, 0.01)


@dataclass(frozen=True, slots=True)
class Row:
    """A reduction of one case."""

    case: str
    effort: str
    bytes_in: int
    tokens_in: int
    bytes: int
    tokens: int
    checks: int
    cpu: float
    """Seconds of the reducer and all that it ran."""
    wall: float
    verified: bool
    capped: bool
    half: int
    tenth: int
    hundredth: int
    """Checks until so much of the size was left; -1: never."""
    level: int = -1
    """Checks until it was no larger than the other reducer's result; -1: never, or not known."""
    ideal: float = -1.0
    """Seconds of the oracle on the accepted candidates alone; -1: not known."""


def tokens(text: bytes) -> int:
    """Count the tokens of a script: parentheses, symbols, literals, keywords."""
    return sum(1 for match in _TOKEN.finditer(text) if match[1])


def size_of(text: bytes, unit: str) -> int:
    """Return the size of a script in tokens or bytes."""
    return tokens(text) if unit == "tokens" else len(text)


def ideal(oracle: Path, accepted: Sequence[bytes]) -> float:
    """Return the CPU seconds of the oracle on each of some texts."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = 0.0
        for number, text in enumerate(accepted):
            file = Path(folder) / f"{number}.smt2"
            file.write_bytes(text)
            seconds += run_command([oracle, file]).cpu
            file.unlink()
    return seconds


def run(case: Path, effort: Effort, cap: float, unit: str, other: int | None) -> Row:
    """Reduce a case that another reducer reduced to `other`."""
    source, oracle = case / "input.smt2", (case / "oracle").resolve()
    text = source.read_bytes()
    reached = dict.fromkeys(_SHARES, -1)
    checks, level = 0, -1
    accepted: list[bytes] = []

    def listen(event: Event) -> None:
        nonlocal checks, level
        if isinstance(event, Checked):
            checks += not event.remembered
        elif isinstance(event, Accepted):
            accepted.append(event.text)
            for share in _SHARES:
                if reached[share] < 0 and len(event.text) <= share * len(text):
                    reached[share] = checks
            if level < 0 and other is not None and size_of(event.text, unit) <= other:
                level = checks

    begin, before = time.monotonic(), os.times()
    report = reduce(
        text,
        oracle=[str(oracle)],
        listen=listen,
        effort=effort,
        max_time=cap,
        format="smt2",
    )
    after = os.times()
    half, tenth, hundredth = reached.values()
    cpu = sum(after[:4]) - sum(before[:4])
    return Row(
        case.name,
        effort,
        len(text),
        tokens(text),
        len(report.text),
        tokens(report.text),
        report.counts.checks,
        round(cpu, 2),
        round(time.monotonic() - begin, 1),
        bool(report.verified),
        report.stopped is not None,
        half,
        tenth,
        hundredth,
        level,
        round(ideal(oracle, accepted), 3),
    )


def read(path: Path) -> list[Row]:
    """Read rows that were written."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return [msgspec.convert(each, Row, strict=False) for each in rows]


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as a table of tab-separated values."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [each.name for each in fields(Row)], delimiter="\t")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def published(path: Path, size: str, checks: str, only: str) -> dict[str, tuple[int, int]]:
    """Return the sizes and checks of another reducer by case."""
    with path.open(newline="", encoding="utf-8") as file:
        return {
            row["case"]: (int(row[size]), int(row[checks]))
            for row in csv.DictReader(file, delimiter="\t")
            if not only or row.get("reducer") == only
        }


def mean(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def table(
    rows: Sequence[Row], others: Mapping[str, tuple[int, int]], unit: str, command: str
) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "# SMT-LIB cases reduced\n"
    yield f"Made by `{command}`."
    yield "`other` is the other reducer; the columns 50 %, 10 % and 1 % are the checks until"
    yield "so much of the bytes was left, `as small` those until no more than of the other.\n"
    known = [row for row in rows if row.case in others]

    def size(row: Row) -> int:
        return row.tokens if unit == "tokens" else row.bytes

    if known:
        sizes = [size(row) / others[row.case][0] for row in known]
        checks = [row.checks / others[row.case][1] for row in known]
        worst = max(known, key=lambda row: size(row) / others[row.case][0])
        ratio = size(worst) / others[worst.case][0]
        yield f"- {len(known)} cases with both: {unit} {mean(sizes):.3f} of the other's, checks"
        yield f"  {mean(checks):.5f} of its, by geometric means; the worst is {worst.case} with"
        yield f"  {ratio:.2f} of its {unit}; {sum(s > 1.05 for s in sizes)} are above 1.05."
        level = [max(1, row.level) / others[row.case][1] for row in known if row.level >= 0]
        yield f"- As small as its result after {mean(level):.5f} of its checks, in {len(level)}"
        yield "  of these cases."
    yield f"- Geometric means: {mean([size(row) for row in rows]):.1f} {unit},"
    yield f"  {mean([max(1, row.checks) for row in rows]):.1f} checks,"
    yield f"  {mean([max(0.01, row.cpu) for row in rows]):.2f} s of CPU."
    paths = [row.cpu / max(0.001, row.ideal) for row in rows if row.ideal >= 0]
    yield f"- CPU over that of the ideal path, {len(paths)} cases: {mean(paths):.2f} by geometric"
    yield f"  mean; {sum(path > 4 for path in paths)} are above 4."
    yield f"- Not verified: {sum(not row.verified for row in rows)};"
    yield f"  stopped early: {sum(row.capped for row in rows)}.\n"
    shown = ("50 %", "10 %", "1 %", "as small", "other", "its checks")
    yield f"| case | {unit} in | {unit} | checks | CPU s | ideal s | {' | '.join(shown)} |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for row in rows:
        begin = row.tokens_in if unit == "tokens" else row.bytes_in
        until = " | ".join(
            "-" if n < 0 else f"{n:,}" for n in (row.half, row.tenth, row.hundredth, row.level)
        )
        other = others.get(row.case)
        theirs = "- | -" if other is None else f"{other[0]:,} | {other[1]:,}"
        late = " (stopped)" if row.capped else ""
        path = "-" if row.ideal < 0 else f"{row.ideal:.2f}"
        yield (
            f"| {row.case} | {begin:,} | {size(row):,}{late} | {row.checks:,} | {row.cpu:.1f}"
            f" | {path} | {until} | {theirs} |"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", default="*", help="patterns, such as 'grep-*,loop-*'")
    parser.add_argument("--effort", choices=("quick", "normal", "thorough"), default="normal")
    parser.add_argument("--cap", type=float, default=120.0, help="seconds for each case")
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--columns", default="bytes,checks", help="its size and its checks")
    parser.add_argument("--reducer", default="", help="whose rows count in it")
    parser.add_argument("--unit", choices=("tokens", "bytes"), default="bytes")
    parser.add_argument("--out", type=Path, required=True, help="without a suffix")
    parser.add_argument("--resume", action="store_true")
    given = parser.parse_args(arguments)
    others = {}
    if given.reference is not None:
        size, checks = given.columns.split(",")
        others = published(given.reference, size, checks, given.reducer)
    values, page = given.out.with_suffix(".tsv"), given.out.with_suffix(".md")
    rows = read(values) if given.resume and values.exists() else []
    done = {row.case for row in rows}
    command = f"python -m benchmarks.smt2_tables CASES --effort {given.effort} --cap {given.cap:g}"
    for oracle in sorted(given.folder.glob("*/oracle")):
        case = oracle.parent
        wanted = any(fnmatch.fnmatch(case.name, each) for each in given.cases.split(","))
        if not wanted or case.name in done or not (case / "input.smt2").exists():
            continue
        other = others.get(case.name)
        rows.append(run(case, given.effort, given.cap, given.unit, other and other[0]))
        write(values, rows)
        lines = table(rows, others, given.unit, command)
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
