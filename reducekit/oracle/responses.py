"""Parses the standard output of SMT-LIB v2 solvers into plain records.

The grammar is that of the SMT-LIB standard 2.7 (command responses, section 4; lexicon, section
3.1). Anything else (warnings, stack traces, the partial line of a killed solver) becomes records of
its own, line by line; nothing raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias, cast


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to `check-sat`."""

    word: Literal["sat", "unsat", "unknown"]


@dataclass(frozen=True, slots=True)
class Status:
    """The response to a command without a result: it succeeded, or is not supported."""

    word: Literal["success", "unsupported"]


@dataclass(frozen=True, slots=True)
class Error:
    """`(error "...")`: the decoded message, so `""` is `"`; it may span lines."""

    message: str


@dataclass(frozen=True, slots=True)
class Values:
    """The answer to `get-value` (and `get-assignment`): pairs of a term and its value."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """`(define-fun name parameters sort value)` of a model; `()` for a constant's parameters.

    All four are S-expressions as text, with single blanks between words.
    """

    name: str
    parameters: str
    sort: str
    value: str


@dataclass(frozen=True, slots=True)
class Model:
    """The answer to `get-model`; `rest` holds the entries that are not single definitions."""

    definitions: tuple[Definition, ...]
    rest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Text:
    """Anything else, as printed: an S-expression, a string literal on lines of its own, or a line.

    This includes unsat cores, `()`, and the answers to `get-info` and `echo`.
    """

    text: str


Response: TypeAlias = Answer | Status | Error | Values | Model | Text
Tree: TypeAlias = "str | list[Tree]"
"""An S-expression: a token as printed (strings and symbols with their quotes), or a list."""


def read_responses(output: bytes) -> list[Response]:
    """Return the responses in a solver's output, in order; anything between them is text."""
    found: list[Response] = []
    for start, end, depth in _pieces(output, len(output)):
        if depth:
            text = output[start:end].decode(errors="surrogateescape")
            if _PARSED.match(text) is None:
                found.append(Text(text))
            else:
                plain = is_plain(text, depth)
                found.append(record(text, plain_tree(text) if plain else tree(text)))
        elif match := _WORD.match(output, _line_start(output, start)):
            found.append(_WORDS[match[1]])
        else:
            found.append(Text(output[start:end].decode(errors="surrogateescape").strip()))
    return found


def read_answers(output: bytes) -> tuple[bytes, ...]:
    """Return the answers among the responses, without parsing anything.

    A line `sat` inside an unsat core, a model or a string is not an answer.
    """
    if b"(" not in output and b'"' not in output:
        return tuple(_ANSWER.findall(output))
    # A model after the last answer costs nothing.
    last = max(output.rfind(b"sat"), output.rfind(b"unknown"))
    found = []
    for start, _, depth in _pieces(output, last):
        if not depth and (match := _ANSWER.match(output, _line_start(output, start))):
            found.append(match[1])
    return tuple(found)


def before_the_last_answer(output: bytes) -> list[bytes]:
    """Return what a solver printed before its last answer, but for answers, piece by piece."""
    found: list[bytes] = []
    answered = 0
    for start, end, depth in _pieces(output, max(output.rfind(b"sat"), output.rfind(b"unknown"))):
        if not depth and _ANSWER.match(output, _line_start(output, start)):
            answered = len(found)
        else:
            found.append(output[start:end])
    return found[:answered]


def error_end(output: bytes, start: int) -> int | None:
    """Return the offset after the response whose `(` is at `start`; None if it is cut off."""
    closed = _close(output, start, len(output))
    return None if closed is None else closed[0]


# A response of one word has its own line.
_ANSWER = re.compile(rb"^[ \t]*(sat|unsat|unknown)[ \t\r]*$", re.MULTILINE)
_WORD = re.compile(rb"^[ \t]*(sat|unsat|unknown|success|unsupported)[ \t\r]*$", re.MULTILINE)
_WORDS: dict[bytes, Response] = {
    b"sat": Answer("sat"),
    b"unsat": Answer("unsat"),
    b"unknown": Answer("unknown"),
    b"success": Status("success"),
    b"unsupported": Status("unsupported"),
}


def _line_start(output: bytes, pos: int) -> int:
    return output.rfind(b"\n", 0, pos) + 1


# Each unsuccessful scan for a closing parenthesis costs the rest of the output. After this many,
# whatever is opened must be closed on its line, so that time stays linear.
_SCANS = 2
_VISIBLE = re.compile(rb"[^ \t\r\n]")
_LITERAL = re.compile(rb'"(?:[^"]++|"")*+"(?=[ \t\r]*(?:\n|\Z))')


def _pieces(output: bytes, last: int) -> Iterator[tuple[int, int, int]]:
    """Split an output into closed S-expressions that begin a line, string literals, and lines.

    Yields the offsets of each and the depth of its parentheses (0 if there are none); none of them
    begins after `last`.
    """
    pos = scans = 0
    while True:
        visible = _VISIBLE.search(output, pos)
        if visible is None or visible.start() > last:
            return
        start = visible.start()
        line_end = output.find(b"\n", start)
        line_end = len(output) if line_end < 0 else line_end
        limit = len(output) if scans < _SCANS else line_end
        pos, depth = line_end, 0
        if visible[0] == b"(":
            closed = _close(output, start, limit)
            if closed is not None:
                pos, depth = closed
            else:
                scans += 1
        elif visible[0] == b'"':
            literal = _LITERAL.match(output, start, limit)
            if literal is not None:
                pos = literal.end()
            else:
                scans += 1
        yield start, pos, depth


