"""Compressed inputs."""

import bz2
import gzip
import io
import lzma
import random
import zipfile
from collections.abc import Callable

import pytest
import zstandard

from reducekit.errors import UsageError
from reducekit.session.place.inputs import UnpackError, unpacked

TEXT = b"(check-sat)\n"


def archive(*names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name in names:
            file.writestr(name, b"" if name.endswith("/") else TEXT)
    return packed.getvalue()


METHODS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize(
    "packed",
    [*(method(TEXT) for method in METHODS.values()), archive("dir/", "dir/a.smt2")],
    ids=[*METHODS, "zip"],
)
def test_one_file_in_it_is_the_input(packed: bytes) -> None:
    assert unpacked(packed, "a.smt2") == TEXT
    with pytest.raises(UnpackError, match=r"a\.smt2: the \w+ archive"):
        unpacked(packed[: len(packed) // 2], "a.smt2")


@pytest.mark.parametrize("method", METHODS)
def test_an_archive_that_is_cut_off_anywhere_is_refused(method: str) -> None:
    """Also in the second of two streams, as `cat a.gz b.gz` makes, and behind a whole block."""
    noise = random.Random(1).randbytes(200_000)
    first, second = METHODS[method](noise), METHODS[method](TEXT)
    assert unpacked(first + second, "a") == noise + TEXT
    for end in (10, len(first) // 2, len(first) - 1, len(first) + len(second) - 1):
        with pytest.raises(
            UnpackError, match=rf"^a: the {method} archive is cut off after {end:,}"
        ):
            unpacked((first + second)[:end], "a")


def test_many_short_frames_are_read_once() -> None:
    packed = zstandard.ZstdCompressor().compress(TEXT)
    assert unpacked(packed * 20_000, "a") == TEXT * 20_000


@pytest.mark.parametrize("text", [TEXT, archive()], ids=["text", "empty zip"])
def test_what_no_method_begins_with_stays_as_it_is(text: bytes) -> None:
    assert unpacked(text, "a.zip") == text


@pytest.mark.parametrize(("names", "files"), [(["dir/"], 0), (["a", "b"], 2)])
def test_an_archive_that_does_not_hold_one_file(names: list[str], files: int) -> None:
    with pytest.raises(UsageError, match=f"the archive holds {files} files: unpack the one"):
        unpacked(archive(*names), "a.zip")
