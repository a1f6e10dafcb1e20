"""A trace that takes hours."""

from random import Random


def endless() -> str:
    """Return a trace of random 3-SAT at the threshold, with 700 variables."""
    random = Random(1)
    lines = ["init"]
    for _ in range(2982):
        clause = [random.choice((-1, 1)) * each for each in random.sample(range(1, 701), 3)]
        lines += [f"add {literal}" for literal in [*clause, 0]]
    return "\n".join([*lines, "sat", ""])
