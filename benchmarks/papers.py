"""The tables of the papers: Vida's thesis (Linz 2008), ddSMT's comparison (SMT 2013).

    python -m benchmarks.papers [--quick] [--only shapes,thesis,combining,smt2]
                                [--reducer NAME=COMMAND]

Runs these benchmarks on cases that are made here, and writes what they write to build/papers:

* `shapes`: chapter 3 of the thesis, Boolector's answers on random graphs (`btor_shapes`).
* `thesis`: its tables 5.1 to 5.7 (`btor_thesis`). The faulty solvers of 2008 are not to be had, so
  each case is a random graph on which Boolector runs an instruction that is made a trap.
* `combining`: section 4.4 of the thesis, its algorithms one after the other on the same graphs.
* `smt2`: reducers side by side on scripts on which z3 and cvc5 do so (`smt2_faults`, `reducekit
  compare`): ours by default, with ddmin, the `peers` that are in PATH, and each --reducer.

With --quick there are few and small cases. Needs `cc`, and Debian's boolector, z3 and cvc5; what is
missing is said before anything runs. Checks and sizes are reproducible on one machine; which
instructions are traps depends on the programs.
"""

import argparse
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import reducekit
from benchmarks import peers
from benchmarks.btor_thesis import STRATEGIES
from benchmarks.smt2_faults.__main__ import (
    SOLVERS,
    Script,
    Solver,
    built_trap,
    fails,
    rare_traps,
    write,
)
from reducekit.frontends.btor.generate.generator import Parameters, generate_text

CHECKOUT = Path(__file__).resolve().parents[1]
OUT = CHECKOUT / "build" / "papers"
BOOLECTOR = Solver("boolector", ("/usr/bin/boolector",), suffix=".btor")
OURS = f"{shlex.quote(sys.executable)} -m reducekit smt2 {{input}} -o {{output}} -q"
OURS += " --oracle {oracle}"


@dataclass(frozen=True, slots=True)
class Amount:
    """How much is run."""

    scale: float
    """Share of the files of `shapes`."""
    graphs: int
    """Cases of `thesis`."""
    nodes: int
    """Of each graph."""
    strategies: str
    scripts: int
    """Scripts drawn for each solver; the cases of `smt2` are chosen from them."""
    cases: int
    cap: int
    """Seconds of a reduction."""


FULL = Amount(0.25, 10, 2000, STRATEGIES, 150, 90, 300)
QUICK = Amount(0.02, 3, 200, "ddmin,hdd,lw,changeref+,auto", 24, 4, 60)
CHAIN = ("ddmin", "hdd", "bfs", "lw", "changeref+", "changeref")
"""The order of section 4.4."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked for."""

    out: Path
    amount: Amount
    reducers: Sequence[str]


def graph_cases(folder: Path, count: int, nodes: int) -> Iterator[str]:
    """Write cases of Boolector with a trap that few graphs reach, and yield their names."""
    folder.mkdir(parents=True, exist_ok=True)
    trap, dice = built_trap(folder), Random("papers")
    some = []
    for seed in range(1, max(12, 3 * count) + 1):
        parameters = Parameters(seed=seed, nodes=nodes)
        some.append(Script(generate_text(parameters), f"btor {seed} {nodes}"))
    with tempfile.TemporaryDirectory() as name:
        rare = rare_traps(BOOLECTOR, some, trap, Path(name), dice)
    made = 0
    for script, addresses in zip(some, rare, strict=True):
        if made == count:
            return
        dice.shuffle(addresses)
        for address in addresses:
            if fails(BOOLECTOR, script.text, trap, address):
                made += 1
                write(folder / f"ex{made}-trap", BOOLECTOR, script.text, trap, address)
                yield f"ex{made}-trap"
                break


def run(module: str, *words: str | Path) -> None:
    """Run a module. Raises CalledProcessError."""
    command = [sys.executable, "-m", module, *map(str, words)]
    print(shlex.join(["python", *command[1:]]), flush=True)
    subprocess.run(command, cwd=CHECKOUT, check=True)


def shapes(task: Task) -> None:
    """Make the tables of chapter 3."""
    scale = str(task.amount.scale)
    run("benchmarks.btor_shapes", "--scale", scale, "--least", "2", "--results", task.out)


def graphs(task: Task) -> None:
    """Make the cases of `thesis` and `combining`."""
    folder, amount = task.out / "graphs", task.amount
    shutil.rmtree(folder, ignore_errors=True)
    if not list(graph_cases(folder, amount.graphs, amount.nodes)):
        sys.exit("no instruction of boolector is reached by a few graphs only")


