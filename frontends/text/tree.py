"""The structure of any text, without a grammar: groups, items, lines, lists and tokens as one tree.

The idea is that what people write for programs to read shows its structure to those who do not know
the language, too: brackets and paired words enclose; indentation, lines, `;` and `,` separate.
Three steps, each linear in the text and without recursion:

1. `scan` cuts the text into tokens: words, numbers, strings, comments, brackets, operators.
2. `match` finds the partner of each bracket, of `begin` its `end`, of `module` its `endmodule`, of
   a tag its end. What has no partner is an ordinary token, so no text is refused.
3. `grow` cuts what stands between partners into items, and these again: statements, lines with
   those that are indented below them, elements between separators, tokens.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence, Set
from enum import IntEnum
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import NamedTuple

from reducekit.document import Document


class Kind(IntEnum):
    """What a node is. From `WORD` on it is a token, a leaf."""

    TEXT = 0
    GROUP = 1
    """What partners enclose, them included."""
    ITEM = 2
    """A statement, a line with what is indented below it, an element of a list."""
    PART = 3
    """What a grammar takes for one, such as an operand: what is around it may need it."""
    FILE = 4
    """One of several files: its header is no node, its content is below, a `TEXT`."""
    WORD = 5
    NUMBER = 6
    STRING = 7
    COMMENT = 8
    OPEN = 9
    CLOSE = 10
    SEPARATOR = 11
    """What stands between the elements of a list."""
    OPERATOR = 12
    KEYWORD = 13
    """A word or `;` that belongs to the rule of a grammar: it goes with the rest of its node."""


_WORDS = rb"([A-Za-z_$\x80-\xff][\w$\x80-\xff]*+|\d[\w.]*+"
_REST = rb"|[-+*/%&|^!=<>:?.~@]=|//|&&|\|\||<<|>>|->|=>|::|\+\+|--|\S)"
_STRINGS = rb"""|"(?:[^"\\\n]|\\.)*+"|(?<!\w)'(?:[^'\\\n]|\\.)*+'"""
_TAGS = (
    rb"|<!--.*?-->"
    rb"""|</?[A-Za-z][^\s<>/]*+(?:[^<>"']|"[^"<>]*+"|'[^'<>]*+')*+>"""
)
_LINE_COMMENT, _BLOCK_COMMENT = rb"|//[^\n]++", rb"|/\*.*?\*/"
_COMMENTED = re.compile(rb"(?:^|[;{}])[ \t]*//", re.MULTILINE)
"""Where a comment begins, and no quotient does. Other languages write `//` for something else."""
_MARKUP = re.compile(_WORDS + _TAGS + _REST, re.DOTALL)
_MARKUP_WITHOUT_END = re.compile(_WORDS + _REST, re.DOTALL)
_NAME = re.compile(rb"</?([^\s<>/]+)")
_NEWLINE, _COMMA = b"\n,"
_PART = 1 << 20  # bytes
_UNSURE = 255
"""Instead of the kind of a token that its first byte does not show."""


def _kinds() -> bytes:
    """Return the kind of a token by its first byte."""
    kinds = bytearray([Kind.OPERATOR]) * 256
    for each in range(256):
        if each >= 128 or bytes((each,)).isalpha() or each in b"_$":
            kinds[each] = Kind.WORD
    for what, those in (
        (Kind.NUMBER, b"0123456789"), (Kind.OPEN, b"([{"), (Kind.CLOSE, b")]}"),
        (Kind.SEPARATOR, b",;"), (_UNSURE, b"\"'/<"),
    ):  # fmt: skip
        for each in those:
            kinds[each] = what
    return bytes(kinds)


_KINDS = _kinds()
BRACKETS: Mapping[bytes, bytes] = {b")": b"(", b"]": b"[", b"}": b"{"}
ENDS: Mapping[bytes, bytes] = {
    b"end": b"begin", b"fi": b"if", b"od": b"do", b"done": b"do", b"esac": b"case"
}  # fmt: skip
_GOES_ON = frozenset((b"else", b"elsif", b"catch", b"finally", b";", b",", b")"))
"""What begins a line that belongs to the statement before."""
_CLOSES = frozenset((b";", b",", b")", b"]", b"}", b"{", b"begin"))
"""What begins a line that belongs to the line before."""


class Tokens(NamedTuple):
    """The tokens of a text as columns."""

    start: array[int]
    end: array[int]
    kind: bytearray
    margin: array[int]
    """How far the first token of a line is indented; -1 for the others."""


