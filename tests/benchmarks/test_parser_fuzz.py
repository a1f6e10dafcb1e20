"""Mutants of inputs are answered with a result or a message, never with a traceback."""

from __future__ import annotations

import pytest

from benchmarks.parser_fuzz import FORMATS, run


@pytest.mark.slow
@pytest.mark.parametrize("format_name", FORMATS)
def test_mutants_of_fixed_seeds(format_name: str) -> None:
    found = run(format_name, range(150))
    assert found.faults == {}
    assert found.parsed > 120, "the code behind the parser is to be met"
    assert found.checks > 500


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_seed_makes_the_same_mutant(format_name: str) -> None:
    make = FORMATS[format_name].mutant
    assert [make(seed, ()) for seed in range(9)] == [make(seed, ()) for seed in range(9)]
    assert len({make(seed, ()) for seed in range(9)}) > 5
