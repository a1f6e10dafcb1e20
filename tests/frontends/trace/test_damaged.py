"""Traces that no library plays are reduced with a command."""

import pytest

import reducekit


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (b"init\nsat\nreturn 10\nreturn 10\nrelease\n", b"sat\nreturn 10\nreturn 10\n"),
        (b"init\noption\noption verbose\nadd 1\nadd 0\nsat\n", b"option verbose\n"),
    ],
    ids=["return twice", "option without a value"],
)
def test_what_no_library_plays_is_reduced_with_a_command(text: bytes, kept: bytes) -> None:
    report = reducekit.reduce(text, lambda each: kept in each, format="trace")
    assert report.text.removeprefix(b"init\n") == kept
