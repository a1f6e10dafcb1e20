"""AIGER files are read, whatever their numbers, or refused with the place."""

import pytest

from reducekit.errors import ParseError
from reducekit.frontends.aiger.convert import in_form
from reducekit.frontends.aiger.files import read, write

TEXT = b"""aag 7 2 1 2 4
2
4
6 8 1
7
14
8 6 2
10 5 3
12 11 9
14 12 10
i0 go
o1 bad thing
c
a comment
"""


def test_a_text_file_may_number_as_it_likes() -> None:
    shuffled = b"aag 9 2 0 1 2\n4\n18\n7\n6 8 5\n8 4 19\n"
    found = read(shuffled)
    assert write(found) == b"aag 9 2 0 1 2\n4\n18\n7\n8 4 19\n6 8 5\n"
    assert in_form(found, "aig").startswith(b"aig 4 2 0 1 2\n9\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"aag 1 1\n2\n", "line 1, column 1: expected 'aag M I L O A'"),
        (b"aag 1 1 0 1 0\n2\n5\n", "line 3, column 1: expected a literal of at most 3"),
        (b"aag 2 1 0 1 0\n2\n4\n", "line 3, column 1: literal 4 is undefined"),
        (b"aag 2 1 0 0 1\n2\n4 4 2\n", "line 3, column 1: gate 4 depends on itself"),
        (b"aag 2 1 0 0 1\n3\n4 2 2\n", "line 2, column 1: expected an even literal of an input"),
        (b"aag 3 1 0 0 1\n2\n2 2 2\n", "line 3, column 1: literal 2 is defined twice"),
        (b"aag 1 0 1 0 0\n2 2 4\n", "line 2, column 1: expected the reset 0, 1 or 2"),
        (b"aag 1 1 0 0 0\n2\ni1 x\n", "line 3, column 1: there are only 1 inputs, not 2"),
        (b"aag 1 1 0 0 0\n2\nnames\n", "line 3, column 1: expected a symbol such as 'i0 NAME'"),
        (b"aig 1 1 0 0 1\n\2\0", "line 1, column 5: expected M to be 2 = I + L + A"),
        (b"aig 2 1 0 0 1\n\0\0", "byte 14: expected a difference of 1 to 4"),
        (b"aig 2 1 0 0 1\n\2\x80", "byte 16: expected gate 4, found the end"),
        (
            b"aag 2 1 0 9 0\n2\n2\n",
            "line 4, column 1: expected the literal of an output, found the end",
        ),
        (
            b"aag 2 1 0 0 1\n2\n4 2\n",
            "line 3, column 1: expected a gate: its literal and two operands",
        ),
        (
            b"aag 3 1 0 0 1 0 0 1\n2\n1\n8\n4 2 2\n",
            "line 4, column 1: expected a literal of at most 7",
        ),
        (b"aag 3 1 0 0 1 0 0 1\n2\n1\n6\n4 2 2\n", "line 4, column 1: literal 6 is undefined"),
        (b"aag 1 1 0 0 0\n2\ni0 x\ni0 y\n", "line 4, column 1: i0 has two symbols"),
        (b"aig 2 1 0 0 1\n\1\4", "byte 15: expected a difference of 0 to 3"),
        (b"aag 99999999999 9 0 0 0\n", "expected M to be a number below"),
        (b"aag 99999 99999 0 0 0\n2\n", "the file ends too early"),
    ],
)
def test_a_wrong_file_is_answered(text: bytes, said: str) -> None:
    with pytest.raises(ParseError) as caught:
        read(text)
    assert said in str(caught.value)
