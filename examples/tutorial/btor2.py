"""A little model checker for BTOR2, with a bug; its witnesses are simulated, without that bug.

It exits with 1 if the simulator does not reach the bad state.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable

OPERATORS: dict[str, Callable[..., int]] = {
    "zero": lambda: 0,
    "one": lambda: 1,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "and": lambda a, b: a & b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a: ~a,
    "eq": lambda a, b: a == b,
    "neq": lambda a, b: a != b,
    "ult": lambda a, b: a < b,
    "ite": lambda a, b, c: b if a & 1 else c,
}
STEPS = 6
Frames = list[dict[str, int]]
"""The values of the inputs, for each step."""


def bad_step(lines: list[list[str]], frames: Frames, *, knows_init: bool = True) -> int | None:
    """Return the first step in which a bad state is reached, None if none is."""
    masks: dict[str, int] = {}
    state: dict[str, int] = {}
    for step, frame in enumerate(frames):
        value, after = dict(state), {}
        for ident, operator, *rest in lines:
            if operator == "sort":
                masks[ident] = (1 << int(rest[1])) - 1
                continue
            mask = masks.get(rest[0], 1)
            given = [value[word] for word in rest[1:] if word in value]
            if operator == "state":
                value.setdefault(ident, 0)
            elif operator == "input":
                value[ident] = frame.get(ident, 0) & mask
            elif operator == "constd":
                value[ident] = int(rest[1]) & mask
            elif operator == "init":
                value[rest[1]] = given[1] if step == 0 and knows_init else value[rest[1]]
            elif operator == "next":
                after[rest[1]] = given[-1]
            elif operator == "bad" and value[rest[0]]:
                return step
            elif operator in OPERATORS:
                value[ident] = int(OPERATORS[operator](*given)) & mask
        state = after
    return None


def witness(lines: list[list[str]]) -> Frames | None:
    """Return values of the inputs that reach a bad state; None if none are found."""
    inputs = [line[0] for line in lines if line[1] == "input"]
    dice = random.Random(1)
    for _ in range(6):
        frames = [{each: dice.randrange(256) for each in inputs} for _ in range(STEPS)]
        reached = bad_step(lines, frames, knows_init=False)  # the bug
        if reached is not None:
            return frames[: reached + 1]
    return None


def main(model: str) -> int:
    """Check a model and its witness."""
    with open(model) as file:
        lines = [line.split() for line in file if line.strip() and line[0] != ";"]
    found = witness(lines)
    print("unsat" if found is None else f"sat {found}")
    if found is not None and bad_step(lines, found) is None:
        print("the simulator does not get there")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
