"""Values of a circuit, step by step: of many patterns at the same time, a bit for each."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from reducekit.frontends.aiger.circuit import Circuit


def steps(
    circuit: Circuit,
    inputs: Callable[[int, int], int],
    patterns: int = 1,
    first: Callable[[int], int] = lambda latch: 0,
) -> Iterator[Callable[[int], int]]:
    """Yield for each step what gives the value of a literal.

    `inputs` gives that of an input in a step, `first` that of a latch that may start with either.
    """
    ones = (1 << patterns) - 1
    state: Sequence[int] = [
        first(at) if latch.reset is None else latch.reset * ones
        for at, latch in enumerate(circuit.latches)
    ]
    step = 0
    while True:
        values = [0, *(inputs(step, at) for at in range(circuit.inputs)), *state]

        def value(literal: int, values: list[int] = values) -> int:
            return values[literal >> 1] ^ (ones if literal & 1 else 0)

        for one, other in zip(circuit.left, circuit.right, strict=True):
            values.append(value(one) & value(other))
        yield value
        state = [value(latch.next) for latch in circuit.latches]
        step += 1


def run(circuit: Circuit, count: int, seed: int) -> list[list[int]]:
    """Return the values of all properties in the first steps of 64 random runs."""
    rng = random.Random(seed)
    free = [rng.getrandbits(64) for _ in circuit.latches]
    found = steps(circuit, lambda step, at: rng.getrandbits(64), 64, free.__getitem__)
    return [list(map(value, circuit.roots())) for value in islice(found, count)]
