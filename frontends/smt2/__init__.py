"""SMT-LIB v2: a lossless parser, scopes and sorts, and what may be changed in a script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reducekit.frontend import Schedule, by_size
from reducekit.frontends.smt2.commands import head
from reducekit.frontends.smt2.parser import parse
from reducekit.frontends.smt2.passes.hierarchy import Hierarchy
from reducekit.frontends.smt2.passes.layout import Layout
from reducekit.frontends.smt2.passes.phases import paper_schedule
from reducekit.frontends.smt2.schedule import own_schedule
from reducekit.frontends.smt2.view import ScriptView

_MOST = 1 << 21  # nodes of a script whose terms are counted for the summary


class Smt2:
    """The frontend for SMT-LIB v2 scripts."""

    name = "smt2"
    suffix = ".smt2"
    strict = False

    def parse(self, text: bytes) -> ScriptView:
        """Read a script. Raises ParseError with the place and what was expected."""
        return ScriptView(parse(text))

    def schedule(self, strategy: str) -> Schedule:
        """Return our passes for `adaptive`, one tree for `hdd`, else those of the ddSMT paper."""
        if strategy == "adaptive":
            return own_schedule()
        if strategy == "hdd":
            return Schedule(prepare=(Layout(),), rounds=(Hierarchy(),))
        return replace(paper_schedule(), prepare=(Layout(),))

    def order(self, text: bytes) -> Any:
        """Return the key of the usual order."""
        return by_size(text)

    def measure(self, view: ScriptView) -> Mapping[str, int]:
        """Count bytes, commands, asserts and terms; the terms only where that takes a moment."""
        document = view.document
        names = [head(document, node) for node in document.children(0)]
        counts = {
            "bytes": len(document.text),
            "commands": len(names),
            "asserts": names.count(b"assert"),
        }
        if len(document) <= _MOST:
            counts["terms"] = view.script.is_term.count(1)
        return counts
