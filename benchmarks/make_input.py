"""A random bit-vector script of a given size: many lets, some functions, one marker.

`python -m benchmarks.make_input --size 300000 > input.smt2`. The symbol `marker`
occurs in one assertion in the middle and in its declaration: with the oracle
`grep -q 'marker)'`, only a few lines need to remain.
Large and deep scripts of other shapes are those of `benchmarks.huge`.
"""

import argparse
import random
import sys

WIDTH = 16
OPERATORS = ("bvadd", "bvmul", "bvand", "bvor", "bvxor", "bvsub", "bvshl", "bvlshr")
RELATIONS = ("bvult", "bvule", "bvslt", "=")
MARKER = "marker"


def term(rng: random.Random, names: list[str], depth: int) -> str:
    """Build a term over the names in scope; recursion is bounded by the depth asked for."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(names) if rng.random() < 0.8 else f"#x{rng.getrandbits(WIDTH):04x}"
    kind = rng.random()
    left, right = term(rng, names, depth - 1), term(rng, names, depth - 1)
    if kind < 0.15:
        return f"(ite ({rng.choice(RELATIONS)} {left} {right}) {left} {rng.choice(names)})"
    if kind < 0.25:
        return f"(bvnot {left})"
    if kind < 0.3:
        return f"(mix {left} {right})"
    return f"({rng.choice(OPERATORS)} {left} {right})"


def assertion(rng: random.Random, names: list[str], lets: int) -> str:
    """Build an assertion of `lets` nested lets, each over the ones before."""
    scope = list(names)
    opened = []
    for number in range(lets):
        opened.append(f"(let ((v{number} {term(rng, scope[-12:], 2)}))")
        scope.append(f"v{number}")
    left, right = term(rng, scope[-12:], 2), term(rng, scope[-12:], 2)
    body = f"({rng.choice(RELATIONS)} {left} {right})"
    return f"(assert {' '.join([*opened, body])}{')' * lets})"


def generate(seed: int, size: int) -> bytes:
    """Return a script of `size` bytes or one command more, the same for the same arguments."""
    rng = random.Random(seed)
    sort = f"(_ BitVec {WIDTH})"
    lines = [
        "(set-logic QF_BV)",
        f"(define-fun mix ((a {sort}) (b {sort})) {sort} (bvxor (bvmul a #x9e37) b))",
        f"(declare-fun {MARKER} () {sort})",
    ]
    names: list[str] = []
    written = sum(map(len, lines)) + len(lines)
    marked = False
    while written < size or not marked:
        if len(names) < 8 or rng.random() < 0.1:
            names.append(f"x{len(names)}")
            line = f"(declare-fun {names[-1]} () {sort})"
        elif not marked and written >= size / 2:
            line = f"(assert (bvult {term(rng, names[-12:], 3)} {MARKER}))"
            marked = True
        else:
            line = assertion(rng, names[-12:], rng.randint(0, 12))
        lines.append(line)
        written += len(line) + 1
    return "\n".join([*lines, "(check-sat)", ""]).encode()


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints a random bit-vector script.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=300_000, help="bytes")
    options = parser.parse_args()
    sys.stdout.buffer.write(generate(options.seed, options.size))


if __name__ == "__main__":
    main()
