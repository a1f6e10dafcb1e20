"""Compares `reducekit aiger` with aigdd, the delta debugger of the AIGER tools.

    python -m benchmarks.aiger_peers AIGER --out benchmarks/results/aiger_peers.md

AIGER is a built checkout of github.com/arminbiere/aiger (with `../picosat` for aigbmc); yosys and
gcc are in PATH. Inputs are circuits of aigfuzz, for each fault the first seed from `--seed` on that
shows it, and circuits that yosys makes of Verilog. Tests are simulators with a seeded fault
(`aiger_oracle.c`, compiled here), and aigbmc with the exact bound of a counterexample. Sizes are
those of `aigtoaig`: nodes are inputs, latches and gates. Every result is checked by its test; by
brute force, each variable of it is replaced by each other literal.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from reducekit.compare.reducers import Problem, Reducer, measure
from reducekit.compare.runs import mean_ratio
from reducekit.compare.tables import grid
from reducekit.frontends.aiger.circuit import CycleError, replaced
from reducekit.frontends.aiger.files import counts, read, write
from reducekit.oracle.command import Command

FAULTS = (
    ("constr 2", "-2"), ("constr 2", "-2 -l"), ("deep 5", "-1"), ("deep 5", "-2 -l"),
    ("deep 30", "-1 -l"), ("fan 3", "-2"), ("fan 3", "-1 -l"), ("inlatch 0", "-1"),
    ("inlatch 0", "-2 -l"), ("latchand 0", "-1"), ("latchand 0", "-2 -l"), ("level 40", "-2"),
    ("reset1 0", "-2"), ("reset1 0", "-2 -l"), ("uninit 0", "-2"), ("uninit 0", "-2 -l"),
    ("nextneg 0", "-2"), ("xor 0", "-1"), ("xor 0", "-2 -l"), ("norands 0", "-2"),
    ("toggle 3", "-1"), ("toggle 6", "-2 -l"), ("mux 0", "-1"), ("mux 0", "-2 -l"),
    ("shape 2", "-2 -l"),
)  # fmt: skip
"""Faults with their number, and the options of aigfuzz."""
FIFO = """module top(input clk, push, pop, input [1:0] d, output reg bad);
  reg [1:0] m [0:3]; reg [1:0] r = 0, w = 0; reg [2:0] n = 0; initial bad = 0;
  wire put = push && n != 4, get = pop && n != 0;
  always @(posedge clk) begin
    if (put) begin m[w] <= d; w <= w + 1; end
    if (get) r <= r + 1;
    n <= n + put - get; bad <= n == 4 && m[r] == 3;
  end
endmodule"""
PIPELINE = """module top(input clk, input [31:0] a, b, output reg [32:0] s);
  reg [31:0] x, y; reg [16:0] low; reg [15:0] u, v; initial begin x = 0; y = 0; end
  always @(posedge clk) begin
    x <= a ^ {b, b[31:16]}; y <= b + (a << 3);
    low <= x[15:0] + y[15:0]; u <= x[31:16]; v <= y[31:16];
    s <= {u + v + low[16], low[15:0]};
  end
endmodule"""
ALU = """module top(input [15:0] a, b, input [2:0] f, output [15:0] y, output z);
  assign y = f == 0 ? a + b : f == 1 ? a - b : f == 2 ? a ^ b : f == 3 ? a * b
    : f == 4 ? a << b[3:0] : f == 5 ? a >> b[3:0] : f == 6 ? (a < b ? a : b) : a & ~b;
  assign z = y == 0;
