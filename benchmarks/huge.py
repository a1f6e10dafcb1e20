"""What huge inputs cost: 100 MB and a million levels, within 4 GB of address space.

`python -m benchmarks.huge` writes `results/huge.md`; names of cases after it measure
only these and print the table.

The oracle is `grep` for a word that is in the middle or at the innermost place, so
that nearly all has to go, and a run costs little beside the reducer's own work. Each
reduction runs alone, with all address space beyond 4 GiB refused (prlimit(1)).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import Cost, run

RESULTS = Path(__file__).resolve().parent / "results"
SPACE = 4 << 30
"""Bytes of address space for the reducer."""
SIZE = 100_000_000
LEVELS = 1_000_000
MARKER = "needle"
GRACE = 300.0
"""Seconds to answer an interrupt in: a step on such an input is long."""


def numbered(size: int, part: Callable[[int], str], needed: str) -> Iterator[str]:
    """Yield at least `size` bytes of numbered parts, and what is needed once, in the middle."""
    number = written = 0
    while written < size:
        text = part(number)
        if written < size // 2 <= written + len(text):
            text += needed
        yield text
        written += len(text)
        number += 1


def commands(size: int) -> Iterator[str]:
    """Yield a script of many short commands."""
    return numbered(
        size,
        lambda each: f"(declare-fun x{each} () Int)\n(assert (< (* 2 x{each}) {each}))\n",
        f"(assert {MARKER})\n",
    )


def single_assert(size: int) -> Iterator[str]:
    """Yield a script whose only assertion, a conjunction, has that size."""
    inside = numbered(size, lambda each: f" (< (+ x {each}) {each})", f" (= {MARKER} x)")
    return chain(["(declare-fun x () Int)\n(assert (and"], inside, ["))\n(check-sat)\n"])


def lines(size: int) -> Iterator[str]:
    """Yield lines that are no SMT-LIB."""
    inside = numbered(
        size, lambda each: f"line {each} of a text with some words in it\n", f"{MARKER} is here\n"
    )
    return chain(["this is not ) a script\n"], inside)


def lets(levels: int) -> Iterator[str]:
    """Yield so many nested lets, each using the one around it."""
    yield "(assert (let ((v0 true)) "
    yield from (f"(let ((v{each} (not v{each - 1}))) " for each in range(1, levels))
    yield from chain([MARKER], repeat(")", levels), [")\n(check-sat)\n"])


def nots(levels: int) -> Iterator[str]:
    """Yield so many nested negations."""
    yield from chain(["(assert "], repeat("(not ", levels), [MARKER])
    yield from chain(repeat(")", levels), [")\n(check-sat)\n"])


def btor(nodes: int) -> Iterator[str]:
    """Yield a BTOR graph with that many nodes; each uses the one before and an earlier one."""
    yield "1 var 8 a\n2 var 8 b\n"
    for each in range(3, nodes):
        operator = "mul" if each == nodes // 2 else ("add", "xor", "and", "sub")[each % 4]
        yield f"{each} {operator} 8 {each - 1} {max(1, each * 7 // 11)}\n"
    yield f"{nodes} root 8 {nodes - 1}\n"


class Case(NamedTuple):
    """An input, the subcommand and options that reduce it, and the word that is kept."""

    what: str
    file: str
    write: Callable[[int], Iterator[str]]
    amount: int
    arguments: tuple[str, ...] = ("smt2",)
    word: str = MARKER


CASES = {
    "commands": Case("100 MB of commands", "input.smt2", commands, SIZE),
    "assert": Case("one assertion of 100 MB", "input.smt2", single_assert, SIZE),
    "lines": Case("100 MB of lines", "input.smt2", lines, SIZE, ("smt2", "--lenient")),
    "lets": Case("1,000,000 nested lets", "input.smt2", lets, LEVELS),
    "nots": Case("1,000,000 nested negations", "input.smt2", nots, LEVELS),
    "btor-20k": Case("20,000 BTOR nodes", "input.btor", btor, 20_000, ("btor",), " mul "),
    "btor-200k": Case("200,000 BTOR nodes", "input.btor", btor, 200_000, ("btor",), " mul "),
    "btor": Case("1,000,000 BTOR nodes", "input.btor", btor, LEVELS, ("btor",), " mul "),
}


class Row(NamedTuple):
    """A reduction, and how it ended."""

    what: str
    bytes: int
    cost: Cost
    checks: int | None
    """None if the reducer printed no summary."""
    result: int | None
    """Bytes; None if there is no output."""


def measure(case: Case, reducekit: list[str], cap: float | None) -> Row:
    """Write the input, reduce it, and say what that cost."""
    with tempfile.TemporaryDirectory(prefix="huge-") as name:
        source, output = Path(name) / case.file, Path(name) / f"output{Path(case.file).suffix}"
        with source.open("w", encoding="ascii") as stream:
            stream.writelines(case.write(case.amount))
        options = ["--oracle", f"grep -q -e {shlex.quote(case.word)}", "--json", "--quiet"]
        command, *rest = case.arguments
        files: list[str | Path] = [source, "-o", output]
        cost = run(
            ["prlimit", f"--as={SPACE}", *reducekit, command, *files, *rest, *options], cap, GRACE
        )
        try:
            checks = int(json.loads(cost.out)["checks"])
        except (ValueError, KeyError):
            checks = None
        result = output.stat().st_size if output.exists() else None
        if result is not None and case.word not in output.read_text(encoding="ascii"):
            sys.exit(f"{case.what}: the result lacks what has to be kept")
        return Row(case.what, source.stat().st_size, cost, checks, result)


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown."""
    head = "| input | bytes | checks | result, bytes | CPU, s | wall, s | peak, MB | end |"
    found = [head, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"]
    for row in rows:
        end = f"{'stopped, ' if row.cost.capped else ''}exit {row.cost.status}"
        cells = (
            row.what,
            f"{row.bytes:,}",
            "-" if row.checks is None else f"{row.checks:,}",
            "-" if row.result is None else f"{row.result:,}",
            f"{row.cost.cpu:.0f}",
            f"{row.cost.wall:.0f}",
            f"{row.cost.rss:,.0f}",
            end,
        )
        found.append(f"| {' | '.join(cells)} |")
    return "\n".join(found) + "\n"


def main() -> None:
    """Measure the cases; write the table if they are all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(CASES)}; default: all")
    parser.add_argument("--cap", type=float, help="seconds for a reduction; default: no limit")
    options = parser.parse_args()
    unknown = set(options.names) - CASES.keys()
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    rows = []
    for name in options.names or CASES:
        rows.append(measure(CASES[name], [sys.executable, "-m", "reducekit"], options.cap))
        print(table(rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
    if options.names:
        print(table(rows), end="")
        return
    text = f"""# Huge inputs within 4 GB of address space

Made by `{" ".join(["python -m benchmarks.huge", *sys.argv[1:]])}`; what is measured is said there.
Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs.
The peak is that of the largest process; an end of `exit 0` is a reduction that went to its end.

{table(rows)}"""
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "huge.md").write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
