"""Faults seeded into a library: one machine instruction overwritten (x86-64).

So a demo, a test or an experiment has a real failing system without a compiler. A fault is written
`SYMBOL+OFFSET:abort` (the instruction raises SIGILL) or `SYMBOL+OFFSET:delete` (it does nothing),
with `=HEX` if the bytes that are expected there shall be checked, or is an entry of a list of
faults: JSON with `{"faults": [{"id", "symbol", "offset", "length", "kind", "sha256"}]}`.

The library is read by pyelftools and its instructions are decoded by capstone. Both are imported
only when a fault is seeded: together they take about half a second for Lingeling.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from reducekit.errors import UsageError

KINDS = ("abort", "delete")
_NOTATION = re.compile(
    r"([^+:=\s]+)(?:\+(0[xX][0-9a-fA-F]+|[0-9]+))?:(\w+)(?:=((?:[0-9a-fA-F]{2})+))?"
)
_FARTHEST = 1 << 24  # bytes from the symbol to the instruction
_FUNCTIONS = ("STT_FUNC", "STT_GNU_IFUNC", "STT_LOOS")  # LOOS: how pyelftools may say GNU_IFUNC
_EXECUTABLE = 1  # PF_X
MISSING = "seeding a fault decodes the library: pip install capstone pyelftools"


@dataclass(frozen=True, slots=True)
class Fault:
    """An instruction `offset` bytes after a symbol, and what becomes of it.

    `expected` are its bytes, or `length` and `sha256` are their number and
    digest, if they are known.
    """

    symbol: str
    offset: int
    kind: str
    expected: bytes = b""
    length: int = 0
    sha256: str = ""

    def __str__(self) -> str:
        return f"{self.symbol}+{self.offset:#x}:{self.kind}"


@dataclass(frozen=True, slots=True)
class Patch:
    """A fault as a fork server applies it: which bytes are replaced by which.

    `distance` is from a symbol that the loader knows.
    """

    symbol: str
    distance: int
    expected: bytes
    new: bytes

    @property
    def text(self) -> str:
        """The patch as an argument of `server.py`."""
        return f"{self.symbol}:{self.distance}:{self.expected.hex()}:{self.new.hex()}"


def read_fault(text: str, file: str | None = None) -> Fault | None:
    """Read a fault as it is written on a command line; `none` is no fault.

    A name is looked up in the list of faults in `file`. Raises UsageError.
    """
    if text == "none":
        return None
    match = _NOTATION.fullmatch(text)
    if match is None:
        if re.fullmatch(r"[\w.-]+", text):
            return _listed(text, file)
        raise UsageError(
            f"the fault {text!r} cannot be read; expected SYMBOL+OFFSET:abort or "
            "SYMBOL+OFFSET:delete, with =HEX for the bytes that it overwrites"
        )
    symbol, offset, kind, expected = match.groups()
    if kind not in KINDS:
        raise UsageError(f"the fault {text!r}: there is no kind {kind!r}, only abort and delete")
    return Fault(symbol, int(offset or "0", 0), kind, bytes.fromhex(expected or ""))


def _listed(name: str, file: str | None) -> Fault:
    if file is None:
        raise UsageError(
            f"the fault {name!r} is a name, and there is no list of faults to look it up "
            "(--faults FILE); else expected SYMBOL+OFFSET:abort or SYMBOL+OFFSET:delete"
        )
    try:
        entries = json.loads(Path(file).read_bytes())["faults"]
        found = {entry["id"]: entry for entry in entries}
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise UsageError(f'{file} is not a list of faults: {{"faults": [...]}} in JSON') from None
    if name not in found:
        raise UsageError(f"{file} has no fault {name!r} (it has: {', '.join(sorted(found))})")
    entry = found[name]
    fields = {"symbol": str, "offset": int, "kind": str, "length": int, "sha256": str}
    for field, kind in fields.items():
        if not isinstance(entry.get(field), kind):
            raise UsageError(f"{file}: the fault {name!r} has no {field}")
    if entry["kind"] not in KINDS:
        raise UsageError(f"{file}: the fault {name!r}: there is no kind {entry['kind']!r}")
    return Fault(**{field: entry[field] for field in fields})


def patch_of(path: str, fault: str | None, faults: str | None) -> Patch | None:
    """Return the patch of a library by which a fault is seeded that is given on a command line."""
    found = None if fault is None else read_fault(fault, faults)
    return None if found is None else resolve(found, path)


def resolve(fault: Fault, path: str, code: Code | None = None) -> Patch:
    """Find the instruction of a fault in a library, and check that it is one.

    Pass `code` if the library was already read. Raises UsageError if there is no such symbol, no
    code, no beginning of an instruction, or if the bytes are not those expected.
    """
    code = code or read_code(path)
    start = code.symbols.get(fault.symbol)
    if start is None:
        near = difflib.get_close_matches(fault.symbol, code.symbols, 3)
        hint = f"; there is: {', '.join(near)}" if near else ""
        raise UsageError(f"the fault {fault}: {path} has no function {fault.symbol!r}{hint}")
    address = start + fault.offset
    length = len(fault.expected) or fault.length or 1
    # A fault far from its symbol is a slip, and to decode as much takes long.
    found = code.at(address, length)
    if not 0 <= fault.offset < _FARTHEST or found is None or len(found) < length:
        raise UsageError(f"the fault {fault}: there is no code at this place of {path}")
    if fault.expected:
        if found != fault.expected:
            raise UsageError(
                f"the fault {fault}: the bytes there are {found.hex()}, not "
                f"{fault.expected.hex()}; is it another build of the library?"
            )
    elif fault.sha256:
        if hashlib.sha256(found).hexdigest() != fault.sha256:
            raise UsageError(
                f"the fault {fault}: the bytes there are others than listed; "
                "is it another build of the library?"
            )
    else:
        found = _instruction(code, start, fault)
    # A symbol of the fault may be one that only the file knows: the server counts from another.
    anchor, at = next(iter(code.exported.items()), ("", 0))
    if not anchor:
        raise UsageError(f"the fault {fault}: {path} exports no function")
    return Patch(anchor, address - at, found, replacement(fault.kind, len(found)))


def replacement(kind: str, length: int) -> bytes:
    """Return the code that overwrites an instruction of this many bytes.

    To abort is ud2 (SIGILL); where there is only one byte, hlt (SIGSEGV).
    """
    # 0x90 is nop, of one byte, so any instruction can be filled up with it.
    if kind == "delete":
        return b"\x90" * length
    return (b"\x0f\x0b" + b"\x90" * (length - 2)) if length > 1 else b"\xf4"


def _instruction(code: Code, start: int, fault: Fault) -> bytes:
    """Return the bytes of the instruction, found by decoding all from the symbol on."""
    # x86-64 instructions have up to 15 bytes, and only decoding tells where each begins.
    content = code.at(start, fault.offset + 64)
    assert content is not None
    end = 0
    for offset, length in instructions(content):
        end = offset + length
        if offset == fault.offset:
            return content[offset:end]
        if offset < fault.offset < end:
            raise UsageError(
                f"the fault {fault}: this is inside of the instruction at "
                f"{fault.symbol}+{offset:#x}"
            )
    raise UsageError(
        f"the fault {fault}: no instruction can be decoded at {fault.symbol}+{end:#x}; "
        "give the bytes that are expected, as =HEX"
    )


@dataclass(frozen=True, slots=True)
class Code:
    """The code of a library.

    `symbols` maps each function to its address, `exported` those that the loader finds by name,
    `sizes` each function to its length in bytes. `segments` are executable: first address, bytes.
    """

    symbols: dict[str, int]
    exported: dict[str, int]
    sizes: dict[str, int]
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
        import capstone  # noqa: F401  # needed next, for the instructions
        from elftools.common.exceptions import ELFError
        from elftools.construct import ConstructError
    except ImportError:
        raise UsageError(MISSING) from None
    try:
        with open(path, "rb") as file:
            code = _read(file)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ELFError, ConstructError, ValueError, AttributeError, TypeError):
        code = None  # pyelftools does not check what it reads of a file that is cut off
    if code is None:
        raise UsageError(f"{path} is not a shared library for x86-64")
    return code


def _read(file: Any) -> Code | None:
    from elftools.elf.elffile import ELFFile

    library = ELFFile(file)
    if library["e_machine"] != "EM_X86_64" or library.elfclass != 64:
        return None
    segments = tuple(
        (segment["p_vaddr"], segment.data())
        for segment in library.iter_segments("PT_LOAD")
        if segment["p_flags"] & _EXECUTABLE
    )
    symbols: dict[str, int] = {}
    exported: dict[str, int] = {}
    sizes: dict[str, int] = {}
    # Wheels keep .symtab, which has the functions that are not exported.
    for name in (".dynsym", ".symtab"):
        table: Any = library.get_section_by_name(name)
        for symbol in () if table is None else table.iter_symbols():
            defined = symbol["st_shndx"] != "SHN_UNDEF"
            if defined and symbol["st_info"]["type"] in _FUNCTIONS:
                symbols.setdefault(symbol.name, symbol["st_value"])
                sizes.setdefault(symbol.name, symbol["st_size"])
                if name == ".dynsym":
                    exported[symbol.name] = symbol["st_value"]
    return Code(symbols, exported, sizes, segments)


def instructions(code: bytes) -> Iterator[tuple[int, int]]:
    """Yield offset and length of each x86-64 instruction, up to what cannot be decoded."""
    for offset, length, _, _ in _decoder().disasm_lite(code, 0):
        yield offset, length


@cache
def _decoder() -> Any:
    from capstone import CS_ARCH_X86, CS_MODE_64, Cs

    return Cs(CS_ARCH_X86, CS_MODE_64)
