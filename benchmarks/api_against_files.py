"""Tests CaDiCaL by API traces, by random CNF files and by a suite of CNF files.

    python -m benchmarks.api_against_files ~/cadical-2.2.0 coverage --count 3000
    python -m benchmarks.api_against_files ~/cadical-2.2.0 throughput
    python -m benchmarks.api_against_files ~/cadical-2.2.0 faults --count 200

These are the three experiments of Artho, Biere and Seidl, Model-based testing for verification
back-ends (TAP 2013), section 5, on another solver: SOURCE is an unpacked CaDiCaL from 2.2 on.

* `coverage` (fig. 5): lines of the library that gcov has seen after some traces or files. Of files,
  the lines of its parser of files count, too; the program around the library does not.
* `throughput` (5.2): traces and files in a second of CPU time.
* `faults` (table 1): one-line faults, seeded and built as in `benchmarks.api_faults`: whether each
  way of testing finds one within --seconds of CPU time, and the size of its failing input before
  and after the reduction. A size is the number of calls without those that set options; a file
  counts as the trace that adds its clauses and solves. A fault counts if any way finds it.

Files are solved with CaDiCaL's own checker (`--check`). Tables are printed.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from benchmarks.api_faults import build, drawn, failures, mutant, tried
from benchmarks.measure import run
from benchmarks.solver_options import table as options_of
from reducekit.frontends.trace.formats import read_trace
from reducekit.frontends.trace.formats.dimacs import from_cnf

_TOOL = (sys.executable, "-m", "reducekit")
_POINTS = (10, 30, 100, 300, 1000, 3000, 10_000)
# Python ends by _exit in the processes that play traces: without what gcov does at an exit.
_AT_EXIT = """
#include <sys/syscall.h>
#include <unistd.h>
extern "C" void __gcov_dump (void);
extern "C" void _exit (int status) {
  __gcov_dump ();
  for (;;) syscall (SYS_exit_group, status);
}
"""
_FILE = re.compile(r"File '(.*)'\nLines executed:([\d.]+)% of (\d+)")
_NOT_LIBRARY = ("cadical.cpp", "mobical.cpp", "extra.cpp")
_SEED = 1_000_000


class Way(NamedTuple):
    """A way of testing: the words that test a build until something is found, in `out`."""

    name: str
    words: Callable[[Path, Path, int], Sequence[str]]
    suffix: str
    reductions: Sequence[tuple[str, Callable[[Path], Sequence[str]]]]
    """Their names, and the words that follow `reducekit FORMAT INPUT` for a build."""


def traces(options: str, *reductions: str) -> Way:
    def words(made: Path, out: Path, seed: int) -> Sequence[str]:
        library = ("--model", "cadical", "--library", str(made / "libcadical.so"))
        return (*_TOOL, "hunt", "trace", *library, options, *_usual(out, seed))

    def reducing(which: str) -> Callable[[Path], Sequence[str]]:
        return lambda made: ("--library", str(made / "libcadical.so"), "--options", which)

    name = "traces" if options == "--options" else "traces, no options"
    return Way(name, words, ".trace", [(f"reduced, {each}", reducing(each)) for each in reductions])


def files(options: Path | None) -> Way:
    def command(made: Path) -> str:
        more = () if options is None else ("{options}",)
        return shlex.join([str(made / "cadical"), "-q", "--check", *more])

    def words(made: Path, out: Path, seed: int) -> Sequence[str]:
        chosen = () if options is None else ("--solver-options", str(options))
        return (*_TOOL, "hunt", "cnf", *chosen, "--cmd", command(made), *_usual(out, seed))

    name = "files, no options" if options is None else "files"
    return Way(name, words, ".cnf", [("reduced", lambda made: ("--cmd", command(made)))])


def _usual(out: Path, seed: int) -> Sequence[str]:
    return ("--no-reduce", "--seed", str(seed), "--out", str(out), "-q")


def size(text: bytes, suffix: str) -> int:
    """Return how many calls an input makes, without those that set options."""
    calls = read_trace(text).calls if suffix == ".trace" else from_cnf(text, "cadical")
    return sum(call.name != "set" for call in calls)


# ---- experiment 1 ----


def covered(folder: Path) -> tuple[int, int]:
    """Return how many lines of the library were executed, of how many."""
    done = subprocess.run(
        ["gcov", "-n", *sorted(each.name for each in folder.glob("*.gcno"))],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    seen: dict[str, tuple[float, int]] = {}
    for file, share, lines in _FILE.findall(done.stdout):
        if file.startswith("../src/") and Path(file).name not in _NOT_LIBRARY:
            executed = float(share) / 100 * int(lines)
            seen[file] = max(seen.get(file, (0.0, 0)), (executed, int(lines)))
    return round(sum(each for each, _ in seen.values())), sum(total for _, total in seen.values())


def coverage(source: Path, work: Path, count: int) -> Iterator[str]:
    """Yield the lines of the table of experiment 1."""
    base = work / "coverage"
    build(source, base, assertions=True, more="--coverage -O0", extra=_AT_EXIT)
    made = base / "build"
    ways = _ways(made, work)
    points = [each for each in _POINTS if each < count] + [count]
    yield f"| inputs | {' | '.join(way.name for way in ways)} |"
    yield f"|--:|{'--:|' * len(ways)}"
    shares: dict[int, list[str]] = {each: [] for each in points}
    total = 0
    for way in ways:
        for each in made.glob("*.gcda"):
            each.unlink()
        before = 0
        for point in points:
            with tempfile.TemporaryDirectory(prefix="coverage-") as out:
                words = [
                    *way.words(made, Path(out), _SEED + before),
                    "--count",
                    str(point - before),
                ]
                preload = {"LD_PRELOAD": str(made / "libcadical.so")}
                known = preload if way.suffix == ".trace" else {}
                subprocess.run(words, env={**os.environ, **known}, capture_output=True, check=False)
            before = point
            lines, total = covered(made)
            shares[point].append(f"{lines / total:.1%}")
            print(f"{way.name}: {point}: {shares[point][-1]}", file=sys.stderr, flush=True)
    for point, cells in shares.items():
        yield f"| {point:,} | {' | '.join(cells)} |"
    yield ""
    yield f"Of {total:,} lines."


# ---- experiment 2 ----


def throughput(source: Path, work: Path, count: int) -> Iterator[str]:
    """Yield the lines of the table of experiment 2.

    Hunts end by a number of inputs: the CPU time of processes that are killed would not count.
    """
    base = work / "fast"
    build(source, base, assertions=True, more="-O3")
    made = base / "build"
    yield "| way | inputs | CPU s | inputs a CPU second |"
    yield "|---|--:|--:|--:|"
    for way in _ways(made, work):
        with tempfile.TemporaryDirectory(prefix="throughput-") as out:
            words = way.words(made, Path(out), _SEED)
            cost = run([*words, "--count", str(count)])
        yield f"| {way.name} | {count:,} | {cost.cpu:.0f} | {count / cost.cpu:,.0f} |"
    words = [str(made / "mobical"), "--no-terminal", "-L", str(count), "1"]
    with tempfile.TemporaryDirectory(prefix="throughput-") as out:
        cost = run(["sh", "-c", f"cd {out} && exec {shlex.join(words)}"])
    yield f"| mobical, for comparison | {count:,} | {cost.cpu:.0f} | {count / cost.cpu:,.0f} |"


# ---- experiment 3 ----


class Result(NamedTuple):
    """What came of a fault in a way of testing: CPU seconds, and the sizes of its failing input."""

    seconds: float
    size: int
    reduced: dict[str, int]


def found_by(
    way: Way, made: Path, folder: Path, seconds: float, cap: float, known: frozenset[str]
) -> Result | None:
    """Return what a way of testing finds in a build; None if that is nothing."""
    out = folder / "out"
    folder.mkdir(parents=True)

    def found() -> str:
        return min(failures(out, way.suffix).keys() - known, default="")

    end = tried(list(way.words(made, out, _SEED)), folder, found, seconds)
    if not end.name:
        return None
    return _reduced(way, made, failures(out, way.suffix)[end.name], end.seconds, cap)


def by_suite(
    way: Way, suite: Sequence[Path], right: Sequence[int], made: Path, seconds: float, cap: float
) -> Result | None:
    """Return what the first file shows that does not end as it does without a fault.

    One that takes too long shows nothing.
    """
    used = 0.0
    for path, status in zip(suite, right, strict=True):
        cost = run([str(made / "cadical"), "-q", "--check", str(path)], seconds)
        used += cost.cpu
        if not cost.capped and cost.status != status:
            return _reduced(way, made, path, used, cap)
    return None


def _reduced(way: Way, made: Path, path: Path, seconds: float, cap: float) -> Result:
    sizes = {}
    for name, words in way.reductions:
        with tempfile.TemporaryDirectory(prefix="reduced-") as folder:
            small = Path(folder, f"small{way.suffix}")
            given = ("-o", str(small), "--max-time", f"{cap:g}", "-q", *words(made))
            run([*_TOOL, way.suffix[1:], str(path), *given], 2 * cap)
            if small.exists():
                sizes[name] = size(small.read_bytes(), way.suffix)
    return Result(seconds, size(path.read_bytes(), way.suffix), sizes)


def faults(
    source: Path, work: Path, count: int, seed: int, seconds: float, cap: float
) -> Iterator[str]:
    """Yield the lines of the table of experiment 3."""
    base = work / "base"
    build(source, base, assertions=True)
    intact = base / "build"
    ways = _ways(intact, work)
    suite = sorted((source / "test" / "cnf").glob("*.cnf"))
    right = [
        run([str(intact / "cadical"), "-q", "--check", str(each)], 60).status for each in suite
    ]
    regression = ways[2]._replace(name=f"suite of {len(suite)} files")
    folder = Path(tempfile.mkdtemp(prefix="faults-", dir=work))
    known: set[str] = set()
    for way in ways:
        out = folder / f"intact-{way.name}"
        tried([*way.words(intact, out, _SEED)], folder, lambda: "", 4 * seconds)
        known |= failures(out, way.suffix).keys()
    built = 0
    results: dict[str, list[Result]] = {way.name: [] for way in (*ways, regression)}
    defective = 0
    for fault in drawn(base, count, seed):
        made = work / "mutants" / f"{fault.name}-{seed}"
        if not mutant(base, fault, made):
            continue
        built += 1
        here = folder / f"{built}-{fault.name}"
        all_found = {
            way.name: found_by(way, made, here / way.name, seconds, cap, frozenset(known))
            for way in ways
        }
        all_found[regression.name] = by_suite(regression, suite, right, made, seconds, cap)
        for name, each in all_found.items():
            results[name] += [each] if each else []
        defective += any(all_found.values())
        by = ", ".join(name for name, each in all_found.items() if each)
        print(f"{built}: {fault.file}:{fault.line}: {by or '-'}", file=sys.stderr, flush=True)
    yield f"{built} faults that compile, {defective} found in any way."
    yield ""
    yield "| way | input | found | mean CPU s | mean size | relative |"
    yield "|---|---|--:|--:|--:|--:|"
    for way in (*ways, regression):
        rows = results[way.name]
        if not rows:
            yield f"| {way.name} | as found | 0 | | | |"
            continue
        share = len(rows) / defective
        sizes = mean(each.size for each in rows)
        took = mean(each.seconds for each in rows)
        yield f"| {way.name} | as found | {len(rows)} ({share:.1%}) | {took:.2f} | {sizes:,.0f} | |"
        for name, _ in way.reductions:
            left = [(each.reduced[name], each.size) for each in rows if name in each.reduced]
            if left:
                small = mean(after for after, _ in left)
                part = small / mean(before for _, before in left)
                share = len(left) / defective
                yield f"| | {name} | {len(left)} ({share:.1%}) | | {small:,.0f} | {part:.2%} |"


def _ways(made: Path, work: Path) -> list[Way]:
    """Return the ways of testing; the options for files are those that the program takes."""
    options = work / "options.txt"
    if not options.exists():
        options.write_text(options_of("cadical", [str(made / "cadical")]))
    return [traces("--no-options", "none"), traces("--options", "none", "explicit", "all"),
            files(None), files(options)]  # fmt: skip


def main() -> None:
    """Print the table of an experiment."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.api_against_files")
    parser.add_argument("source", type=Path)
    parser.add_argument("experiment", choices=["coverage", "throughput", "faults"])
    parser.add_argument("--work", type=Path, default=Path(".cache/api-against-files"))
    parser.add_argument("--count", type=int, help="inputs of each way (1000), or faults (200)")
    parser.add_argument("--seed", type=int, default=2013, help="of the faults")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="for each fault and way, of CPU"
    )
    parser.add_argument("--cap", type=float, default=60.0, help="seconds of a reduction")
    given = parser.parse_args()
    source, work = given.source.resolve(), given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    print(f"Made by `python -m benchmarks.api_against_files {' '.join(sys.argv[1:])}`.\n")
    if given.experiment == "coverage":
        lines = coverage(source, work, given.count or 1000)
    elif given.experiment == "throughput":
        lines = throughput(source, work, given.count or 1000)
    else:
        lines = faults(source, work, given.count or 200, given.seed, given.seconds, given.cap)
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
