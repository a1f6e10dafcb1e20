"""BTOR and BTOR2: one model of the graph for all dialects, and what may be changed in a file.

`reader.read` makes a `dag.Dag` of a text and `write` prints it; `operators` and `rules` are
the tables both go by. `builder` makes a Dag from nothing, `convert` (with `functions` and
`lowering`) one of another dialect, `smtlib` a script; `evaluate` says what nodes are worth.
`view` shows a Dag with its text to the passes, which `schedule` puts in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reducekit.frontend import Schedule
from reducekit.frontends.btor.operators import Dialect, Op
from reducekit.frontends.btor.order import Size
from reducekit.frontends.btor.reader import read
from reducekit.frontends.btor.schedule import own_schedule, thesis_schedule
from reducekit.frontends.btor.view import BtorView, view_of


class Btor:
    """The frontend for BTOR and BTOR2 files.

    Without a dialect each file's own is detected. `simplify` says whether the algorithms of
    the thesis simplify each candidate; the default strategy does so as a step of its own.
    """

    name = "btor"
    suffix = ".btor"
    strict = True

    def __init__(self, dialect: Dialect | None = None, *, simplify: bool = True) -> None:
        self.dialect = dialect
        self.simplify = simplify

    def parse(self, text: bytes) -> BtorView:
        """Read a file. Raises ParseError with the place and the rule that is broken."""
        return view_of(read(text, self.dialect))

    def schedule(self, strategy: str) -> Schedule:
        """Return our passes for `adaptive`, else the one of the thesis' algorithms."""
        if strategy == "adaptive":
            return own_schedule(simplify=self.simplify)
        return thesis_schedule(simplify=self.simplify)

    def order(self, text: bytes) -> Any:
        """Return the key of the order: lines, widths, bytes, text."""
        return Size(text)

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
