"""Results have no blanks, empty lines and indentation that the failure does not need."""

import ast
from collections.abc import Callable

import pytest

from reducekit import reduce


def loops(text: bytes) -> bool:
    """Return whether a text is valid Python, with a loop that uses `g`."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(node, ast.For) and "'g'" in ast.dump(node) for node in ast.walk(tree))


def words(text: bytes) -> bool:
    return text.split() == [b"a", b"[b]", b"-", b"c", b"d"]


PYTHON = b"\n\nif a:\n\n\n        b  \n\n        for i in a:\n                g\n\n"


def one_below(text: bytes) -> bool:
    return b"def f():\n" in text and b"b" in text


@pytest.mark.parametrize(
    ("text", "holds", "left"),
    [
        (PYTHON, loops, b"for i in a:g\n"),
        (b"\n\tdef f():\n\t\tb", one_below, b"def f():\n b"),
        (b"\n\n a   [b] -\n\n\t c   d \n\n", words, b"a [b] -\n c d\n"),
    ],
)
def test_only_the_layout_that_is_needed_remains(
    text: bytes, holds: Callable[[bytes], bool], left: bytes
) -> None:
    assert reduce(text, holds, format="text").text == left
