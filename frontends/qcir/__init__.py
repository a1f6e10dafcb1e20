"""The QCIR frontend: quantified circuits of QBF solvers."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reducekit.format import Schedule
from reducekit.frontends.common.statements import (
    StatementFormat,
    comments,
    constants,
    other_constants,
)
from reducekit.frontends.qcir import passes as each
from reducekit.frontends.qcir.reader import View, problems
from reducekit.search.strategy import Passes

if TYPE_CHECKING:
    from reducekit.offers import Generation

_BEGINNING = re.compile(rb"^#QCIR\b|^(?:forall|exists|free)[ \t]*\(", re.MULTILINE | re.IGNORECASE)
_WORD = re.compile(rb"^[ \t]*#[^\n]*|(\w+)", re.MULTILINE)


class Qcir(StatementFormat):
    """The frontend for QCIR files."""

    name = "qcir"
    title = "a quantified circuit in QCIR"
    suffix = ".qcir"
    unit = "words"
    header = r"^#QCIR"
    view, problems, beginning = View, staticmethod(problems), _BEGINNING

    @classmethod
    def generation(cls) -> "Generation":
        from reducekit.frontends.cnf.relatives import generation

        return generation(View, problems, ("qcir",))

    def misread(self, view: View, base: bytes, text: bytes) -> bool:
        """Return whether a variable is no longer declared."""
        return bool(problems(View(text))) and not problems(View(base))

    def schedule(self, passes: Passes) -> Schedule:
        return Schedule(
            once=(comments, each.unused),
            rounds=(
                constants, each.unused, each.merges, each.operands, other_constants, each.kinds,
                each.unused, each.names,
            ),
            closing=(each.layout,),
        )  # fmt: skip

    def order(self, text: bytes) -> Any:
        """Return the key of the order: words, variables, bytes, text."""
        words = [word for word in _WORD.findall(text) if word]
        return len(words), len(set(words)), len(text), text

    def measure(self, view: View) -> Mapping[str, int]:
        return {
            "bytes": len(view.document.text),
            "gates": sum(each.defines > 0 for each in view.statements),
            "variables": len(view.variables),
            "words": len(view.literals),
        }