def thesis(task: Task) -> None:
    """Make the tables of chapter 5."""
    words = ("--strategies", task.amount.strategies, "--out", task.out)
    run("benchmarks.btor_thesis", task.out / "graphs", *words)


def combining(task: Task) -> None:
    """Make the lines of section 4.4: nodes that each algorithm leaves of what the last one left."""
    rows = ["| case | nodes | " + " | ".join(CHAIN) + " |", "|---|" + "---:|" * (len(CHAIN) + 1)]
    for case in sorted((task.out / "graphs").glob("ex*")):
        sizes = chained(case / "input.btor", case / "oracle", CHAIN)
        rows.append(f"| {case.name} | " + " | ".join(f"{size:,}" for size in sizes) + " |")
    title = "# One algorithm after the other (section 4.4): nodes that are left\n\n"
    (task.out / "combining.md").write_text(title + "\n".join(rows) + "\n", encoding="utf-8")


def chained(path: Path, oracle: Path, strategies: Sequence[str]) -> list[int]:
    """Return the nodes of a graph, and those left by each strategy: it runs while it helps."""
    graph, sizes = path.read_bytes(), list[int]()
    for strategy in strategies:
        while True:
            report = reducekit.reduce(
                graph, format="btor", oracle=str(oracle), strategy=strategy, timeout=8.0
            )
            if not sizes:
                sizes.append(report.before["nodes"])
            if report.after["nodes"] >= report.before["nodes"]:
                break
            graph = report.text
        sizes.append(report.after["nodes"])
    return sizes


def smt2(task: Task) -> None:
    """Make the table of reducers."""
    out, amount = task.out, task.amount
    count, scripts = str(amount.cases), str(amount.scripts)
    run("benchmarks.smt2_faults", out / "scripts", "--count", count, "--scripts", scripts)
    every = [f"reducekit={OURS}", f"ddmin={OURS} --strategy ddmin"]
    every += peers.installed()
    words = [word for each in (*every, *task.reducers) for word in ("--reducer", each)]
    words += ["--max-time", str(amount.cap), "--tsv", str(out / "smt2.tsv")]
    words += ["--markdown", str(out / "smt2.md"), "--oracle", "{dir}/oracle"]
    run("reducekit", "compare", *sorted((out / "scripts").glob("*/input.smt2")), *words)


PARTS: dict[str, tuple[Callable[[Task], None], tuple[str, ...]]] = {
    "shapes": (shapes, (BOOLECTOR.command[0],)),
    "thesis": (thesis, ("cc", BOOLECTOR.command[0])),
    "combining": (combining, ("cc", BOOLECTOR.command[0])),
    "smt2": (smt2, ("cc", *(each.command[0] for each in SOLVERS))),
}
"""What makes each part, and the programs that it needs."""


def lacking(parts: Sequence[str]) -> str:
    """Return what to install for some parts, or nothing."""
    needed = sorted({program for each in parts for program in PARTS[each][1]})
    missing = [each for each in needed if shutil.which(each) is None]
    if not missing:
        return ""
    packages = " ".join("gcc" if each == "cc" else Path(each).name for each in missing)
    can = [each for each in PARTS if not set(PARTS[each][1]) & set(missing)]
    return (
        f"missing: {', '.join(missing)}. Type apt-get install {packages}, or make those parts only "
        f"that need none of them: --only {','.join(can)}"
    )


def main(words: Sequence[str] | None = None) -> None:
    """Make the tables that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers")
    parser.add_argument("--quick", action="store_true", help="few and small cases")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, comma between")
    parser.add_argument("--reducer", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--out", type=Path, default=OUT, help="where to write")
    given = parser.parse_args(words)
    parts = given.only.split(",")
    if unknown := [each for each in parts if each not in PARTS]:
        parser.error(f"unknown part {unknown[0]!r}; parts: {', '.join(PARTS)}")
    if missing := lacking(parts):
        parser.error(missing)
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    task = Task(out, QUICK if given.quick else FULL, given.reducer)
    if {"thesis", "combining"} & set(parts):
        graphs(task)
    for part in parts:
        try:
            PARTS[part][0](task)
        except subprocess.CalledProcessError as error:
            sys.exit(f"{part}: {error}")
    print(f"{len(parts)} of {len(PARTS)} parts: {out}")


if __name__ == "__main__":
    main()
