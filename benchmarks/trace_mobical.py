"""Reduces the same failing traces by reducekit and by mobical, CaDiCaL's own tester.

    python -m benchmarks.trace_mobical ~/cadical-2.2.0
    python -m benchmarks.trace_mobical ~/cadical-2.2.0 --faults FILE.tsv --traces FOLDER

SOURCE is an unpacked CaDiCaL 2.2. Faults are drawn, seeded and built as in `benchmarks.api_faults`.
mobical is patched to read its own traces: that of 2.2.0 refuses `val 2 1` and
`declare_one_more_variable`. mobical's seeds 1, 2, ... are tried on each fault until a trace fails;
a fault that --tries seeds do not show is left out, until there are --count traces. With --faults
(the columns name, file, line, old, new, parted by tabs) and --traces, it is FOLDER/NAME.trace.

The failure of a file is how mobical ends on it in one process: the exit status, and the assertion
or the message. Calls include options. Runs are all replays; one of reducekit plays up to a batch of
candidates, each of which is a check, and one of mobical plays one. A table goes to
benchmarks/results/trace_mobical.md, or to --output.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from statistics import geometric_mean
from typing import NamedTuple

from benchmarks.api_faults import Fault, build, drawn, mutant, read
from benchmarks.measure import run
from reducekit.frontends.trace.language.text import read_trace

_RESULTS = Path(__file__).parent / "results" / "trace_mobical.md"
_PATCHES = (
    ("val != -1 && val != 0 && val != -1", "val != -1 && val != 0 && val != 1"),
    (
        '} else if (!strcmp (keyword, "declare_more_variables")) {',
        '} else if (!strcmp (keyword, "declare_one_more_variable")) {\n'
        "      c = new DeclareMoreVariableCall ();\n"
        '    } else if (!strcmp (keyword, "declare_more_variables")) {',
    ),
)
_SAID = re.compile(rb"Assertion [^\n]*|[^\n]*(?:error|invalid|failed)[^\n]*")
_PLACE = re.compile(rb"[\w./]*/|0x[0-9a-f]+|-?\d+")
_SECONDS = 20.0


class Left(NamedTuple):
    """What a reducer left of a trace: calls, options among them, runs, CPU in seconds."""

    calls: int
    options: int
    runs: int
    cpu: float
    same: bool
    """Whether it ends as the input does."""
    checks: int
    """Candidates that were tried."""
    by: str = "mobical"
    """What played them."""

    def __str__(self) -> str:
        kept = "yes" if self.same else "no"
        return f"{self.calls} ({self.options}) | {self.runs:,} | {self.cpu:.1f} | {kept}"


class Row(NamedTuple):
    """The trace of a fault, and what both reducers left of it."""

    fault: Fault
    seed: int
    calls: int
    theirs: Left
    ours: Left


def patched(source: Path, into: Path) -> Path:
    """Copy the sources, and patch mobical to read its own traces."""
    if not into.exists():
        into.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-r", str(source), str(into)], check=True)
        path = into / "src" / "mobical.cpp"
        text = path.read_text()
        for old, new in _PATCHES:
            text = text.replace(old, new)
        path.write_text(text)
    return into


def failure(mobical: Path, trace: Path) -> tuple[int, bytes]:
    """Return how mobical ends on a trace in one process: status, and what it says of the cause."""
    words = [str(mobical), "--no-terminal", "--do-not-fork", str(trace)]
    try:
        done = subprocess.run(words, capture_output=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return 0, b""
    said = _SAID.search(done.stderr)
    return done.returncode, _PLACE.sub(b"", said[0]) if said else b""


def failing(mobical: Path, folder: Path, first: int, tries: int) -> tuple[int, Path] | None:
    """Return the first of mobical's seeds whose trace fails, and the trace as it was made."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "in.trace"
    for seed in range(first, first + tries):
        words = [str(mobical), "--no-terminal", "--do-not-shrink", str(seed), str(path)]
        subprocess.run(words, capture_output=True, timeout=_SECONDS)
        if failure(mobical, path)[0] not in (0, 2):
            return seed, path
    return None


def size(path: Path) -> tuple[int, int]:
    """Return how many calls a trace has, and how many of them set an option."""
    calls = read_trace(path.read_bytes(), "mobical").calls
    return len(calls), sum(call.name == "set" for call in calls)


def by_mobical(mobical: Path, trace: Path, cap: float) -> Left:
    """Shrink a trace by mobical."""
    output = trace.with_name("mobical.trace")
    words = ["sh", "-c", 'exec "$@" 2>&1', "sh", str(mobical), "--no-terminal"]
    cost = run([*words, str(trace), str(output)], cap)
    executed = re.findall(r"(\d+) executed", cost.out)
    runs = int(executed[-1]) if executed else 0
    same = failure(mobical, output) == failure(mobical, trace)
    return Left(*size(output), runs, cost.cpu, same, runs)


