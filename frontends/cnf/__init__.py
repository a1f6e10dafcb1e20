"""The CNF frontend: clauses of SAT, MaxSAT and QBF solvers, and queries under assumptions.

`reader` reads DIMACS and its relatives. `passes` are the changes a reduction tries;
`generate` makes random files, and `convert` translates between the formats and to SMT-LIB.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reducekit.format import FormatCheck, Schedule, when
from reducekit.frontends.cnf import passes as each
from reducekit.frontends.cnf import variables as replacing
from reducekit.frontends.cnf.reader import HEADER, View, problems, recognises
from reducekit.frontends.common import JudgesModels
from reducekit.search.strategy import Passes

if TYPE_CHECKING:
    from reducekit.diagram import Diagram
    from reducekit.offers import Probe

# Comments, the header, lists of variables (which may go on on other lines), the beginning of
# parities and cardinalities, the end of SATLIB.
_NO_CLAUSES = re.compile(
    rb"^[ \t]*(?:[cp][^\n]*|[aed]\s[-0-9\s]*?(?<=\s)0(?!\S)|x|k[ \t]+[0-9]+)|%[\s\S]*",
    re.MULTILINE,
)

_SELDOM = frozenset({"literals", "constants", "other constants", "merges", "largest weight"})
"""Passes that, where they found nothing, wait until the formula is a good deal smaller."""


class Cnf(JudgesModels):
    """The frontend for DIMACS files: CNF, WCNF, QDIMACS, DQDIMACS, ICNF, XCNF and KNF."""

    name = "cnf"
    title = "a DIMACS file: CNF, WCNF, QDIMACS, DQDIMACS, ICNF, XCNF or KNF"
    suffix = ".cnf"
    suffixes = (
        ".cnf", ".dimacs", ".wcnf", ".qdimacs", ".dqdimacs", ".icnf", ".xcnf", ".knf"
    )  # fmt: skip
    unit = "literals"
    strict = True
    package = "reducekit.frontends.cnf"
    model_check = "reducekit.frontends.cnf.model_check"

    header = r"^p\s+\w+"

    @classmethod
    def recognises(cls, text: bytes) -> bool:
        """Look for a header, or a hard clause of WCNF."""
        return recognises(text)

    def parse(self, text: bytes) -> View:
        return View(text)

    def check(self, text: bytes) -> FormatCheck:
        """Count, and compare the header with the clauses."""
        found = super().check(text)
        return FormatCheck(problems(View(text)), found.summary)

    def misread(self, view: View, base: bytes, text: bytes) -> bool:
        """Return whether a dependency set has a variable that is no longer universal."""
        found = view.format == "dqdimacs" and problems(View(text))
        return bool(found) and not problems(View(base))

    def guesses(self, text: bytes, good: Sequence[Probe], bad: Probe | None) -> list[bytes]:
        """Return unsatisfiable parts of the formula."""
        from reducekit.frontends.cnf.core import cores

        view = View(text)
        found = cores(view)
        texts = [each.only(view, core, once=True) for core in found[:1]]
        return list(dict.fromkeys((*texts, *(each.only(view, core) for core in found))))

    def schedule(self, passes: Passes) -> Schedule:
        """Return the passes, those first that take most away for the fewest checks."""
        return Schedule(
            once=(each.comments, each.header),
            rounds=(
                *when(lambda view: view.universal is None, replacing.constants),
                each.clauses,
                # Later where variables are quantified: the fault may need a universal one.
                *when(lambda view: view.universal is not None, replacing.constants),
                each.literals,
                replacing.other_constants,
                replacing.merges,
                each.soft_clauses,
                each.largest_weight,
                each.weights,
                each.top_weight,
                each.names,
            ),
            closing=(each.eliminations, each.header, each.fewest_variables, each.layout),
            vain=0.25,
            surely=frozenset(("clauses",)),
            enough=35,  # of a minimal core, no clause can go unless the failure needs no core
            drawn=_SELDOM,
        )

    def order(self, text: bytes) -> Any:
        """Return the key of the order: literals with clauses, variables, bytes, text.

        A header that counts too many or too few clauses comes first: by merging the changes of
        several candidates one could get worse. This reads no numbers, as it is called for every
        candidate.
        """
        header = HEADER.search(text)
        numbers = [] if header is None else header[1].split()
        words = _NO_CLAUSES.sub(b"", text).split()
        clauses = words.count(b"0")
        wrong = abs(int(numbers[1]) - clauses) if len(numbers) > 1 and numbers[1].isdigit() else 0
        # Of equally long ones, what has more hard clauses.
        hard = words.count(b"h" if len(numbers) < 3 else numbers[2])
        variables = len({word.lstrip(b"-") for word in set(words)})
        return wrong, len(words), -hard, variables, len(text), text

    def diagram(self, view: View) -> Diagram:
        from reducekit.frontends.cnf.convert import diagram

        return diagram(view)

    def measure(self, view: View) -> Mapping[str, int]:
        """Count bytes, clauses, literals and variables."""
        return {
            "bytes": len(view.document.text),
            "clauses": view.clauses,
            "literals": len(view.literals),
            "variables": len(view.variables),
        }
