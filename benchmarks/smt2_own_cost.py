"""Measures the CPU time of a check of an SMT-LIB script, without that of the test.

`python -m benchmarks.smt2_own_cost > benchmarks/results/smt2_own_cost.md`

The test is a function that counts a word, so everything else is our cost: parsing, sorts, the
graph, making candidates, printing. How much has to remain determines the size of the script
meanwhile.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from random import Random

import reducekit
from benchmarks.make_input import generate
from reducekit.reduction import Counts

CHECKS, QUICK_CHECKS = 1500, 20
KEPT = (0.001, 0.1, 0.3)
"""Shares of the words that have to stay."""
_OPERATORS = ("bvadd", "bvmul", "bvand", "bvor", "bvxor")


def lets(count: int, seed: int = 1) -> bytes:
    """Return a script of one assertion with nested lets, each used by later ones."""
    choose = Random(seed)
    names = ["a", "b"]
    lines = ["(declare-const a (_ BitVec 32))", "(declare-const b (_ BitVec 32))", "(assert"]
    for number in range(count):
        left, right = choose.choice(names[-20:]), choose.choice(names[-20:])
        names.append(f"?long_name_{number:05d}")
        lines.append(f"(let (({names[-1]} ({choose.choice(_OPERATORS)} {left} {right})))")
    lines += [f"(= {names[-1]} #x00000007)" + ")" * (count + 1), "(check-sat)", ""]
    return "\n".join(lines).encode()


def arrays(nodes: int, seed: int = 1) -> bytes:
    """Return a QF_AUFBV script with about `nodes` terms, in assertions of about sixty."""
    choose = Random(seed)

    def term(depth: int) -> str:
        if depth <= 0:
            return choose.choice((f"x{choose.randrange(100)}", f"#x{choose.randrange(256):02x}"))
        match choose.randrange(8):
            case 0:
                return f"(select m {term(depth - 1)})"
            case 1:
                return f"(f {term(depth - 1)})"
            case 2:
                array = f"(store m {term(depth - 2)} {term(depth - 2)})"
                return f"(select {array} {term(depth - 1)})"
            case _:
                return f"({choose.choice(_OPERATORS)} {term(depth - 1)} {term(depth - 1)})"

    lines = [f"(declare-const x{number} (_ BitVec 8))" for number in range(100)]
    lines.append("(declare-const m (Array (_ BitVec 8) (_ BitVec 8)))")
    lines.append("(declare-fun f ((_ BitVec 8)) (_ BitVec 8))")
    made = 0
    while made < nodes:
        lines.append(f"(assert (= {term(6)} {term(5)}))")
        made += lines[-1].count("(") + lines[-1].count(" x") + lines[-1].count("#")
    return "\n".join([*lines, "(check-sat)", ""]).encode()


def cost(text: bytes, word: bytes, kept: float, checks: int) -> tuple[Counts, float, int]:
    """Reduce; return the counts, our seconds of the processor for a check, and the bytes left."""
    needed = max(1, round(kept * text.count(word)))
    theirs = 0.0

    def interesting(candidate: bytes) -> bool:
        nonlocal theirs
        begin = time.process_time()
        answer = candidate.count(word) >= needed
        theirs += time.process_time() - begin
        return answer

    begin = time.process_time()
    report = reducekit.reduce(text, interesting, format="smt2", max_checks=checks)
    ours = time.process_time() - begin - theirs
    return report.counts, ours / max(1, report.counts.checks), len(report.text)


def inputs(*, quick: bool) -> Iterator[tuple[str, bytes, bytes]]:
    """Return what the inputs are called, the inputs, and the words that are counted."""
    yield "nested lets", lets(50 if quick else 1000), b"bvmul"
    yield "QF_AUFBV", arrays(300 if quick else 30_000), b"bvmul"
    yield "many commands", generate(1, 2000 if quick else 3_000_000), b"(assert"


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small inputs, few checks")
    asked = parser.parse_args(arguments)
    checks = QUICK_CHECKS if asked.quick else CHECKS
    print("# What a check of an SMT-LIB script costs us\n")
    print(
        "Made by `python -m benchmarks.smt2_own_cost`; at most "
        f"{checks:,} checks of each.\n\n"
        "| input | bytes | words to keep | checks | bytes left | ms of CPU a check |\n"
        "|---|--:|--:|--:|--:|--:|"
    )
    for name, text, word in inputs(quick=asked.quick):
        for kept in KEPT:
            counts, seconds, left = cost(text, word, kept, checks)
            print(
                f"| {name} | {len(text):,} | {kept:.1%} | {counts.checks:,} | {left:,} "
                f"| {1000 * seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
