"""Lossless parser of SMT-LIB v2 scripts: S-expressions as a Document over the bytes.

Tokens follow the SMT-LIB standard 2.7, section 3.1. A node is an atom or a parenthesised list;
blanks and comments are text between nodes, so nothing is lost: rendering a document without edits
returns its bytes. Bytes are never decoded, so any encoding survives. Symbols are not validated:
what a solver accepts is up to the solver.
"""

from __future__ import annotations

import re
from array import array

from reducekit.document import Document
from reducekit.errors import ParseError

# The tokens, as parts of patterns. A colon starts a keyword and ends a symbol, as Z3 reads it:
# `set-option:produce-models` is two tokens.
WORD = rb"""[^\s()"|;:]+"""  # numeral, symbol, #x.., #b..
QUOTED = rb"\|[^|]*\|"  # symbol
SYMBOL = rb"(?:%s|%s)" % (WORD, QUOTED)
STRING = rb'"[^"]*+(?:""[^"]*+)*+"'  # a quote is written twice
# What no alternative matches starts an unterminated string or quoted symbol.
TOKEN = re.compile(
    rb"""%s | \( | \) | [ \t\r\n\f\v]+
       | :[^\s()"|;:]*           # keyword
       | %s | %s
       | ;[^\n]*                 # comment, up to the end of the line
    """
    % (WORD, STRING, QUOTED),
    re.VERBOSE,
)
_OPEN, _CLOSE, _QUOTE, _SEMICOLON = b'()";'
_BLANK = frozenset(b" \t\r\n\f\v")
_CHUNK = 1 << 18


def parse(text: bytes) -> Document:
    """Parse a script. Raises ParseError at the first place that is not an S-expression.

    Linear in the text, without recursion: a term may nest a million deep.
    """
    size = len(text)
    start, end, stop = array("i", [0]), array("i", [size]), array("i", [0])
    add_start, add_end, add_stop = start.append, end.append, stop.append
    path = [0]  # the open lists, innermost last
    push, pop = path.append, path.pop
    nodes, pos = 1, 0
    while pos < size:
        tokens = _tokens(text, pos)
        for token in tokens:
            first = token[0]
            if first == _OPEN:
                push(nodes)
                add_start(pos)
                add_end(0)
                add_stop(0)
                nodes += 1
            elif first == _CLOSE:
                if len(path) == 1:
                    raise ParseError("unmatched ')'", text, pos)
                node = pop()
                end[node] = pos + 1
                stop[node] = nodes
            elif first not in _BLANK and first != _SEMICOLON:
                add_start(pos)
                add_end(pos + len(token))
                nodes += 1
                add_stop(nodes)
            pos += len(token)
    if len(path) > 1:
        raise ParseError("this '(' is never closed", text, start[path[-1]])
    stop[0] = nodes
    return Document(text, start, end, stop, b" \t\r\n\f\v()")


def _tokens(text: bytes, pos: int) -> list[bytes]:
    """Return the next tokens from `pos`, at least one.

    One slice at a time, so that not all tokens of a large text are in memory at
    once. The last token of a slice may extend beyond it, so it is left for the next.
    """
    window = text[pos : pos + _CHUNK]
    tokens: list[bytes] = TOKEN.findall(window)
    if sum(map(len, tokens)) == len(window):
        if pos + len(window) < len(text):
            tokens.pop()
    else:
        # findall skips text that it cannot match: keep only the tokens before it.
        tokens, at = [], 0
        while (match := TOKEN.match(window, at)) is not None:
            tokens.append(match.group())
            at = match.end()
    if tokens:
        return tokens
    # A token longer than the slice, or none at all.
    match = TOKEN.match(text, pos)
    if match is None:
        what = "string" if text[pos] == _QUOTE else "quoted symbol"
        raise ParseError(f"this {what} is never closed", text, pos)
    return [match.group()]
