"""Clauses: read, reduced, generated, converted. The oracle is a real solver, in this process."""

import subprocess
from pathlib import Path

import pytest
from pysat.solvers import Solver

import reducekit
from reducekit.errors import ParseError, UsageError
from reducekit.frontends.cnf import Cnf
from reducekit.frontends.cnf.convert import converted
from reducekit.frontends.cnf.generate import FORMATS, GENERATION, SHAPES
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
@pytest.mark.parametrize("notation", FORMATS)
def test_what_is_generated_keeps_the_rules(shape: str, notation: str) -> None:
    for seed in range(5):
        text = _made(seed, shape=shape, notation=notation)
        assert Cnf().check(text).problems == []
        assert View(text).format in (notation, "cnf" if notation == "xcnf" else notation)


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


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (b"p cnf 1 1\n1 x 0\n", "line 2"),
        (b"p cnf 1 1\n1\n", "line 2"),
        (b"p cnf 1\n1 0\n", "line 1"),
        (b"-1 2 0\n", "line 1"),
        (b"p cnf 2 1\nk 1 1 2 0\n", "line 2, column 1: expected a header 'p knf', found 'k'"),
        (b"p knf 2 1\nx1 2 0\n", "line 2"),
        (b"p inccnf\nx1 2 0\n", "line 2"),
        (b"", "line 1"),
    ],
)
def test_bad_input_is_answered_with_its_place(text: bytes, place: str) -> None:
    with pytest.raises(ParseError) as raised:
        View(text)
    assert place in str(raised.value)


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


def test_parities_and_cardinalities_are_terms_of_a_script() -> None:
    text = b"p cnf 2 3\nx1 -2 0\nx-2 0\nx0\n"
    assert converted(text, None, "smt2").text.endswith(
        b"(assert (xor v1 (not v2)))\n(assert (not v2))\n(assert false)\n(check-sat)\n"
    )
    found = converted(b"p knf 2 1\nk 2 1 -2 0\n", None, "smt2").text
    assert b"(assert (>= (+ 0 0 (ite v1 1 0) (ite (not v2) 1 0)) 2))\n" in found
    with pytest.raises(UsageError, match="cnf has no parities"):
        converted(text, None, "cnf")


@pytest.mark.debian("cryptominisat5")
def test_parities_are_reduced_as_cryptominisat_reads_them(tmp_path: Path) -> None:
    """Four equations that contradict each other; each candidate is read, and none has an error."""
    text = b"p cnf 6 5\nx1 2 3 0\nx 3 -4 0\nx4 5 1 0\nx2 5 0\n1 6 0\n"
    path = tmp_path / "in.cnf"

    def unsatisfiable(candidate: bytes) -> bool:
        path.write_bytes(candidate)
        words = ["cryptominisat5", "--verb", "0", str(path)]
        done = subprocess.run(words, capture_output=True, check=False)
        assert done.returncode in (10, 20), candidate
        lines = View(candidate).lines()
        parities = sum(each.prefix == b"x" for each in lines)
        return done.returncode == 20 and parities > 1 and all(each.literals for each in lines)

    result = reducekit.reduce(text, unsatisfiable, format="cnf").text
    assert result == b"p cnf 1 2\nx1 0\nx-1 0\n"


def test_quantifiers_are_kept_in_a_script() -> None:
    text = b"p cnf 3 1\na 1 0\ne 2 0\n1 -2 3 0\n"
    assert converted(text, None, "smt2").text == (
        b"(set-logic ALL)\n(declare-const v3 Bool)\n"
        b"(assert (forall ((v1 Bool)) (exists ((v2 Bool)) (and true (or v1 (not v2) v3)))))\n"
        b"(check-sat)\n"
    )
