"""What each strategy's reductions cost, to the run (see `tests/reduction/test_costs.py`).

`python -m tests.strategies.test_costs` prints the table.
"""

from dataclasses import replace

import pytest

from reducekit import registry
from tests.reduction.test_costs import CASES, cost

PARTS = ("lines", "terms", "graph", "terms, by chance")
WIDTHS = (1, 3)

COSTS = {
    "adaptive": ((44, 42), (44, 42), (23, 86), (23, 86), (57, 51), (57, 51), (31, 414), (90, 381)),
    "bfs": (
        (44, 215),
        (44, 215),
        (157, 78),
        (157, 78),
        (122, 30),
        (122, 30),
        (154, 300),
        (154, 299),
    ),
    "cdd": ((44, 63), (44, 63), (144, 71), (144, 69), (130, 22), (130, 22), (27, 155), (27, 155)),
    "changeref": (
        (44, 215),
        (44, 215),
        (157, 78),
        (157, 78),
        (71, 28),
        (71, 28),
        (154, 300),
        (154, 299),
    ),
    "changeref+": (
        (44, 215),
        (44, 215),
        (157, 78),
        (157, 78),
        (157, 26),
        (157, 26),
        (154, 300),
        (154, 299),
    ),
    "combine": ((44, 102), (44, 102), (104, 48), (104, 48), (77, 28), (77, 28), (84, 40), (84, 40)),
    "ddmin": ((44, 102), (44, 102), (104, 48), (104, 48), (154, 13), (154, 13), (84, 40), (84, 40)),
    "deltabtor": (
        (44, 52),
        (44, 52),
        (144, 66),
        (144, 63),
        (154, 14),
        (154, 14),
        (84, 13),
        (84, 13),
    ),
    "halving": ((44, 52), (44, 52), (144, 66), (144, 63), (154, 13), (154, 13), (84, 13), (84, 13)),
    "hdd": ((44, 102), (44, 102), (68, 22), (68, 22), (151, 20), (151, 20), (27, 27), (27, 27)),
    "hdd*": ((44, 102), (44, 102), (104, 48), (104, 48), (124, 38), (124, 38), (84, 40), (84, 40)),
    "hdd+": ((44, 102), (44, 102), (104, 48), (104, 48), (124, 37), (124, 37), (84, 40), (84, 40)),
    "lglddtrace": (
        (44, 59),
        (44, 59),
        (144, 60),
        (144, 57),
        (242, 11),
        (242, 10),
        (84, 14),
        (84, 14),
    ),
    "lw": ((2863, 2), (2863, 2), (4250, 7), (4250, 7), (218, 11), (218, 11), (300, 2), (300, 2)),
    "perses": ((44, 102), (44, 102), (52, 45), (52, 45), (154, 13), (154, 13), (15, 29), (15, 29)),
    "probdd": ((44, 65), (44, 65), (144, 66), (144, 65), (115, 25), (115, 25), (27, 95), (27, 93)),
    "vulcan": ((44, 162), (44, 162), (39, 65), (39, 65), (154, 13), (154, 13), (15, 32), (15, 32)),
}
"""By strategy: for each part and width the bytes that are left, and the checks."""


def costs(name: str) -> tuple[tuple[int, int], ...]:
    """Make the reductions of a strategy."""
    strategy = registry.strategy(name)
    cases = [
        replace(CASES[part], strategy=strategy, width=width) for part in PARTS for width in WIDTHS
    ]
    return tuple((found.size, found.checks) for found in map(cost, cases))


def test_all_strategies_are_there() -> None:
    assert sorted(COSTS) == registry.names(registry.STRATEGIES)


@pytest.mark.parametrize("name", COSTS)
def test_a_strategy_costs_just_this(name: str) -> None:
    assert costs(name) == COSTS[name]


if __name__ == "__main__":
    for each in registry.names(registry.STRATEGIES):
        print(f'    "{each}": {costs(each)},', flush=True)
