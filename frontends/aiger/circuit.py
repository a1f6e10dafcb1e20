"""An and-inverter graph with latches, as AIGER files describe it: plain data that nobody changes.

The format: A. Biere, "The AIGER And-Inverter Graph (AIG) Format", FMV report 07/1, Linz 2007
(1.0), and A. Biere, K. Heljanko, S. Wieringa, "AIGER 1.9 and beyond", FMV report 11/2, Linz 2011
(resets, bad states, constraints, justice, fairness).

Here variables are numbered as in binary files, whatever the file says: 0 is the constant false,
then come inputs, latches and gates, and a gate only uses variables below its own. So each walk is
a loop over the gates, up or down, however deep the graph is. A *literal* is twice a variable, and
one more if it is negated.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

KINDS = "ilobcjf"
"""The letters of what may have a symbol: inputs, latches, then properties in the file's order."""
_PROPERTIES = {
    "o": "outputs", "b": "bads", "c": "constraints", "j": "justice", "f": "fairness",
}  # fmt: skip
_NEW, _OPEN, _DONE = 0, 1, 2
LIMIT = 1 << 30
"""One above the largest variable that is read: literals are below 2**31."""


class Latch(NamedTuple):
    """The next state and the first one: 0, 1, or None if the latch may start with either."""

    next: int
    reset: int | None


@dataclass(frozen=True, slots=True)
class Circuit:
    """A circuit; all numbers but `names` and `top` are literals of this numbering."""

    binary: bool
    """Whether the file is written as a binary one."""
    inputs: int
    """How many there are: their variables are 1 .. inputs."""
    latches: Sequence[Latch]
    left: array[int]
    """The first operand of each gate."""
    right: array[int]
    outputs: Sequence[int] = ()
    bads: Sequence[int] = ()
    constraints: Sequence[int] = ()
    justice: Sequence[tuple[int, ...]] = ()
    fairness: Sequence[int] = ()
    symbols: Mapping[tuple[str, int], bytes] = field(default_factory=dict)
    """The names of things, by their letter (`KINDS`) and position."""
    comment: bytes | None = None
    """What follows the line `c`."""
    names: array[int] | None = None
    """The number of each variable in a text file, the constant's first; None: as here."""
    top: int = 0
    """The largest variable that the header of a text file allows; 0: the largest one there is."""

    @property
    def first_latch(self) -> int:
        """The variable of the first latch."""
        return self.inputs + 1

    @property
    def first_gate(self) -> int:
        """The variable of the first gate."""
        return self.inputs + len(self.latches) + 1

    @property
    def variables(self) -> int:
        """The number of variables without the constant: the largest one."""
        return self.inputs + len(self.latches) + len(self.left)

    @property
    def properties(self) -> int:
        """The number of outputs, bad states, constraints, justice and fairness properties."""
        return sum(len(self.of_kind(kind)) for kind in KINDS[2:])

    def of_kind(self, kind: str) -> Sequence[int] | Sequence[tuple[int, ...]]:
        """Return the properties of a kind, by its letter."""
        found: Sequence[int] | Sequence[tuple[int, ...]] = getattr(self, _PROPERTIES[kind])
        return found

    def roots(self) -> list[int]:
        """Return the literals of all properties."""
        found = [*self.outputs, *self.bads, *self.constraints, *self.fairness]
        found += [each for literals in self.justice for each in literals]
        return found

    def reached(self) -> bytearray:
        """Return 1 for each variable that a property depends on, also over states; else 0."""
        found = bytearray(self.variables + 1)
        left, right, gates, latches = self.left, self.right, self.first_gate, self.first_latch
        todo = [literal >> 1 for literal in self.roots()]
        while todo:
            variable = todo.pop()
            if found[variable]:
                continue
            found[variable] = 1
            if variable >= gates:
                todo.append(left[variable - gates] >> 1)
                todo.append(right[variable - gates] >> 1)
            elif variable >= latches:
                todo.append(self.latches[variable - latches].next >> 1)
        return found


FREE = -1
"""Stands for a new input, in place of a literal."""
Image = Mapping[int, int]
"""What variables become: literals of other variables, or FREE."""


class CycleError(ValueError):
    """A gate would depend on itself, or variables would become each other."""

    def __init__(self, gate: int = 0) -> None:
        super().__init__(gate)
        self.gate = gate
        """The gate, from 0."""


def resolved(circuit: Circuit, image: Image) -> list[int]:
    """Return the literal that each variable becomes by a replacement; FREE ones stay.

    Raises CycleError.
    """
    found = list(range(0, 2 * circuit.variables + 2, 2))
    upward = False
    for variable in sorted(image):
        literal = image[variable]
        if literal != FREE:
            upward |= literal >> 1 > variable
            found[variable] = found[literal >> 1] ^ (literal & 1)
    if not upward:
        return found
    todo = {each: literal for each, literal in image.items() if literal != FREE}
    for start in image:
        way: dict[int, int] = {}
        while start in todo:
            way[start] = todo.pop(start)
            start = way[start] >> 1
        if start in way:
            raise CycleError
        for variable, literal in reversed(way.items()):
            found[variable] = found[literal >> 1] ^ (literal & 1)
    return found


