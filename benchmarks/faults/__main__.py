"""The command line of the field of faults."""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import get_args

from benchmarks.faults import results
from benchmarks.faults.command import OURS, covers, reduce_by
from benchmarks.faults.field import FIELD, THIRDS, Case, is_of, read_field, trace_of, write_field
from benchmarks.faults.make import attempt, attempts, wanted
from benchmarks.faults.reduce import Reduced, reduce_case
from reducekit.format import Effort
from reducekit.frontends.trace.language.text import read_trace

SEED = 2013
TOTAL = 430


def make(total: int, most: int) -> None:
    """Add cases to the field until it has so many, or so many faults were tried."""
    cases = read_field()
    progress = FIELD.with_suffix(".next")
    first = int(progress.read_text()) if progress.exists() else 0
    if not progress.exists() and cases:
        first = cases[-1].attempt + 1
    counts = Counter(case.kind for case in cases)
    for number, case in attempts(SEED, first):
        if len(cases) >= total or number >= most:
            break
        if case is not None and wanted(case, counts, total):
            cases.append(case)
            counts[case.kind] += 1
            write_field(cases)
            print(number, len(cases), case, file=sys.stderr, flush=True)
        progress.write_text(str(number + 1))


def renew() -> None:
    """Try the faults again whose traces are others now: API models and generator have changed."""
    cases = []
    for case in read_field():
        calls = len(read_trace(trace_of(case)).calls)
        again = case if is_of(case, calls) else attempt(SEED, case.attempt)
        if again != case:
            print(case.name, again, file=sys.stderr, flush=True)
        cases += [again] if again else []
    write_field(cases)


def reduce(
    cases: Sequence[Case], output: Path, strategy: str, cap: float, *, effort: Effort, blind: bool
) -> None:
    """Reduce the cases that the file of results does not have."""

    def reduced(case: Case) -> Reduced:
        return reduce_case(case, trace_of(case), cap, strategy, effort=effort, blind=blind)

    _add(output, cases, reduced)


def compare(template: str, cases: Sequence[Case], output: Path, cap: float) -> None:
    """Reduce the cases by a command; those in the file of results are not done again."""
    some = [case for case in cases if covers(case)]
    _add(output, some, lambda case: reduce_by(template, case, trace_of(case), cap))


def _add(output: Path, cases: Sequence[Case], reduced: Callable[[Case], Reduced]) -> None:
    done = results.read(output)
    for case in cases:
        if case.name not in done:
            result = reduced(case)
            results.append(result, output)
            print(result.name, result.calls, result.settings, result.runs, file=sys.stderr)


def _chosen(third: str, patterns: str, most: int) -> list[Case]:
    """Return the first cases of a third whose names match one of the patterns."""
    named = [
        case
        for case in read_field()
        if case.third == third and any(fnmatch(case.name, each) for each in patterns.split(","))
    ]
    return named[:most]


def main() -> None:
    """Do one step."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    making = steps.add_parser("make", help="look for faults until the field has enough")
    making.add_argument("--total", type=int, default=TOTAL)
    making.add_argument("--most", type=int, default=100_000, help="faults that are tried")
    steps.add_parser("renew", help="try the faults again whose traces have changed")
    reducing = steps.add_parser("reduce", help="reduce the traces of a third; goes on by itself")
    reducing.add_argument("--strategy", default="adaptive")
    reducing.add_argument("--effort", choices=get_args(Effort), default="normal")
    reducing.add_argument(
        "--blind", action="store_true", help="see only the verdict, as with an external --cmd"
    )
    comparing = steps.add_parser(
        "compare", help="reduce by a command, such as that of another version; goes on by itself"
    )
    comparing.add_argument("--other", default=OURS, metavar="COMMAND", help=f"default: {OURS}")
    for step in (reducing, comparing):
        step.add_argument("output", type=Path, help="a file of results (.tsv)")
        step.add_argument("--third", choices=THIRDS, default="tune")
        step.add_argument("--cases", default="*", help="patterns, such as 'hang-*,wrong-*'")
        step.add_argument("--cap", type=float, default=300.0, help="seconds for each reduction")
        step.add_argument("--most", type=int, default=100_000, help="only so many of the cases")
    tables = steps.add_parser("table", help="print two files of results side by side")
    tables.add_argument("before", type=Path)
    tables.add_argument("now", type=Path)
    tables.add_argument("--before-is", default="what was before", help="words for the table")
    tables.add_argument("--now-is", default="this version", help="words for the table")
    passes = steps.add_parser("passes", help="print what each pass cost and dropped")
    passes.add_argument("results", type=Path, help="a file of results that `reduce` wrote")
    given = parser.parse_args()
    os.nice(10)
    if given.step == "make":
        make(given.total, given.most)
    elif given.step == "renew":
        renew()
    elif given.step == "reduce":
        some = _chosen(given.third, given.cases, given.most)
        reduce(
            some, given.output, given.strategy, given.cap, effort=given.effort, blind=given.blind
        )
    elif given.step == "passes":
        print(results.by_pass(given.results), end="")
    elif given.step == "compare":
        some = _chosen(given.third, given.cases, given.most)
        compare(given.other, some, given.output, given.cap)
    else:
        before, now = results.read(given.before), results.read(given.now)
        print("# API traces: a field of faults\n")
        print(f"Before is {given.before_is}; now is {given.now_is}. Same traces, same machine")
        print("(`python -m benchmarks.faults compare`, `table`).\n")
        print(results.table(read_field(), before, now), end="")


if __name__ == "__main__":
    main()
