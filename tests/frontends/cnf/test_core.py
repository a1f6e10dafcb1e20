"""Cores of formulas, by python-sat's solvers and by counting."""

from itertools import combinations
from random import Random
from typing import Any

import pytest
from pysat.solvers import Solver

from reducekit import reduce
from reducekit.frontends.cnf.core import cores
from reducekit.frontends.cnf.generate import Clause, Parameters, generate_text
from reducekit.frontends.cnf.reader import View, write
from reducekit.frontends.cnf.smallest import smallest


def satisfiable(clauses: list[Clause]) -> bool:
    with Solver("cadical153", bootstrap_with=clauses) as solver:
        return bool(solver.solve())


def parts_of(text: bytes) -> list[Clause]:
    return [list(literals) for _, literals in View(text).lines()]


@pytest.mark.parametrize(("variables", "seed"), [(25, 0), (25, 4), (36, 4)])
def test_no_clause_of_a_core_can_go(variables: int, seed: int) -> None:
    """Also where the first proof needs more conflicts than a call may that leaves one out."""
    clauses = parts_of(generate_text(Parameters(variables, "pigeons", 3, 4.2, "cnf"), seed))
    found = cores(View(write("cnf", clauses)))
    core = [clauses[at] for at in found[0]]
    assert not satisfiable(core)
    assert all(satisfiable([*core[:at], *core[at + 1 :]]) for at in range(len(core)))


@pytest.mark.parametrize("seed", range(4))
def test_no_core_is_smaller_than_a_small_one(seed: int) -> None:
    dice = Random(seed)
    clauses = [
        [dice.choice((1, -1)) * each for each in dice.sample(range(1, 5), dice.randint(1, 3))]
        for _ in range(18)
    ]
    found = cores(View(write("cnf", clauses)))
    assert not satisfiable([clauses[at] for at in found[0]])
    for smaller in combinations(clauses, len(found[0]) - 1):
        assert satisfiable([*smaller])


def test_a_core_is_the_result_after_few_checks() -> None:
    """The test fails on each unsatisfiable part of the formula: pigeons, of which none can go."""
    clauses = parts_of(generate_text(Parameters(25, "pigeons", 3, 4.2, "cnf"), 0))
    known, asked = set(map(tuple, clauses)), list[bytes]()

    def fails(text: bytes) -> bool:
        asked.append(text)
        found = parts_of(text)
        return known.issuperset(map(tuple, found)) and not satisfiable(found)

    reduced = reduce(write("cnf", clauses), fails, format="cnf").text
    left = parts_of(reduced)
    assert all(satisfiable([*left[:at], *left[at + 1 :]]) for at in range(len(left)))
    assert len(asked) <= 40 < len(left)


def test_a_smallest_core_of_a_large_formula_is_given_up_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To find what a core has to hit takes thousands of models here, and each has a price."""
    calls = list[int]()

    class Counted(Solver):  # type: ignore[misc]
        def solve_limited(self, *arguments: Any, **options: Any) -> Any:
            calls.append(1)
            return super().solve_limited(*arguments, **options)

    monkeypatch.setattr("reducekit.frontends.cnf.smallest.Solver", Counted)
    clauses = [[each, each + 1] for each in range(1, 4000, 2)] + [[1], [-1]]
    many = len(clauses)
    core = [many - 2, many - 1]
    assert smallest(clauses, [0, *core], 60_000) == [0, *core]
    assert len(calls) < 12
    assert sorted(smallest(clauses, [0, *core], 1 << 30)) == core


def test_a_literal_stands_once_in_a_clause_of_a_core() -> None:
    text = b"p cnf 3 4\n1 2 1 0\n-1 2 0\n-2 0\n3 0\n"
    asked: list[bytes] = []

    def fails(candidate: bytes) -> bool:
        asked.append(candidate)
        return b"-2 0" in candidate

    reduce(text, fails, format="cnf")
    assert [*View(asked[2]).line(0).literals] == [2, 1]
