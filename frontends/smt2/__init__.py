"""SMT-LIB v2: a lossless parser, scopes and sorts, and the passes on scripts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reducekit.errors import ParseError, UsageError
from reducekit.format import Format, FormatCheck, Schedule, by_size
from reducekit.frontends.smt2.language.commands import (
    fingerprint,
    head_of,
    status_of,
    without_status,
)
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.validity import notes, problems
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.passes.spelling import Layout, pretty
from reducekit.frontends.smt2.passes.syntax import hierarchy, identifiers, local, sub_trees, syntax
from reducekit.frontends.smt2.schedule import own_schedule
from reducekit.option import FormatOption
from reducekit.search.strategy import Passes

if TYPE_CHECKING:
    from reducekit.diagram import Diagram
    from reducekit.offers import Generation, Part, Probe

_COMMAND = re.compile(rb"^\(\s*(?:set-logic|set-info|declare-|define-|assert)\b", re.MULTILINE)
_MISREAD = re.compile(
    r"\b(?:pars(?:e|er|ing)|syntax|sorts?|type(?:[- ]?check\w*)?) (?:error|mismatch)"
    r"|(?:ill-|not well-)(?:typed|sorted|formed)|\bundeclared\b|not declared|unexpected token"
    r"|unknown (?:constant|symbol|function|sort|command)|invalid (?:command|function application)",
    re.IGNORECASE,
)
"""The messages of solvers that cannot read a script or find a term ill-sorted."""
_STATUS = re.compile(rb"^\(\s*set-info\s+:status\b", re.MULTILINE)
_SETS = re.compile(rb"(?:^|\))[ \t]*\(\s*set-option\s+:([^\s()|\";]+)\s", re.MULTILINE)
_SETTING = re.compile(
    rb"(?:^|(?<=\)))([ \t]*)\(\s*set-option\s+:([^\s()|\";]+)\s+"
    rb"(?:[^\s()|\";]+|\|[^|]*\||\"[^\"]*\")\s*\)",
    re.MULTILINE,
)
"""The same with its value."""
_BOUND = re.compile(
    r"(?:.*[.-])?(?:[rt]limit(?:-per)?|timeout|seed|random_seed)|reproducible-resource-limit"
)
"""Limits and seeds of z3, cvc5, yices and bitwuzla, which commands spell in several ways."""
_WORD = re.compile(r"-*(?:no-)?([\w.-]+)")
"""The name of an option in a word of a command, such as `smt.mbqi=true` and `--no-cbqi`."""
_MOST = 1 << 21  # the summary counts the terms of scripts up to this number of nodes


class Smt2(Format):
    """The frontend for SMT-LIB v2 scripts."""

    name = "smt2"
    title = "an SMT-LIB v2 script"
    suffix = ".smt2"
    suffixes = (".smt2", ".smt", ".sl")
    model_check = "reducekit.frontends.smt2.model_check"
    asks_checkers = True
    help = (
        "Candidates are well sorted. Other text is tried only with --unchecked, if the failure is "
        "a parse or sort error, or if the command is not a solver."
    )
    options = (
        FormatOption(
            "unchecked",
            "Also try scripts that are not well sorted, and other text.",
            kind="flag",
            default=False,
        ),
        FormatOption(
            "strict",
            "Try only scripts of the SMT-LIB standard, without extensions.",
            kind="flag",
            default=False,
        ),
        FormatOption(
            "keep_names",
            "Keep the names of symbols, and the attributes of terms that stay, such as :qid.",
            kind="flag",
            default=False,
        ),
    )

    def __init__(
        self, *, unchecked: bool = False, strict: bool = False, keep_names: bool = False
    ) -> None:
        if unchecked and strict:
            raise UsageError("--strict and --unchecked are mutually exclusive: give one")
        self.unchecked = unchecked
        self.standard = strict
        self.keep_names = keep_names
        self.by_chance = False
        """Whether parts of the input fail or not as if by chance."""

    @classmethod
    def recognises(cls, text: bytes) -> bool:
        return _COMMAND.search(text) is not None

    def parse(self, text: bytes) -> ScriptView:
        return ScriptView(parse(text))

    def for_failure(self, described: str, *, by_chance: bool) -> Smt2:
        """Return a frontend that also tries ill-sorted text, for a parse or sort error."""
        misread = not self.standard and _MISREAD.search(described) is not None
        found = type(self)(
            unchecked=self.unchecked or misread, strict=self.standard, keep_names=self.keep_names
        )
        found.by_chance = by_chance
        return found

    def check(self, text: bytes) -> FormatCheck:
        view = self.parse(text)
        found = problems(view, extensions=True)
        return replace(super().check(text), problems=found, notes=notes(view))

    def refuses(self, text: bytes) -> str | None:
        if not self.standard:
            return None
        try:
            found = problems(self.parse(text))
        except ParseError as error:
            found = [str(error)]
        if not found:
            return None
        return f"--strict requires a standard SMT-LIB script, but {found[0]}: omit --strict"

    def fingerprint(self, text: bytes) -> bytes | None:
        return fingerprint(text)

    def variant(self, text: bytes, number: int) -> bytes:
        from reducekit.frontends.smt2.answers.variants import variant

        return variant(text, number)

    def guesses(self, text: bytes, good: Sequence[Probe], bad: Probe | None) -> list[bytes]:
        if bad is None:
            return []
        from reducekit.frontends.smt2.answers.assertions import guesses

        return guesses(text, good, bad)

    def rejects(self, line: str, *, well_formed: bool) -> bool:
        from reducekit.frontends.smt2.answers.failures import rejects

        return rejects(line, well_formed=well_formed)

    def skeleton(self, text: bytes) -> str:
        from reducekit.frontends.smt2.answers.failures import skeleton

        return skeleton(text)

    def schedule(self, passes: Passes) -> Schedule:
        """Return reducekit's passes, those of the ddSMT paper (`classic`), or a tree of the script.

        The `syntax` tree ignores sorts; `exhaustive` continues after it, as Vulcan does.
        """
        if passes == "own":
            return own_schedule(
                unchecked=self.unchecked, keep_names=self.keep_names, by_chance=self.by_chance
            )
        if passes == "tree":
            return Schedule(prepare=(Layout(),), rounds=(hierarchy,))
        if passes in ("syntax", "exhaustive"):
            closing = (identifiers, sub_trees, local) if passes == "exhaustive" else ()
            return Schedule(prepare=(Layout(),), rounds=(syntax,), closing=closing)
        from reducekit.frontends.smt2.passes.phases import paper_schedule

        return replace(paper_schedule(), prepare=(Layout(),))

    def order(self, text: bytes) -> Any:
        return by_size(text)

    def measure(self, view: ScriptView) -> Mapping[str, int]:
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
        return pretty(parse(text))

    def remark(self, text: bytes) -> str | None:
        """Warn if the solver compares its answer with the status in the script.

        The status is true only of the input, so the reduction would only find scripts for which
        it is wrong.
        """
        if _STATUS.search(text) is None:
            return None
        return (
            "the failure needs (set-info :status ...), which may be wrong for a smaller script: "
            "a solver that compares its answer with it also fails then. To keep a wrong answer, "
            "compare with another solver, without the line: `reference`"
        )

    def claimed(self, text: bytes) -> str | None:
        return status_of(text)

    def unclaimed(self, text: bytes) -> bytes:
        return without_status(text)

    def overrides(self, text: bytes, words: Sequence[str]) -> list[str]:
        """Return the limits and seeds that a script sets, and what the command's words set, too."""
        own = _set_by(words)
        names = dict.fromkeys(name.decode(errors="replace") for name in _SETS.findall(text))
        return [each for each in names if _BOUND.fullmatch(each) or _folded(each) in own]

    def yielding(
        self, text: bytes, commands: Sequence[Sequence[str]]
    ) -> tuple[bytes, Sequence[str]]:
        """Return a script without the options that each command sets by a word, and their names."""
        common = set.intersection(*map(_set_by, commands)) if commands else set()
        found: dict[str, None] = {}

        def cut(match: re.Match[bytes]) -> bytes:
            name = match[2].decode(errors="replace")
            if _folded(name) not in common:
                return match[0]
            found[name] = None
            return match[1] + b"\n" * match[0].count(b"\n")

        return _SETTING.sub(cut, text), list(found)

    def labels(self, texts: Sequence[bytes]) -> list[Part]:
        from reducekit.frontends.smt2.answers.assertions import labels

        return labels(texts)

    def instances(self, text: bytes, probe: Probe) -> list[int | None]:
        from reducekit.frontends.smt2.answers.assertions import instances
        from reducekit.frontends.smt2.answers.variants import pieces

        counted = instances(text, probe) or {}
        script = pieces(text, 0) or []
        return [counted.get(each.place) for each in script if each.head == b"assert"]

    @classmethod
    def generation(cls) -> Generation:
        from reducekit.frontends.smt2.generate.mutants import GENERATION

        return GENERATION

    def diagram(self, view: ScriptView) -> Diagram:
        from reducekit.frontends.smt2.diagram import diagram

        return diagram(view.script)


def _set_by(words: Sequence[str]) -> set[str]:
    """Return the options that a command's words may set, in one spelling."""
    return {_folded(match[1]) for word in words if (match := _WORD.match(word)) is not None}


def _folded(option: str) -> str:
    """Return the name of an option in one spelling: `smt-mbqi` and `smt.mbqi` are one."""
    return option.replace("_", "-").replace(".", "-")
