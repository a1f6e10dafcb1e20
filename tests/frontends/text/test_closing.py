"""What is no part of a text goes at the end: attributes, names of tags, calls, runs of tokens."""

import re
from collections.abc import Callable

import pytest

from reducekit import reduce
from reducekit.frontends.text import Text


def balanced(text: bytes) -> bool:
    text = re.sub(rb"[a-z ]", b"", text)
    for _ in range(len(text)):
        text = text.replace(b"()", b"")
    return not text


def declared(text: bytes) -> bool:
    """Return whether a declaration ends with `;`, and each name in it has a value."""
    return bool(re.fullmatch(rb"int \w+ ?= ?\w+( ?, ?\w+ ?= ?\w+)* ?;\s*", text))


def called(text: bytes) -> bool:
    """Return whether a value is a call, `0` or 7."""
    return bool(re.fullmatch(rb"x ?= ?(f\(.*|0|7)\s*", text)) and balanced(
        re.sub(rb"[^()]", b"", text)
    )


def tagged(text: bytes) -> bool:
    return b"<d" in text and b'"2"' in text and text.count(b"<") == text.count(b">")


@pytest.mark.parametrize(
    ("text", "holds", "left"),
    [
        (b'<a b="1" c>\n<d e=\'x\' f="2"/></a>', tagged, b'<d f="2"/>'),
        (
            b"<price><size>1</size></price>",
            lambda text: bool(re.fullmatch(rb"<(\w+)><size>1</size></\1>\s*", text)),
            b"<a><size>1</size></a>",
        ),
        (b"x = f(a + g(3))", lambda text: called(text) and b"7" not in text, b"x=0"),
        (b"x = f(a, 7)", lambda text: called(text) and b"7" in text, b"x=7"),
        (b"int x = n, b = 0;", declared, b"int x=n;"),
        (
            b"index = total + batch",
            lambda text: bool(re.fullmatch(rb"\w+ ?= ?\w+ ?\+ ?\w+", text)),
            b"a=a+a",
        ),
        (
            b"print('some %d text', 1234)",
            lambda text: bool(re.search(rb"'.*%d.*', ?.*3", text)),
            b"('%d',3)",
        ),
        (
            b"h\x81\xfd\x8aneedle_in_hay",
            lambda text: b"needle" in text,
            b"needle",
        ),
    ],
)
def test_what_is_no_part_goes(text: bytes, holds: Callable[[bytes], bool], left: bytes) -> None:
    assert reduce(text, holds, format="text").text == left


def test_runs_of_tokens_leave_brackets_that_match() -> None:
    asked = []

    def holds(text: bytes) -> bool:
        asked.append(text)
        return text == b"p(a(b)) q((c)d)"

    reduce(b"p(a(b)) q((c)d)", holds, format="text", only=["runs of tokens"])
    assert len(asked) > 10
    assert all(map(balanced, asked))
    assert b"p(a(c)d)" in {text.replace(b" ", b"") for text in asked}


def test_long_texts_lose_no_runs() -> None:
    schedule = Text().schedule(None)  # type: ignore[arg-type]  # it is not looked at
    (runs,) = [each for each in schedule.closing if each.name == "runs of tokens"]
    assert runs.problem(Text().parse(b"a " * 250)) is not None
    assert runs.problem(Text().parse(b"a " * 251)) is None