def ordered(circuit: Circuit) -> Circuit:
    """Return the circuit with its gates in an order in which operands come first, else as they are.

    Raises CycleError.
    """
    first, left, right, names = circuit.first_gate, circuit.left, circuit.right, circuit.names
    if all(
        one >> 1 < own and other >> 1 < own
        for own, (one, other) in enumerate(zip(left, right, strict=True), first)
    ):
        return circuit
    seen = bytearray(len(left))
    order: list[int] = []
    for start in range(len(left)):
        path = [start]
        while path:
            gate = path[-1]
            if seen[gate] == _DONE:
                path.pop()
                continue
            operands = (left[gate] >> 1) - first, (right[gate] >> 1) - first
            below = [each for each in operands if each >= 0 and seen[each] != _DONE]
            if seen[gate] == _NEW:
                seen[gate] = _OPEN
                if any(seen[each] == _OPEN for each in below):
                    raise CycleError(gate)
                path.extend(reversed(below))
                continue
            seen[gate] = _DONE
            order.append(gate)
            path.pop()
    new = list(range(first)) + [0] * len(left)
    for place, gate in enumerate(order, first):
        new[first + gate] = place
    if names is not None:
        names = names[:first] + array("i", [names[first + gate] for gate in order])
    moved = replace(
        circuit,
        left=array("i", [left[gate] for gate in order]),
        right=array("i", [right[gate] for gate in order]),
        names=names,
    )
    return mapped(moved, lambda literal: 2 * new[literal >> 1] + (literal & 1))


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
    """Return the circuit after a replacement; what is replaced is gone. Raises CycleError.

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
        becomes = to[literal >> 1] ^ (literal & 1)
        return new[becomes >> 1] | (becomes & 1)

    symbols = {key: name for key, name in circuit.symbols.items() if key[0] not in "il"}
    for kind, kept, begin in (("i", inputs, 1), ("l", latches, latch_at)):
        for place, variable in enumerate(kept):
            name = circuit.symbols.get((kind, variable - begin))
            if name is not None:
                symbols[kind, place] = name
    names = circuit.names
    if names is not None:
        names = array("i", [names[each] for each in (0, *inputs, *latches, *gates)])
    kept_parts = replace(
        circuit,
        inputs=len(inputs),
        latches=[circuit.latches[each - latch_at] for each in latches],
        left=array("i", [circuit.left[each - gate_at] for each in gates]),
        right=array("i", [circuit.right[each - gate_at] for each in gates]),
        symbols=symbols,
        names=names,
        top=circuit.top if names is not None or circuit.top > circuit.variables else 0,
    )
    return ordered(mapped(kept_parts, moved))


def mapped(circuit: Circuit, moved: Callable[[int], int]) -> Circuit:
    """Return the circuit with other literals: next states, operands and properties."""
    return replace(
        circuit,
        latches=[Latch(moved(each.next), each.reset) for each in circuit.latches],
        left=array("i", map(moved, circuit.left)),
        right=array("i", map(moved, circuit.right)),
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
    left: dict[str, Any] = {}
    for kind, field_name in _PROPERTIES.items():
        literals = circuit.of_kind(kind)
        kept = [at for at in range(len(literals)) if (kind, at) not in gone]
        left[field_name] = [literals[at] for at in kept]
        for place, at in enumerate(kept):
            if (kind, at) in circuit.symbols:
                symbols[kind, place] = circuit.symbols[kind, at]
    return replace(circuit, symbols=symbols, **left)


def folded(circuit: Circuit) -> Image:
    """Map each gate that folds (constant or repeated operand) to its value."""
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


def canonical(circuit: Circuit) -> list[Any]:
    """Return a circuit without names, the order of its parts, and what no property depends on.

    Variables are numbered as the properties reach them.
    """
    first, latches = circuit.first_gate, circuit.first_latch
    new = {0: 0}
    todo = deque(circuit.roots())
    while todo:
        path = [todo.popleft() >> 1]
        while path:
            variable, at = path[-1], path[-1] - first
            operands = (circuit.left[at], circuit.right[at]) if at >= 0 else ()
            below = [each >> 1 for each in operands if each >> 1 not in new]
            if variable in new:
                path.pop()
            elif below:
                path += below
            else:
                new[path.pop()] = len(new)
                if first > variable >= latches:
                    todo.append(circuit.latches[variable - latches].next)

    def numbered(literals: Iterable[int]) -> list[int]:
        return sorted(2 * new[each >> 1] + (each & 1) for each in literals)

    kinds = (circuit.outputs, circuit.bads, circuit.constraints, circuit.fairness)
    found: list[Any] = [*map(numbered, kinds), sorted(map(numbered, circuit.justice))]
    for variable in new:
        if variable >= first:
            at = variable - first
            found.append(numbered((circuit.left[at], circuit.right[at])))
        elif variable >= latches:
            latch = circuit.latches[variable - latches]
            found.append((numbered([latch.next]), latch.reset))
        else:
            found.append(None)
    return found
