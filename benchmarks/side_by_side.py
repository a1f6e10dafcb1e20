"""Compares reducers on any folders of cases.

A case is a folder that holds one file `input.*` and an executable `oracle`, which
exits with 0 if its last argument, a file, is interesting. Reducers are command
lines with {input}, {output} and {oracle}:

    python -m benchmarks.side_by_side CASES \\
        --reducer 'ddsmt=ddsmt -j1 {input} {output} {oracle}' \\
        --reducer 'reducekit=reducekit smt2 {input} -o {output} --oracle {oracle}'

Each folder of cases is a test set in the table of averages. Ratios compare each reducer with the
first. What is counted, and how, benchmarks/README.md says.
`reducekit compare --reducer` does the same on files; this repeats runs and takes turns.
"""

import argparse
import fnmatch
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from reducekit.compare.reducers import Measured, Problem, Reducer, fires, markdown, measure, tsv
from reducekit.oracle.command import Command


def problems(folder: Path, patterns: Sequence[str]) -> Iterator[Problem]:
    """Yield the cases of a folder whose names match one of the patterns."""
    for oracle in sorted(folder.glob("*/oracle")):
        case = oracle.parent
        if any(fnmatch.fnmatch(case.name, pattern) for pattern in patterns):
            (given,) = case.glob("input.*")
            yield Problem(folder.name, case.name, given, Command.of([str(oracle.resolve())]))


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares reducers on folders of cases.")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--reducer", action="append", required=True, metavar="NAME=COMMAND")
    parser.add_argument("--cases", default="*", help="patterns, such as 'grep-*,loop-*'")
    parser.add_argument("--cap", type=float, default=120.0, help="seconds for each run")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a TSV file, written after every run")
    options = parser.parse_args()
    reducers = [Reducer.of(each) for each in options.reducer]
    rows: list[Measured] = []
    for folder in options.folders:
        for problem in problems(folder, options.cases.split(",")):
            if not fires(problem):
                print(f"{problem.case}: its oracle does not accept its input", file=sys.stderr)
                continue
            for repeat in range(options.repeats):
                for reducer in reducers if repeat % 2 == 0 else reversed(reducers):
                    rows.append(measure(problem, reducer, options.cap))
                    print(*rows[-1], sep="\t", file=sys.stderr)
                    if options.out:
                        options.out.write_text(tsv(rows), encoding="utf-8")
    if not rows:
        sys.exit("no case was run: a case is a folder with input.* and an executable oracle")
    print(markdown(rows), end="")


if __name__ == "__main__":
    main()