endmodule"""
VERILOG = (("fifo", FIFO, "bmc 5"), ("pipeline", PIPELINE, "toggle 3"), ("alu", ALU, "xor 0"))
_YOSYS = (
    "prep -top top -flatten; memory_map; opt; techmap; opt; dffunmap; abc -g AND; aigmap; "
    "opt_clean; setundef -undriven -init -zero; write_aiger -zinit"
)
# A witness of k steps is "1", a line of the latches, and k + 1 of the inputs.
_BRUTE = 40  # variables of a result that is searched by brute force, at most
_CAP = 600.0  # seconds for each run
_BMC = '#!/bin/sh\n[ "$({aigbmc} -m "$1" {k} 2>&1 | grep -c "^[01x]*$")" = {lines} ]\n'


class Case(NamedTuple):
    """A file, and the words of its test."""

    name: str
    file: Path
    test: tuple[str, ...]


def test_of(fault: str, aiger: Path, folder: Path) -> tuple[str, ...]:
    """Return the words of the test for a fault; write it if it is a script."""
    kind, k = fault.split()
    if kind != "bmc":
        return (str(folder / "simulator"), kind, k)
    script = folder / f"bmc{k}"
    script.write_text(_BMC.format(aigbmc=aiger / "aigbmc", k=k, lines=int(k) + 3))
    script.chmod(0o755)
    return (str(script),)


def accepts(test: tuple[str, ...], file: Path) -> bool:
    """Return whether a test accepts a file."""
    return not subprocess.run([*test, str(file)], capture_output=True, check=False).returncode


def cases(aiger: Path, folder: Path, seed: int) -> Iterator[Case]:
    """Yield the cases."""
    subprocess.run(
        ["gcc", "-O2", "-w", f"-I{aiger}", "-o", folder / "simulator",
         Path(__file__).with_name("aiger_oracle.c"), aiger / "aiger.c"], check=True,
    )  # fmt: skip
    for fault, options in FAULTS:
        test = test_of(fault, aiger, folder)
        while True:
            file = folder / f"{fault.replace(' ', '')}{options.replace(' ', '')}_{seed}.aig"
            words = [str(aiger / "aigfuzz"), *options.split(), "-o", str(file), str(seed)]
            subprocess.run(words, check=True)
            seed += 1
            if accepts(test, file):
                yield Case(file.stem, file, test)
                break
    for name, verilog, fault in VERILOG:
        source, file = folder / f"{name}.v", folder / f"{name}.aig"
        source.write_text(verilog)
        run = f"read_verilog {source}; {_YOSYS} {file}"
        subprocess.run(["yosys", "-q", "-p", run], check=True, stderr=subprocess.DEVNULL)
        case = Case(f"{name} ({fault})", file, test_of(fault, aiger, folder))
        if not accepts(case.test, file):
            raise SystemExit(f"{case.name}: its test does not accept it")
        yield case


def sizes(aiger: Path, file: Path, folder: Path) -> tuple[int, int, int]:
    """Return the nodes, properties and bytes of a file as text, without symbols."""
    text = folder / "canonical.aag"
    reordered = folder / "canonical.aig"
    for words in ((file, reordered), (reordered, text)):  # the binary form numbers without gaps
        subprocess.run([aiger / "aigtoaig", "-s", *words], check=True, capture_output=True)
    found = text.read_bytes().split(b"\nc\n")[0]
    _, inputs, latches, outputs, gates, *more = counts(found)
    return inputs + latches + gates, outputs + sum(more), len(found)


def improvable(case: Case, file: Path, folder: Path) -> bool:
    """Return whether its test accepts a result with one variable replaced by another literal."""
    candidate, circuit = folder / "candidate.aag", read(file.read_bytes())
    for variable in range(1, circuit.variables + 1):
        for literal in range(2 * circuit.variables + 2):
            with suppress(CycleError):  # it depends on the variable
                candidate.write_bytes(write(replaced(circuit, {variable: literal})))
                if accepts(case.test, candidate):
                    return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares `reducekit aiger` with aigdd.")
    parser.add_argument("aiger", type=Path, help="a built checkout of the AIGER tools")
    parser.add_argument("--seed", type=int, default=40000, help="of the first circuit")
    parser.add_argument("--only", default="", help="part of the cases' names")
    parser.add_argument("--keep", type=Path, help="a folder for the results")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    aiger = options.aiger.resolve()
    ours = f"reducekit={shlex.quote(sys.executable)} -m reducekit aiger {{input}} -o {{output}} "
    reducers = [
        Reducer.of(ours + "--oracle {oracle} -j1 -q --no-journal"),
        Reducer.of(f"aigdd={aiger}/aigdd -r {{input}} {{output}} {{oracle}}"),
    ]
    lines: list[list[str]] = []
    pairs: list[list[tuple[float, ...]]] = []
    tried = better = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Both are compiled once, as they are when they are installed.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = name
        keep = options.keep or folder
        keep.mkdir(exist_ok=True)
        for case in cases(aiger, folder, options.seed):
            if options.only not in case.name:
                continue
            problem = Problem("aiger", case.name, case.file, Command.of(case.test))
            if not lines:
                measure(problem, reducers[0], _CAP)  # compiles it
            nodes, _, size = sizes(aiger, case.file, folder)
            line = [case.name, f"{nodes:,}"]
            found: list[tuple[float, ...]] = []
            for reducer in reducers:
                result = keep / f"{case.file.stem}.{reducer.name}.aig"
                result.unlink(missing_ok=True)
                row = measure(problem, reducer, _CAP, result)
                nodes, properties, size = sizes(
                    aiger, result if row.verified else case.file, folder
                )
                note = ", stopped" if row.capped else "" if row.verified else ", NOT VERIFIED"
                line += [
                    f"{nodes}+{properties}{note}",
                    f"{size}",
                    f"{row.checks}",
                    f"{row.cpu:.2f}",
                ]
                found.append((nodes, nodes + 1, size, row.checks, row.cpu))
                if reducer is reducers[0] and row.verified and nodes <= _BRUTE:
                    tried += 1
                    better += (improved := improvable(case, result, folder))
                    line[0] += " *" if improved else ""
            pairs.append(found)
            lines.append(line)
            print(*line, sep="\t", file=sys.stderr)
    text = report(lines, pairs, tried, better, [each.name for each in reducers])
    words = ["git", "-C", str(aiger), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    text += f"\nThe AIGER tools are of commit {commit}; the first seed is {options.seed}.\n"
    options.out.write_text(text, "utf-8") if options.out else print(text, end="")


def report(
    lines: list[list[str]], pairs: list[list[tuple[float, ...]]], tried: int, better: int,
    names: list[str],
) -> str:  # fmt: skip
    """Return the page."""
    columns = ("nodes+properties", "bytes", "checks", "CPU s")
    header = ["case", "nodes", *(f"{name}: {column}" for name in names for column in columns)]
    about = "`python -m benchmarks.aiger_peers AIGER` made this page. " + __doc__.split("\n\n")[2]
    parts = ["# `reducekit aiger` and aigdd", about.strip(), grid(header, lines)]
    if pairs:
        ratios = [
            mean_ratio([(one[at], other[at]) for one, other in pairs], 0.01 if at == 4 else 1.0)
            for at in range(5)
        ]
        larger = sum(one[0] > other[0] for one, other in pairs)
        less = sum(one[0] < other[0] for one, other in pairs)
        said = ", ".join(
            f"{what} {ratio:.2f}"
            for what, ratio in zip(
                ("nodes (at least 1)", "nodes + 1", "bytes", "checks", "CPU"), ratios, strict=True
            )
        )
        parts.append(
            f"{len(pairs)} pairs: fewer nodes {less}, more {larger}. Geometric means: {said}."
        )
    parts.append(f"Smaller by one substitution (*): {better} of {tried} results.")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    main()
