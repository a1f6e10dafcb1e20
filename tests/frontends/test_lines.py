"""Lines and tokens: any bytes parse, nothing is lost, nodes are nested and ordered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.frontends.lines import parse_lines

texts = st.one_of(
    st.binary(max_size=200),
    st.lists(st.sampled_from([b"(", b")", b"ab", b" ", b"\t", b"\n", b"\r\n", b"\xff", b";"])).map(
        b"".join
    ),
)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b"", []),
        (b"\n", [(b"\n", [])]),
        (b" a\n\nb", [(b" a\n", [b"a"]), (b"\n", []), (b"b", [b"b"])]),
        (b"(f x)) ;y\r\n", [(b"(f x)) ;y\r\n", [b"(", b"f", b"x", b")", b")", b";y"])]),
        (b"\xff\x00(\x85\xa0", [(b"\xff\x00(\x85\xa0", [b"\xff\x00", b"(", b"\x85\xa0"])]),
    ],
)
def test_lines_and_their_tokens(text: bytes, lines: list[tuple[bytes, list[bytes]]]) -> None:
    document = parse_lines(text)
    found = [
        (document.source(line), [document.source(token) for token in document.children(line)])
        for line in document.children(0)
    ]
    assert found == lines


@given(texts)
def test_nothing_is_lost(text: bytes) -> None:
    document = parse_lines(text)
    assert document.render({}) == text
    assert b"".join(map(document.source, document.children(0))) == text
    tokens = [
        document.source(token) for line in document.children(0) for token in document.children(line)
    ]
    assert b"".join(tokens) == b"".join(text.split())


@given(texts)
def test_nodes_are_nested_and_ordered(text: bytes) -> None:
    document = parse_lines(text)
    start, end, stop, parent = document.start, document.end, document.stop, document.parent
    assert (start[0], end[0], stop[0]) == (0, len(text), len(document))
    for node in range(1, len(document)):
        above = parent[node]
        assert start[above] <= start[node] < end[node] <= end[above]
        assert node < stop[node] <= stop[above]
        if stop[node] < stop[above]:  # the next sibling
            assert end[node] <= start[stop[node]]


@given(texts, st.data())
def test_removing_lines_leaves_the_others(text: bytes, data: st.DataObject) -> None:
    document = parse_lines(text)
    lines = list(document.children(0))
    gone: set[int] = data.draw(st.sets(st.sampled_from(lines))) if lines else set()
    kept = b"".join(document.source(line) for line in lines if line not in gone)
    assert document.render(dict.fromkeys(gone, ())) == kept
