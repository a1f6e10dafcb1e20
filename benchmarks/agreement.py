"""Counts the generated files of each format on which the solvers that are installed disagree.

    nice python -m benchmarks.agreement --count 10000 --keep agreement

Each row is a `reducekit hunt` of its own: crashes, errors and wrong models are bugs, too. Programs
that are not installed are left out, and a row without two of them is left out as a whole. To
give another program for a name, write `--program z3=/opt/z3/bin/z3`.
"""

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_HUNT = (sys.executable, "-m", "reducekit", "hunt")
_BIN = Path(sys.executable).parent
_EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

PROGRAMS: Mapping[str, str] = {
    "z3": f"{_BIN}/z3",
    "cvc5": "cvc5 -q --incremental --fp-exp --strings-exp --arrays-exp",
    "yices": f"{_BIN}/yices-smt2 --incremental",
    "cadical": "cadical -q",
    "picosat": "picosat",
    "minisat": "minisat -verb=0",
    "cryptominisat": "cryptominisat5 --verb 0",
    "RC2 (python-sat)": f"{_BIN}/rc2.py -vv",
    "FM (python-sat)": f"{_BIN}/fm.py -vv",
    "boolector": "boolector",
    "pyboolector": f"{sys.executable} {_EXAMPLES}/btor_pyboolector.py",
    "z3 (converted)": f"{sys.executable} {_EXAMPLES}/btor_smtlib.py {_BIN}/z3",
    "bitwuzla": f"{sys.executable} {_EXAMPLES}/btor_bitwuzla.py",
    "pdr (ABC)": f"{sys.executable} {_EXAMPLES}/aiger_abc.py pdr",
    "scorr, pdr (ABC)": f"{sys.executable} {_EXAMPLES}/aiger_abc.py 'scorr; pdr'",
}
"""The command of each program."""


class Row(NamedTuple):
    """A format, the options of the hunt, and the names of the programs that read such files."""

    name: str
    options: str
    programs: Sequence[str]


_SAT = ("cadical", "picosat", "minisat", "cryptominisat")
_BTOR = ("bitwuzla", "z3 (converted)")
_SMALL = "--asserts 4 --levels 3 --symbols 3 --queries 2"
ROWS = (
    Row("DIMACS", "cnf --shape any --vary", _SAT),
    *(
        Row(f"SMT-LIB, {logic}", f"smt2 --logic {logic} {_SMALL}", programs)
        for logic, programs in (
            ("QF_BV", ("z3", "cvc5", "yices")),
            ("QF_AUFBV", ("z3", "cvc5", "yices")),
            ("QF_UFLIA", ("z3", "cvc5", "yices")),
            ("QF_LRA", ("z3", "cvc5", "yices")),
            ("QF_FP", ("z3", "cvc5")),
            ("QF_SLIA", ("z3", "cvc5")),
            ("UFDTLIA", ("z3", "cvc5")),
            ("any", ("z3", "cvc5")),
        )
    ),
    Row("AIGER", "aiger --version 1.0 --notation aig", ("pdr (ABC)", "scorr, pdr (ABC)")),
    Row("BTOR", "btor --vary --nodes 60", ("boolector", *_BTOR)),
    Row("BTOR2", "btor --dialect btor2 --vary --nodes 60", ("pyboolector", *_BTOR)),
    Row("WCNF", "cnf --notation wcnf --variables 15", ("RC2 (python-sat)", "FM (python-sat)")),
)


class Found(NamedTuple):
    """What a hunt says."""

    inputs: int
    timeouts: int
    rejected: int
    bugs: Sequence[tuple[int, str]]
    """How often each came, and its failure."""


def commands(names: Sequence[str], known: Mapping[str, str]) -> dict[str, str]:
    """Return the commands of those programs that are installed."""
    return {each: known[each] for each in names if shutil.which(shlex.split(known[each])[0])}


def hunted(row: Row, programs: Sequence[str], chosen: argparse.Namespace, keep: Path) -> Found:
    """Run the hunt of a row. Raises CalledProcessError if its options cannot be used."""
    words = [*_HUNT, *row.options.split(), "--timeout", str(chosen.timeout)]
    words += ["--count", str(chosen.count), "--max-time", str(chosen.seconds)]
    for each in programs:
        words += ["--cmd", each]
    words += ["--out", str(keep), "--restart", "--json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    if not done.stdout:
        raise subprocess.CalledProcessError(done.returncode, words)
    told = json.loads(done.stdout)
    bugs = [(each["count"], each["failure"]) for each in told["bugs"]]
    return Found(told["inputs"], told["timeouts"], told["rejected"]["count"], bugs)


def table(
    rows: Sequence[Row], known: Mapping[str, str], chosen: argparse.Namespace
) -> Iterator[str]:
    """Yield the lines of the table, and then those of the findings."""
    yield "| files | inputs | programs | out of time | rejected | kinds of failures | of inputs |"
    yield "|---|---|---|---|---|---|---|"
    findings = []
    for row in rows:
        programs = commands(row.programs, known)
        if len(programs) < 2:
            continue
        keep = chosen.keep / row.name.replace(" ", "")
        found = hunted(row, [*programs.values()], chosen, keep)
        failing = sum(count for count, _ in found.bugs)
        yield (
            f"| {row.name} | {found.inputs:,} | {', '.join(programs)} | {found.timeouts:,} "
            f"| {found.rejected:,} | {len(found.bugs)} | {failing:,} |"
        )
        findings += [f"- {row.name}, {count} times: {what}" for count, what in found.bugs]
    yield ""
    yield from findings or ["No findings."]


def main() -> None:
    """Run the hunts of all rows, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement")
    parser.add_argument("--count", type=int, default=2000, help="files of each row")
    parser.add_argument("--seconds", type=float, default=86400, help="of a row, at most")
    parser.add_argument("--timeout", type=float, default=2, help="seconds of a run")
    parser.add_argument("--keep", type=Path, default=Path("agreement"), help="for what fails")
    parser.add_argument("--program", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--only", action="append", help="the rows that begin so")
    chosen = parser.parse_args()
    known = {**PROGRAMS, **dict(each.split("=", 1) for each in chosen.program)}
    rows = [each for each in ROWS if not chosen.only or each.name.startswith(tuple(chosen.only))]
    for line in table(rows, known, chosen):
        print(line, flush=True)


if __name__ == "__main__":
    main()
