"""A random bit-vector script of a given size: many lets, some functions, one marker.

`python -m benchmarks.make_input --size 300000 > input.smt2`. The symbol `marker`
occurs in one assertion in the middle and in its declaration: with the oracle
`grep -q 'marker)'`, only a few lines need to remain.

`--shape` selects others, for testing size and depth: `wide` (many
short assertions over many declarations), `one` (a single assertion, a
conjunction), `literals` (of up to a million digits), `nots` and `lets` (one
assertion, nested as deep as the size allows), `lines` (of words, not
SMT-LIB: for `--lenient`). `marker` is in the middle of each.
"""

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Mapping

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


def marked(size: int, marker: str, make: Callable[[], str]) -> Iterator[str]:
    """Yield texts up to a size, with a marker in the middle."""
    written, done = 0, False
    while written < size or not done:
        text = make()
        if not done and written >= size / 2:
            text, done = marker, True
        written += len(text)
        yield text


def wide(rng: random.Random, size: int) -> Iterator[str]:
    """Yield declarations and short assertions over any of them."""
    yield f"(set-logic QF_BV)\n(declare-fun {MARKER} () (_ BitVec {WIDTH}))\n"
    names = 0

    def line() -> str:
        nonlocal names
        if names < 8 or rng.random() < 0.2:
            names += 1
            return f"(declare-fun x{names - 1} () (_ BitVec {WIDTH}))\n"
        a, b, c, d = (f"x{rng.randrange(names)}" for _ in range(4))
        digits = f"#x{rng.getrandbits(WIDTH):04x}"
        return f"(assert (bvult (bvadd {a} (bvmul {b} {digits})) (ite (= {c} {d}) {a} {b})))\n"

    yield from marked(size, f"(assert (bvult x3 {MARKER}))\n", line)
    yield "(check-sat)\n"


def one(rng: random.Random, size: int) -> Iterator[str]:
    """Yield one assertion, a conjunction of many small terms."""
    yield f"(set-logic QF_BV)\n(declare-fun {MARKER} () Bool)\n"
    yield "".join(f"(declare-fun x{number} () (_ BitVec {WIDTH}))\n" for number in range(100))
    yield "(assert (and"

    def term() -> str:
        a, b, c = (f"x{rng.randrange(100)}" for _ in range(3))
        return f" (or (bvult (bvadd {a} {b}) {c}) (= {b} (bvnot {c})))"

    yield from marked(size, f" (or (= x0 x1) {MARKER})", term)
    yield "))\n(check-sat)\n"


def literals(rng: random.Random, size: int) -> Iterator[str]:
    """Yield assertions about strings and bit-vectors of ten to a million digits."""
    yield f"(set-logic ALL)\n(declare-fun s () String)\n(declare-fun {MARKER} () Bool)\n"

    def line() -> str:
        digits = f"{rng.getrandbits(4 * rng.choice((10, 1_000, 100_000, 1_000_000))):x}"
        if rng.random() < 0.5:
            return f'(assert (= s "{digits.replace("f", chr(34) * 2)}"))\n'
        return f"(assert (= ((_ extract 3 0) #x{digits}) #x0))\n"

    yield from marked(size, f"(assert (not {MARKER}))\n", line)
    yield "(check-sat)\n"


def nots(_: random.Random, size: int) -> Iterator[str]:
    """Yield one assertion, a term nested as deep as the size allows."""
    depth = size // len("(not )")
    yield f"(declare-fun {MARKER} () Bool)\n(assert "
    yield f"{'(not ' * depth}(not {MARKER}){')' * depth})\n(check-sat)\n"


def lets(_: random.Random, size: int) -> Iterator[str]:
    """Yield one assertion, lets nested as deep as the size allows, each over the one before."""
    yield "(declare-fun v () Bool)\n(assert "
    before, written, depth = "v", 0, 0
    while written < size:
        name = MARKER if size / 2 <= written < size / 2 + 40 else f"v{depth}"
        text = f"(let (({name} (and {before} v))) "
        before = name
        written += len(text) + 1
        depth += 1
        yield text
    yield f"{before}{')' * depth})\n(check-sat)\n"


def lines(rng: random.Random, size: int) -> Iterator[str]:
    """Yield lines of words, the last of which is no S-expression."""
    yield from marked(
        size,
        f"({MARKER})\n",
        lambda: " ".join(f"{rng.getrandbits(28):x}" for _ in range(rng.randint(3, 15))) + "\n",
    )
    yield "(never closed\n"


_ALL = (wide, one, literals, nots, lets, lines)
SHAPES: Mapping[str, Callable[[random.Random, int], Iterator[str]]] = {f.__name__: f for f in _ALL}


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints a random bit-vector script.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=300_000, help="bytes")
    parser.add_argument("--shape", choices=SHAPES, help="something else, as large or as deep")
    options = parser.parse_args()
    if options.shape is None:
        sys.stdout.buffer.write(generate(options.seed, options.size))
        return
    for text in SHAPES[options.shape](random.Random(options.seed), options.size):
        sys.stdout.buffer.write(text.encode())


if __name__ == "__main__":
    main()
