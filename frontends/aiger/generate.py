"""Random circuits, and mutants of circuits.

Random ones have layers of gates over inputs and latches, what nothing uses is joined to a property
of AIGER 1.0 or 1.9: the shape of the circuits of aigfuzz, with its closures. Mutants
have other operands, gates around them, other latches and properties, or are two circuits in one.
Nothing is known of what a mutant reaches. What no property depends on may stay in it, as in what
synthesis tools read.
"""

from __future__ import annotations

import random
from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from reducekit.errors import ParseError
from reducekit.frontends import mutation
from reducekit.frontends.aiger.circuit import Circuit, Latch, mapped
from reducekit.frontends.aiger.files import read, write
from reducekit.frontends.mutation import Mutants, MutatingGenerator, drawn_size
from reducekit.frontends.solver_options import in_comments, of_command
from reducekit.offers import FormatOption, Generated, Generation

_Change: TypeAlias = Callable[[Random, Circuit, bool], Circuit]
_MOST = 5
"""The number of changes of a mutant, at most."""
_SHARED = 0.5
"""How often two circuits that are joined have inputs in common."""
RESETS: tuple[int | None, ...] = (0, 0, 0, 1, None)
"""How a latch begins, as often as is drawn: None leaves it open."""


def seed_of(text: bytes, *, old: bool = False) -> Circuit | None:
    """Return a circuit as a seed, numbered as in binary files, without symbols and comments.

    None if it does not parse, has no property, or, if only `old` ones are wanted, needs
    AIGER 1.9.
    """
    try:
        circuit = read(text)
    except ParseError:
        return None
    if not circuit.properties or (old and not is_old(circuit)):
        return None
    return replace(circuit, symbols={}, comment=None, names=None, top=0)


def is_old(circuit: Circuit) -> bool:
    """Return whether a circuit needs no more than AIGER 1.0."""
    resets = any(each.reset != 0 for each in circuit.latches)
    return not resets and len(circuit.outputs) == circuit.properties


def changed(dice: Random, seed: Circuit, other: Circuit | None) -> Circuit | None:
    """Return a seed, joined with the other one if that can be, with some changes; None if equal."""
    circuit = seed
    if other is not None and bool(seed.outputs) == bool(other.outputs):
        circuit = joined(circuit, other, shared=dice.random() < _SHARED)
    old = is_old(circuit)
    for _ in range(dice.randint(1, _MOST)):
        circuit = dice.choice(_CHANGES)(dice, circuit, old)
    return None if circuit == seed else circuit


def joined(first: Circuit, second: Circuit, *, shared: bool) -> Circuit:
    """Return two circuits side by side, with the same inputs or others."""
    inputs = max(first.inputs, second.inputs) if shared else first.inputs + second.inputs
    latches = len(first.latches) + len(second.latches)

    def moving(circuit: Circuit, by: Sequence[int]) -> Circuit:
        def moved(literal: int) -> int:
            variable = literal >> 1
            if variable == 0:
                return literal
            kind = (variable >= circuit.first_latch) + (variable >= circuit.first_gate)
            return literal + 2 * by[kind]

        return mapped(circuit, moved)

    before = 0 if shared else first.inputs
    one = moving(
        first, (0, inputs - first.inputs, inputs + latches - first.inputs - len(first.latches))
    )
    gates = len(first.left) + inputs + latches - second.inputs - len(second.latches)
    two = moving(second, (before, inputs + len(first.latches) - second.inputs, gates))
    return replace(
        one,
        inputs=inputs,
        latches=[*one.latches, *two.latches],
        left=one.left + two.left,
        right=one.right + two.right,
        outputs=[*one.outputs, *two.outputs],
        bads=[*one.bads, *two.bads],
        constraints=[*one.constraints, *two.constraints],
        justice=[*one.justice, *two.justice],
        fairness=[*one.fairness, *two.fairness],
    )


