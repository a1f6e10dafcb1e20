"""SMT-LIB v2: a lossless parser, scopes and sorts, and what may be changed in a script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reducekit.change import Change, Edit
from reducekit.frontend import Schedule
from reducekit.frontends.smt2.drop import DropBackward, Scopes
from reducekit.frontends.smt2.functions import Declare, Inline, Parameters
from reducekit.frontends.smt2.hierarchy import Hierarchy
from reducekit.frontends.smt2.layout import tidy
from reducekit.frontends.smt2.parser import parse
from reducekit.frontends.smt2.phases import paper_schedule
from reducekit.frontends.smt2.spelling import Flatten, Literals, Spelling
from reducekit.frontends.smt2.symbols import Merge, Rename, Sorts, Variables
from reducekit.frontends.smt2.term_tree import TermPass
from reducekit.frontends.smt2.twins import Twins
from reducekit.frontends.smt2.untyped import Untyped
from reducekit.frontends.smt2.view import ScriptView
from reducekit.frontends.smt2.widths import Widths
from reducekit.search.independent import Independent
from reducekit.search.problem import Items


class Layout:
    """The pass that drops comments and normalises blanks."""

    name = "layout"

    def problem(self, view: ScriptView) -> Items | None:
        """Return the one change of the whole text."""
        text = tidy(view.document)
        if text == view.document.text:
            return None
        return Independent([Change((Edit(0, (text,)),), "layout")])


class Smt2:
    """The frontend for SMT-LIB v2 scripts."""

    name = "smt2"
    suffix = ".smt2"

    def parse(self, text: bytes) -> ScriptView:
        """Read a script. Raises ParseError with the place and what was expected."""
        return ScriptView(parse(text))

    def schedule(self, strategy: str) -> Schedule:
        """Return our passes for `adaptive`, one tree for `hdd`, else those of the ddSMT paper."""
        if strategy == "hdd":
            return Schedule(prepare=(Layout(),), rounds=(Hierarchy(),))
        if strategy != "adaptive":
            return replace(paper_schedule(), prepare=(Layout(),))
        onward = (
            DropBackward(),
            Scopes(),
            Inline(),
            Declare(),
            Variables(),
            Parameters(),
            Merge(),
            Sorts(b"Int"),
            Sorts(b"Bool"),
            Spelling(),
            Literals(),
            Flatten(),
            Rename(),
        )
        return Schedule(
            prepare=(Layout(),),
            once=(
                DropBackward(),
                Rename(),
                TermPass(),
                DropBackward(),
                Inline(),
                Declare(),
                Variables(),
                Parameters(),
                Merge(),
                Sorts(b"Int"),
                Widths(),
                Spelling(),
                Rename(),
            ),
            rounds=(*onward, TermPass()),
            sweep=onward,
            closing=(*onward, TermPass(thorough=True), Widths(), Twins(), Untyped()),
        )

    def measure(self, view: ScriptView) -> Mapping[str, int]:
        """Count bytes, commands, asserts and terms."""
        names = view.commands.names
        return {
            "bytes": len(view.document.text),
            "commands": len(names),
            "asserts": sum(name == b"assert" for name in names),
            "terms": sum(view.script.is_term),
        }
