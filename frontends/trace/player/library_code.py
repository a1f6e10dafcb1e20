"""The machine code of a shared library: where its functions are, and what instructions they have.

The file is read by pyelftools and its instructions are decoded by capstone. Both are imported
only when a fault is seeded: together they take about half a second for Lingeling.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from reducekit.errors import UsageError

_FUNCTIONS = ("STT_FUNC", "STT_GNU_IFUNC", "STT_LOOS")  # LOOS: how pyelftools may say GNU_IFUNC
_EXECUTABLE = 1  # PF_X
MISSING = "seeding a fault decodes the library: pip install capstone pyelftools"


@dataclass(frozen=True, slots=True)
class Code:
    """The code of a library.

    `symbols` maps each function to its address, `exported` those that the loader finds by
    name, `sizes` each function to its length in bytes. `segments` are executable: first
    address, bytes.
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
    """Yield offset and length of each x86-64 instruction, up to the first that is none."""
    for offset, length, _, _ in _decoder().disasm_lite(code, 0):
        yield offset, length


@cache
def _decoder() -> Any:
    from capstone import CS_ARCH_X86, CS_MODE_64, Cs

    return Cs(CS_ARCH_X86, CS_MODE_64)