def scan(text: bytes) -> Tokens:
    """Cut a text into tokens; what is between them is blank."""
    found = Tokens(array("i"), array("i"), bytearray(), array("i"))
    markup = text.lstrip().startswith(b"<")
    whole, rest = (_MARKUP, _MARKUP_WITHOUT_END) if markup else _code(text)
    # After the last end of a comment, none that begins has an end: looking for one each time
    # would be quadratic.
    closing = b">" if markup else b"*/"
    last = text.rfind(closing) + len(closing) if closing in text else 0
    at = 0
    while at < len(text):
        # In parts, as the tokens of a part are objects for a while.
        limit = last if at < last else len(text)
        stop = text.find(b">\n" if markup else b"\n", at + _PART, limit) + 1 + markup
        stop = limit if stop <= 1 else stop
        _scan(whole if at < last else rest, text, at, stop, found)
        at = stop
    return found


def _code(text: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return the patterns of tokens: up to the last end of a comment, and after it."""
    line = _LINE_COMMENT if _COMMENTED.search(text) else b""
    return (
        re.compile(_WORDS + line + _BLOCK_COMMENT + _STRINGS + _REST, re.DOTALL),
        re.compile(_WORDS + line + _STRINGS + _REST, re.DOTALL),
    )


def _scan(pattern: re.Pattern[bytes], text: bytes, at: int, stop: int, found: Tokens) -> None:
    """Add the tokens of a part of a text."""
    pieces = pattern.split(text[at:stop])  # blanks and tokens in turn
    blanks, tokens = pieces[:-1:2], pieces[1::2]
    places = array("i", accumulate(map(len, pieces), initial=at))
    found.start.extend(places[1:-1:2])
    found.end.extend(places[2:-1:2])
    kind = bytearray(map(itemgetter(0), tokens)).translate(_KINDS)
    each = kind.find(_UNSURE)
    while each >= 0:
        token = tokens[each]
        what = Kind.STRING if token[0] in b"\"'" and len(token) > 1 else Kind.OPERATOR
        comment = len(token) > 2 and token.startswith((b"//", b"/*", b"<!--"))
        kind[each] = Kind.COMMENT if comment else what
        each = kind.find(_UNSURE, each)
    found.kind.extend(kind)
    margin = array("i", [-1]) * len(tokens)
    if tokens and (at == 0 or text[at - 1] == _NEWLINE):
        margin[0] = len(blanks[0])
    for each, blank in enumerate(blanks):
        if b"\n" in blank:
            margin[each] = len(blank) - blank.rfind(b"\n") - 1
    found.margin.extend(margin)


def balanced(text: bytes) -> bool:
    """Return whether as many brackets of each kind close as open, wherever they are."""
    return all(text.count(each) == text.count(other) for each, other in BRACKETS.items())


def match(text: bytes, tokens: Tokens) -> array[int]:
    """Return the partner of each token, -1 where it has none."""
    start, end, kind, _ = tokens
    partner = array("i", [-1]) * len(start)
    closers = _paired_words(text)
    openers = frozenset(closers.values())
    # The open brackets, and the open words by how many brackets are open around them: a word is
    # closed within its bracket only, and a bracket closes what is open in it.
    brackets = array("i")
    depth = dict.fromkeys(BRACKETS.values(), 0)
    words: dict[int, list[tuple[bytes, int]]] = {}
    counts: dict[tuple[int, bytes], int] = {}
    for found in (_WORDS_TOO if closers else _BRACKET).finditer(kind):
        at = found.start()
        each = kind[at]
        if each == Kind.OPEN:
            brackets.append(at)
            depth[text[start[at] : end[at]]] += 1
        elif each == Kind.CLOSE:
            wanted = BRACKETS[text[start[at] : end[at]]]
            while depth[wanted]:
                for word, _ in words.pop(len(brackets), ()):
                    counts[len(brackets), word] = 0
                first = brackets.pop()
                opened = text[start[first] : end[first]]
                depth[opened] -= 1
                if opened == wanted:
                    partner[first], partner[at] = at, first
                    break
        else:
            word = _key(text[start[at] : end[at]])
            here = len(brackets)
            if word in openers:
                words.setdefault(here, []).append((word, at))
                counts[here, word] = counts.get((here, word), 0) + 1
            elif counts.get((here, closers.get(word, b""))):
                while True:
                    opened, first = words[here].pop()
                    counts[here, opened] -= 1
                    if opened == closers[word]:
                        partner[first], partner[at] = at, first
                        break
    return partner


_BRACKET = re.compile(b"[%c%c]" % (Kind.OPEN, Kind.CLOSE))
_WORDS_TOO = re.compile(b"[%c%c%c%c]" % (Kind.OPEN, Kind.CLOSE, Kind.WORD, Kind.OPERATOR))


def _key(token: bytes) -> bytes:
    """Return what a word or a tag is known by: `<a href=x>` is `<a`, `</a>` is `</a`."""
    if token[:1] == b"<" and len(token) > 2 and token[-2:] != b"/>":
        return token[: _NAME.match(token).end()]  # type: ignore[union-attr]  # as scanned
    return token.lower()


_ENDING = re.compile(rb"\b(?:end\w*|fi|od|done|esac)\b|</[^\s<>/]+", re.IGNORECASE)
_OPENING = re.compile(rb"[A-Za-z_$]\w*")


def _paired_words(text: bytes) -> Mapping[bytes, bytes]:
    """Return the words and tags that may close something, with what they close."""
    found = {}
    words: Set[bytes] = frozenset()
    for each in set(_ENDING.findall(text)):
        if each[:1] == b"<":
            found[each] = b"<" + each[2:]
            continue
        words = words or {*map(bytes.lower, set(_OPENING.findall(text)))}
        word = each.lower()
        opener = ENDS.get(word, word[3:] if word[:3] == b"end" else b"")
        if opener in words:
            found[word] = opener
    return found


class Grown(NamedTuple):
    """A tree: a document and the kind of each node."""

    document: Document
    kind: bytearray
    rule: array[int]
    """A number for each node: nodes with the same one can stand in each other's place."""


_WORD_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$"
DELIMITERS = bytes(each for each in range(128) if each not in _WORD_BYTES)

_BLOCK, _STATEMENT, _LINE, _ROW = range(4)
"""What a run of tokens is: the content of a group, a statement, a line, or what is cut no more."""
_RUN, _ITEM, _END, _LEAF = range(4)
"""What is to be done: grow a run, begin an item, end one, add a leaf and end its group."""
_Job = tuple[int, int, int, int]


def tree_of(text: bytes) -> Grown:
    """Return the tree of a text. Every text has one."""
    tokens = scan(text)
    return grow(text, tokens, match(text, tokens))


def grow(text: bytes, tokens: Tokens, partner: Sequence[int]) -> Grown:
    """Build the tree from the tokens and their partners."""
    begin, finish, token_kind, _ = tokens
    start, end, stop = array("i", [0]), array("i", [len(text)]), array("i", [0])
    kind, rule = bytearray([Kind.TEXT]), array("i", [0])
    rules: dict[bytes, int] = {}
    open_: list[int] = []
    add_start, add_end, add_kind, add_stop, add_rule = (
        each.append for each in (start, end, kind, stop, rule)
    )

    def add(first: int, last: int, what: int, number: int) -> None:
        add_start(begin[first])
        add_end(finish[last])
        add_kind(what)
        add_rule(number)
        add_stop(len(stop) + 1)

    # Not looked up each time: members of an enumeration are slow.
    group, item, opening, closing = map(int, (Kind.GROUP, Kind.ITEM, Kind.OPEN, Kind.CLOSE))
    todo: list[_Job] = [(_RUN, 0, len(begin), _BLOCK)]
    while todo:
        job, first, last, way = todo.pop()
        if job == _RUN:
            if last - first > 1 and way < _ROW:
                jobs = cut(text, tokens, partner, first, last, way)
                if jobs:
                    todo += reversed(jobs)
                    continue
            while first < last:
                other = partner[first]
                if other <= first:
                    what = token_kind[first]
                    add_start(begin[first])
                    add_end(finish[first])
                    add_kind(what)
                    add_rule(what)
                    add_stop(len(stop) + 1)
                    first += 1
                    continue
                opened = _key(text[begin[first] : finish[first]])
                open_.append(len(stop))
                add(first, other, group, rules.setdefault(opened, 16 + len(rules)))
                add(first, first, opening, opening)
                todo += (
                    (_RUN, other + 1, last, _ROW),
                    (_LEAF, other, 0, 0),
                    (_RUN, first + 1, other, _BLOCK),
                )
                break
        elif job == _ITEM:
            open_.append(len(stop))
            add(first, last - 1, item, item)
        else:
            if job == _LEAF:
                add(first, first, closing, closing)
            stop[open_.pop()] = len(stop)
    stop[0] = len(stop)
    return Grown(Document(text, start, end, stop, DELIMITERS), kind, rule)


def cut(
    text: bytes, tokens: Tokens, partner: Sequence[int], first: int, last: int, way: int
) -> list[_Job]:
    """Cut a run into items and separators; nothing if there is nothing to cut."""
    start, end, kind, margin = tokens
    lines, semicolons, commas, blocks = [first], list[int](), list[int](), list[int]()
    separator, at = Kind.SEPARATOR, first
    while at < last:
        other = partner[at]
        if margin[at] >= 0 and at > first:
            lines.append(at)
        if other > at:
            # A block, if a new line follows it, ends a statement.
            if other + 1 < last and margin[other + 1] >= 0 and text[start[at]] not in b"([":
                blocks.append(other + 1)
            at = other + 1
            continue
        if kind[at] == separator:
            (commas if text[start[at]] == _COMMA else semicolons).append(at)
        at += 1

    if len(lines) == 1 and not commas and semicolons in ([], [last - 1]) and way != _BLOCK:
        return []

    def word(each: int) -> bytes:
        return text[start[each] : end[each]].lower()

    def after(each: int) -> int:
        """Return where a statement ends: a comment behind it on the same line belongs to it."""
        each += 1
        return each + (each < last and kind[each] == Kind.COMMENT and margin[each] < 0)

    enclosed = way == _BLOCK and first > 0 and partner[first - 1] == last
    round_ = enclosed and text[start[first - 1]] in b"(["
    if round_ or (enclosed and 2 * len(commas) >= len(lines) > 2 * len(semicolons)):
        if semicolons:
            return _between(semicolons, first, last, _LINE, kept=True)
        if commas:
            return _between(commas, first, last, _STATEMENT)
    if way == _BLOCK and (2 * len(semicolons) + len(blocks)) * 2 >= len(lines) > 1:
        ends = sorted({*(after(each) for each in semicolons), *blocks})
        ends = [each for each in ends if each < last and word(each) not in _GOES_ON]
        if ends:
            return _items([first, *ends, last], _STATEMENT)
    if way <= _STATEMENT and len(lines) > 1:
        goes_on = _CLOSES if way == _BLOCK else _GOES_ON
        heads = [first, *(each for each in lines[1:] if word(each) not in goes_on)]
        if len(heads) > 1:
            return _indented(heads, [margin[each] for each in heads], last)
    ends = [each for each in map(after, semicolons) if each < last]
    if ends:
        return _items([first, *ends, last], _LINE)
    return _between(commas, first, last, _ROW) if commas else []


def _item(first: int, last: int, way: int) -> Iterator[_Job]:
    """Return the jobs of an item; a single token needs none around it."""
    if last - first == 1:
        yield _RUN, first, last, _ROW
    elif last > first:
        yield _ITEM, first, last, 0
        yield _RUN, first, last, way
        yield _END, 0, 0, 0


def _items(ends: Sequence[int], way: int) -> list[_Job]:
    """Return the jobs of items that follow each other."""
    return [job for low, high in pairwise(ends) for job in _item(low, high, way)]


def _between(
    separators: Sequence[int], first: int, last: int, way: int, *, kept: bool = False
) -> list[_Job]:
    """Return the jobs of the elements between separators, and of these; those `kept` stay."""
    jobs: list[_Job] = []
    for each in (*separators, last):
        jobs += _item(first, each, way)
        if each < last:
            jobs.append((_RUN, each, each + 1, _ROW))
        first = each + 1
    return jobs


def _indented(heads: Sequence[int], margins: Sequence[int], last: int) -> list[_Job]:
    """Return the jobs of lines, each with those below it that are indented more."""
    jobs: list[_Job] = []
    # The last line below each: one pass from the end.
    until = [len(heads)] * len(heads)
    path: list[int] = []
    for at, each in enumerate(margins):
        while path and margins[path[-1]] >= each:
            until[path.pop()] = at
        path.append(at)
    open_: list[int] = []
    ends = [*heads[1:], last]
    for at, (low, high) in enumerate(zip(heads, ends, strict=True)):
        while open_ and until[open_[-1]] <= at:
            open_.pop()
            jobs.append((_END, 0, 0, 0))
        jobs.append((_ITEM, low, ends[until[at] - 1], 0))
        jobs.append((_RUN, low, high, _LINE))
        open_.append(at)
    return [*jobs, *((_END, 0, 0, 0) for _ in open_)]
