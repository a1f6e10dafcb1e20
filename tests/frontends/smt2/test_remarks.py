"""What a user should know of a result: lines in it that decide what a solver answers."""

from __future__ import annotations

import pytest

from reducekit import reduce
from reducekit.events import Event, Notice
from reducekit.frontends.smt2 import Smt2


def remark(line: str, *, by_chance: bool) -> str | None:
    frontend = Smt2().for_failure("whatever happens", by_chance=by_chance)
    return frontend.remark(f"(set-logic ALL)\n{line}\n(check-sat)\n".encode())


@pytest.mark.parametrize(
    "option",
    [
        "rlimit", "timeout", "smt.random_seed", "sat.random_seed", "random-seed",
        "reproducible-resource-limit", "tlimit-per", "tlimit", "rlimit-per", "seed", "smt.rlimit",
    ],
)  # fmt: skip
def test_a_bound_in_the_script(option: str) -> None:
    line = f"( set-option :{option} 1000)"
    said = remark(line, by_chance=True)
    assert said is not None
    assert f"(set-option :{option} ...), which overrides the command line" in said
    assert remark(line, by_chance=False) is None
    assert remark(f"; {line}", by_chance=True) is None


def test_other_options_are_no_bounds() -> None:
    assert remark("(set-option :produce-models true)", by_chance=True) is None
    assert remark("(set-option :smt.mbqi.max_iterations 9)", by_chance=True) is None


@pytest.mark.parametrize("by_chance", [False, True])
def test_the_status(*, by_chance: bool) -> None:
    said = remark("(set-info :status sat)", by_chance=by_chance)
    assert said is not None
    assert "remove the line from the input and compare with another solver" in said


def test_it_is_said_at_the_end() -> None:
    said: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Notice):
            said.append(event.text)

    command = "sh -c 'grep -q rlimit $1 && test {seed} = 3 && echo unknown || echo unsat' sh {}"
    text = b"(set-option :rlimit 9)\n(declare-const p Bool)\n(assert p)\n(check-sat)\n"
    reduce(text, command=command, unstable=8, listen=listen)
    assert any("(set-option :rlimit ...)" in each for each in said)
