"""What the bit-vector operators mean, on unsigned integers.

As in SMT-LIB (theory FixedSizeBitVectors, logic QF_BV) and as Boolector has it:
`udiv` by 0 is all ones, `urem` by 0 the first operand, and the signed ones follow
from these. The overflow predicates are those of table 1 of the BTOR2 paper
(Niemetz et al., CAV 2018): the exact result is outside the range of the width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reducekit.frontends.btor.model.operators import Op


def signed(value: int, width: int) -> int:
    """Return the value of a pattern of bits in two's complement."""
    return value - (1 << width) if value >> (width - 1) else value


def _udiv(a: int, b: int, width: int) -> int:
    return a // b if b else (1 << width) - 1


def _urem(a: int, b: int, _: int) -> int:
    return a % b if b else a


def _sdiv(a: int, b: int, width: int) -> int:
    x, y = signed(a, width), signed(b, width)
    quotient = _udiv(abs(x), abs(y), width)
    return -quotient if (x < 0) != (y < 0) else quotient


def _srem(a: int, b: int, width: int) -> int:
    x, y = signed(a, width), signed(b, width)
    remainder = _urem(abs(x), abs(y), width)
    return -remainder if x < 0 else remainder


def _smod(a: int, b: int, width: int) -> int:
    # The sign follows the divisor, as that of Python's % does.
    x, y = signed(a, width), signed(b, width)
    return x % y if y else x


def _sll(a: int, b: int, width: int) -> int:
    return a << b if b < width else 0


def _srl(a: int, b: int, width: int) -> int:
    return a >> b if b < width else 0


def _sra(a: int, b: int, width: int) -> int:
    return signed(a, width) >> min(b, width)


def _rol(a: int, b: int, width: int) -> int:
    b %= width
    return a << b | a >> (width - b)


def _ror(a: int, b: int, width: int) -> int:
    b %= width
    return a >> b | a << (width - b)


def _overflows(value: int, width: int) -> int:
    """Return whether a signed value is out of the range of the width."""
    return not -(1 << (width - 1)) <= value < 1 << (width - 1)


BINARY: Mapping[int, Callable[[int, int, int], int]] = {
    Op.ADD: lambda a, b, _: a + b,
    Op.SUB: lambda a, b, _: a - b,
    Op.MUL: lambda a, b, _: a * b,
    Op.UDIV: _udiv,
    Op.SDIV: _sdiv,
    Op.UREM: _urem,
    Op.SREM: _srem,
    Op.SMOD: _smod,
    Op.AND: lambda a, b, _: a & b,
    Op.OR: lambda a, b, _: a | b,
    Op.XOR: lambda a, b, _: a ^ b,
    Op.XNOR: lambda a, b, _: ~(a ^ b),
    Op.NAND: lambda a, b, _: ~(a & b),
    Op.NOR: lambda a, b, _: ~(a | b),
    Op.SLL: _sll,
    Op.SRL: _srl,
    Op.SRA: _sra,
    Op.ROL: _rol,
    Op.ROR: _ror,
    Op.ULT: lambda a, b, _: a < b,
    Op.ULTE: lambda a, b, _: a <= b,
    Op.UGT: lambda a, b, _: a > b,
    Op.UGTE: lambda a, b, _: a >= b,
    Op.SLT: lambda a, b, w: signed(a, w) < signed(b, w),
    Op.SLTE: lambda a, b, w: signed(a, w) <= signed(b, w),
    Op.SGT: lambda a, b, w: signed(a, w) > signed(b, w),
    Op.SGTE: lambda a, b, w: signed(a, w) >= signed(b, w),
    Op.UADDO: lambda a, b, w: (a + b) >> w,
    Op.SADDO: lambda a, b, w: _overflows(signed(a, w) + signed(b, w), w),
    Op.USUBO: lambda a, b, _: a < b,
    Op.SSUBO: lambda a, b, w: _overflows(signed(a, w) - signed(b, w), w),
    Op.UMULO: lambda a, b, w: (a * b) >> w != 0,
    Op.SMULO: lambda a, b, w: _overflows(signed(a, w) * signed(b, w), w),
    Op.SDIVO: lambda a, b, w: a == 1 << (w - 1) and b == (1 << w) - 1,
    Op.EQ: lambda a, b, _: a == b,
    Op.NE: lambda a, b, _: a != b,
    Op.IMPLIES: lambda a, b, _: ~a | b,
    Op.IFF: lambda a, b, _: a == b,
}
"""Of two operands, given with the width of the first; the result is to be cut to its width."""

UNARY: Mapping[int, Callable[[int, int], int]] = {
    Op.NOT: lambda a, _: ~a,
    Op.NEG: lambda a, _: -a,
    Op.INC: lambda a, _: a + 1,
    Op.DEC: lambda a, _: a - 1,
    Op.PROXY: lambda a, _: a,
    Op.UEXT: lambda a, _: a,
    Op.SEXT: signed,
    Op.REDOR: lambda a, _: a != 0,
    Op.ROOT: lambda a, _: a != 0,
    Op.REDAND: lambda a, w: a == (1 << w) - 1,
    Op.REDXOR: lambda a, _: a.bit_count(),
    Op.NEGO: lambda a, w: a == 1 << (w - 1),
}
"""Of one operand, given with its width; the result is to be cut to its width."""
