"""Mutants of inputs are answered with a result or a message, never with a traceback."""

import pytest

from benchmarks.parser_fuzz import run
from benchmarks.parser_mutants import mutant
from reducekit import registry

FORMATS = registry.names(registry.FRONTENDS)


@pytest.mark.slow
@pytest.mark.parametrize("format_name", FORMATS)
def test_mutants_of_fixed_seeds(format_name: str) -> None:
    found = run(format_name, range(60))
    assert found.faults == {}
    assert found.parsed > 48, "the code behind the parser is to be met"
    assert found.checks > 200


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_seed_makes_the_same_mutant(format_name: str) -> None:
    made = [mutant(format_name, seed) for seed in range(9)]
    assert made == [mutant(format_name, seed) for seed in range(9)]
    assert len({*made}) > 5
