"""The BTOR frontend: reads BTOR and BTOR2 files and says what may be changed in them.

`model` holds the graph of a file, the rules of all dialects, reader and writer. `generate`
makes random files, `convert` translates between dialects and SMT-LIB, `inspect` draws graphs.
`passes` are the changes a reduction tries, and `schedule` their order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reducekit.diagram import Diagram
from reducekit.frontend import FormatCheck, FormatOption, Frontend, Schedule
from reducekit.frontends.btor.drawing.diagram import diagram
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.view import BtorView, view_of
from reducekit.frontends.btor.order import Size
from reducekit.frontends.btor.schedule import own_schedule, thesis_schedule
from reducekit.frontends.btor.thesis_options import debugger_words
from reducekit.offers import Conversions, Generation, Inspection
from reducekit.search.strategy import Passes

_LINE = re.compile(
    rb"^[1-9][0-9]* (?:sort|var|const[dh]?|array|input|state|zero|one) ", re.MULTILINE
)


class Btor(Frontend):
    """The frontend for BTOR and BTOR2 files.

    Without a dialect each file's own is detected. `simplify` says whether the algorithms of
    the thesis simplify each candidate; the default strategy does so as a step of its own.
    """

    name = "btor"
    title = "a BTOR or BTOR2 file"
    suffix = ".btor"
    suffixes = (".btor", ".btor2", ".btr")
    unit = "nodes"
    strict = True
    model_check = "reducekit.frontends.btor.model_check"
    asks_checkers = False
    options = (
        FormatOption(
            "dialect",
            "What INPUT is written in; default: detected.",
            kind="choice",
            choices=tuple(each.value for each in Dialect),
        ),
        FormatOption(
            "simplify",
            "Apply rules such as and(x, 0) = 0 to what has changed.",
            kind="flag",
            default=True,
        ),
    )

    def __init__(self, dialect: Dialect | str | None = None, *, simplify: bool = True) -> None:
        self.dialect = None if dialect is None else Dialect(dialect)
        self.simplify = simplify

    @classmethod
    def recognises(cls, text: bytes) -> bool:
        """Look for a line that begins with a number and an operator."""
        return _LINE.search(text) is not None

    @classmethod
    def respelled(cls, words: Sequence[str]) -> Sequence[str]:
        """Take the options of the thesis' delta debugger."""
        return debugger_words(words)

    def parse(self, text: bytes) -> BtorView:
        return view_of(read(text, self.dialect, any_ending=True))

    def check(self, text: bytes) -> FormatCheck:
        """Count, where the rules are kept. Raises ParseError with the one that is broken."""
        read(text, self.dialect)
        return super().check(text)

    def schedule(self, passes: Passes) -> Schedule:
        """Return our passes, otherwise the one pass of the thesis' algorithms."""
        if passes == "own":
            return own_schedule(simplify=self.simplify)
        return thesis_schedule(simplify=self.simplify)

    def order(self, text: bytes) -> Any:
        return Size(text), text

    def measure(self, view: BtorView) -> Mapping[str, int]:
        """Count bytes, lines, nodes (sorts and declarations of BTOR2 left out) and widths."""
        dag = view.dag
        counts = {
            "bytes": len(view.document.text),
            "lines": view.document.text.count(b"\n"),
            "nodes": sum(code <= Op.ROOT for code in dag.op),
        }
        counts["widths"] = sum(dag.width(line) for line in range(len(dag)))
        return counts

    def wrong_model(self, text: bytes, output: bytes) -> bool:
        """Return whether the witness that a model checker prints is none."""
        from reducekit.frontends.btor.model_check import is_claimed, judge
        from reducekit.frontends.model_verdict import is_wrong

        # Without a model there is no need to parse the text.
        return is_claimed(output) and is_wrong(judge, text, output)

    @classmethod
    def generation(cls) -> Generation:
        """Return the generator of the thesis."""
        from reducekit.frontends.btor.generate.generator import GENERATION

        return GENERATION

    @classmethod
    def conversions(cls) -> Conversions:
        """Return the conversions between dialects, and to SMT-LIB v2."""
        from reducekit.frontends.btor.convert.offer import CONVERSIONS

        return CONVERSIONS

    @classmethod
    def inspect(cls, text: bytes, notation: str | None, path: Path | None) -> Inspection:
        """Look into a graph."""
        from reducekit.frontends.btor.drawing.drawing import inspect

        return inspect(text, notation)

    def diagram(self, view: BtorView) -> Diagram:
        """Return the graph."""
        return diagram(view.dag)
