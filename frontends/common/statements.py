"""Reads formats of statements, whose grammar is a regular expression over kinds of words.

Each word has a letter: a comment is `c`, a variable or its negation `v`; a format has others. So a
file is a string of letters, which the grammar matches, in linear time, or up to an error.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.errors import ParseError
from reducekit.format import Format, FormatCheck, pass_
from reducekit.frontends.common.items import NodeItems
from reducekit.frontends.common.variables import Image, Replaced, constant, joined
from reducekit.search.problem import IndependentChanges, Items
from reducekit.text import without_mark

if TYPE_CHECKING:
    from reducekit.diagram import Diagram
    from reducekit.frontends.common.drawing import Part

_LONGEST = 4000
"""Bytes of a word; of more digits Python reads no number."""
_BEGINNING = 1 << 14  # bytes


@dataclass(frozen=True, slots=True)
class Grammar:
    """How a format is written."""

    word: re.Pattern[bytes]
    """Has a group for each kind of word."""
    letters: bytes
    """The kinds, by the number of the group."""
    statement: bytes
    """Matches the letters of a statement, the last one included."""
    begun: bytes
    """Matches the longest beginning of one."""
    end: bytes
    """The letter of what ends a statement."""
    leaves: bytes
    """The letters of words that have nodes."""
    sign: bytes
    """What negates a variable."""
    delimiters: bytes
    expected: Callable[[bytes], str]
    """Says what may follow the letters of a beginning."""
    numbered: bytes = b"v"
    """Matches the letters of variables in the order of their numbers."""
    operands: bytes = b"v"
    """Matches the letters of variables that any other may replace, or its negation."""


class Statements:
    """A parsed file: below the root are comments and statements, below these their words.

    Variables have numbers from 1 in the order in which they appear, or are defined.
    """

    grammar: Grammar
    heading: re.Pattern[bytes]
    """Matches in the comment that is the header."""

    def __init__(self, text: bytes) -> None:
        self.kinds = bytearray(b"R")
        """The letter of each node; that of a statement is S."""
        self.nodes = array("i")
        """The node of each statement."""
        self.literals = array("i")
        self.occurrences: dict[int, list[int]] = {}
        self._numbers: dict[bytes, int] = {}
        self.document = self._read(without_mark(text))
        self.names = [b"", *self._numbers]
        self.variables: Sequence[int] = range(1, len(self.names))
        source = self.document.source
        self.header = next((at for at in self.of_kind(b"c") if self.heading.search(source(at))), -1)

    def of_kind(self, letters: bytes) -> list[int]:
        """Return the nodes of some kinds."""
        return [each.start() for each in re.finditer(rb"[%b]" % letters, self.kinds)]

    def words(self, at: int) -> Iterator[tuple[str, bytes]]:
        """Yield the letters and words of a statement."""
        for node in range(self.nodes[at] + 1, self.document.stop[self.nodes[at]]):
            yield chr(self.kinds[node]), self.document.source(node)

    def literal(self, word: bytes) -> int:
        """Return a word as a literal."""
        variable = self._numbers[word.removeprefix(self.grammar.sign)]
        return -variable if word.startswith(self.grammar.sign) else variable

    def spelled(self, literal: int) -> bytes:
        """Return a literal as a word."""
        return (self.grammar.sign if literal < 0 else b"") + self.names[abs(literal)]

    def counts(self, at: int) -> bool:
        """Return whether a header counts a statement."""
        return False

    def head(self, fewer: int) -> list[Edit]:
        """Return the edit of the header for `fewer` statements less, if it counts them."""
        return []

    def replaced(self, at: int, image: Image) -> bytes | None:
        """Return a statement after a replacement of variables; None if nothing is left of it."""
        raise NotImplementedError

    def parts(self) -> Iterable[Part]:
        """Return what a picture shows: what is used comes before what uses it."""
        raise NotImplementedError

    def leaves(self) -> Mapping[int, str]:
        """Return what a picture says of variables, where that is known."""
        return {}

    def _read(self, text: bytes) -> Document:
        grammar = self.grammar
        letters, spans = _letters(text, grammar)
        for each in re.finditer(grammar.numbered, letters):
            self._number(text[spans[2 * each.start()] : spans[2 * each.start() + 1]])
        start, end, stop = array("i", [0]), array("i", [len(text)]), array("i", [0])
        statement = -1
        for at, letter in enumerate(letters):
            first, last = spans[2 * at], spans[2 * at + 1]
            for kind in (b"S" if statement < 0 and letter != b"c"[0] else b"") + bytes([letter]):
                if kind in grammar.leaves or kind in b"Sc":
                    self.kinds.append(kind)
                    start.append(first)
                    end.append(last)
                    stop.append(len(start))
                if kind == b"S"[0]:
                    statement = len(start) - 1
                    self.nodes.append(statement)
            if letter == b"v"[0]:
                self._note(text[first:last])
            if letter == grammar.end[0]:
                end[statement], stop[statement] = last, len(start)
                statement = -1
        stop[0] = len(start)
        return Document(text, start, end, stop, grammar.delimiters)

    def _number(self, word: bytes) -> None:
        self._numbers.setdefault(word.removeprefix(self.grammar.sign), len(self._numbers) + 1)

    def _note(self, word: bytes) -> None:
        self._number(word)
        self.literals.append(self.literal(word))
        inside = self.occurrences.setdefault(abs(self.literals[-1]), [])
        if inside[-1:] != [len(self.nodes) - 1]:
            inside.append(len(self.nodes) - 1)


def _letters(text: bytes, grammar: Grammar) -> tuple[bytes, array[int]]:
    """Return the letters of a text, and where each word begins and ends. Raises ParseError."""
    letters, spans = bytearray(), array("i")
    between = b"c" + grammar.end
    for match in grammar.word.finditer(text):
        group = match.lastindex or 0
        letter = grammar.letters[group]
        if letter != b"c"[0] or not letters or letters[-1] in between:  # none within a statement
            first, last = match.span(group)
            letters.append(letter if last - first < _LONGEST or letter == b"c"[0] else b"?"[0])
            spans.extend((first, last))
    whole = rb"(?:c|%b)*+" % grammar.statement
    if not re.fullmatch(whole, letters):
        begun = re.match(whole + rb"(?:%b)" % grammar.begun, letters)
        at = begun.end() if begun else 0
        place = spans[2 * at] if at < len(letters) else len(text)
        raise ParseError("expected " + grammar.expected(bytes(letters[:at])), text, place)
    return bytes(letters), spans


class StatementFormat(Format):
    """A format of statements: `view` reads a text, `problems` says what is wrong with it."""

    strict = True
    view: type[Statements]
    problems: Callable[[Any], list[str]]
    beginning: re.Pattern[bytes]
    """Matches near the beginning of a file."""

    @classmethod
    def recognises(cls, text: bytes) -> bool:
        return cls.beginning.search(text, 0, _BEGINNING) is not None

    def parse(self, text: bytes) -> Any:
        return self.view(text)

    def check(self, text: bytes) -> FormatCheck:
        """Measure a text, and list what is wrong with it. Raises ParseError."""
        return FormatCheck(self.problems(self.view(text)), super().check(text).summary)

    def diagram(self, view: Statements) -> Diagram:
        from reducekit.frontends.common.drawing import diagram

        parts, what = list(view.parts()), view.leaves()
        defined = {each.defines for each in parts}
        leaves = {
            each: (view.names[each].decode("latin-1"), what.get(each, "variable"))
            for each in view.variables
            if each not in defined
        }
        return diagram(view.document, leaves, parts)


@pass_("comments")
def comments(view: Statements) -> Items:
    """Drops comments, but for the header."""
    return without(view, [each for each in view.of_kind(b"c") if each != view.header], "comments")


def without(view: Statements, nodes: Sequence[int], what: str) -> Items:
    """Return nodes as items to be dropped."""
    return NodeItems(view.document, nodes, lambda node: Edit(node, ()), what)


@pass_("constants")
def constants(view: Statements) -> Items | None:
    """Makes variables constant, so that most of their literals are true."""
    return constant(view, view.replaced, against=False)


@pass_("other constants")
def other_constants(view: Statements) -> Items | None:
    """Makes variables constant, so that most of their literals are false."""
    return constant(view, view.replaced, against=True)


@pass_("merges")
def merges(view: Statements) -> Items:
    """Replaces variables by the one that appeared before, or its negation."""
    return Replaced(view, view.replaced, neighbours(view), joined, "merge variables")


def neighbours(view: Statements) -> list[tuple[int, int]]:
    """Return each variable with the one before, and with its negation."""
    return [(each, sign * one) for one, each in pairwise(view.variables) for sign in (-1, 1)]


def renamed(view: Statements, prefix: bytes, head: Sequence[Edit] = ()) -> Items | None:
    """Return the change that names variables by their numbers: one item; None if they are."""
    edits = list(head)
    for node, literal in zip(view.of_kind(b"v"), view.literals, strict=True):
        sign = view.grammar.sign if literal < 0 else b""
        edits.append(Edit(node, (b"%b%b%d" % (sign, prefix, abs(literal)),)))
    new = [each for each in edits if each.template != (view.document.source(each.node),)]
    return IndependentChanges([Change(tuple(new), "names")]) if new else None


def laid_out(
    view: Statements, lines: Sequence[bytes], head: Callable[[bytes], bytes] = bytes
) -> Items | None:
    """Return the change that writes the statements as these lines, below the header: one item.

    `head` returns the header as it is to be written. None if the text gets no shorter by that, or
    has other comments.
    """
    header = [head(view.document.source(view.header))] if view.header >= 0 else []
    text = b"\n".join((*header, *lines, b""))
    if len(text) >= len(view.document.text) or len(view.of_kind(b"c")) > len(header):
        return None
    return IndependentChanges([Change((Edit(0, (text,)),), "layout")])
