"""The digits of `const`, `constd` and `consth`: whether they fit, and their values."""

from __future__ import annotations

import re

from reducekit.frontends.btor.model.operators import Op
from reducekit.text import shortened

_BINARY = re.compile(rb"[01]+")
_DECIMAL = re.compile(rb"0|[1-9][0-9]*")
_SIGNED = re.compile(rb"-?[0-9]+")
_HEXADECIMAL = re.compile(rb"[0-9a-fA-F]+")
WIDE = 1 << 16
"""Wider constants are not written bit by bit: a width may be billions."""
_DIGITS = 4000
"""How many decimal digits int() takes at once (it refuses more than 4300)."""


def literal_problem(kind: str, word: bytes, width: int, signed: bool) -> str | None:
    """Say why a literal (`bin`, `dec`, `hex`) is none of this width; None if it is one.

    `signed` allows a sign and leading zeros on decimals, as BTOR2 does.
    """
    shown = shortened(word, 40)
    if kind == "bin":
        if _BINARY.fullmatch(word) and len(word) == width:
            return None
        return f"expected {width} binary digits, found {shown} ({len(word)} characters)"
    if kind == "hex" and not _HEXADECIMAL.fullmatch(word):
        return f"{shown} is not hexadecimal"
    if kind == "dec" and not (_SIGNED if signed else _DECIMAL).fullmatch(word):
        return f"{shown} is not decimal"
    return None if _fits(kind, word, width) else f"{shown} does not fit {width} bits"


def _fits(kind: str, word: bytes, width: int) -> bool:
    """Return whether a hexadecimal or decimal number fits; negative ones as two's complement."""
    # 3 bits a digit at least: do not convert what cannot fit.
    if kind == "dec" and len(word.lstrip(b"-").lstrip(b"0")) * 3 - 3 > width:
        return False
    value = int(word, 16) if kind == "hex" else _decimal(word)
    return not value >> width or (value < 0 and -value <= 1 << (width - 1))


def spelled(value: int, width: int) -> tuple[Op, bytes]:
    """Return a constant as an operator and its digits: binary, where these are not too many."""
    if width > WIDE:
        return Op.CONSTH, b"%x" % value
    return Op.CONST, format(value, f"0{width}b").encode()


def literal_value(code: int, digits: bytes, width: int) -> int:
    """Return the value (0 .. 2**width - 1) of a constant's digits; `digits` are well-formed."""
    if code == Op.CONST:
        return int(digits, 2)
    if code == Op.CONSTH:
        return int(digits, 16)
    value = _decimal(digits)
    return value if value >= 0 else value % (1 << width)


def _decimal(word: bytes) -> int:
    value = 0
    digits = word.removeprefix(b"-")
    for at in range(0, len(digits), _DIGITS):
        piece = digits[at : at + _DIGITS]
        value = value * 10 ** len(piece) + int(piece)
    return -value if word.startswith(b"-") else value
