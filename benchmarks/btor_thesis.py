"""The tables of Vida's thesis on a folder of BTOR cases, made by `reducekit compare`.

    python -m benchmarks.btor_thesis CASES [--parts FOLDER] [--jobs 2] [--number 4]
                                           [--strategies auto,auto:quick]

A case is a folder NAME-FAULT, such as `ex1-arr`, with a file `input.btor` and an executable
`oracle`, which exits with 0 if its last argument, a file, still shows the fault. All cases
whose names match --cases are included, with a chapter for each fault. With --strategies only these
algorithms run; the other results are kept.

A case takes some minutes. With --parts the finished runs on each case are saved in a file of that
folder, and a case with such a file is not run again: after an interruption, or after --number
cases, the same command continues. Start with an empty folder: changes of the program are not
detected. The tables are written when all cases are done.

Writes `results/btor_thesis.tsv` (a line for each run, with its curve), `.md` and a chart for
each fault. Checks, nodes and bytes are exact: they are reproducible, for any --jobs.
"""

import argparse
import csv
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from reducekit.compare.runs import Point, Run, Settings, Table, mean, mean_of_percents, tables
from reducekit.compare.tables import chart, grid, markdown, title, tsv

RESULTS = Path(__file__).parent / "results"
ON: Settings = (("simplify", "on"),)
OFF: Settings = (("simplify", "off"),)
STRATEGIES = "ddmin,hdd,hdd+,hdd*,bfs,lw,deltabtor,changeref,changeref+,combine,auto,auto:quick"


class Published(NamedTuple):
    """Averages of the thesis over its ten examples, with simplification and without it."""

    calls: tuple[float, float]
    nodes: tuple[float, float]
    per_call: tuple[float, float]


# A. Vida, Random Test Case Generation and Delta Debugging for Bit-Vector Logic with Arrays,
# Linz 2008, tables 5.1 to 5.6, last columns.
THESIS: Mapping[str, Published] = {
    "lw": Published((57.9, 57.9), (1632.3, 1632.3), (0.111, 0.111)),
    "ddmin": Published((128.2, 90.2), (952, 944.1), (0.508, 0.556)),
    "bfs": Published((399, 379.3), (72.2, 90), (0.275, 0.291)),
    "changeref+": Published((537, 521.9), (78.7, 80.3), (0.222, 0.251)),
    "hdd": Published((946, 291.2), (256.3, 266.3), (0.304, 0.338)),
    "hdd+": Published((1171, 476.3), (48.2, 43.1), (0.183, 0.225)),
    "hdd*": Published((1487.4, 1275.3), (33.6, 38.8), (0.117, 0.089)),
    "changeref": Published((3397.3, 2900.4), (41.9, 38.2), (0.036, 0.039)),
}


