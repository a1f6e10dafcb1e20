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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

KINDS = "ilobcjf"
"""The letters of what may have a symbol: inputs, latches, then properties in the file's order."""
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
        found: dict[str, Sequence[int] | Sequence[tuple[int, ...]]] = {
            "o": self.outputs,
            "b": self.bads,
            "c": self.constraints,
            "j": self.justice,
            "f": self.fairness,
        }
        return found[kind]

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
