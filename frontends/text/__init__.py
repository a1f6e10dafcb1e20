"""The text format: reduces any text by its structure, without a grammar.

It is for formats that have none of their own here, and for files that are broken (`--lenient`).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from reducekit.diagram import Diagram
from reducekit.format import Format, Schedule, by_size
from reducekit.frontends.text.closing import attributes, calls, runs
from reducekit.frontends.text.files import drop_files, tree_of_files
from reducekit.frontends.text.layout import blanks, empty_lines, indentation
from reducekit.frontends.text.passes import (
    arguments,
    comments,
    constants,
    definitions,
    hoisting,
    names,
    shorter,
    structure,
    tokens,
)
from reducekit.frontends.text.tree import tree_of
from reducekit.frontends.text.view import TextView
from reducekit.offers import Generation, Inspection
from reducekit.packed import spans
from reducekit.search.strategy import Passes

__all__ = ["Text", "TextView"]


class Text(Format):
    """The format of any text; `suffix` is that of the files that the program is given."""

    name = "text"
    title = "any text, by its structure"
    several = True
    help = (
        "Several files, or those of a folder, are reduced together: a copy of them is the current "
        "folder of each run, and -o names a folder. The command gets the first file, or the "
        "folder, unless it names a file itself."
    )

    examples = (
        "reducekit text in.txt --cmd './solver --opt'",
        "reducekit text in.txt --oracle ./test.sh -o small.txt",
        "reducekit text a.c b.h --oracle ./test.sh -o small",
    )

    def __init__(self, suffix: str = "") -> None:
        self.suffix = suffix

    def parse(self, text: bytes) -> TextView:
        files = spans(text)
        if not files:
            return TextView(tree_of(text))
        return TextView(tree_of_files(text, files, lambda content, path: tree_of(content)))

    def schedule(self, passes: Passes) -> Schedule:
        return Schedule(
            rounds=(
                drop_files,
                structure,
                definitions,
                names,
                constants,
                hoisting,
                arguments,
                attributes,
            ),
            closing=(
                comments,
                tokens,
                shorter,
                blanks,
                empty_lines,
                indentation,
                calls,
                runs,
            ),
        )

    @classmethod
    def generation(cls) -> Generation:
        """Return what makes mutants of texts."""
        from reducekit.frontends.text.mutants import generation_of

        return generation_of(lambda text, suffix: cls(suffix).parse(text))

    @classmethod
    def inspect(cls, text: bytes, notation: str | None, path: Path | None) -> Inspection:
        """Show sizes, and the largest parts."""
        from reducekit.frontends.text.outline import lines

        sizes = super().inspect(text, notation, path).lines
        view = cls("" if path is None else path.suffix).parse(text)
        return Inspection(lambda: chain(sizes(), lines(view)))

    def diagram(self, view: TextView) -> Diagram:
        """Return the outline, and the colours of tokens."""
        from reducekit.frontends.text.outline import diagram

        return diagram(view)

    def order(self, text: bytes) -> Any:
        return by_size(text)

    def measure(self, view: TextView) -> Mapping[str, int]:
        text = view.document.text
        return {
            "bytes": len(text),
            "lines": text.count(b"\n") + (not text.endswith(b"\n")),
            "tokens": len(view.tokens),
        }
