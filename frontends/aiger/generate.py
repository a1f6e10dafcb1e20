"""Random circuits: gates over earlier variables, latches, and properties of AIGER 1.0 or 1.9."""

from __future__ import annotations

import random
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from reducekit.frontends.aiger.circuit import Circuit, Latch
from reducekit.frontends.aiger.writer import write
from reducekit.frontends.solver_options import in_comments, of_command, read_options
from reducekit.offers import FormatOption, Generated, Generation, InputGenerator, words_of

_NEAR = 0.6
"""How often an operand is one of the last variables, so that circuits become deep."""
_SMALLEST = 4
_RESETS: tuple[int | None, ...] = (0, 0, 0, 1, None)

OPTIONS: tuple[FormatOption, ...] = (
    FormatOption("gates", "Number of gates.", "whole", 60, (), "N", least=1, most=10**6),
    FormatOption("notation", "Form of the files.", "choice", "aag", ("aag", "aig")),
    FormatOption(
        "version",
        "1.0: latches start with 0, outputs only. 1.9: all resets and properties.",
        "choice",
        "1.9",
        ("1.0", "1.9"),
    ),
    FormatOption(
        "latches", "Number of latches; default: up to an eighth of the gates.", "whole", None, (),
        "N", least=0, most=10**6,
    ),
    FormatOption("vary", "Vary the number of gates, up to --gates.", "flag", default=True),
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
    variables = first + gates

    def literal() -> int:
        return rng.randrange(2 * max(0, variables - 8), 2 * variables)

    def several(most: int) -> list[int]:
        return [literal() for _ in range(rng.randint(0, most))]

    # A reset needs version 1.9.
    states = [
        Latch(rng.randrange(2, 2 * variables), 0 if old else rng.choice(_RESETS))
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


class AigerGenerator(InputGenerator):
    """Makes random circuits."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self.suffix = f".{values['notation']}"
        which = values["solver_options"]
        self._options = None if which is None else read_options(which, "aiger")
        self.has_options = which is not None

    def generate(self, seed: int) -> Generated:
        """Make the circuit of a seed."""
        values = self._values
        rng = random.Random(f"aiger {seed} {values['version']}")
        gates = values["gates"]
        if values["vary"] and gates > _SMALLEST:
            # As many small circuits as large ones.
            share = rng.random()
            gates = round(_SMALLEST ** (1 - share) * gates**share)
        latches = values["latches"]
        if latches is None:
            latches = rng.randint(0, gates // 8)
        circuit = random_circuit(
            rng, gates, latches, binary=values["notation"] == "aig", old=values["version"] == "1.0"
        )
        if self._options is not None:
            circuit = replace(circuit, comment=in_comments(seed, self._options))
        return Generated(write(circuit))

    def words(self, seed: int) -> Sequence[str]:
        """Return the options that make it again."""
        return ["--seed", str(seed), *words_of(OPTIONS, self._values)]


GENERATION = Generation(
    AigerGenerator,
    OPTIONS,
    "Gates over earlier gates, latches and inputs, with outputs, bad states, constraints, justice "
    "and fairness properties.",
)
