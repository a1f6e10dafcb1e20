"""Constants: the smallest closed terms of a sort, and short spellings of values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from reducekit.frontends.smt2.language.script import Script
from reducekit.frontends.smt2.language.sorts import (
    Sort,
    family,
    is_open,
    match,
    print_sort,
    substitute,
)

_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DECIMAL = 14_000
"""The most bits of a number that is written in decimal: Python prints at most 4,300 digits."""


def literal_value(text: bytes) -> int | None:
    """Return the value of a bit-vector literal in any notation; None for other texts."""
    try:
        if text.startswith(b"#x"):
            return int(text[2:], 16)
        if text.startswith(b"#b"):
            return int(text[2:], 2)
        parts = text.strip(b"()").split()
        if len(parts) == 3 and parts[0] == b"_" and parts[1].startswith(b"bv"):
            return int(parts[1][2:])
    except ValueError:
        pass
    return None


def shortest(value: int, width: int) -> bytes:
    """Return a bit-vector literal in its shortest notation."""
    if value < 0 or value.bit_length() > width:
        value %= 1 << width
    decimal = b"(_ bv%d %d)" % (value, width) if value.bit_length() <= _DECIMAL else b""
    if decimal and width > 4 * len(decimal):
        return decimal  # the width may be billions: too many digits for #x or #b
    binary, hexadecimal = f"#b{value:0{width}b}", f"#x{value:0{width // 4}x}"
    digits = (binary if width % 4 else hexadecimal).encode()
    return min(digits, decimal or digits, key=len)


def short_names() -> Iterator[bytes]:
    """Yield all names made of letters, the shortest first."""
    for length in itertools.count(1):
        for letters in itertools.product(_LETTERS, repeat=length):
            yield bytes(letters)


_DEPTH = 3  # levels of arrays of records of ... that a default is built for
_SPELLED = 64  # widest bit-vector whose ones are spelled out
_BASIC: dict[str, tuple[bytes, ...]] = {
    "Bool": (b"false", b"true"),
    "Int": (b"0", b"1"),
    "Real": (b"0.0", b"1.0", b"0"),
    "RoundingMode": (b"RNE",),
    "String": (b'""', b'"a"'),
    "RegLan": (b"re.none", b"re.all", b"re.allchar"),
}


def default_constants(sort: Sort, script: Script, depth: int = _DEPTH) -> list[bytes]:
    """Return the smallest closed terms of a sort, cheapest first, each in its shortest notation.

    Uses the datatypes of the script. Empty if there are none: user-defined sorts without
    constructors, function sorts, and sorts with elements that nest more than `depth` sorts deep.
    """
    name = family(sort)
    if name in script.constructors:
        return _constructed(sort, script, depth)
    if isinstance(sort, str):
        return list(_BASIC.get(sort, ()))
    if depth and name == "Array":
        elements = default_constants(sort[-1], script, depth - 1)  # type: ignore[arg-type]
        return [b"((as const %s) %s)" % (print_sort(sort), element) for element in elements[:1]]
    if name == "Tuple":
        fields = _fields(sort[1:], script, depth) if len(sort) > 1 else b""
        return [] if fields is None else [b"(tuple %s)" % fields if fields else b"tuple.unit"]
    return _flat(sort, print_sort(sort))


def _flat(sort: tuple[Any, ...], written: bytes) -> list[bytes]:
    name = sort[0]
    if name == "BitVec" and isinstance(sort[1], int):
        width = sort[1]
        if width > _SPELLED:
            zero, one = b"(_ bv0 %d)" % width, b"(_ bv1 %d)" % width
            return [zero, one, b"(bvnot %s)" % zero]
        return [shortest(value, width) for value in dict.fromkeys((0, 1, 2**width - 1))]
    if name == "FloatingPoint":
        widths = written.removeprefix(b"(_ FloatingPoint")
        return [b"(_ " + value + widths for value in (b"+zero", b"NaN", b"+oo", b"-zero")]
    if name == "FiniteField":
        return [b"(as ff%d %s)" % (value, written) for value in (0, 1)]
    if name in ("Seq", "Set", "Bag"):
        return [b"(as %s.empty %s)" % (name.lower().encode(), written)]
    return []


def _fields(sorts: Sequence[Any], script: Script, depth: int) -> bytes | None:
    found = [default_constants(sort, script, depth - 1)[:1] for sort in sorts] if depth else [[]]
    return b" ".join(each[0] for each in found) if all(found) else None


def _constructed(sort: Sort, script: Script, depth: int) -> list[bytes]:
    """Return the nullary constructors of a datatype; of one without, its constructors applied."""
    nullary: list[bytes] = []
    applied: list[bytes] = []
    for number in script.constructors[family(sort)]:
        constructor = script.definitions[number]
        bindings: dict[str, Any] = {}
        if constructor.sort is None or not match(constructor.sort, sort, bindings):
            continue
        spelled = constructor.name
        if is_open(constructor.sort):
            spelled = b"(as %s %s)" % (spelled, print_sort(sort))
        parameters = [substitute(each, bindings) for each in constructor.parameters]
        if not parameters:
            nullary.append(spelled)
        elif not nullary and sort not in parameters and None not in parameters:
            fields = _fields(parameters, script, depth)
            if fields is not None:
                applied.append(b"(%s %s)" % (spelled, fields))
    return sorted(dict.fromkeys(nullary or applied), key=len)