def _with_gate(circuit: Circuit, gate: int, operands: tuple[int, int]) -> Circuit:
    """Return a circuit with a new gate in the place of a variable, which moves up."""
    made = mapped(circuit, lambda literal: literal if literal < 2 * gate else literal + 2)
    at = gate - circuit.first_gate
    made.left.insert(at, max(operands))
    made.right.insert(at, min(operands))
    return made


def _with_operand(circuit: Circuit, gate: int, old: int, new: int) -> Circuit:
    """Return a circuit in which a gate has another operand in place of `old`."""
    at = gate - circuit.first_gate
    both = [circuit.left[at], circuit.right[at]]
    both[both.index(old)] = new
    left, right = circuit.left[:], circuit.right[:]
    left[at], right[at] = max(both), min(both)
    return replace(circuit, left=left, right=right)


def _operand(change: Callable[[Random, Circuit, int, int], Circuit]) -> _Change:
    """Return the change of a circuit, if it has gates, that is given one and its operand."""

    def changed_operand(dice: Random, circuit: Circuit, old: bool) -> Circuit:
        if not circuit.left:
            return circuit
        gate = dice.randint(circuit.first_gate, circuit.variables)
        at = gate - circuit.first_gate
        return change(dice, circuit, gate, dice.choice((circuit.left[at], circuit.right[at])))

    return changed_operand


def _negate(dice: Random, circuit: Circuit, gate: int, operand: int) -> Circuit:
    """Negate an operand."""
    return _with_operand(circuit, gate, operand, operand ^ 1)


def _exchange(dice: Random, circuit: Circuit, gate: int, operand: int) -> Circuit:
    """Exchange an operand for another one, also a constant."""
    return _with_operand(circuit, gate, operand, dice.randrange(2 * gate))


def _surround(dice: Random, circuit: Circuit, gate: int, operand: int) -> Circuit:
    """Put a gate between an operand and its user."""
    made = _with_gate(circuit, gate, (operand ^ dice.randint(0, 1), dice.randrange(2 * gate)))
    return _with_operand(made, gate + 1, operand, 2 * gate + dice.randint(0, 1))


def _differ(dice: Random, circuit: Circuit, gate: int, one: int) -> Circuit:
    """Put an exclusive or between an operand and its user: synthesis looks for such gates."""
    other = dice.randrange(2 * gate)
    made = _with_gate(circuit, gate, (one, other ^ 1))
    made = _with_gate(made, gate + 1, (one ^ 1, other))
    made = _with_gate(made, gate + 2, (2 * gate + 1, 2 * gate + 3))
    return _with_operand(made, gate + 3, one, 2 * gate + 4 + dice.randint(0, 1))


def _state(dice: Random, circuit: Circuit, old: bool) -> Circuit:
    """Give a latch another next state or reset."""
    if not circuit.latches:
        return circuit
    at = dice.randrange(len(circuit.latches))
    states = list(circuit.latches)
    if old or dice.random() < 0.5:
        states[at] = states[at]._replace(next=_literal(dice, circuit))
    else:
        states[at] = states[at]._replace(reset=dice.choice(RESETS))
    return replace(circuit, latches=states)


def _literal(dice: Random, circuit: Circuit) -> int:
    return dice.randrange(2 * circuit.variables + 2)


def _property(dice: Random, circuit: Circuit, old: bool) -> Circuit:
    """Give a property another literal, often the negation of its own."""
    roots = circuit.roots()
    which = dice.randrange(len(roots))
    new = roots[which] ^ 1 if dice.random() < 0.5 else _literal(dice, circuit)
    # They are mapped in the order in which they were listed.
    order = iter(range(len(roots)))
    kinds = (circuit.outputs, circuit.bads, circuit.constraints, circuit.fairness)
    outputs, bads, constraints, fairness = (
        [new if next(order) == which else each for each in kind] for kind in kinds
    )
    justice = [
        tuple(new if next(order) == which else each for each in literals)
        for literals in circuit.justice
    ]
    return replace(
        circuit, outputs=outputs, bads=bads, constraints=constraints, fairness=fairness,
        justice=justice,
    )  # fmt: skip


