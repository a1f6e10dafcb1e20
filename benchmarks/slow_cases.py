"""How far slow and unstable queries are reduced, on a folder of cases.

    python -m benchmarks.slow_cases CASES --solvers FOLDER [--max-checks N] [--max-time S]
        [--jobs N] [--named-seeds] [--keep FOLDER] [--again N] [NAME...]

A case is a folder with `input.smt2`, `case.json`, which says in `form` and `values` how the query
fails, and `oracle`, a program that exits with 0 if its last argument, a file, fails so. Forms are
`flip` and `spread` (unstable), `cost`, `times`, `ratio` and `version` (more steps than a
reference). FOLDER/bin has the solvers by the names in the case. Each is reduced by the command that
its form suggests, without further options. Prints a table:

* assertions and bytes before and after, and how the reduction ended;
* checks, and runs of commands in all;
* whether the case's own oracle, which no check ran, accepts the result;
* how many of 12 variants that no check used it accepts, of the input and of the result;
* of an unstable case: how many of these are lost, before and after.

With --named-seeds, a `flip` is what its oracle says: one named seed answers, another does not.
With --keep, the results are written to a folder.

With --again, each case is reduced N times while other processes use all cores, without --max-time,
and the table says how many different results there were.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from reducekit import NotInterestingError, Report, reduce
from reducekit.frontends.smt2.answers.variants import variant

_AGAIN = "| query | bytes | left | runs | different results |\n|---|--:|--:|--:|--:|"
_RUNS = 8
"""Variants of a check."""
_FRESH = range(24, 36)
"""The numbers of variants that neither the checks nor the last look at the result use."""
_SECONDS = 10
"""Processor time of a run."""


def options_of(
    case: Mapping[str, Any], solvers: Path, *, named_seeds: bool = False
) -> dict[str, Any]:
    """Return the options that keep the failure of a case. Raises KeyError for an unknown form."""
    form, values = case["form"], case["values"]
    command = f"{solvers / 'bin' / values['SOLVER']} {values['ARGS']}".strip()
    if form == "flip" and named_seeds:
        good, bad = (
            f"{command} rlimit={values[f'{end}LIMIT']} smt.random_seed={values[end]} "
            f"sat.random_seed={values[end]}"
            for end in ("GOOD", "BAD")
        )
        return {"command": good, "match_out": "^unsat", "also_match": (bad, "^unknown")}
    if form in ("flip", "spread"):
        seeds = "smt.random_seed={seed} sat.random_seed={seed}"
        command = f"{command} rlimit={values['BADLIMIT']} {seeds}"
        return {"command": command, "unstable": _RUNS}
    if form == "cost":
        return {"command": command, "cost": _counter(values), "at_least": values["FLOOR"]}
    reference = f"{solvers / 'bin' / values['REF']} {values['REFARGS']}".strip()
    both = {"command": command, "reference": reference}
    if form == "times":
        bounds = {"at_least": values["FLOOR"], "times": values["TIMES"]}
        return {**both, "cost": _counter(values), **bounds}
    return {**both, "regression": True, "times": {"ratio": values.get("TIMES"), "version": 2}[form]}


def _counter(values: Mapping[str, Any]) -> str:
    """Return the counter that a sed(1) pattern of a case looks for."""
    found = re.search(r"[A-Za-z][\w:-]*", values["NUMBER"])
    assert found is not None
    return found[0]


def lost(text: bytes, command: str) -> int:
    """Return how many of the fresh variants a command answers with `unknown`."""
    count = 0
    with tempfile.NamedTemporaryFile(suffix=".smt2") as file:
        for number in _FRESH:
            Path(file.name).write_bytes(variant(text, number))
            words = [*command.replace("{seed}", str(number)).split(), file.name]
            count += subprocess.run(words, capture_output=True).stdout.startswith(b"unknown")
    return count


class Case(NamedTuple):
    """A query, how it fails, the options of `reduce` that keep this, and its own oracle."""

    name: str
    form: str
    text: bytes
    options: Mapping[str, Any]
    oracle: Path
    solvers: Path

    def accepts(self, text: bytes) -> bool:
        """Return whether the oracle accepts a text."""
        with tempfile.NamedTemporaryFile(suffix=".smt2") as file:
            Path(file.name).write_bytes(text)
            environment = {**os.environ, "SOLVERS": str(self.solvers)}
            return subprocess.run([self.oracle, file.name], env=environment).returncode == 0

    def accepted(self, text: bytes) -> int:
        """Return how many of the fresh variants of a text the oracle accepts."""
        return sum(self.accepts(variant(text, number)) for number in _FRESH)


def read(folder: Path, solvers: Path, *, named_seeds: bool = False) -> Case:
    """Read a case."""
    described = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    text = (folder / "input.smt2").read_bytes()
    options = {**options_of(described, solvers, named_seeds=named_seeds), "cpu": _SECONDS}
    return Case(folder.name, described["form"], text, options, folder / "oracle", solvers)


def row(case: Case, limits: Mapping[str, Any], keep: Path | None) -> list[str]:
    """Reduce a case, and return its row of the table."""
    name, form, text, options = case[:4]
    try:
        done = reduce(text, **options, **limits)
    except NotInterestingError as error:
        return [name, form, str(error).partition("\n")[0], *[""] * 7]
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{name}.smt2").write_bytes(done.text)
    before, after = done.before, done.after
    fresh = ""
    if "unstable" in options:
        fresh = " → ".join(str(lost(each, options["command"])) for each in (text, done.text))
    return [
        name,
        form,
        f"{before['asserts']} → {after['asserts']}",
        f"{before['bytes']:,} → {after['bytes']:,}",
        str(done.counts.checks),
        str(done.runs),
        "yes" if case.accepts(done.text) else "no",
        " → ".join(str(case.accepted(each)) for each in (text, done.text)),
        fresh,
        done.stopped or "done",
    ]


@contextmanager
def loaded() -> Iterator[None]:
    """Keep all cores busy."""
    spin = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(spin) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for each in busy:
            each.kill()
            each.wait()


def again(name: str, text: bytes, once: Callable[[], Report[bytes]], times: int) -> str:
    """Reduce a query several times under load, and return its row."""
    with loaded():
        found = [once().text for _ in range(times)]
    sizes = ", ".join(sorted({f"{len(each):,}" for each in found}))
    return f"| {name} | {len(text):,} | {sizes} | {times} | {len(set(found))} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("names", nargs="*", help="of cases (default: all)")
    parser.add_argument("--solvers", type=Path, required=True)
    parser.add_argument("--max-checks", type=int)
    parser.add_argument("--max-time", type=float, default=300.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--named-seeds", action="store_true")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument("--again", type=int, metavar="N")
    given = parser.parse_intermixed_args()
    limits = {"max_checks": given.max_checks, "jobs": given.jobs}
    print(
        _AGAIN if given.again else
        "| case | form | assertions | bytes | checks | runs | own oracle "
        "| accepted of 12 fresh variants | lost of these | end |\n"
        "|---|---|--:|--:|--:|--:|---|--:|--:|---|"
    )  # fmt: skip
    for folder in sorted(path.parent for path in given.cases.glob("*/case.json")):
        if given.names and folder.name not in given.names:
            continue
        case = read(folder, given.solvers, named_seeds=given.named_seeds)
        if given.again:
            once = partial(reduce, case.text, journal=False, **case.options, **limits)
            print(again(case.name, case.text, once, given.again), flush=True)
        else:
            found = row(case, {**limits, "max_time": given.max_time}, given.keep)
            print("| " + " | ".join(found) + " |", flush=True)


if __name__ == "__main__":
    main()
