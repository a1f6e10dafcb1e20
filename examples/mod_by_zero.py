"""A random integer script that makes z3 4.8.5 report an invalid model.

`python mod_by_zero.py --seed 4 > input.smt2` prints a well-sorted script of
some hundred lines. It is satisfiable: every assertion is true under a hidden
assignment, the witness. One term, deep inside, takes a remainder by zero. The
SMT-LIB standard lets a solver choose its value, z3 4.8.5 forgets its choice,
and its own check (`model_validate=true`) finds the model invalid.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from typing import NamedTuple


class Term(NamedTuple):
    """An integer term and its value under the witness."""

    text: str
    value: int


class Helper(NamedTuple):
    """A defined function of two integers, and the same function in Python."""

    body: str
    apply: Callable[[int, int], int]


HELPERS = {
    "larger": Helper("(ite (< a b) b a)", max),
    "smaller": Helper("(ite (< a b) a b)", min),
    "distance": Helper("(let ((d (- a b))) (ite (< d 0) (- d) d))", lambda a, b: abs(a - b)),
    "clipped": Helper(
        "(let ((c (ite (< a 0) 0 a))) (ite (> c b) b c))", lambda a, b: min(max(a, 0), b)
    ),
    "parity": Helper("(mod (+ a b) 2)", lambda a, b: (a + b) % 2),
}
BOUND = 40
"""Leaves lie within -BOUND .. BOUND."""

FREE = 2
"""So many variables have a choice of values; more make the solver think for seconds."""


def number(value: int) -> str:
    """Print an integer: SMT-LIB has no negative numerals."""
    return str(value) if value >= 0 else f"(- {-value})"


def leaf(rng: random.Random, scope: dict[str, int]) -> Term:
    """Pick a variable in scope or a constant."""
    if rng.random() < 0.75:
        name = rng.choice(list(scope))
        return Term(name, scope[name])
    value = rng.randint(-BOUND, BOUND)
    return Term(number(value), value)


def integer(rng: random.Random, scope: dict[str, int], depth: int) -> Term:
    """Build a term of at most this depth; recursion is bounded by the depth asked for."""
    if depth == 0:
        return leaf(rng, scope)
    kind = rng.choice(("add", "subtract", "scale", "mod", "div", "ite", "let", "helper"))
    first = integer(rng, scope, depth - 1)
    if kind == "scale":
        factor = rng.randint(2, 5)
        return Term(f"(* {factor} {first.text})", factor * first.value)
    if kind in ("mod", "div"):
        divisor = rng.randint(2, 9)
        value = first.value % divisor if kind == "mod" else first.value // divisor
        return Term(f"({kind} {first.text} {divisor})", value)
    if kind == "let":
        name = f"t{len(scope)}"
        inner = integer(rng, {**scope, name: first.value}, depth - 1)
        return Term(f"(let (({name} {first.text})) {inner.text})", inner.value)
    second = integer(rng, scope, depth - 1)
    if kind == "add":
        return Term(f"(+ {first.text} {second.text})", first.value + second.value)
    if kind == "subtract":
        return Term(f"(- {first.text} {second.text})", first.value - second.value)
    if kind == "helper":
        name = rng.choice(list(HELPERS))
        value = HELPERS[name].apply(first.value, second.value)
        return Term(f"({name} {first.text} {second.text})", value)
    condition, holds = comparison(first, second)
    other = leaf(rng, scope)
    chosen = second if holds else other
    return Term(f"(ite {condition} {second.text} {other.text})", chosen.value)


def comparison(left: Term, right: Term) -> tuple[str, bool]:
    """Compare two terms; returns the text and whether it holds under the witness."""
    return f"(<= {left.text} {right.text})", left.value <= right.value


def assertion(rng: random.Random, scope: dict[str, int], depth: int) -> str:
    """Build a formula that is true under the witness."""
    left, right = integer(rng, scope, depth), integer(rng, scope, depth)
    formula, holds = comparison(left, right)
    if not holds:
        formula = f"(not {formula})"
    if rng.random() < 0.3:
        side, holds = comparison(leaf(rng, scope), leaf(rng, scope))
        formula = f"(=> {side} {formula})" if holds else f"(or {side} {formula})"
    return f"(assert {formula})"


def trigger(rng: random.Random, scope: dict[str, int]) -> str:
    """Build the assertion with the remainder by zero, among innocent terms."""
    inner = integer(rng, scope, 2)
    outer = integer(rng, scope, 3)
    wanted = rng.randint(3, BOUND)
    guard, holds = comparison(integer(rng, scope, 2), integer(rng, scope, 2))
    rest = integer(rng, scope, 3)
    branches = f"(+ r {outer.text}) {rest.text}" if holds else f"{rest.text} (+ r {outer.text})"
    return (
        f"(assert (let ((r (mod {inner.text} 0))) "
        f"(= (ite {guard} {branches}) {number(wanted + outer.value)})))"
    )


def script(seed: int, size: int) -> str:
    """Print a script of at least `size` bytes, the same for the same seed and size."""
    rng = random.Random(seed)
    lines = [
        "; A random script; the seed and size that made it: " + f"{seed} {size}",
        "(set-logic QF_NIA)",
        "(set-info :status sat)",
        *(
            f"(define-fun {name} ((a Int) (b Int)) Int {helper.body})"
            for name, helper in HELPERS.items()
        ),
    ]
    written, levels, hidden = sum(map(len, lines)), 0, False
    scopes: list[dict[str, int]] = [{}]
    while written < size or not hidden or levels:
        scope = scopes[-1]
        block = []
        if len(scope) < 6 + 2 * levels:
            name, value = f"x{len(scope)}", rng.randint(-BOUND, BOUND)
            scope[name] = value
            block.append(f"(declare-fun {name} () Int)")
            if len(scope) <= FREE:
                block.append(f"(assert (<= {number(value - 1)} {name} {number(value + 1)}))")
            else:
                block.append(f"(assert (= {name} {number(value)}))")
        elif written >= size / 2 and not hidden and levels:
            block.append(trigger(rng, scope))
            hidden = True
        elif levels < 3 and written < size and rng.random() < 0.06:
            block.append("(push 1)")
            scopes.append(dict(scope))
            levels += 1
        elif levels and (written >= size or rng.random() < 0.05):
            block += ["(check-sat)", "(pop 1)"]
            scopes.pop()
            levels -= 1
        else:
            block.append(assertion(rng, scope, rng.randint(1, 4)))
        lines += block
        written += sum(map(len, block)) + len(block)
    return "\n".join([*lines, "(check-sat)", "(exit)", ""])


def main() -> None:
    """Print a script to standard output."""
    parser = argparse.ArgumentParser(description="Prints a script on which z3 4.8.5 fails.")
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--size", type=int, default=24_000, help="at least this many bytes")
    options = parser.parse_args()
    sys.stdout.write(script(options.seed, options.size))


if __name__ == "__main__":
    main()