def _more(dice: Random, circuit: Circuit, old: bool) -> Circuit:
    """Add an output, or where there are other properties, a bad state or a constraint."""
    new = _literal(dice, circuit)
    if old:
        return replace(circuit, outputs=[*circuit.outputs, new])
    if dice.random() < 0.5:
        return replace(circuit, bads=[*circuit.bads, new])
    return replace(circuit, constraints=[*circuit.constraints, new])


_CHANGES: tuple[_Change, ...] = (
    *map(_operand, (_negate, _exchange, _surround, _differ)), _state, _property, _more,
)  # fmt: skip


_SMALLEST = 8
_WITHOUT, _MOST_LATCHES = 0.1, 200
"""How many circuits have no latch, and the most that one has: half of them have nine or more."""
_DIFFERENT = 0.95
"""How often a gate does not use a variable twice."""
_CONJUNCTION = (0, 2, 4, 6)
"""How many gates make a property harder to reach."""
_LATER = 0.4
"""How often what such a gate needs is a latch."""
NONE = "none"
CLOSURES = ("and", "or", "xor", "merge", "cnf", NONE)
"""How what nothing uses is joined: `merge` draws each gate, `cnf` has clauses of three over it."""
_CLOSED = 40
"""Variables that are joined, at most."""
_HARD = 4.267
"""Clauses per variable where half of the formulas are satisfiable (Mertens, Mezard, Zecchina 2006).
"""

OPTIONS: tuple[FormatOption, ...] = (
    FormatOption("gates", "Number of gates.", "whole", 2000, (), "N", least=1, most=10**6),
    FormatOption("notation", "Form of the files.", "choice", "aag", ("aag", "aig")),
    FormatOption(
        "version", "1.0: latches start with 0, outputs only. 1.9: all resets and properties.",
        "choice", "1.9", ("1.0", "1.9"),
    ),
    FormatOption(
        "latches", "Number of latches; default: drawn, up to 200.", "whole", None, (),
        "N", least=0, most=10**6,
    ),
    FormatOption(
        "closure", "How what no gate uses is joined to a property; cnf: 3-SAT; any: drawn.",
        "choice", "any", ("any", *CLOSURES),
    ),
    FormatOption("vary", "Vary the number of gates, up to --gates.", "flag", default=True),
    *mutation.OPTIONS,
    of_command("aiger"),
)  # fmt: skip


def layered(rng: random.Random, first: int, gates: int) -> tuple[array[int], array[int], list[int]]:
    """Return the operands of gates from variable `first` on, and the variables that none uses.

    Width and depth of the layers are drawn; a gate uses the layer before it, and one before that.
    """
    left, right = array("i"), array("i")
    width, lower = drawn_size(rng.random(), 2, max(2, gates)), rng.random() / 2
    layers = [range(1, first)]
    unused = [list(layers[0])]
    for begin in range(first, first + gates, width):
        layer = range(begin, min(begin + width, first + gates))
        for _ in layer:
            found: list[int] = []
            while len(found) < 2:
                at = len(layers) - 1
                while found and at and rng.random() < lower:
                    at -= 1
                pool = unused[at]
                drawn = rng.randrange(len(pool)) if pool else 0
                variable = pool[drawn] if pool else rng.choice(layers[at])
                if pool:
                    pool[drawn] = pool[-1]
                    pool.pop()
                elif found and variable == found[0] >> 1 and rng.random() < _DIFFERENT:
                    variable = rng.randrange(1, begin)
                found.append(2 * variable + rng.randint(0, 1))
            left.append(max(found))
            right.append(min(found))
        layers.append(layer)
        unused.append(list(layer))
    return left, right, [each for pool in unused for each in pool]


