"""Clauses: read, reduced, generated, converted. The oracle is a real solver, in this process."""

import pytest
from pysat.solvers import Solver

import reducekit
from reducekit.frontends.cnf import Cnf
from reducekit.frontends.cnf.convert import converted
from reducekit.frontends.cnf.generate import GENERATION, SHAPES
from reducekit.frontends.cnf.reader import View
from reducekit.offers import with_defaults


def _satisfiable(text: bytes) -> bool:
    clauses = [list(line.literals) for line in View(text).lines()]
    if [] in clauses:
        return False
    with Solver("minisat22", bootstrap_with=clauses) as solver:
        return bool(solver.solve())


def _made(seed: int, **options: object) -> bytes:
    values = with_defaults(GENERATION.options, options)
    with GENERATION.make({**values, "seed": seed}) as generator:
        return generator.generate(seed).text


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("notation", ["cnf", "wcnf", "qdimacs", "icnf"])
def test_what_is_generated_keeps_the_rules(shape: str, notation: str) -> None:
    for seed in range(5):
        text = _made(seed, shape=shape, notation=notation)
        assert Cnf().check(text).problems == []
        assert View(text).format == notation


def test_both_answers_are_generated() -> None:
    answers = [_satisfiable(_made(seed)) for seed in range(60)]
    assert 15 <= sum(answers) <= 45


def test_an_unsatisfiable_formula_is_reduced_to_a_few_clauses_with_the_header_right() -> None:
    text = _made(11, shape="uniform", variables=30, vary=False, ratio=8.0)

    def needs_search(candidate: bytes) -> bool:
        view = View(candidate)
        if view.header is None or view.header[1] != view.clauses:
            return False
        clauses = [list(line.literals) for line in view.lines()]
        if not clauses or [] in clauses:
            return False
        with Solver("minisat22", bootstrap_with=clauses) as solver:
            consistent, _ = solver.propagate()
            return bool(consistent) and not solver.solve()

    result = reducekit.reduce(text, needs_search, format="cnf").text
    assert result.startswith(b"p cnf 2 4\n")
    assert sorted(sorted(line.literals) for line in View(result).lines()) == [
        [-2, -1],
        [-2, 1],
        [-1, 2],
        [1, 2],
    ]


def test_a_wrong_header_is_a_problem() -> None:
    found = Cnf().check(b"p cnf 1 3\n1 -2 0\n").problems
    assert found == [
        "the header says 1 variables, but 2 is used",
        "the header says 3 clauses, but there are 1",
    ]


def test_queries_become_clauses_and_a_script() -> None:
    text = b"p inccnf\n1 2 0\na -1 0\na 1 -2 0\n"
    found = converted(text, None, "cnf")
    assert found.text == b"p cnf 2 3\n1 2 0\n1 0\n-2 0\n"
    assert found.notes == ("of 2 queries only the last one is written",)
    assert converted(text, None, "smt2").text.endswith(
        b"(assert (or v1 v2))\n(check-sat-assuming ((not v1)))\n"
        b"(check-sat-assuming (v1 (not v2)))\n"
    )


def test_quantifiers_are_kept_in_a_script() -> None:
    text = b"p cnf 3 1\na 1 0\ne 2 0\n1 -2 3 0\n"
    assert converted(text, None, "smt2").text == (
        b"(set-logic ALL)\n(declare-const v3 Bool)\n"
        b"(assert (forall ((v1 Bool)) (exists ((v2 Bool)) (and true (or v1 (not v2) v3)))))\n"
        b"(check-sat)\n"
    )