def by_reducekit(mobical: Path, trace: Path, cap: float) -> Left:
    """Reduce a trace by reducekit with the library next to mobical.

    Where that does not fail, mobical plays the candidates, one a run.
    """
    output = trace.with_name("reducekit.trace")
    plays = [["--library", str(mobical.with_name("libcadical.so"))]]
    plays.append(["--cmd", f"{mobical} --no-terminal --do-not-fork"])
    reducer = [sys.executable, "-m", "reducekit", "trace", str(trace), "-o", str(output)]
    asked = ["--model", "mobical", "--restart", "-q", "--json", "--max-time", f"{cap:g}"]
    for play in plays:
        cost = run([*reducer, *asked, *play], cap + 30)
        with suppress(ValueError, KeyError):
            report = json.loads(cost.out)
            runs, checks = int(report["runs"]), int(report["checks"])
            same = failure(mobical, output) == failure(mobical, trace)
            return Left(*size(output), runs, cost.cpu, same, checks, play[0])
    raise SystemExit(f"reducekit on {trace}:\n{cost.out}")


def measured(base: Path, faults: Sequence[Fault], given: argparse.Namespace) -> Iterator[Row]:
    """Yield the faults that some trace shows, reduced."""
    for fault in faults:
        made = base.parent / fault.name
        if not mutant(base, fault, made):
            continue
        mobical = made / "mobical"
        if given.traces:
            seed, trace = 0, made / "traces" / "in.trace"
            trace.parent.mkdir(exist_ok=True)
            trace.write_bytes((given.traces / f"{fault.name}.trace").read_bytes())
        elif found := failing(mobical, made / "traces", given.first, given.tries):
            seed, trace = found
        else:
            continue
        theirs = by_mobical(mobical, trace, given.cap)
        ours = by_reducekit(mobical, trace, given.cap)
        yield Row(fault, seed, size(trace)[0], theirs, ours)


def means(rows: Sequence[Row]) -> str:
    """Return what the rows come to."""
    both = [row for row in rows if row.theirs.same and row.ours.same]
    larger = [row.fault.name for row in both if row.ours.calls > row.theirs.calls]
    said = [
        f"{len(rows)} traces; reducekit keeps the failure in {sum(r.ours.same for r in rows)}, "
        f"mobical in {sum(r.theirs.same for r in rows)}, both in {len(both)}."
    ]
    if both:
        calls = geometric_mean(row.ours.calls / row.theirs.calls for row in both)
        runs = geometric_mean(row.ours.runs / max(row.theirs.runs, 1) for row in both)
        checks = geometric_mean(row.ours.checks / max(row.theirs.runs, 1) for row in both)
        said.append(
            f"Where both keep it, reducekit leaves {calls:.2f} of mobical's calls after {runs:.2f} "
            f"of its runs, with {checks:.2f} of its candidates (geometric means); "
            f"more calls than mobical: {', '.join(larger) or 'none'}."
        )
    return "\n".join(said)


def line(row: Row) -> str:
    """Return a row of the table."""
    fault = row.fault
    change = f"`{fault.old}` => `{fault.new}`".replace("|", "\\|")
    place = f"{fault.file}:{fault.line} {change}"
    return (
        f"| {place} | {row.seed} | {row.calls:,} | {row.theirs} | {row.ours} "
        f"| {row.ours.checks:,} | {row.ours.by} |"
    )


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".cache/trace-mobical"))
    parser.add_argument("--output", type=Path, default=_RESULTS)
    parser.add_argument("--faults", type=Path)
    parser.add_argument("--traces", type=Path)
    parser.add_argument("--count", type=int, default=15, help="traces")
    parser.add_argument("--seed", type=int, default=2028, help="of the faults")
    parser.add_argument("--first", type=int, default=1, help="first seed of mobical")
    parser.add_argument("--tries", type=int, default=300, help="seeds of mobical for each fault")
    parser.add_argument("--cap", type=float, default=120.0, help="seconds for each reduction")
    given = parser.parse_args()
    work = given.work.resolve()
    base = work / "base"
    work.mkdir(parents=True, exist_ok=True)
    build(patched(given.source.resolve(), work / "patched"), base, assertions=True)
    faults = read(given.faults) if given.faults else drawn(base, 10 * given.count, given.seed)
    rows = []
    for row in islice(measured(base, faults, given), given.count):
        rows.append(row)
        print(line(row), flush=True)
    names = ("count", "seed", "first", "tries", "cap")
    told = " ".join(f"--{name} {getattr(given, name):g}" for name in names)
    head = "fault | seed | calls | mobical: calls (options) | runs | CPU s | same failure"
    head += " | reducekit: calls (options) | runs | CPU s | same failure | checks | by"
    lines = [
        "# API traces: reducekit and mobical", "",
        f"Made by `python -m benchmarks.trace_mobical SOURCE {told}`, SOURCE being CaDiCaL",
        f"{(base / 'VERSION').read_text().strip()}; `by` is what plays reducekit's candidates.", "",
        means(rows), "", f"| {head} |", "|---" + "|--:" * 5 + "|---" + "|--:" * 3 + "|---|--:|---|",
        *map(line, rows),
    ]  # fmt: skip
    given.output.write_text("\n".join(lines) + "\n")
    print(means(rows))


if __name__ == "__main__":
    main()
