"""The OPB frontend: pseudo-Boolean constraints and objectives (OPB), and soft ones (WBO)."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reducekit.format import Format, FormatCheck, Schedule
from reducekit.frontends.common.statements import constants, merges, other_constants
from reducekit.frontends.opb import passes as each
from reducekit.frontends.opb.reader import NAME, View, problems
from reducekit.search.strategy import Passes

if TYPE_CHECKING:
    from reducekit.offers import Generation

_BEGINNING = re.compile(rb"^\*[ \t]*#variable=|^(?:min|max|soft):", re.MULTILINE)
_COMMENT = re.compile(rb"^[ \t]*\*[^\n]*", re.MULTILINE)


class Opb(Format):
    """The frontend for OPB and WBO files."""

    name = "opb"
    title = "pseudo-Boolean constraints in OPB or WBO"
    suffix = ".opb"
    suffixes = (".opb", ".wbo")
    unit = "literals"
    strict = True
    header = r"^\*.*#variable="

    @classmethod
    def recognises(cls, text: bytes) -> bool:
        return _BEGINNING.search(text, 0, 1 << 14) is not None

    @classmethod
    def generation(cls) -> "Generation":
        from reducekit.frontends.cnf.relatives import generation

        return generation(("opb", "wbo"))

    def parse(self, text: bytes) -> View:
        return View(text)

    def check(self, text: bytes) -> FormatCheck:
        """Count, and compare the header with the constraints."""
        return FormatCheck(problems(View(text)), super().check(text).summary)

    def schedule(self, passes: Passes) -> Schedule:
        return Schedule(
            once=(each.comments, each.header),
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
