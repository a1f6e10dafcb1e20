"""Faults seeded into a library: reading, finding the instruction, and refusing what is none."""

import json
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.frontends.trace.player.faults import (
    Code,
    Fault,
    Patch,
    instructions,
    read_code,
    read_fault,
    replacement,
    resolve,
)
from reducekit.frontends.trace.player.libraries import find_library


def instruction_length(content: bytes) -> int:
    """Return the length of the first instruction; 0 if there is none."""
    return next(instructions(content), (0, 0))[1]


@pytest.fixture(scope="module")
def path() -> str:
    return find_library("lingeling").path


@pytest.fixture(scope="module")
def code(path: str) -> Code:
    return read_code(path)


def at(code: Code, symbol: str, offset: int, size: int) -> bytes:
    found = code.at(code.symbols[symbol] + offset, size)
    assert found is not None
    return found


def second(code: Code, symbol: str = "lglmelt") -> int:
    """Return the offset of a function's second instruction that has two bytes or more."""
    offset = instruction_length(at(code, symbol, 0, 16))
    while instruction_length(at(code, symbol, offset, 16)) < 2:
        offset += 1
    return offset


def test_functions_are_sequences_of_instructions(code: Code) -> None:
    for symbol in ("lglinit", "lgladd", "lglsat", "lglmelt"):
        start = code.symbols[symbol]
        end = min(address for address in code.symbols.values() if address > start)
        content = at(code, symbol, 0, end - start)
        assert sum(length for _, length in instructions(content)) == len(content)


def test_all_exported_functions_are_found(code: Code) -> None:
    assert {"lglinit", "lgladd", "lglrelease", "PyInit_pysolvers"} <= code.exported.keys()
    assert code.exported.items() <= code.symbols.items()


def test_notation() -> None:
    assert read_fault("none") is None
    assert read_fault("lgladd:abort") == Fault("lgladd", 0, "abort")
    assert read_fault("lgladd+16:delete") == Fault("lgladd", 16, "delete")
    assert read_fault("lgladd+0x10:abort=0F0b") == Fault("lgladd", 16, "abort", b"\x0f\x0b")
    assert str(read_fault("lgladd+16:delete")) == "lgladd+0x10:delete"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["abort", "delete"])
def test_an_instruction_is_found_and_replaced(code: Code, path: str, kind: str) -> None:
    offset = second(code)
    patch = resolve(Fault("lglmelt", offset, kind), path)
    length = instruction_length(at(code, "lglmelt", offset, 16))
    assert patch.expected == at(code, "lglmelt", offset, length)
    assert patch.new == replacement(kind, length)
    assert len(patch.new) == length
    assert code.exported[patch.symbol] + patch.distance == code.symbols["lglmelt"] + offset
    expected = resolve(Fault("lglmelt", offset, kind, patch.expected), path)
    assert expected == patch


def test_a_function_that_is_not_exported(code: Code, path: str) -> None:
    symbol = next(
        name
        for name in code.symbols
        if name not in code.exported and name.startswith("lgl") and "." not in name
    )
    patch = resolve(Fault(symbol, 0, "abort"), path)
    assert isinstance(patch, Patch)
    assert patch.symbol in code.exported


def test_replacements() -> None:
    assert replacement("abort", 1) == b"\xf4"
    assert replacement("abort", 4) == b"\x0f\x0b\x90\x90"
    assert replacement("delete", 3) == b"\x90\x90\x90"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lgladd", "is a name, and there is no list of faults"),
        ("lgladd+:abort", "cannot be read; expected SYMBOL\\+OFFSET:abort"),
        ("lgladd+1:abort=0", "cannot be read"),
        ("lgladd+1:crash", "there is no kind 'crash', only abort and delete"),
        ("lgladd+-1:abort", "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_a_fault_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_fault(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lgladdd:abort", "has no function 'lgladdd'; there is: .*lgladd"),
        ("nothing_like_it:abort", "has no function 'nothing_like_it'$"),
        ("lgladd+9000000:abort", "there is no code at this place"),
        ("lgladd+99999999999:abort", "there is no code at this place"),
        ("lgladd+0:abort=0f0b0f0b", "the bytes there are .*, not 0f0b0f0b; is it another build"),
    ],
)
def test_a_place_that_is_refused(path: str, text: str, message: str) -> None:
    fault = read_fault(text)
    assert fault is not None
    with pytest.raises(UsageError, match=message):
        resolve(fault, path)


def test_the_inside_of_an_instruction_is_refused(code: Code, path: str) -> None:
    offset = second(code)
    place = f"lglmelt\\+{offset:#x}$"
    with pytest.raises(UsageError, match=f"inside of the instruction at {place}"):
        resolve(Fault("lglmelt", offset + 1, "abort"), path)


@pytest.mark.slow
def test_a_list_of_faults(code: Code, path: str, tmp_path: Path) -> None:
    offset = second(code)
    length = instruction_length(at(code, "lglmelt", offset, 16))
    entry = {
        "id": "melting",
        "kind": "abort",
        "symbol": "lglmelt",
        "offset": offset,
        "length": length,
        "sha256": sha256(at(code, "lglmelt", offset, length)).hexdigest(),
    }
    wrong = {**entry, "id": "other-build", "sha256": "0" * 64}
    broken = {**entry, "id": "broken", "offset": "many"}
    odd = {**entry, "id": "odd", "kind": "odd"}
    file = tmp_path / "faults.json"
    file.write_text(json.dumps({"faults": [entry, wrong, broken, odd]}))
    fault = read_fault("melting", str(file))
    assert fault is not None
    assert resolve(fault, path) == resolve(Fault("lglmelt", offset, "abort"), path)
    other = read_fault("other-build", str(file))
    assert other is not None
    with pytest.raises(UsageError, match="the bytes there are others than listed"):
        resolve(other, path)
    with pytest.raises(UsageError, match="the fault 'broken' has no offset"):
        read_fault("broken", str(file))
    with pytest.raises(UsageError, match="there is no kind 'odd'"):
        read_fault("odd", str(file))
    with pytest.raises(UsageError, match=r"has no fault 'none-such' \(it has: broken, melting"):
        read_fault("none-such", str(file))
    with pytest.raises(UsageError, match="cannot read"):
        read_fault("melting", str(tmp_path / "missing.json"))
    file.write_text('{"faults": 3}')
    with pytest.raises(UsageError, match="is not a list of faults"):
        read_fault("melting", str(file))


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF\x01" + bytes(100)])
def test_files_that_are_no_libraries(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="is not a shared library for x86-64"):
        read_code(str(path))


def test_a_library_that_is_cut_off(path: str, tmp_path: Path) -> None:
    short = tmp_path / "short.so"
    short.write_bytes(Path(path).read_bytes()[:4000])
    with pytest.raises(UsageError, match="is not a shared library for x86-64"):
        read_code(str(short))


@pytest.mark.parametrize("missing", ["capstone", "elftools"])
def test_without_the_extra_it_says_what_to_install(
    path: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (missing, f"{missing}.common.exceptions"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match="pip install capstone pyelftools"):
        read_code(path)
