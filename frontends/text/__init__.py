"""The text format: reduces any text by its structure, with its grammar where that is installed.

It is for formats that have none of their own here, and for files that are broken (`--lenient`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reducekit.diagram import Diagram
from reducekit.format import Format, Schedule, by_size
from reducekit.frontends.text.closing import attributes, calls, characters, runs, tags
from reducekit.frontends.text.files import drop_files, tree_of_files
from reducekit.frontends.text.grammar import Learnt, grow_by_grammar, nothing_learnt
from reducekit.frontends.text.languages import parser_for
from reducekit.frontends.text.layout import blanks, empty_lines, indentation
from reducekit.frontends.text.passes import (
    arguments,
    columns,
    definitions,
    hoisting,
    shorter,
    structure,
    tokens,
)
from reducekit.frontends.text.syntax import Syntax, syntax_of
from reducekit.frontends.text.tree import Grown, balanced, tree_of
from reducekit.frontends.text.view import TextView
from reducekit.offers import FormatOption, Generation, Inspection
from reducekit.packed import contents, spans
from reducekit.search.strategy import Passes

if TYPE_CHECKING:
    from tree_sitter import Parser

__all__ = ["Text", "TextView"]

_LARGEST = 1 << 22  # bytes of a text that is parsed by a grammar
_ERROR = 1000  # bytes for each error: a text with more is of another language
_MISREAD = re.compile(
    r"\b(?:pars(?:e|er|ing)|syntax) ?error|unexpected (?:token|end|eof|character)|\bexpected\b"
    r"|unterminated|unbalanced|invalid syntax|\b(?:lexer|lexical) error",
    re.IGNORECASE,
)
"""The messages of programs that cannot read a text."""


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
        "reducekit text a.c b.h --oracle ./test.sh -o small",
    )

    options = (
        FormatOption(
            "language",
            "Language of INPUT, if its tree-sitter grammar is installed (default: by suffix).",
            metavar="NAME",
            rare=True,
        ),
        FormatOption(
            "unchecked",
            "Also try what does not parse (default: only if the failure is a parse error).",
            kind="flag",
            default=False,
            rare=True,
        ),
    )

    def __init__(
        self, suffix: str = "", language: str | None = None, *, unchecked: bool = False
    ) -> None:
        self.suffix = suffix
        self.language = language
        self.unchecked = unchecked
        self.parser, note = parser_for(suffix, language)
        self.notes = () if note is None else (note,)
        self._learnt: dict[str, Learnt] = {}

    def of_file(self, name: str) -> Text:
        suffix = Path(name).suffix
        return type(self)(self.suffix or suffix, self.language, unchecked=self.unchecked)

    def for_failure(self, described: str, *, by_chance: bool) -> Text:
        """Return the format that also tries what does not parse, for a parse error."""
        if self.unchecked or _MISREAD.search(described) is None:
            return self
        return type(self)(self.suffix, self.language, unchecked=True)

    def parse(self, text: bytes) -> TextView:
        syntax: dict[str, Syntax] = {}

        def tree(content: bytes, path: str) -> Grown:
            parser = parser_for(Path(path).suffix, self.language)[0] if path else self.parser
            return self._parsed(content, path, parser, syntax)

        files = spans(text)
        return TextView(tree_of_files(text, files, tree) if files else tree(text, ""), syntax)

    def _parsed(
        self, text: bytes, path: str, parser: Parser | None, syntax: dict[str, Syntax]
    ) -> Grown:
        """Return the tree of a file; if it is by a grammar, add its syntax."""
        if parser is not None and parser.language and len(text) <= _LARGEST:
            found = syntax_of(parser, text)
            if found.errors <= 1 + len(text) // _ERROR:
                syntax[path] = found
                learnt = self._learnt.setdefault(str(parser.language.name), nothing_learnt())
                return grow_by_grammar(found, learnt)
        return tree_of(text)

    def misread(self, view: TextView, base: bytes, text: bytes) -> bool:
        """Return whether a file has more errors by its grammar, or unbalanced brackets without."""
        if self.unchecked:
            return False
        before = contents(base)
        for path, content in contents(text).items():
            old = before.get(path, b"")
            if content == old:
                continue
            syntax = view.syntax.get(path)
            if syntax is None:
                if not balanced(content) and balanced(old):
                    return True
                continue
            if syntax.text != old:
                syntax = view.syntax[path] = syntax.of(old)
            if syntax.of(content).errors > syntax.errors:
                return True
        return False

    def schedule(self, passes: Passes) -> Schedule:
        rounds = (
            drop_files,
            structure,
            definitions,
            hoisting,
            arguments,
            columns,
            attributes,
        )
        return Schedule(
            rounds=rounds,
            closing=(
                tokens,
                shorter,
                tags,
                blanks,
                empty_lines,
                indentation,
                calls,
                runs,
                characters,
            ),
            sweep=(*rounds, tokens),
        )

    @classmethod
    def generation(cls) -> Generation:
        """Return what makes mutants of texts."""
        from reducekit.frontends.text.mutants import generation_of

        # Without a grammar, which another machine may not have.
        return generation_of(lambda text, suffix: TextView(tree_of(text)))

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
