r"""Several files as one text, so that a reduction of a folder is one of a text like any other.

A header begins each file: `\0file PATH\0` and a line break. No path has a NUL byte, and the few
files that do are escaped. So there is one way to read a text, and no edit of a file harms another.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_HEADER = re.compile(rb"\0file ([^\0]+)\0\n?")  # the break may go with the first line of the file
_ESCAPED = ((b"\1", b"\1\3"), (b"\0", b"\1\2"))
_PROGRAM = (b"#!", b"\x7fELF")


class Span(NamedTuple):
    """Where a file is in a text; its content begins after the header."""

    path: str
    header: int
    begin: int
    end: int


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return files, by their relative paths, as one text."""
    parts: list[bytes] = []
    for path, content in sorted(files.items()):
        for plain, escaped in _ESCAPED:
            content = content.replace(plain, escaped)
        parts += (b"\0file ", os.fsencode(path), b"\0\n", content)
    return b"".join(parts)


def spans(text: bytes) -> list[Span]:
    """Return where the files of a text are; none if it is not several files."""
    if not text.startswith(b"\0file "):
        return []
    found = list(_HEADER.finditer(text))
    ends = [*(each.start() for each in found[1:]), len(text)]
    return [
        Span(os.fsdecode(each[1]), *each.span(), end)
        for each, end in zip(found, ends, strict=False)
    ]


def contents(text: bytes) -> dict[str, bytes]:
    """Return the files by their paths, as they are in the text; one that is no several has ""."""
    return {each.path: text[each.begin : each.end] for each in spans(text)} or {"": text}


def unpack(text: bytes) -> dict[str, bytes]:
    """Return the files of a text by their paths, without those that lead out of their folder."""
    files = {}
    for path, _, begin, end in spans(text):
        content = text[begin:end]
        for plain, escaped in reversed(_ESCAPED):
            content = content.replace(escaped, plain)
        if not path.startswith("/") and ".." not in path.split("/"):
            files[path] = content
    return files


def lay_out(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder, which is made; scripts and programs may run. Raises OSError."""
    folder.mkdir(exist_ok=True)
    for path, content in files.items():
        where = folder / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(content)
        if content.startswith(_PROGRAM):
            where.chmod(0o755)
