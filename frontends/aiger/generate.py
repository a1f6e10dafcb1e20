"""Random circuits: gates over earlier variables, latches, and properties of AIGER 1.0 or 1.9."""

from __future__ import annotations

import random
from array import array
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from reducekit.frontends import mutation
from reducekit.frontends.aiger.circuit import Circuit, Latch
from reducekit.frontends.aiger.files import write
from reducekit.frontends.aiger.mutants import RESETS, changed, seed_of
from reducekit.frontends.mutation import Mutants, MutatingGenerator, drawn_size
from reducekit.frontends.solver_options import in_comments, of_command
from reducekit.offers import FormatOption, Generated, Generation

_NEAR = 0.6
"""How often an operand is one of the last variables, so that circuits become deep."""
_SMALLEST = 4
_CONJUNCTION = (0, 2, 4, 6)
"""How many gates make a property harder to reach."""
_LATER = 0.4
"""How often what such a gate needs is a latch."""

OPTIONS: tuple[FormatOption, ...] = (
    FormatOption("gates", "Number of gates.", "whole", 60, (), "N", least=1, most=10**6),
    FormatOption("notation", "Form of the files.", "choice", "aag", ("aag", "aig")),
    FormatOption(
        "version", "1.0: latches start with 0, outputs only. 1.9: all resets and properties.",
        "choice", "1.9", ("1.0", "1.9"),
    ),
    FormatOption(
        "latches", "Number of latches; default: up to an eighth of the gates.", "whole", None, (),
        "N", least=0, most=10**6,
    ),
    FormatOption("vary", "Vary the number of gates, up to --gates.", "flag", default=True),
    *mutation.OPTIONS,
    of_command("aiger"),
)  # fmt: skip


def random_circuit(
    rng: random.Random, gates: int, latches: int, *, binary: bool, old: bool
) -> Circuit:
    """Return a circuit with as many gates and latches; `old` for AIGER 1.0."""
    inputs = rng.randint(1, 2 + gates // 4)
    first = inputs + latches + 1
    left, right = array("i"), array("i")
    for variable in range(first, first + gates):
        one, other = _operand(rng, variable), _operand(rng, variable)
        while other >> 1 == one >> 1 and rng.random() < 0.95:
            other = rng.randrange(2 * variable)
        left.append(max(one, other))
        right.append(min(one, other))

    def literal() -> int:
        """Return one of the last gates, or the conjunction of some variables in new gates."""
        variables = first + len(left)
        found = rng.randrange(2 * max(0, variables - 8), 2 * variables)
        for _ in range(rng.choice(_CONJUNCTION)):
            if latches and rng.random() < _LATER:
                # Most begin with 0, so it takes a step to get there.
                other = 2 * (inputs + rng.randint(1, latches))
            else:
                other = rng.randrange(2, 2 * (first + gates))
            left.append(max(found, other))
            right.append(min(found, other))
            found = 2 * (first + len(left) - 1)
        return found

    def several(most: int) -> list[int]:
        return [literal() for _ in range(rng.randint(0, most))]

    # A reset needs version 1.9.
    states = [
        Latch(rng.randrange(2, 2 * (first + gates)), 0 if old else rng.choice(RESETS))
        for _ in range(latches)
    ]
    if old:
        return Circuit(
            binary, inputs, states, left, right, [literal() for _ in range(rng.randint(1, 3))]
        )
    bads = [literal() for _ in range(rng.randint(1, 2))]
    justice = [tuple(several(2)) or (literal(),) for _ in range(rng.randint(0, 1))]
    return Circuit(
        binary, inputs, states, left, right, several(1), bads, several(1), justice, several(1)
    )


def _operand(rng: random.Random, below: int) -> int:
    low = max(1, below - 10) if rng.random() < _NEAR else 1
    return rng.randrange(2 * low, 2 * below)


def _written(
    dice: random.Random, seed: Circuit, other: Circuit | None, *, binary: bool
) -> bytes | None:
    """Return the text of a mutant; None if nothing has changed."""
    made = changed(dice, seed, other)
    return None if made is None else write(replace(made, binary=binary))


class AigerGenerator(MutatingGenerator[Circuit]):
    """Makes random circuits."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.suffix = f".{values['notation']}"
        self._old = values["version"] == "1.0"
        self._binary = values["notation"] == "aig"
        super().__init__("aiger", OPTIONS, values, self._mutants_of)

    def _mutants_of(self, path: Path) -> Mutants[Circuit]:
        noun = f"circuits of AIGER {self.values['version']} that have a property"
        change = partial(_written, binary=self._binary)
        return Mutants(path, (".aag", ".aig"), noun, partial(seed_of, old=self._old), change)

    def generate(self, seed: int) -> Generated:
        """Make the circuit of a seed. Raises UsageError if no file can be mutated."""
        made = self.made(seed)
        if self.has_options:
            made += b"c\n" + in_comments(seed, self.solver_options)
        return Generated(made)

    def random(self, seed: int) -> bytes:
        values = self.values
        rng = random.Random(f"aiger {seed} {values['version']}")
        gates, latches = values["gates"], values["latches"]
        if values["vary"] and gates > _SMALLEST:
            gates = drawn_size(rng.random(), _SMALLEST, gates)
        if latches is None:
            latches = rng.randint(0, gates // 8)
        return write(random_circuit(rng, gates, latches, binary=self._binary, old=self._old))


GENERATION = Generation(
    AigerGenerator,
    OPTIONS,
    "Gates over earlier gates, latches and inputs, with outputs, bad states, constraints, justice "
    "and fairness properties. With --mutate, circuits that are slightly changed.",
    changes="mutate",
    presets={
        "large": {"gates": 1000},
        "gates only": {"latches": 0},
        "old readers": {"version": "1.0"},
    },
)
