"""What a message quotes from the input is blank in it."""

import pytest

from reducekit.oracle.quotes import _occurs as occurs
from reducekit.oracle.quotes import common, fits, without_quotes


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"x1", True),
        (b"(x1)", True),
        (b"(x12) (ax1) (x1.5) x1", True),
        (b"(x12) (ax1) (x1.5)", False),
        (b"x1a", False),
        (b"ax1", False),
        (b"ax1)", False),
        (b"(x1a", False),
        (b"", False),
    ],
)
def test_a_name_occurs_as_a_whole(text: bytes, found: bool) -> None:
    assert occurs(b"x1", text) is found
    assert not occurs(b"", text)


@pytest.mark.parametrize(
    ("line", "left"),
    [
        (b"unknown constant x1", b"unknown constant *"),
        (b"unknown constant x2", b"unknown constant x2"),
        (b"FATAL: x1", b"FATAL: x1"),  # nothing else would tell it from other failures
        (b"bug in x1", b"bug in *"),
        (b"awk: in.awk: sort and x1", b"awk: in.awk: sort and *"),
        (b"a.c: Assertion `x1 > 0' failed", b"a.c: Assertion `x1 > 0' failed"),
        (b"wrong term (f x1 N) of depth N", b"wrong term * of depth N"),
        (b"wrong term (f x1", b"wrong term *"),  # cut off
        (b'(error "no x1")', b'(error "no *")'),
        (b"no x1, x1 and x1", b"no * and *"),
        (b"cannot sort x1", b"cannot sort *"),
        (b'{"why": "no sum of x1"}', b'{"why": "no sum of *"}'),  # never blank as a whole
        (b"no sum \xe2\x80\x98x1 + N\xe2\x80\x99", b"no sum *"),
        (b"no g(x1, N) here", b"no g* here"),
        (b"no f(x1, X) here", b"no * here"),
        (b"no one (for x1 in sight)", b"no one (for * in sight)"),
    ],
)
def test_what_is_left_without_quotes(line: bytes, left: bytes) -> None:
    assert without_quotes(line, b"(define-fun f () Int x1)(sort and not)") == left


@pytest.mark.parametrize(
    ("line", "pattern", "fit"),
    [
        (b"a b c", b"a * c", True),
        (b"a b\nd c", b"a * c", True),
        (b"a  c", b"a * c", True),
        (b"a c", b"a * c", True),
        (b"a", b"a *", True),
        (b"ad", b"a * c", False),
        (b"a * c", b"a b c", False),
        (b"a.c", b"a+c", False),
        (b"int *", b"int *", True),
        (b'(error "a c")', b'(error "a * ")', True),
        (b"a b.", b"a *", True),
        (b"a b", b"a b.", True),
    ],
)
def test_a_pattern_has_any_text_in_its_places(line: bytes, pattern: bytes, fit: bool) -> None:
    assert fits(line, pattern) is fit


def test_what_runs_have_in_common() -> None:
    assert common([b"job j12 lost", b"job j7 lost"], known=True) == b"job * lost"
    assert common([b"job lost", b"all lost"], known=True) is None
    assert common([b"job lost", b"all lost"], known=False) == b"*"
    assert common([b"job j1", b"job j1 lost"], known=False) == b"*"
