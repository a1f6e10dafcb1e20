"""Clauses that belong together, by their truth tables."""

from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest

from reducekit.frontends.trace.generate import clauses as structures
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.model.loader import load_model

SOLVES = ("solve", "simplify", "propagate", "lookahead", "cubing")
LITERALS = [3, -1, 4, 2]
MEANS: dict[structures.Structure, Callable[..., object]] = {
    structures.parity: lambda a, b, c, d: (a + b + c + d) % 2,
    structures.and_gate: lambda a, b, c, d: a == (b and c and d),
    structures.if_then_else: lambda a, b, c, d: a == (c if b else d),
    structures.exactly_one: lambda a, b, c, d: a + b + c + d == 1,
}


@pytest.mark.parametrize("structure", structures.STRUCTURES)
def test_the_clauses_say_what_the_structure_means(structure: structures.Structure) -> None:
    clauses = structure(LITERALS)
    for values in product((False, True), repeat=4):
        holds = dict(zip(LITERALS, values, strict=True))
        holds |= {-literal: not value for literal, value in holds.items()}
        assert all(any(holds[each] for each in clause) for clause in clauses) == bool(
            MEANS[structure](*values)
        )


def test_cadical_gets_small_formulas_of_one_length_and_most_calls() -> None:
    """Without a library: what depends on answers comes on top."""
    model = load_model("cadical")
    generator = Generator(model)
    names: Counter[str] = Counter()
    few = uniform = checked = 0
    for seed in range(150):
        calls = generator.generate(seed).calls
        names.update(call.name for call in calls)
        numbers = [int(call.arguments[0]) for call in calls if call.name == "add"]
        solved = next((n for n, call in enumerate(calls) if call.name in SOLVES), len(calls))
        first = [int(call.arguments[0]) for call in calls[:solved] if call.name == "add"]
        few += max(map(abs, first)) <= 10
        checked += any(call.arguments == ("check", 1) for call in calls if call.name == "set")
        lengths = Counter(len(clause.split()) for clause in " ".join(map(str, numbers)).split(" 0"))
        uniform += max(lengths.values()) > 0.8 * lengths.total()
    assert few >= 150 // 4
    assert uniform >= 150 // 6
    assert checked >= 150 * 3 // 4
    assert names["simplify"] >= (names["solve"] + names["simplify"]) / 5
    assert {"constrain", "propagate", "limit", "optimize", "configure", "resize"} <= names.keys()
