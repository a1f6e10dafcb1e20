"""SMT-LIB v2: a lossless parser, scopes and sorts, and what may be changed in a script."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reducekit.diagram import Diagram
from reducekit.frontend import Frontend, Schedule, by_size
from reducekit.frontends.smt2.commands import head_of
from reducekit.frontends.smt2.diagram import diagram
from reducekit.frontends.smt2.parser import parse
from reducekit.frontends.smt2.passes.hierarchy import Hierarchy
from reducekit.frontends.smt2.passes.layout import Layout
from reducekit.frontends.smt2.passes.phases import paper_schedule
from reducekit.frontends.smt2.schedule import own_schedule
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.strategy import Passes

_COMMAND = re.compile(rb"^\(\s*(?:set-logic|set-info|declare-|define-|assert)\b", re.MULTILINE)
_MOST = 1 << 21  # nodes of a script whose terms are counted for the summary


class Smt2(Frontend):
    """The frontend for SMT-LIB v2 scripts."""

    name = "smt2"
    title = "an SMT-LIB v2 script"
    suffix = ".smt2"
    suffixes = (".smt2", ".smt", ".sl")

    @classmethod
    def recognises(cls, text: bytes) -> bool:
        """Look for a command of SMT-LIB at the beginning of a line."""
        return _COMMAND.search(text) is not None

    def parse(self, text: bytes) -> ScriptView:
        """Read a script. Raises ParseError with the place and what was expected."""
        return ScriptView(parse(text))

    def schedule(self, passes: Passes) -> Schedule:
        """Return our passes, those of the ddSMT paper (`classic`), or one tree of the script."""
        if passes == "own":
            return own_schedule()
        if passes == "tree":
            return Schedule(prepare=(Layout(),), rounds=(Hierarchy(),))
        return replace(paper_schedule(), prepare=(Layout(),))

    def order(self, text: bytes) -> Any:
        """Return the key of the usual order."""
        return by_size(text)

    def measure(self, view: ScriptView) -> Mapping[str, int]:
        """Count bytes, commands, asserts and terms; the terms only where that takes a moment."""
        document = view.document
        names = [head_of(document, node) for node in document.children(0)]
        counts = {
            "bytes": len(document.text),
            "commands": len(names),
            "asserts": names.count(b"assert"),
        }
        if len(document) <= _MOST:
            counts["terms"] = view.script.is_term.count(1)
        return counts

    def pretty(self, text: bytes) -> bytes:
        """Lay a script out for people: long commands in several lines."""
        from reducekit.frontends.smt2.pretty import pretty

        return pretty(parse(text))

    def diagram(self, view: ScriptView) -> Diagram:
        """Return the terms as a graph."""
        return diagram(view.script)
