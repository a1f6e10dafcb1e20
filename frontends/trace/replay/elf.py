"""Functions of a shared library and the bytes of its code, read from the file (ELF, 64 bits)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from reducekit.errors import UsageError

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_LOAD, _EXECUTABLE = 1, 1  # PT_LOAD, PF_X
_SYMTAB, _DYNSYM = 2, 11  # SHT_SYMTAB, SHT_DYNSYM
_FUNCTIONS = (2, 10)  # STT_FUNC, STT_GNU_IFUNC
_X86_64 = 62  # EM_X86_64


@dataclass(frozen=True, slots=True)
class Code:
    """The code of a library.

    `symbols` maps each function to its address, `exported` those that the
    loader finds by name. `segments` are executable: first address, bytes.
    """

    symbols: dict[str, int]
    exported: dict[str, int]
    segments: tuple[tuple[int, bytes], ...]

    def at(self, address: int, size: int) -> bytes | None:
        """Return up to `size` bytes of code at an address, None if there is no code."""
        for first, content in self.segments:
            if first <= address < first + len(content):
                return content[address - first : address - first + size]
        return None


def read_code(path: str) -> Code:
    """Read a library's code. Raises UsageError if it is not an x86-64 library."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    try:
        code = _parsed(content)
    except struct.error:
        code = None
    if code is None:
        raise UsageError(f"{path} is not a shared library for x86-64")
    return code


def _parsed(content: bytes) -> Code | None:
    header = _HEADER.unpack_from(content)
    ident, machine = header[0], header[2]
    segments_at, sections_at = header[5:7]
    size, count, section_size, sections = header[9:13]
    if ident[:5] != b"\x7fELF\x02" or machine != _X86_64:
        return None
    segments = []
    for index in range(count):
        kind, flags, offset, address, _, in_file, _, _ = _SEGMENT.unpack_from(
            content, segments_at + index * size
        )
        if kind == _LOAD and flags & _EXECUTABLE:
            segments.append((address, content[offset : offset + in_file]))
    headers = [
        _SECTION.unpack_from(content, sections_at + index * section_size)
        for index in range(sections)
    ]
    symbols: dict[str, int] = {}
    exported: dict[str, int] = {}
    for _, kind, _, _, offset, length, link, _, _, _ in headers:
        if kind not in (_SYMTAB, _DYNSYM) or link >= len(headers):
            continue
        names = headers[link][4]
        for name, info, _, section, value, _ in _SYMBOL.iter_unpack(
            content[offset : offset + length // _SYMBOL.size * _SYMBOL.size]
        ):
            if section and info & 15 in _FUNCTIONS:
                end = content.find(b"\0", names + name)
                text = content[names + name : end].decode("utf-8", "surrogateescape")
                symbols.setdefault(text, value)
                if kind == _DYNSYM:
                    exported[text] = value
    return Code(symbols, exported, tuple(segments))
