"""Writes an operator by others: for dialects that lack it, or want other sorts.

Each function adds lines to a builder and returns the reference to the result.
"""

from __future__ import annotations

from reducekit.frontends.btor.model.builder import Builder
from reducekit.frontends.btor.model.operators import Op


def extended(builder: Builder, code: Op, reference: int, width: int) -> int:
    """Return `uext` or `sext` to a width, which may be the one there is."""
    added = width - builder.width(reference)
    if added == 0:
        return reference
    return builder.add(code, builder.table.bitvec(width), (reference,), (added,))


def sliced(builder: Builder, reference: int, upper: int, lower: int) -> int:
    """Return the bits `upper .. lower`, which may be all there are."""
    if lower == 0 and upper == builder.width(reference) - 1:
        return reference
    sort = builder.table.bitvec(upper - lower + 1)
    return builder.add(Op.SLICE, sort, (reference,), (upper, lower))


def non_zero(builder: Builder, reference: int) -> int:
    """Return whether a bit is set: `redor`, or the operand where it is one bit."""
    if builder.width(reference) == 1:
        return reference
    return builder.add(Op.REDOR, builder.table.bitvec(1), (reference,))


def negation_overflow(builder: Builder, reference: int) -> int:
    """Return whether the operand is the least signed number, `nego`."""
    width = builder.width(reference)
    least = builder.constant(width, 1 << (width - 1))
    return builder.add(Op.EQ, builder.table.bitvec(1), (reference, least))


def shift_by_logarithm(builder: Builder, code: int, shifted: int, amount: int) -> int:
    """Return a shift or rotation whose amount is as wide as what is shifted, in BTOR1's form.

    That form wants a width of 2**k and k bits of amount.
    """
    width = builder.width(shifted)
    if code in (Op.ROL, Op.ROR):
        return _rotation(builder, code, shifted, amount)
    bits = max(1, (width - 1).bit_length())
    wide = 1 << bits
    extension = Op.SEXT if code == Op.SRA else Op.UEXT
    sort = builder.table.bitvec(wide)
    operand = extended(builder, extension, shifted, wide)
    low = sliced(builder, amount, bits - 1, 0)
    result = sliced(builder, builder.add(code, sort, (operand, low)), width - 1, 0)
    if width == bits:
        return result
    # An amount beyond `bits` bits shifts everything out.
    too_far = non_zero(builder, sliced(builder, amount, width - 1, bits))
    if code == Op.SRA:
        out = extended(builder, Op.SEXT, sliced(builder, shifted, width - 1, width - 1), width)
    else:
        out = builder.constant(width, 0)
    return builder.add(Op.ITE, builder.table.bitvec(width), (too_far, out, result))


def _rotation(builder: Builder, code: int, rotated: int, amount: int) -> int:
    width = builder.width(rotated)
    if width == 1:
        return rotated
    sort = builder.table.bitvec(width)
    if width & (width - 1) == 0:
        low = sliced(builder, amount, width.bit_length() - 2, 0)
        return builder.add(code, sort, (rotated, low))
    # What is shifted out on one side comes in on the other.
    whole = builder.constant(width, width)
    near = builder.add(Op.UREM, sort, (amount, whole))
    far = builder.add(Op.SUB, sort, (whole, near))
    left, right = (near, far) if code == Op.ROL else (far, near)
    high = shift_by_logarithm(builder, Op.SLL, rotated, left)
    low = shift_by_logarithm(builder, Op.SRL, rotated, right)
    return builder.add(Op.OR, sort, (high, low))
