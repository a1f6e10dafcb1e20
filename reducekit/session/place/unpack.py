"""Compressed inputs, recognised by their first bytes, whatever the name of the file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from reducekit.errors import ReducekitError, UsageError

SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zip")


_PIECE = 1 << 16
"""Bytes unpacked at a time. What follows the end of a frame is copied, and frames may be short."""


class UnpackError(ReducekitError):
    """A compressed file that is damaged."""

    exit_code = 3


class _Method(NamedTuple):
    name: str
    unpack: Callable[[bytes], bytes]


def _zstd(packed: bytes) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise UsageError(
            "the input is compressed with zstd: pip install zstandard, or unpack it first"
        ) from None
    method, view, at, parts = zstandard.ZstdDecompressor(), memoryview(packed), 0, []
    try:
        while at < len(packed):
            frame = method.decompressobj()
            while not frame.eof:
                piece = view[at : at + _PIECE]
                if not piece:
                    raise EOFError
                parts.append(frame.decompress(piece))
                at += len(piece) - len(frame.unused_data)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
    return b"".join(parts)


def _zip(packed: bytes) -> bytes:
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            files = [each for each in archive.infolist() if not each.is_dir()]
            if len(files) != 1:
                raise UsageError(f"the archive holds {len(files)} files: unpack the one to reduce")
            return archive.read(files[0])
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:  # encrypted, too
        raise ValueError(str(error)) from None


_METHODS: Mapping[bytes, _Method] = {
    b"\x1f\x8b": _Method("gzip", gzip.decompress),
    b"BZh": _Method("bzip2", bz2.decompress),
    b"\xfd7zXZ\x00": _Method("xz", lzma.decompress),
    b"\x28\xb5\x2f\xfd": _Method("zstd", _zstd),
    b"PK\x03\x04": _Method("zip", _zip),
}


def unpacked(data: bytes, name: str) -> bytes:
    """Return the text of a file that may be compressed; `name` is its name in messages.

    Raises UnpackError if it is damaged.
    """
    for magic, method in _METHODS.items():
        if data.startswith(magic):
            try:
                return method.unpack(data)
            except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as error:
                # bz2 and lzma have no class of their own for it.
                if isinstance(error, EOFError) or "ended before" in str(error):
                    raise UnpackError(
                        f"{name}: the {method.name} archive is cut off after {len(data):,} bytes: "
                        "expected more"
                    ) from None
                raise UnpackError(
                    f"{name}: the {method.name} archive is damaged: {error}"
                ) from None
    return data


def plain_path(path: Path) -> Path:
    """Return the path without the suffix of a compressed file."""
    return path.with_suffix("") if path.suffix in SUFFIXES else path
