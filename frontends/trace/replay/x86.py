"""Lengths of x86-64 instructions: where one ends and the next begins.

Tables after the opcode maps of the Intel manual, volume 2, appendix A; 64-bit
mode only. What an instruction does is not looked at.
"""

from __future__ import annotations

_LONGEST = 15
_PREFIXES = frozenset(b"\x66\x67\xf2\xf3\xf0\x2e\x36\x3e\x26\x64\x65")


def _set(*ranges: tuple[int, int] | int) -> frozenset[int]:
    return frozenset(
        code
        for each in ranges
        for code in (range(each[0], each[1] + 1) if isinstance(each, tuple) else (each,))
    )


# One-byte opcodes (table A-2).
_INVALID = _set(
    0x06, 0x07, 0x0E, 0x16, 0x17, 0x1E, 0x1F, 0x27, 0x2F, 0x37, 0x3F, (0x60, 0x61),
    0x82, 0x9A, 0xCE, (0xD4, 0xD6), 0xEA,
)  # fmt: skip
_MODRM = _set(
    *((first, first + 3) for first in range(0x00, 0x40, 8)),
    0x63, 0x69, 0x6B, (0x80, 0x8F), 0xC0, 0xC1, 0xC6, 0xC7, (0xD0, 0xD3), (0xD8, 0xDF),
    0xF6, 0xF7, 0xFE, 0xFF,
)  # fmt: skip
_BYTE = _set(
    *range(0x04, 0x40, 8), 0x6A, 0x6B, (0x70, 0x7F), 0x80, 0x83, 0xA8, (0xB0, 0xB7),
    0xC0, 0xC1, 0xC6, 0xCD, (0xE0, 0xE7), 0xEB,
)  # fmt: skip
_WORD = _set(*range(0x05, 0x40, 8), 0x68, 0x69, 0x81, 0xA9, 0xC7)  # 2 bytes after 66, else 4
# Opcodes after 0F (table A-3).
_INVALID_0F = _set(0x04, 0x0A, 0x0C, 0x0F, (0x24, 0x27), 0x36, 0x39, (0x3B, 0x3F))
_PLAIN_0F = _set(
    (0x05, 0x09), 0x0B, 0x0E, (0x30, 0x37), 0x77, (0x80, 0x8F), (0xA0, 0xA2), (0xA8, 0xAA),
    (0xC8, 0xCF),
)  # fmt: skip
_BYTE_0F = _set((0x70, 0x73), 0xA4, 0xAC, 0xBA, 0xC2, (0xC4, 0xC6))


def instruction_length(code: bytes, start: int = 0) -> int:
    """Return the length in bytes of the instruction at `start`; 0 if there is none."""
    try:
        end = _end(code, start)
    except IndexError:
        return 0
    return end - start if 0 < end - start <= _LONGEST and end <= len(code) else 0


def _end(code: bytes, at: int) -> int:
    """Return where an instruction ends, 0 if it is none. Raises IndexError if the code ends."""
    short = narrow = False
    while code[at] in _PREFIXES:
        short = short or code[at] == 0x66
        narrow = narrow or code[at] == 0x67
        at += 1
    wide = False
    if 0x40 <= code[at] <= 0x4F:  # REX
        wide = bool(code[at] & 8)
        at += 1
    opcode = code[at]
    word = 2 if short and not wide else 4
    if opcode in (0xC4, 0xC5, 0x62):
        return _vector(code, at)
    if opcode == 0x0F:
        return _after_0f(code, at + 1)
    if opcode in _INVALID:
        return 0
    after = _modrm(code, at + 1) if opcode in _MODRM else at + 1
    if opcode in _BYTE:
        return after + 1
    if opcode in _WORD:
        return after + word
    if opcode in (0xF6, 0xF7) and not code[at + 1] & 0x30:  # test; the rest has no immediate
        return after + (1 if opcode == 0xF6 else word)
    if 0xB8 <= opcode <= 0xBF:
        return after + (8 if wide else word)
    if 0xA0 <= opcode <= 0xA3:
        return after + (4 if narrow else 8)
    return after + {0xE8: 4, 0xE9: 4, 0xC2: 2, 0xCA: 2, 0xC8: 3}.get(opcode, 0)


def _after_0f(code: bytes, at: int) -> int:
    opcode = code[at]
    if opcode == 0x38:
        return _modrm(code, at + 2)
    if opcode == 0x3A:
        return _modrm(code, at + 2) + 1
    if opcode in _INVALID_0F:
        return 0
    if 0x80 <= opcode <= 0x8F:
        return at + 5
    return (at + 1 if opcode in _PLAIN_0F else _modrm(code, at + 1)) + (opcode in _BYTE_0F)


def _vector(code: bytes, at: int) -> int:
    """Return the end of an instruction with a VEX or EVEX prefix."""
    if code[at] == 0xC5:
        number, at = 1, at + 2
    elif code[at] == 0xC4:
        number, at = code[at + 1] & 0x1F, at + 3
    else:
        number, at = code[at + 1] & 0x07, at + 4
    opcode = code[at]
    if number == 1:
        return (at + 1 if opcode == 0x77 else _modrm(code, at + 1)) + (opcode in _BYTE_0F)
    if number in (2, 5, 6):
        return _modrm(code, at + 1)
    return _modrm(code, at + 1) + 1 if number == 3 else 0


def _modrm(code: bytes, at: int) -> int:
    """Return where the ModRM byte, the SIB byte and the displacement end."""
    byte = code[at]
    mode, operand = byte >> 6, byte & 7
    at += 1
    if mode == 3:
        return at
    if operand == 4:
        operand = code[at] & 7  # the base, of which 5 means none just as without SIB
        at += 1
    if mode == 1:
        return at + 1
    return at + 4 if mode == 2 or operand == 5 else at