def compare(case: Path, strategies: str, part: Path) -> None:
    """Run `reducekit compare` on a case; `part` is there when it has ended, and whole."""
    unfinished = part.with_suffix(".unfinished")
    command = [sys.executable, "-m", "reducekit", "compare", str(case / "input.btor")]
    command += ["--oracle", "{dir}/oracle", "--simplify", "both"]
    command += ["--strategies", strategies, "--tsv", str(unfinished)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    unfinished.replace(part)


def compared(
    cases: Sequence[Path], strategies: str, parts: Path, jobs: int, number: int | None
) -> list[Run] | None:
    """Return the runs on all cases; at most `number` are run now, `jobs` at a time.

    None if some are left for another time. Cases that have a part are not run.
    """
    wanted = {case: parts / f"{case.name}.tsv" for case in cases}
    names = set(strategies.split(","))
    missing = [case for case, part in wanted.items() if not _is_of(part, names)]
    with ThreadPoolExecutor(jobs) as pool:
        futures = [
            pool.submit(compare, case, strategies, wanted[case]) for case in missing[:number]
        ]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    if number is not None and len(missing) > number:
        return None
    return [run for part in wanted.values() for run in read(part)]


def _is_of(part: Path, names: set[str]) -> bool:
    """Return whether a part is there and has the runs of these algorithms."""
    return part.exists() and {run.algorithm for run in read(part)} == names


def read(path: Path) -> list[Run]:
    """Read what `reducekit compare --tsv` wrote."""
    with path.open(newline="", encoding="utf-8") as file:
        return [_run(row) for row in csv.DictReader(file, delimiter="\t")]


def _run(row: Mapping[str, str]) -> Run:
    return Run(
        format=row["format"],
        file=row["file"],
        algorithm=row["algorithm"],
        settings=(("simplify", row["simplify"]),),
        unit=row["unit"],
        before=int(row["before"]),
        bytes_before=int(row["bytes_before"]),
        bytes_after=int(row["bytes_after"]),
        checks=int(row["checks"]),
        asked=int(row["asked"]),
        curve=tuple(Point(*map(int, point.split(":"))) for point in row["curve"].split()),
        stopped=None if row["stopped"] == "-" else row["stopped"],
    )


def merged(old: Iterable[Run], new: Iterable[Run], files: Sequence[str]) -> list[Run]:
    """Return the runs on the files, new ones in place of old ones, in the order of the tables."""
    found = {(run.file, run.settings, run.algorithm): run for run in (*old, *new)}
    return [
        found[file, settings, name]
        for file in files
        for settings in (ON, OFF)
        for name in STRATEGIES.split(",")
        if (file, settings, name) in found
    ]


def fault(name: str) -> str:
    """Return the part of a case's name after the last hyphen."""
    return name.rpartition("-")[2]


def chapters(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Return the runs of each fault."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(fault(run.file), []).append(run)
    return found


def places(values: Mapping[str, float], *, descending: bool = False) -> dict[str, int]:
    """Return the place of each name by its value, 1 for the first; equal ones share a place."""
    ordered = sorted(values.values(), reverse=descending)
    return {name: 1 + ordered.index(value) for name, value in values.items()}


def _ranks(table: Table) -> list[str]:
    """Return the ranks of the algorithms here and in the thesis."""
    column = 0 if table.settings == ON else 1
    names = [name for name in THESIS if name in table.rows]
    if len(names) < 3:
        return []
    theirs = {name: THESIS[name] for name in names}
    mine = {name: table.rows[name] for name in names}
    pairs = (
        (
            "calls",
            places({name: each.calls[column] for name, each in theirs.items()}),
            places({name: mean([run.asked for run in runs]) for name, runs in mine.items()}),
        ),
        (
            "final nodes",
            places({name: each.nodes[column] for name, each in theirs.items()}),
            places({name: mean([run.after for run in runs]) for name, runs in mine.items()}),
        ),
        (
            "percent a call",
            places({name: each.per_call[column] for name, each in theirs.items()}, descending=True),
            places(
                {
                    name: mean_of_percents([run.reduction / max(1, run.asked) for run in runs])
                    for name, runs in mine.items()
                },
                descending=True,
            ),
        ),
    )
    header = ["algorithm"]
    for what, _, _ in pairs:
        header += [f"{what}, thesis", "here"]
    rows = []
    for name in sorted(names, key=lambda name: pairs[1][1][name]):
        row = [name]
        for _, there, here in pairs:
            row += [str(there[name]), str(here[name])]
        rows.append(row)
    said = ", ".join(
        f"{what} {statistics.correlation(list(there.values()), list(here.values())):.2f}"
        for what, there, here in pairs
    )
    return [
        "Places in the thesis and here (its calls are texts asked for, equal ones too):",
        grid(header, rows),
        f"Rank correlation: {said}.",
    ]


def document(runs: Sequence[Run], discussion: str) -> str:
    """Return the whole table as Markdown."""
    parts = [
        "# The algorithms of the thesis, and the default",
        "Made by `python -m benchmarks.btor_thesis CASES`, which runs `reducekit compare` on each "
        "case with simplification on and off. Checks are texts given to the oracle, equal ones "
        "once; asked are all, as in the thesis, which has no memory of them. The default is "
        "`auto`; `auto:quick` is the same with `--effort quick`.",
        discussion.strip(),
    ]
    for name, found in chapters(runs).items():
        parts += [f"# Fault `{name}`", f"![nodes over checks](btor_thesis_{name}.svg)"]
        parts.append(markdown(found).strip())
        for table in tables(found):
            ranks = _ranks(table)
            if ranks:
                parts += [f"## Places, {title(table)}", *ranks]
    return "\n\n".join(parts) + "\n"


def _number(path: Path) -> tuple[str, int, str]:
    """Return a key that puts ex2 before ex10, and each fault together."""
    name = path.name
    digits = "".join(filter(str.isdigit, name.rpartition("-")[0]))
    return fault(name), int(digits or 0), name


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the tables of the thesis.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", default="ex*-*", help="a pattern for the names of the cases")
    parser.add_argument("--strategies", help="only these; the others are taken from last time")
    parser.add_argument(
        "--parts", type=Path, help="a folder for the runs on each case; go on there"
    )
    parser.add_argument("--jobs", type=int, default=1, help="cases at the same time")
    parser.add_argument("--number", type=int, help="stop after N cases; needs --parts")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder for the results")
    options = parser.parse_args()
    if options.number is not None and options.parts is None:
        parser.error("--number leaves cases for another time: say --parts FOLDER, too")
    cases = sorted(
        (path.parent for path in options.folder.glob(f"{options.cases}/oracle")), key=_number
    )
    if not cases:
        sys.exit("there is no case: a folder NAME-FAULT with input.btor and an executable oracle")
    store = options.out / "btor_thesis.tsv"
    old = read(store) if options.strategies and store.exists() else []
    strategies = options.strategies or STRATEGIES
    with tempfile.TemporaryDirectory(prefix="btor-thesis-") as folder:
        parts = options.parts or Path(folder)
        parts.mkdir(parents=True, exist_ok=True)
        new = compared(cases, strategies, parts, options.jobs, options.number)
    if new is None:
        print("some cases are left: run the same command to continue", file=sys.stderr)
        return
    runs = merged(old, new, [case.name for case in cases])
    store.write_text(tsv(runs), encoding="utf-8")
    discussion = options.out / "btor_thesis_discussion.md"
    text = discussion.read_text(encoding="utf-8") if discussion.exists() else ""
    (options.out / "btor_thesis.md").write_text(document(runs, text), encoding="utf-8")
    for name, found in chapters(runs).items():
        (options.out / f"btor_thesis_{name}.svg").write_text(chart(found), encoding="utf-8")


if __name__ == "__main__":
    main()
