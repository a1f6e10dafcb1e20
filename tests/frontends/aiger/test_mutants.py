"""Mutants of circuits: well-formed in both forms, different, the same for the same seed."""

import random
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from reducekit.frontends.aiger.circuit import Circuit
from reducekit.frontends.aiger.files import read, write
from reducekit.frontends.aiger.generate import GENERATION, changed, joined, random_circuit, seed_of
from reducekit.offers import InputGenerator, with_defaults
from tests.frontends.aiger.simulation import steps


def circuit(seed: int, *, old: bool = False) -> Circuit:
    return random_circuit(random.Random(seed), 20, 3, binary=False, old=old)


def generator(**values: object) -> InputGenerator:
    return GENERATION.make({**with_defaults(GENERATION.options, values), "seed": 0})


def test_each_mutant_of_one_change_computes_something_else_or_has_another_shape() -> None:
    """All kinds of changes are drawn: gates, operands, latches, properties."""
    seed = seed_of(write(circuit(5)))
    assert seed is not None
    found = [changed(Random(number), seed, None) for number in range(200)]
    several = [each for each in found if each is not None]
    gates = {len(each.left) - len(seed.left) for each in several}
    assert {0, 1, 3} <= gates
    same = [each for each in several if len(each.left) == len(seed.left)]
    assert any(each.left != seed.left and each.latches == seed.latches for each in same)
    assert any(each.latches != seed.latches and each.left == seed.left for each in same)
    assert any(each.bads != seed.bads and each.left == seed.left for each in same)
    assert any(len(each.bads) > len(seed.bads) for each in several)


def told(circuit: Circuit, values: list[list[int]], free: list[int]) -> list[dict[str, list[int]]]:
    """Return the values of all properties but justice, by their letter, step by step."""
    found = steps(circuit, lambda step, at: values[step][at], 64, free.__getitem__)
    return [
        {
            kind: [value(each) for each in circuit.of_kind(kind) if isinstance(each, int)]
            for kind in "obcf"
        }
        for value in islice(found, len(values))
    ]


@pytest.mark.parametrize("shared", [False, True])
def test_joined_circuits_do_what_each_did(shared: bool) -> None:
    for number in range(20):
        one, two = circuit(2 * number), circuit(2 * number + 1)
        both = joined(one, two, shared=shared)
        dice = Random(number)
        values = [[dice.getrandbits(64) for _ in range(both.inputs)] for _ in range(5)]
        free = [dice.getrandbits(64) for _ in both.latches]
        first = told(one, values, free)
        begin = 0 if shared else one.inputs
        second = told(two, [each[begin:] for each in values], free[len(one.latches) :])
        for whole, left, right in zip(told(both, values, free), first, second, strict=True):
            assert whole == {kind: left[kind] + right[kind] for kind in "obcf"}


def test_a_share_of_the_circuits_is_random(tmp_path: Path) -> None:
    (tmp_path / "in.aag").write_bytes(b"aag 3 2 0 1 1\n2\n4\n6\n6 4 2\n")
    made = generator(mutate=str(tmp_path), mix=0.5, gates=500, vary=False)
    sizes = [len(read(made.generate(seed).text).left) for seed in range(40)]
    assert 8 < sum(size < 50 for size in sizes) < 32
    assert made.words(3)[:2] == ["--seed", "3"]
