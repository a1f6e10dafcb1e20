"""How literals and names are spelled in the fewest bytes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

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
