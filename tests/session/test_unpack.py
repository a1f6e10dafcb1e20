"""Compressed inputs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile

import pytest

from reducekit.errors import UsageError
from reducekit.session.unpack import UnpackError, unpacked

TEXT = b"(check-sat)\n"


def archive(*names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name in names:
            file.writestr(name, b"" if name.endswith("/") else TEXT)
    return packed.getvalue()


@pytest.mark.parametrize(
    "packed",
    [gzip.compress(TEXT), bz2.compress(TEXT), lzma.compress(TEXT), archive("dir/", "dir/a.smt2")],
    ids=["gzip", "bzip2", "xz", "zip"],
)
def test_one_file_in_it_is_the_input(packed: bytes) -> None:
    assert unpacked(packed, "a.smt2") == TEXT
    with pytest.raises(UnpackError, match=r"a\.smt2: the \w+ archive"):
        unpacked(packed[: len(packed) // 2], "a.smt2")


@pytest.mark.parametrize("text", [TEXT, archive()], ids=["text", "empty zip"])
def test_what_no_method_begins_with_stays_as_it_is(text: bytes) -> None:
    assert unpacked(text, "a.zip") == text


@pytest.mark.parametrize(("names", "files"), [(["dir/"], 0), (["a", "b"], 2)])
def test_an_archive_that_does_not_hold_one_file(names: list[str], files: int) -> None:
    with pytest.raises(UsageError, match=f"the archive holds {files} files: unpack the one"):
        unpacked(archive(*names), "a.zip")
