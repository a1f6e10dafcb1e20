"""Replaces variables by any other literal: a latch by another one, a gate by an input.

Latches by their next states, and variables by those with the same values, go together. Of the
others few succeed once constants, operands and inputs in place of variables have failed, and hardly
any two of them together. So they are tried one by one, the likely ones first, up to the first
success: the passes over all variables come again then.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from reducekit.change import Change
from reducekit.format import pass_
from reducekit.frontends.aiger.circuit import Circuit
from reducekit.frontends.aiger.files import View
from reducekit.frontends.aiger.passes import Substituted, substituted
from reducekit.search.problem import FixedSearch, Items, Search

MOST = 40
"""Circuits with more variables are not searched: there are twice the square of substitutions."""
_OTHERS = 100
"""Unlikely substitutions that are tried. None of them went in 130 results of simulators with
faults, as `benchmarks.aiger_peers` has them, on other seeds."""
_STEPS, _RUNS = 8, 64
_ALL = (1 << _RUNS) - 1


@dataclass(frozen=True, slots=True)
class InTurn(Search):
    """Tries changes one by one, and ends with the first success."""

    circuit: Circuit
    todo: tuple[tuple[int, int], ...]
    """Variables with what they become."""

    def propose(self) -> Change | None:
        if not self.todo:
            return None
        return substituted(self.circuit, dict(self.todo[:1]), "a variable by a literal")

    def after(self, ok: bool) -> Search:
        return InTurn(self.circuit, () if ok else self.todo[1:])


def classes(circuit: Circuit) -> list[tuple[int, int]]:
    """Return a key and a sign for each variable, by its values in 64 random runs.

    Variables of one key have the same values, or if their signs differ, opposite ones.
    """
    dice = Random(0)
    latches = [
        dice.getrandbits(_RUNS) if each.reset is None else -each.reset & _ALL
        for each in circuit.latches
    ]
    keys = signs = [0] * (circuit.variables + 1)
    for step in range(_STEPS):
        values = [0, *(dice.getrandbits(_RUNS) for _ in range(circuit.inputs)), *latches]
        for one, other in zip(circuit.left, circuit.right, strict=True):
            values.append((values[one >> 1] ^ -(one & 1)) & (values[other >> 1] ^ -(other & 1)))
        latches = [values[each.next >> 1] ^ -(each.next & 1) for each in circuit.latches]
        if not step:
            signs = [value & 1 for value in values]
        pairs = zip(keys, values, signs, strict=True)
        keys = [hash((key, (value ^ -sign) & _ALL)) for key, value, sign in pairs]
    return list(zip(keys, signs, strict=True))


def guesses(circuit: Circuit) -> list[tuple[int, int]]:
    """Return substitutions, the likely ones first; some make cycles.

    A variable becomes one with the same values, or a latch, or any other. All are used by a
    property.
    """
    alike, end = classes(circuit), circuit.variables + 1
    latches = range(circuit.first_latch, circuit.first_gate)

    def rank(pair: tuple[int, int]) -> tuple[int, ...]:
        variable, literal = pair
        (key, sign), (other, opposite) = alike[variable], alike[literal >> 1]
        same = key == other and sign ^ opposite == literal & 1
        target = literal >> 1 in latches
        return (not same and not target, not same, variable not in latches, -variable, -literal)

    used = [
        each for each, found in zip(range(end), circuit.reached(), strict=True) if found and each
    ]
    pairs = [(each, 2 * to + sign) for each in used for to in used if to != each for sign in (0, 1)]
    pairs.sort(key=rank)
    likely = sum(not rank(pair)[0] for pair in pairs)
    return pairs[: likely + _OTHERS]


@pass_("delays", lambda view: bool(view.circuit.latches))
def delays(view: View) -> Items:
    """Replaces latches by their next state: what shows after some steps shows one step earlier."""
    circuit = view.circuit
    pairs = [(at, each.next) for at, each in enumerate(circuit.latches, circuit.first_latch)]
    return Substituted(circuit, pairs, "latches by their next state")


@pass_("twins")
def twins(view: View) -> Items | None:
    """Replaces variables by lower ones with the same values in random runs, or opposite ones."""
    circuit = view.circuit
    first: dict[int, tuple[int, int]] = {}
    pairs = []
    for variable, (key, sign) in enumerate(classes(circuit)):
        other, opposite = first.setdefault(key, (variable, sign))
        if other != variable:
            pairs.append((variable, 2 * other | sign ^ opposite))
    return Substituted(circuit, pairs, "variables by equal ones") if pairs else None


@pass_("substitutions", lambda view: 0 < view.circuit.variables <= MOST)
def substitutions(view: View) -> FixedSearch:
    """Replaces a variable by any other literal; only in small circuits."""
    return FixedSearch(InTurn(view.circuit, tuple(guesses(view.circuit))))
