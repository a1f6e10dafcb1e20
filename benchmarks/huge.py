"""Measures huge inputs: 1 to 100 MB of each format, and a million levels, in 4 GB.

`python -m benchmarks.huge` prints `results/huge.md`; with names of cases it measures only these and
prints their rows.

The oracle is `grep` for a word that stands once, in the middle or at the innermost place, so a
check costs little next to the reducer's own work. Each reduction runs alone, with 4 GiB of
address space for each process (prlimit(1)). The peak is the resident memory of the whole process
tree, sampled from /proc, or that of the largest process if that is higher.

The cases by format and size stop after four checks, those of 5 and 50 MB after 30; the others go
to their end.
"""

import argparse
import json
import os
import platform
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import Cost, TreePeak, run

SPACE = 4 << 30
"""Bytes of address space for the reducer."""
SIZE = 100_000_000
LEVELS = 1_000_000
MARKER = "needle"
NUMBER = "777777"
"""The marker of a trace, a variable."""
SOME_CHECKS = ("--max-checks", "30", "--no-journal")
FEW_CHECKS = ("--max-checks", "4", "--no-journal")
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
    """Yield nested lets, each using the one around it."""
    yield "(assert (let ((v0 true)) "
    yield from (f"(let ((v{each} (not v{each - 1}))) " for each in range(1, levels))
    yield from chain([MARKER], repeat(")", levels), [")\n(check-sat)\n"])


def nots(levels: int) -> Iterator[str]:
    """Yield nested negations."""
    yield from chain(["(assert "], repeat("(not ", levels), [MARKER])
    yield from chain(repeat(")", levels), [")\n(check-sat)\n"])


def trace(size: int) -> Iterator[str]:
    """Yield an API trace of Lingeling: ternary clauses over 50,000 variables, one solve."""

    def clause(number: int) -> str:
        literals = (number * 7919, -number * 104_729, number * 31)
        adds = (f"add {(abs(each) % 50_000 + 1) * (1 if each >= 0 else -1)}\n" for each in literals)
        return "".join([*adds, "add 0\n"])

    return chain(["init\n"], numbered(size, clause, f"add {NUMBER}\nadd 0\n"), ["sat\n"])


def graph(size: int = 0, count: int = 0) -> Iterator[str]:
    """Yield a BTOR graph of that size or that many nodes; each uses the one before and another."""
    yield "1 var 8 a\n2 var 8 b\n"
    written, number, marked = 0, 3, False
    while written < size or number < count:
        now = not marked and written >= size // 2 and number >= count // 2
        operator = "mul" if now else ("add", "xor", "and", "sub")[number % 4]
        line = f"{number} {operator} 8 {number - 1} {max(1, number * 7 // 11)}\n"
        yield line
        written, number, marked = written + len(line), number + 1, marked or now
    yield f"{number} root 8 {number - 1}\n"


def nodes(count: int) -> Iterator[str]:
    """Yield a BTOR graph of that many nodes."""
    return graph(count=count)


def _three(number: int, words: str) -> str:
    return words.format(*(number * step % 700_000 + 1 for step in (7919, 31, 104_729)))


def _gate(number: int) -> str:
    return f"{2 * number + 6} {2 * number + 4} {2 * (number * 7 // 11) + 3}\n"


def _clause(number: int, prefix: Callable[[int], str]) -> str:
    return _three(number, prefix(number) + "{} -{} {} 0\n")


