"""SMT-LIB v2: a lossless parser, scopes and sorts, and what may be changed in a script."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reducekit.diagram import Diagram
from reducekit.errors import ParseError, UsageError
from reducekit.frontend import FormatCheck, FormatOption, Frontend, Schedule, by_size
from reducekit.frontends.smt2.commands import head_of
from reducekit.frontends.smt2.diagram import diagram
from reducekit.frontends.smt2.fingerprint import fingerprint
from reducekit.frontends.smt2.parser import parse
from reducekit.frontends.smt2.passes.hierarchy import Hierarchy
from reducekit.frontends.smt2.passes.layout import Layout
from reducekit.frontends.smt2.passes.phases import paper_schedule
from reducekit.frontends.smt2.passes.syntax import Identifiers, Local, SubTrees, Syntax
from reducekit.frontends.smt2.schedule import own_schedule
from reducekit.frontends.smt2.validity import problems
from reducekit.frontends.smt2.view import ScriptView
from reducekit.offers import Generation
from reducekit.search.strategy import Passes

_COMMAND = re.compile(rb"^\(\s*(?:set-logic|set-info|declare-|define-|assert)\b", re.MULTILINE)
_MISREAD = re.compile(
    r"\b(?:pars(?:e|er|ing)|syntax|sorts?|type(?:[- ]?check\w*)?) (?:error|mismatch)"
    r"|(?:ill-|not well-)(?:typed|sorted|formed)|\bundeclared\b|not declared|unexpected token"
    r"|unknown (?:constant|symbol|function|sort|command)|invalid (?:command|function application)",
    re.IGNORECASE,
)
"""How solvers say that they cannot read a script, or that a term has no sort."""
_STATUS = re.compile(rb"^\(\s*set-info\s+:status\b", re.MULTILINE)
_MOST = 1 << 21  # nodes of a script whose terms are counted for the summary


class Smt2(Frontend):
    """The frontend for SMT-LIB v2 scripts."""

    name = "smt2"
    title = "an SMT-LIB v2 script"
    suffix = ".smt2"
    suffixes = (".smt2", ".smt", ".sl")
    help = (
        "All terms that are tried are well sorted. What is no such script is tried only where the "
        "failure is a parse or sort error, where the command does not read the file as a script, "
        "or with --unchecked."
    )
    options = (
        FormatOption(
            "unchecked",
            "Also try what is not well sorted, or no script at all.",
            kind="flag",
            default=False,
        ),
        FormatOption(
            "strict",
            "Try only what is a script of the SMT-LIB standard, without extensions of solvers.",
            kind="flag",
            default=False,
        ),
    )

    def __init__(self, *, unchecked: bool = False, strict: bool = False) -> None:
        if unchecked and strict:
            raise UsageError("--strict and --unchecked exclude each other: leave one out")
        self.unchecked = unchecked
        self.standard = strict

    @classmethod
    def recognises(cls, text: bytes) -> bool:
        """Look for a command of SMT-LIB at the beginning of a line."""
        return _COMMAND.search(text) is not None

    def parse(self, text: bytes) -> ScriptView:
        """Read a script. Raises ParseError with the place and what was expected."""
        return ScriptView(parse(text))

    def for_failure(self, described: str) -> Smt2:
        """Try also what is not well sorted where that, or no script, is what failed."""
        if self.standard or self.unchecked or _MISREAD.search(described) is None:
            return self
        return type(self)(unchecked=True)

    def check(self, text: bytes) -> FormatCheck:
        """Say what no solver would take. Raises ParseError if it is no script."""
        return replace(super().check(text), problems=problems(self.parse(text), extensions=True))

    def refuses(self, text: bytes) -> str | None:
        """Refuse what is not as the standard has it, if that is asked for."""
        if not self.standard:
            return None
        try:
            found = problems(self.parse(text))
        except ParseError as error:
            found = [str(error)]
        if not found:
            return None
        return f"--strict needs a script of the standard, but {found[0]}: leave --strict out"

    def fingerprint(self, text: bytes) -> bytes | None:
        """Return what a script has in common with others that differ in names only."""
        return fingerprint(text)

    def schedule(self, passes: Passes) -> Schedule:
        """Return our passes, those of the ddSMT paper (`classic`), or one tree of the script.

        The `syntax` tree knows no sorts; `exhaustive` goes on where that ends, as Vulcan does.
        """
        if passes == "own":
            return own_schedule(unchecked=self.unchecked)
        if passes == "tree":
            return Schedule(prepare=(Layout(),), rounds=(Hierarchy(),))
        if passes in ("syntax", "exhaustive"):
            closing = (Identifiers(), SubTrees(), Local()) if passes == "exhaustive" else ()
            return Schedule(prepare=(Layout(),), rounds=(Syntax(),), closing=closing)
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

    def remark(self, text: bytes) -> str | None:
        """Warn of answers that are compared with a line of the script.

        Such a line is true of the input only, so a reduction ends where it is plainly wrong.
        """
        if _STATUS.search(text) is None:
            return None
        return (
            "the failure needs (set-info :status ...): a solver that compares its answer with that "
            "line also fails where the line is wrong, as it may be in a smaller script. For a "
            "wrong answer, take the line out of the input, and let another solver say what is "
            "right: `reference`"
        )

    @classmethod
    def generation(cls) -> Generation:
        """Return the generator of scripts of any logic."""
        from reducekit.frontends.smt2.generate.offer import GENERATION

        return GENERATION

    def diagram(self, view: ScriptView) -> Diagram:
        """Return the terms as a graph."""
        return diagram(view.script)