def closed(
    rng: random.Random, closure: str, literals: Sequence[int], gate: Callable[[int, int], int]
) -> int:
    """Join literals by new gates to one; `gate` makes one and returns its literal."""
    if closure == "cnf":
        # A clause is the negation of a conjunction.
        literals = [
            gate(gate(*(rng.choice(literals) ^ rng.randint(0, 1) for _ in range(2))), last) ^ 1
            for _ in range(round(_HARD * len(literals)))
            for last in [rng.choice(literals) ^ rng.randint(0, 1)]
        ]
    left = deque(literals)
    while len(left) > 1:
        one, other = left.popleft(), left.popleft()
        sign = rng.randint(0, 3) if closure == "merge" else 3 * (closure == "or")
        if closure == "xor":
            left.append(gate(gate(one, other ^ 1) ^ 1, gate(one ^ 1, other) ^ 1) ^ 1)
        else:
            left.append(gate(one ^ sign & 1, other ^ sign >> 1) ^ sign & 1)
    return left[0]


def random_circuit(
    rng: random.Random, gates: int, latches: int, *, binary: bool, old: bool, closure: str = "any"
) -> Circuit:
    """Return a circuit with as many gates below its closure, and latches; `old` for AIGER 1.0."""
    inputs = rng.randint(1, 2 + gates // 4)
    first = inputs + latches + 1
    left, right, unused = layered(rng, first, gates)

    def gate(one: int, other: int) -> int:
        left.append(max(one, other))
        right.append(min(one, other))
        return 2 * (first + len(left) - 1)

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
            found = gate(found, other)
        return found

    def closing() -> int:
        """Return the closure of what nothing uses; a literal like others without one."""
        drawn = rng.choice(CLOSURES) if closure == "any" else closure
        some = rng.sample(unused, min(len(unused), _CLOSED))
        if drawn == NONE or not some:
            return literal()
        return closed(rng, drawn, [2 * each + rng.randint(0, 1) for each in some], gate)

    def several(most: int) -> list[int]:
        return [literal() for _ in range(rng.randint(0, most))]

    # A reset needs version 1.9.
    states = [
        Latch(rng.randrange(2, 2 * (first + gates)), 0 if old else rng.choice(RESETS))
        for _ in range(latches)
    ]
    if old:
        return Circuit(
            binary,
            inputs,
            states,
            left,
            right,
            [closing(), *(literal() for _ in range(rng.randint(0, 2)))],
        )
    bads = [closing(), *(literal() for _ in range(rng.randint(0, 1)))]
    justice = [tuple(several(2)) or (literal(),) for _ in range(rng.randint(0, 1))]
    return Circuit(
        binary, inputs, states, left, right, several(1), bads, several(1), justice, several(1)
    )


class AigerGenerator(MutatingGenerator[Circuit]):
    """Makes random circuits."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.suffix = f".{values['notation']}"
        self._old = values["version"] == "1.0"
        self._binary = values["notation"] == "aig"
        super().__init__("aiger", OPTIONS, values, self._mutants_of)

    def _mutants_of(self, path: Path) -> Mutants[Circuit]:
        noun = f"circuits of AIGER {self.values['version']} that have a property"

        def change(dice: random.Random, seed: Circuit, other: Circuit | None) -> bytes | None:
            made = changed(dice, seed, other)
            return None if made is None else write(replace(made, binary=self._binary))

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
            some = drawn_size(rng.random(), 1, _MOST_LATCHES)
            latches = 0 if rng.random() < _WITHOUT else min(some, gates)
        closure = values["closure"]
        return write(
            random_circuit(rng, gates, latches, binary=self._binary, old=self._old, closure=closure)
        )


GENERATION = Generation(
    AigerGenerator,
    OPTIONS,
    "Layers of gates over latches and inputs, with outputs, bad states, constraints, justice and "
    "fairness properties. With --mutate, circuits that are slightly changed.",
    changes="mutate",
    presets={
        "large": {"gates": 20000},
        "small": {"gates": 60},
        "gates only": {"latches": 0},
        "old readers": {"version": "1.0"},
    },
)