_CNF = "p cnf 800000 {0}\n"
_CLAUSES: Mapping[str, tuple[str, Callable[[int], str]]] = {
    "cnf": (_CNF, lambda n: ""),
    "wcnf": ("", lambda n: "h " if n % 4 else "3 "),
    "qdimacs": (f"{_CNF}a 1 2 3 0\n", lambda n: ""),
    "xcnf": (_CNF, lambda n: "x" * (n % 9 == 0)),
    "knf": ("p knf 800000 {0}\n", lambda n: "k 2 " * (n % 9 == 0)),
}
"""By suffix: the header, and what stands before the literals of a clause."""
FORMATS: Mapping[str, tuple[str, str, Callable[[int], str], str, str]] = {
    **{
        suffix: ("cnf", head, partial(_clause, prefix=each), f"{each(1)}{NUMBER} 0\n", NUMBER)
        for suffix, (head, each) in _CLAUSES.items()
    },
    "opb": (
        "opb", "* #variable= 800000 #constraint= {0}\n",
        lambda n: _three(n, "+1 x{} -2 x{} +1 x{} >= -1 ;\n"), f"+1 x{NUMBER} >= 1 ;\n", NUMBER,
    ),
    "qcir": (
        "qcir", "#QCIR-G14\nexists(g0)\noutput({1})\n",
        lambda n: f"g{n + 1} = and(g{n}, -g{n * 7 // 11})\n", "", "g1 =",
    ),
    "aag": ("aiger", "aag {2} 2 0 1 {0}\n2\n4\n{3}\n", _gate, "", "8 6 3"),
}  # fmt: skip
"""By suffix: subcommand, header, a line by its number, the line to keep, and the marker."""


def of_format(size: int, header: str, part: Callable[[int], str], needed: str) -> Iterator[str]:
    """Yield the header, with the number of lines in it, the lines and what is needed."""
    body = "".join(numbered(size, part, needed))
    count = body.count("\n")
    yield header.format(count, f"g{count}", count + 2, 2 * count + 4)
    yield body


class Case(NamedTuple):
    """An input, the subcommand and options that reduce it, and the word that is kept."""

    what: str
    file: str
    write: Callable[[int], Iterator[str]]
    amount: int
    arguments: tuple[str, ...] = ("smt2",)
    word: str = MARKER


SIZED = {
    f"{name}-{size}": Case(
        f"{size} MB of {what}", file, write, size * 1_000_000, (name, *FEW_CHECKS), word
    )
    for name, what, file, write, word in (
        ("smt2", "SMT-LIB", "input.smt2", commands, MARKER),
        ("btor", "BTOR", "input.btor", graph, " mul "),
        ("trace", "trace", "input.trace", trace, NUMBER),
        ("text", "text", "input.txt", lines, MARKER),
    )
    for size in (1, 10, 100)
}
"""The cases by format and size."""

SIZED |= {
    f"{suffix}-{size}": Case(
        f"{size} MB of {suffix}", f"input.{suffix}",
        partial(of_format, header=header, part=part, needed=needed), size * 1_000_000,
        (command, *SOME_CHECKS), word,
    )
    for suffix, (command, header, part, needed, word) in FORMATS.items()
    for size in (5, 50)
}  # fmt: skip
CASES = SIZED | {
    "commands": Case("100 MB of commands", "input.smt2", commands, SIZE),
    "assert": Case("one assertion of 100 MB", "input.smt2", single_assert, SIZE),
    "lines": Case("100 MB of lines", "input.smt2", lines, SIZE, ("smt2", "--lenient")),
    "lets": Case("1,000,000 nested lets", "input.smt2", lets, LEVELS),
    "nots": Case("1,000,000 nested negations", "input.smt2", nots, LEVELS),
    "btor": Case("1,000,000 BTOR nodes", "input.btor", nodes, LEVELS, ("btor",), " mul "),
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
    """Write the input, reduce it, and return the cost."""
    with tempfile.TemporaryDirectory(prefix="huge-") as name:
        source, output = Path(name) / case.file, Path(name) / f"output{Path(case.file).suffix}"
        with source.open("w", encoding="ascii") as stream:
            stream.writelines(case.write(case.amount))
        options = ["--oracle", f"grep -q -e {shlex.quote(case.word)}", "--json", "--quiet"]
        command, *rest = case.arguments
        files: list[str | Path] = [source, "-o", output]
        limited = ["prlimit", f"--as={SPACE}", *reducekit, command, *files, *rest, *options]
        with TreePeak() as tree:
            cost = run(limited, cap, GRACE)
        cost = cost._replace(rss=max(cost.rss, tree.peak))
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
The peak is the resident memory of the process tree. `exit 0` is a reduction that went to its end,
`exit 5` one that stopped after its four checks.

{table(rows)}"""
    print(text, end="")


if __name__ == "__main__":
    main()
