"""Assertions of queries that fail as if by chance: a real search, a solver of a few lines."""

from collections.abc import Sequence
from typing import Any

import pytest

from reducekit import reduce
from reducekit.events import Event, PassEnded

COUNT, NEEDED = 80, (20, 50, 51, 70)
SCRIPT = b"".join(
    b"(declare-const x%d Int)\n(assert (> x%d %d))\n" % (number, number, number)
    for number in range(COUNT)
)
SOLVER = """sh -c 'test "$(grep -cE "[ (]> .* (WORDS)[)]" $1)" = COUNT || exec echo unsat
set -- $(cat $1 | cksum)
test $(($1 / 2 % 2)) = {seed} && echo unknown || echo unsat' sh {}"""
SOLVER = SOLVER.replace("WORDS", "|".join(map(str, NEEDED))).replace("COUNT", str(len(NEEDED)))
"""Loses one of two seeds or none, as if by chance, where all needed assertions are there."""


def passes(command: str, **options: Any) -> dict[str, PassEnded]:
    """Return what each pass that ran once came to."""
    found: dict[str, PassEnded] = {}

    def listen(event: Event) -> None:
        if isinstance(event, PassEnded) and event.name not in found:
            found[event.name] = event

    reduce(SCRIPT, command=command, listen=listen, **options)
    return found


@pytest.mark.slow
def test_most_go_where_texts_fail_as_if_by_chance() -> None:
    only: Sequence[str] = ("assertions",)
    after = passes(SOLVER, unstable=2, only=only)["assertions"]
    # The needed ones, their declarations, and few others: those that failed alone by chance.
    assert after.size < 12 * len(SCRIPT) / COUNT
    assert after.checks < COUNT
    other = passes(SOLVER, unstable=2, only=("commands",))["commands"]
    assert after.size < other.size


def test_other_failures_have_no_such_pass() -> None:
    found = passes("grep -q x50 {}", exit_code=0)
    assert "commands" in found
    assert found["assertions"].checks == 0
