"""What is shown of bytes: it can be printed, stays on its line and loses nothing silently."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.text import excerpt, printable, shortened, without_middle


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"unsat", "unsat"),
        ("größer ∀".encode(), "größer ∀"),
        (b"\x1b[2J", "\\x1b[2J"),
        (b"a\nb\tc\r", "a\\nb\\tc\\r"),
        (b"\xff(", "\\xff("),
        ("\u202efile", "\\u202efile"),
        ("\udc80", "\\udc80"),
        (b"a\\b", "a\\b"),
    ],
)
def test_what_is_shown(data: bytes | str, shown: str) -> None:
    assert printable(data) == shown


@given(st.binary())
def test_all_of_it_can_be_printed(data: bytes) -> None:
    assert printable(data).isprintable()


@given(st.one_of(st.binary(max_size=90), st.text(max_size=30)), st.integers(0, 20))
def test_what_is_cut_off_is_told(data: bytes | str, most: int) -> None:
    whole = printable(data)
    assert shortened(data, most) == (whole if len(whole) <= most else whole[:most] + "...")


@given(st.text(max_size=200), st.integers(0, 60))
def test_what_loses_its_middle_gets_shorter(line: str, most: int) -> None:
    shown = without_middle(line, most)
    assert shown == line or len(shown) < len(line)
    assert len(line) > most or shown == line


def test_no_excerpt_of_binary_data() -> None:
    assert excerpt(b"\x7fELF\0" * 1000, 5, 80) == ["[5,000 bytes, not text]"]


@pytest.mark.parametrize("length", [80, 81, 102, 103, 500])
def test_a_line_is_cut_only_where_that_makes_it_shorter(length: int) -> None:
    line = "a" * (length // 2) + "b" * (length - length // 2)
    (shown,) = excerpt(line.encode(), 5, 80)
    assert len(shown) <= length
    assert (shown == line) is (length <= 102)
    assert (shown[0], shown[-1]) == ("a", "b")
