"""Several files as one text: nothing is lost, and no text is too strange."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.frontends.text import Text
from reducekit.packed import lay_out, pack, spans, unpack
from reducekit.testing import check_frontend

contents = st.one_of(
    st.binary(max_size=20),
    st.lists(st.sampled_from([b"\0", b"\1", b"\2", b"\3", b"\n"])).map(b"".join),
)
paths = st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1)


@given(st.dictionaries(paths.filter(lambda path: path != ".."), contents, min_size=1))
def test_files_are_read_as_they_were(files: dict[str, bytes]) -> None:
    text = pack(files)
    assert unpack(text) == files
    view = Text().parse(text)
    assert view.document.render({}) == text
    assert len(list(view.document.children(0))) == len(files)


@given(st.lists(st.sampled_from([b"\0file ", b"a", b"\0", b"\n", b"\1\2"])).map(b"".join))
def test_any_text_is_read(text: bytes) -> None:
    assert len(unpack(text)) <= len(spans(text))
    assert Text().parse(text).document.render({}) == text


@pytest.mark.parametrize("path", ["../a", "b/../../a", "/tmp/a"])
def test_no_file_leads_out_of_the_folder(tmp_path: Path, path: str) -> None:
    lay_out(tmp_path / "x", unpack(pack({path: b"1", "b/c..d": b"#!2"})))
    assert [each.name for each in tmp_path.rglob("*")] == ["x", "b", "c..d"]
    assert (tmp_path / "x/b/c..d").stat().st_mode & 0o111


def test_it_keeps_the_contract_of_a_format() -> None:
    check_frontend(
        Text,
        [
            pack(
                {
                    "a.c": b'#include "b.h"\nint f(int a, int b) { return g(a); }\n',
                    "b.h": b"int g;\n",
                }
            ),
            pack({"a": b"", "b": b"\0\1", "c": b"x = (1, 2);\n\n  y\n"}),
        ],
    )