# A list without sublists is one match, which halves their number. Two adjacent strings end
# where one string with a doubled quote does. A quote or bar that is never closed matches
# alone, as the last alternative.
_SKELETON = re.compile(rb'\([^()"|;]*+\)|[()]|"[^"]*+"|\|[^|]*+\||;[^\n]*+|["|]')


def _close(output: bytes, start: int, limit: int) -> tuple[int, int] | None:
    """Return the offset after the S-expression whose `(` is at `start`, and its depth."""
    depth = deepest = 0
    for match in _SKELETON.finditer(output, start, limit):
        token = match[0]
        if token == b"(":
            depth += 1
            deepest = max(deepest, depth)
        elif token == b")":
            depth -= 1
            if not depth:
                return match.end(), deepest
        elif token.startswith(b"("):
            deepest = max(deepest, depth + 1)
            if not depth:
                return match.end(), deepest
        elif token in (b'"', b"|"):
            return None
    return None


_BLANK = r"(?:[ \t\n\r\x0b\x0c]|;[^\n]*\n)*+"
# The beginnings of the responses that are parsed; the others stay text.
_PARSED = re.compile(rf"\({_BLANK}(?:\(|error\b|model\b)")
# The standard's definitions, and what Z3 prints for the elements of sorts.
_ENTRIES = (
    *("define-fun", "define-fun-rec", "define-funs-rec", "define-const", "define-sort"),
    *("declare-fun", "declare-const", "declare-sort", "declare-datatype", "declare-datatypes"),
    "forall",
)


def record(text: str, parsed: Tree) -> Response:
    """Return the record of a parenthesised S-expression, given as printed and as parsed."""
    head = parsed[0] if parsed else ""
    if head == "error":
        strings = [each for each in parsed[1:] if isinstance(each, str) and each.startswith('"')]
        if len(parsed) == 2 and strings:
            return Error(strings[0][1:-1].replace('""', '"'))
        if strings:  # some solvers do not double the quotes inside
            return Error(text[text.index('"') + 1 : text.rindex('"')])
        return Text(text)  # an unsat core may contain such a name
    rest = parsed[1:] if head == "model" else parsed
    entries = [each for each in rest if isinstance(each, list)]
    if len(entries) < len(rest):
        return Text(text)
    if all(each and each[0] in _ENTRIES for each in entries):
        if entries or head == "model":
            return _model(entries)
        return Text(text)
    # A pair `(not p)` is an assumption in an answer to get-unsat-assumptions.
    if head != "model" and all(len(each) == 2 and each[0] != "not" for each in entries):
        return Values(tuple((_show(term), _show(value)) for term, value in entries))
    return Text(text)


def _model(entries: list[list[Tree]]) -> Model:
    definitions, rest = [], []
    for entry in entries:
        if entry[0] in ("define-fun", "define-fun-rec") and len(entry) == 5:
            name, parameters, sort, value = map(_show, entry[1:])
            definitions.append(Definition(name, parameters, sort, value))
        elif entry[0] == "define-const" and len(entry) == 4:
            name, sort, value = map(_show, entry[1:])
            definitions.append(Definition(name, "()", sort, value))
        else:
            rest.append(_show(entry))
    return Model(tuple(definitions), tuple(rest))


def _show(parsed: Tree) -> str:
    """Return the text of an S-expression, with single blanks between words."""
    if isinstance(parsed, str):
        return parsed
    out: list[str] = []
    todo: list[Tree] = [parsed]
    while todo:
        item = todo.pop()
        if out and out[-1] != "(" and item != ")":
            out.append(" ")
        if isinstance(item, str):
            out.append(item)
        else:
            out.append("(")
            todo.append(")")
            todo.extend(reversed(item))
    return "".join(out)


# sexpdata reads `|a b|`, `""` and backslashes as Lisp does, gives `[` and `'` a
# meaning, and uses a stack frame for each level. It is also ten times slower than
# the tokens below, too slow for long models.
_LISP = re.compile(r"[|\\'\[\]]|\"\"")
_DEEPEST = 200
_LONGEST = 4000


def is_plain(text: str, depth: int) -> bool:
    """Return whether sexpdata parses such an S-expression of this depth correctly and quickly."""
    return len(text) <= _LONGEST and depth <= _DEEPEST and _LISP.search(text) is None


def plain_tree(text: str) -> Tree:
    """Parse one closed S-expression that `is_plain`, using sexpdata."""
    return cast(Tree, _parser()(text, string_to='"{}"'.format).parse()[0])


@cache
def _parser() -> Any:
    """Return sexpdata's parser, with tokens left as they are; imported only when needed."""
    import sexpdata

    class Parser(sexpdata.Parser):  # type: ignore[misc]
        """Keeps `0.10`, `t` and `nil`, which are numbers and constants in Lisp."""

        def atom(self, token: str) -> str:
            """Return the token; string literals keep their quotes."""
            return token

    return Parser


_TOKEN = re.compile(
    r'[()]|"(?:[^"]++|"")*+"|\|[^|]*+\||;[^\n]*+|[^ \t\n\r\x0b\x0c()"|;]++'
)  # fmt: skip


def tree(text: str) -> Tree:
    """Parse one closed S-expression of any depth and with any token of SMT-LIB."""
    top: list[Tree] = []
    stack = [top]
    for token in _TOKEN.findall(text):
        if token == "(":
            inner: list[Tree] = []
            stack[-1].append(inner)
            stack.append(inner)
        elif token == ")":
            stack.pop()
        elif token[0] != ";":
            stack[-1].append(token)
    return top[0]
