"""The OPB frontend: pseudo-Boolean constraints and objectives (OPB), and soft ones (WBO)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reducekit.format import Schedule
from reducekit.frontends.common.statements import (
    StatementFormat,
    comments,
    constants,
    merges,
    other_constants,
)
from reducekit.frontends.opb import passes as each
from reducekit.frontends.opb.reader import NAME, View, problems
from reducekit.search.strategy import Passes

if TYPE_CHECKING:
    from pathlib import Path

    from reducekit.offers import Generation, Inspection

_BEGINNING = re.compile(rb"^\*[ \t]*#variable=|^(?:min|max|soft):", re.MULTILINE)
_COMMENT = re.compile(rb"^[ \t]*\*[^\n]*", re.MULTILINE)


class Opb(StatementFormat):
    """The frontend for OPB and WBO files."""

    name = "opb"
    title = "pseudo-Boolean constraints in OPB or WBO"
    suffix = ".opb"
    suffixes = (".opb", ".wbo")
    unit = "literals"
    header = r"^\*.*#variable="
    view, problems, beginning = View, staticmethod(problems), _BEGINNING

    @classmethod
    def generation(cls) -> Generation:
        from reducekit.frontends.cnf.relatives import generation

        return generation(View, problems, ("opb", "wbo"))

    @classmethod
    def inspect(cls, text: bytes, notation: str | None, path: Path | None) -> Inspection:
        """Count, and draw constraints by variables."""
        from reducekit.frontends.common.drawing import matrix

        def draw() -> bytes:
            view = View(text)
            return matrix([each.literals for each in view.parts()], view.variables, "constraints")

        return replace(super().inspect(text, notation, path), pictures={".svg": draw})

    def schedule(self, passes: Passes) -> Schedule:
        return Schedule(
            once=(comments, each.header),
            rounds=(
                constants, each.constraints, each.terms, each.factors, other_constants, merges,
                each.simpler, each.largest, each.halves, each.names,
            ),
            closing=(each.header, each.layout),
        )  # fmt: skip

    def order(self, text: bytes) -> Any:
        """Return the key of the order: literals, statements, variables, bytes, text."""
        words = NAME.findall(_COMMENT.sub(b"", text))
        names = [each for each in words if each[-1:] != b":"]
        return len(names), text.count(b";"), len(set(names)), len(text), text

    def measure(self, view: View) -> Mapping[str, int]:
        return {
            "bytes": len(view.document.text),
            "constraints": view.constraints,
            "terms": len(re.findall(rb"n?v+", view.kinds)),
            "literals": len(view.literals),
            "variables": len(view.variables),
        }
