"""The AIGER frontend: and-inverter graphs of model checkers and synthesis tools.

`reader` reads text (`.aag`) and binary files (`.aig`), `circuit` is what they mean. `passes` are
the changes a reduction tries; `generate` makes random circuits, and `convert` translates between
the two forms and to BTOR2. From BTOR2, `blasting` makes circuits.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from reducekit.diagram import Diagram
from reducekit.errors import ParseError
from reducekit.format import Schedule
from reducekit.frontends.aiger import passes as each
from reducekit.frontends.aiger.files import HEADER, View, counts, read
from reducekit.frontends.aiger.literals import delays, substitutions, twins
from reducekit.frontends.common import Offering
from reducekit.search.strategy import Passes
from reducekit.text import without_mark

_UNREADABLE = 1 << 62
_REFUSAL = re.compile(
    r"not work for combinational|[Ee]mpty network|(?:currently |is |are )not supported"
)
"""What ABC says of circuits without latches, without outputs, or with justice properties."""
_FEW = 100
"""Larger circuits have no fingerprint: hardly any two of them are alike, and it takes time."""


class Aiger(Offering):
    """The frontend for AIGER files, text and binary."""

    name = "aiger"
    title = "an AIGER file, text or binary"
    suffix = ".aag"
    suffixes = (".aag", ".aig")
    unit = "gates"
    strict = True
    package = "reducekit.frontends.aiger"

    header = r"\Aa[ai]g\b"

    @classmethod
    def recognises(cls, text: bytes) -> bool:
        return HEADER.match(without_mark(text)) is not None

    def parse(self, text: bytes) -> View:
        return View(text)

    def schedule(self, passes: Passes) -> Schedule:
        """Return the passes, those first that take most away for the fewest checks.

        Operands come first: a constant removes all of a long chain or nothing.
        """
        return Schedule(
            prepare=(each.numbers,),
            once=(each.comments, each.symbols),
            rounds=(
                each.properties,
                each.unreached,
                each.left_operands,
                each.right_operands,
                each.false_gates,
                each.true_gates,
                each.folding,
                each.latches,
                each.other_latches,
                each.free_latches,
                each.free_gates,
                each.false_inputs,
                each.true_inputs,
                each.justice,
            ),
            closing=(
                each.next_states,
                each.resets,
                delays,
                twins,
                each.merges,
                each.negations,
                each.symbols,
                each.numbers,
                substitutions,
            ),
        )

    def order(self, text: bytes) -> Any:
        """Return the key of the order: gates, latches, properties, inputs, bytes, text.

        This only reads the header, as it is called for every candidate.
        """
        numbers = counts(text)
        if not numbers:
            return _UNREADABLE, 0, 0, 0, len(text), text
        _, inputs, latches, outputs, gates, *more = numbers
        return gates, latches, outputs + sum(more), inputs, len(text), text

    def fingerprint(self, text: bytes) -> bytes | None:
        """Return a hash of a small circuit without names and the order of its parts."""
        if max(counts(text), default=0) > _FEW:
            return None
        from reducekit.frontends.aiger.circuit import canonical

        try:
            circuit = read(text)
        except ParseError:  # of a program that proposes candidates
            return None
        return hashlib.sha256(repr(canonical(circuit)).encode()).digest()[:16]

    def diagram(self, view: View) -> Diagram:
        from reducekit.frontends.aiger.drawing import diagram

        return diagram(view.circuit, view.document.text)

    def rejects(self, line: str, *, well_formed: bool) -> bool:
        return _REFUSAL.search(line) is not None

    def in_form(self, text: bytes, suffix: str) -> bytes:
        """Return a circuit as text for `.aag`, as a binary file for `.aig`."""
        from reducekit.frontends.aiger.convert import in_form

        return in_form(read(text), suffix[1:]) if suffix in self.suffixes else text

    def measure(self, view: View) -> Mapping[str, int]:
        """Count bytes, gates, latches, inputs and properties."""
        circuit = view.circuit
        return {
            "bytes": len(view.document.text),
            "gates": len(circuit.left),
            "latches": len(circuit.latches),
            "inputs": circuit.inputs,
            "properties": circuit.properties,
        }
