"""Clauses that belong together: what solvers recognise, and treat in a way of its own.

Each function takes at least four literals of different variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product

Clauses = list[list[int]]
Structure = Callable[[Sequence[int]], Clauses]


def parity(literals: Sequence[int]) -> Clauses:
    """Return the clauses of an exclusive or: each way to have an even number is ruled out."""
    return [
        [sign * literal for sign, literal in zip(signs, literals, strict=True)]
        for signs in product((1, -1), repeat=len(literals))
        if signs.count(-1) % 2 == 0
    ]


def and_gate(literals: Sequence[int]) -> Clauses:
    """Return the clauses that say: the first literal is the conjunction of the others."""
    output, *inputs = literals
    return [*([-output, each] for each in inputs), [output, *(-each for each in inputs)]]


def if_then_else(literals: Sequence[int]) -> Clauses:
    """Return the clauses that say: the first is the third if the second holds, else the last."""
    output, condition, then, *_, other = literals
    return [
        [-output, -condition, then],
        [-output, condition, other],
        [output, -condition, -then],
        [output, condition, -other],
    ]


def exactly_one(literals: Sequence[int]) -> Clauses:
    """Return the clauses that say: one of the literals holds, and no two."""
    return [list(literals), *([-a, -b] for a, b in combinations(literals, 2))]


STRUCTURES: tuple[Structure, ...] = (
    parity, and_gate, if_then_else, exactly_one,
)  # fmt: skip
