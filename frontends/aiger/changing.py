"""A circuit in which variables are replaced and properties dropped."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from reducekit.frontends.aiger.circuit import KINDS, Circuit, Latch

FREE = -1
"""Stands for a new input, in place of a literal."""
Image = Mapping[int, int]
"""What variables become: literals of lower variables, or FREE."""


def resolved(circuit: Circuit, image: Image) -> list[int]:
    """Return the literal that each variable stands for after a replacement; FREE ones stay."""
    found = list(range(0, 2 * circuit.variables + 2, 2))
    for variable in sorted(image):
        if (literal := image[variable]) != FREE:
            found[variable] = found[literal >> 1] ^ (literal & 1)
    return found


def unused(circuit: Circuit, image: Image) -> list[int]:
    """Return the gates that stay and that nothing uses after a replacement, by variable."""
    to, first = resolved(circuit, image), circuit.first_gate
    used = bytearray(circuit.variables + 1)
    for literal in circuit.roots():
        used[to[literal >> 1] >> 1] = 1
    for variable, latch in enumerate(circuit.latches, circuit.first_latch):
        if variable not in image:
            used[to[latch.next >> 1] >> 1] = 1
    found = []
    left, right = circuit.left, circuit.right
    for gate in range(circuit.variables, first - 1, -1):
        if gate in image:
            continue
        if not used[gate]:
            found.append(gate)
            continue
        used[to[left[gate - first] >> 1] >> 1] = 1
        used[to[right[gate - first] >> 1] >> 1] = 1
    return found


def replaced(circuit: Circuit, image: Image) -> Circuit:
    """Return the circuit after a replacement; what is replaced is gone.

    Variables keep their names in a text file, if they have any, and a header that allows more
    variables than there are stays so.
    """
    to, latch_at, gate_at = resolved(circuit, image), circuit.first_latch, circuit.first_gate
    inputs = [each for each in range(1, latch_at) if each not in image]
    inputs += sorted(each for each, literal in image.items() if literal == FREE)
    latches = [each for each in range(latch_at, gate_at) if each not in image]
    gates = [each for each in range(gate_at, circuit.variables + 1) if each not in image]
    new = array("i", [0]) * (circuit.variables + 1)
    for place, variable in enumerate((*inputs, *latches, *gates), 1):
        new[variable] = 2 * place

    def moved(literal: int) -> int:
        stands_for = to[literal >> 1] ^ (literal & 1)
        return new[stands_for >> 1] | (stands_for & 1)

    symbols = {key: name for key, name in circuit.symbols.items() if key[0] not in "il"}
    for kind, kept, begin in (("i", inputs, 1), ("l", latches, latch_at)):
        for place, variable in enumerate(kept):
            name = circuit.symbols.get((kind, variable - begin))
            if name is not None:
                symbols[kind, place] = name
    states = (circuit.latches[each - latch_at] for each in latches)
    names = circuit.names
    if names is not None:
        names = array("i", [names[each] for each in (0, *inputs, *latches, *gates)])
    changed = replace(
        circuit,
        inputs=len(inputs),
        latches=[Latch(moved(each.next), each.reset) for each in states],
        left=array("i", [moved(circuit.left[each - gate_at]) for each in gates]),
        right=array("i", [moved(circuit.right[each - gate_at]) for each in gates]),
        symbols=symbols,
        names=names,
        top=circuit.top if names is not None or circuit.top > circuit.variables else 0,
    )
    return with_roots(changed, moved)


def with_roots(circuit: Circuit, moved: Callable[[int], int]) -> Circuit:
    """Return the circuit with other literals as its properties."""
    return replace(
        circuit,
        outputs=list(map(moved, circuit.outputs)),
        bads=list(map(moved, circuit.bads)),
        constraints=list(map(moved, circuit.constraints)),
        justice=[tuple(map(moved, each)) for each in circuit.justice],
        fairness=list(map(moved, circuit.fairness)),
    )


def without_properties(circuit: Circuit, dropped: Iterable[tuple[str, int]]) -> Circuit:
    """Return the circuit without some properties, given by their letter and position."""
    gone = set(dropped)
    symbols = {key: name for key, name in circuit.symbols.items() if key[0] in "il"}
    left: dict[str, list[int]] = {}
    for kind in KINDS[2:]:
        left[kind] = [at for at in range(len(circuit.of_kind(kind))) if (kind, at) not in gone]
        for place, at in enumerate(left[kind]):
            if (kind, at) in circuit.symbols:
                symbols[kind, place] = circuit.symbols[kind, at]
    return replace(
        circuit,
        outputs=[circuit.outputs[at] for at in left["o"]],
        bads=[circuit.bads[at] for at in left["b"]],
        constraints=[circuit.constraints[at] for at in left["c"]],
        justice=[circuit.justice[at] for at in left["j"]],
        fairness=[circuit.fairness[at] for at in left["f"]],
        symbols=symbols,
    )


def folded(circuit: Circuit) -> Image:
    """Return what the gates are that constants, or the same operand twice, decide."""
    first = circuit.first_gate
    to = list(range(0, 2 * circuit.variables + 2, 2))
    image: dict[int, int] = {}
    for gate, (one, other) in enumerate(zip(circuit.left, circuit.right, strict=True), first):
        low, high = sorted((to[one >> 1] ^ (one & 1), to[other >> 1] ^ (other & 1)))
        if low == 0 or low ^ 1 == high:
            image[gate] = 0
        elif low == 1 or low == high:
            image[gate] = high
        else:
            continue
        to[gate] = image[gate]
    return image
