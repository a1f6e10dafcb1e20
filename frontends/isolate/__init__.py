"""The isolate frontend: which changes to a file that passes make it fail?

Small is not the text here, but what is left of its difference to the passing file. Both sides move
(see `dd`): a candidate that passes takes the place of the passing file, and what remains is a
difference of which no change can go to either side (A. Zeller, "Yesterday, my program worked.
Today, it does not. Why?", ESEC/FSE 1999).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any

from reducekit.differences import unified
from reducekit.errors import UsageError
from reducekit.frontend import Frontend, Schedule
from reducekit.frontends.isolate.changes import View, distance, isolate
from reducekit.offers import FormatOption
from reducekit.search.strategy import Passes

_SHOWN = 20
"""Lines of the difference that the remark shows."""


class Isolate(Frontend):
    """The frontend for a file that fails, beside one that passes."""

    name = "isolate"
    title = "the difference between a file that fails and one that passes"
    unit = "changes"
    options = (
        FormatOption("baseline", "The file that passes.", "path", metavar="FILE", required=True),
    )
    help = (
        "Moves the failing input and the passing file of --baseline towards each other. The result "
        "and the passing file next to it differ only in what makes the result fail."
    )

    examples = (
        "reducekit isolate bad.smt2 --baseline good.smt2 --cmd './solver --opt'",
        "reducekit isolate bad.c --baseline good.c --oracle ./test.sh -o small.c",
    )

    def __init__(self, baseline: str | None = None) -> None:
        """Take the file that passes; without one, the empty file."""
        self.path = baseline
        if baseline is not None:
            self.suffix = Path(baseline).suffix
            try:
                self.baseline = Path(baseline).read_bytes()
            except OSError as error:
                raise UsageError(f"`baseline`: cannot read {baseline}: {error.strerror}") from None
            # A journal of a reduction towards another file cannot be used.
            self.name = f"isolate from {hashlib.sha256(self.baseline).hexdigest()[:16]}"

    def beside(self, passing: bytes) -> Isolate:
        """Return the frontend that compares with another text, which passes."""
        other = copy(self)
        other.baseline = passing
        return other

    def parse(self, text: bytes) -> View:
        """Compare a text with the passing one; every text can be compared."""
        return View(text, self.baseline)

    def schedule(self, passes: Passes) -> Schedule:
        return Schedule(rounds=(isolate,))

    def order(self, text: bytes) -> Any:
        """Return the bytes by which a text differs from the passing one, then the text."""
        return distance(text, self.baseline), text

    def measure(self, view: View) -> Mapping[str, int]:
        """Count the changes of words, the bytes that differ, and those of the text."""
        text = view.document.text
        return {"changes": len(view.changes), "differing": distance(text, self.baseline),
                "bytes": len(text)}  # fmt: skip

    def pretty(self, text: bytes) -> bytes:
        """Return the text as it is."""
        return text

    def remark(self, text: bytes) -> str | None:
        """Show what is left of the difference."""
        lines = list(unified(self.baseline, text, "passes", "fails"))
        said = b"".join(lines[:_SHOWN]).decode("utf-8", "backslashreplace").rstrip("\n")
        more = f"\n(and {len(lines) - _SHOWN} more lines)" if len(lines) > _SHOWN else ""
        return f"what is left of the difference:\n{said}{more}"
