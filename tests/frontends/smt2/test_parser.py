"""The parser loses nothing, says where it fails, and does not care how deep or long a text is."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reducekit.errors import ParseError
from reducekit.frontends.smt2.language import parser
from reducekit.frontends.smt2.language.parser import parse

SLICES = (1, 2, 3, 7, 1 << 18)
"""Sizes of the slices a text is read in: tokens must not break at their borders."""


def sources(text: bytes) -> list[bytes]:
    """Return the bytes of each node but the root."""
    document = parse(text)
    return [document.source(node) for node in range(1, len(document))]


def atoms(text: bytes) -> list[bytes]:
    document = parse(text)
    return [
        document.source(node)
        for node in range(1, len(document))
        if document.stop[node] == node + 1 and document.text[document.start[node]] != ord("(")
    ]


# Texts that parse.

BLANKS = st.sampled_from(
    [b" ", b"\n", b"\r\n", b"\t", b"  ", b"; (\r\n", b";|\n", b';"\n', b"\x0b"]
)
SYMBOLS = st.sampled_from(
    [b"x", b"<=", b"a'b", b"bv#1", b"#x0F", b"#b01", b"1.50", b"-", b"\xc3\xa9", b"\xff\xfe", b"^~"]
)
QUOTED = st.binary(max_size=6).map(lambda inside: b"|" + inside.replace(b"|", b"\n;(") + b"|")
STRINGS = st.binary(max_size=6).map(lambda inside: b'"' + inside.replace(b'"', b'""') + b'"')
KEYWORDS = st.sampled_from([b":named", b":", b":status", b":1"])
ATOMS = SYMBOLS | QUOTED | STRINGS | KEYWORDS


@st.composite
def parsable(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """Draw a text and its atoms."""
    out, words, depth = [], [], 0
    for kind in draw(st.lists(st.sampled_from("(())aaaaa_"), max_size=20)):
        if kind == "(":
            depth += 1
            out.append(b"(")
        elif kind == ")" and depth:
            depth -= 1
            out.append(b")")
        elif kind == "a":
            words.append(draw(ATOMS))
            out.append(words[-1] + draw(BLANKS))
        else:
            out.append(draw(BLANKS))
    return b"".join(out) + b")" * depth, words


@pytest.mark.parametrize("size", SLICES)
@given(made=parsable())
@settings(max_examples=60, deadline=None)
def test_what_parses_is_kept_whole(size: int, made: tuple[bytes, list[bytes]]) -> None:
    text, words = made
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "_CHUNK", size)
        document = parse(text)
        assert document.render({}) == text
        assert atoms(text) == words
    # The tree: children in order, within their parents, lists from bracket to bracket.
    for node in range(len(document)):
        at = document.start[node]
        for child in document.children(node):
            assert at <= document.start[child] < document.end[child] <= document.end[node]
            at = document.end[child]
        if document.stop[node] > node + 1 and node:
            source = document.source(node)
            assert source[:1] + source[-1:] == b"()"


JUNK = st.lists(
    st.sampled_from([b"(", b")", b'"', b"|", b";", b"\n", b" ", b"x", b":", b'""', b"\xff", b"\r"])
).map(b"".join)


@pytest.mark.parametrize("size", SLICES)
@given(text=JUNK | st.binary(max_size=40))
@example(text=b'"a" "b')
@example(text=b"(;)")
@settings(max_examples=60, deadline=None)
def test_any_bytes_parse_or_are_refused_at_the_right_place(size: int, text: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "_CHUNK", size)
        expected = fault(text)
        if expected is None:
            assert parse(text).render({}) == text
            return
        with pytest.raises(ParseError) as caught:
            parse(text)
    assert caught.value.offset == expected
    before = text[:expected].split(b"\n")
    assert (caught.value.line, caught.value.column) == (len(before), len(before[-1]) + 1)


def fault(text: bytes) -> int | None:
    """Find the first fault byte by byte: a bracket too many, or what is never closed."""
    path: list[int] = []
    at = 0
    while at < len(text):
        byte = text[at : at + 1]
        if byte in (b'"', b"|"):
            begin = at
            at = text.find(byte, at + 1)
            while at >= 0 and byte == b'"' and text[at + 1 : at + 2] == b'"':
                at = text.find(byte, at + 2)
            if at < 0:
                return begin
        elif byte == b";":
            at = text.find(b"\n", at)
            if at < 0:
                break
        elif byte == b"(":
            path.append(at)
        elif byte == b")":
            if not path:
                return at
            path.pop()
        at += 1
    return path[-1] if path else None


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        (b"", []),
        (b" ; only a comment", []),
        (b"(a\r\nb)", [b"(a\r\nb)", b"a", b"b"]),
        (b'"a""b"c', [b'"a""b"', b"c"]),
        (b'"" ""', [b'""', b'""']),
        (b'"a\r\n;("', [b'"a\r\n;("']),
        (b"|a b ;|c", [b"|a b ;|", b"c"]),
        (b"||", [b"||"]),
        (b"a;b\nc", [b"a", b"c"]),
        (b"a;b\rc\nd", [b"a", b"d"]),
        (b":k:l m:n", [b":k", b":l", b"m", b":n"]),
        (b"x\x00y \xff", [b"x\x00y", b"\xff"]),
        (b"()()", [b"()", b"()"]),
    ],
)
def test_tokens(text: bytes, nodes: list[bytes]) -> None:
    assert sources(text) == nodes


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        (b"(a\n(b\n", 2, 1, "this '(' is never closed"),
        (b"(a))", 1, 4, "unmatched ')'"),
        (b"(a)\r\n )", 2, 2, "unmatched ')'"),
        (b'(a\n  "b', 2, 3, "this string is never closed"),
        (b'"a""', 1, 1, "this string is never closed"),
        (b"; (\n\xc3\xa9 |b", 2, 4, "this quoted symbol is never closed"),
    ],
)
def test_faults(text: bytes, line: int, column: int, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    error = caught.value
    assert (error.line, error.column, error.message) == (line, column, message)
    assert str(error) == f"line {line}, column {column}: {message}"
    assert error.exit_code == 3


def test_tokens_longer_than_a_slice() -> None:
    long = b"x" * 600_000
    text = b"(" + b'"' + long + b'" |' + long + b"| " + long + b";" + long + b"\n:" + long + b")"
    assert atoms(text) == [b'"' + long + b'"', b"|" + long + b"|", long, b":" + long]


def test_a_million_levels() -> None:
    depth = 1_000_000
    document = parse(b"(" * depth + b"x" + b")" * depth)
    assert len(document) == depth + 2
    assert document.source(depth + 1) == b"x"
    with pytest.raises(ParseError) as caught:
        parse(b"(" * depth)
    assert caught.value.offset == depth - 1
