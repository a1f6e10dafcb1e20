"""Floating-point literals and operators in a format of fewer bits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from reducekit.frontends.smt2.graph.model import Shape
from reducekit.frontends.smt2.graph.moves import Moves
from reducekit.frontends.smt2.language.sorts import Sort
from reducekit.frontends.smt2.language.spelling import literal_value, shortest

_SPECIAL = re.compile(rb"\(_ (\+oo|-oo|\+zero|-zero|NaN) [0-9]+ [0-9]+\)")
_CONVERSION = re.compile(rb"\(_ (to_fp|to_fp_unsigned) ([0-9]+) ([0-9]+)\)")
_BITS = frozenset((b"fp.to_ieee_bv", b"to_ieee_bv"))
"""Operators whose result is as wide as the format."""


def of_format(text: bytes, sort: Any) -> bytes | None:
    """Return a special value in another format; None for other texts."""
    match = _SPECIAL.fullmatch(text)
    return None if match is None else b"(_ %b %d %d)" % (match[1], sort[1], sort[2])


def narrowed(bits: Sequence[int], before: tuple[int, int], after: tuple[int, int]) -> list[int]:
    """Return sign, exponent and significand of about the same value in a smaller format.

    A format is the number of bits of the exponent and of the significand, with the hidden bit.
    Values that are too large become the largest number, values that are too small zero; excess
    bits are cut off.
    """
    # IEEE 754-2019, 3.4: the exponent is biased by half of its range; all ones stand for infinities
    # and NaNs, zero for zeros and subnormal numbers. What kind of number it is stays (a NaN keeps a
    # significand that is not zero); its value need not, so bits are cut off, not rounded.
    sign, exponent, significand = bits
    special, largest = (1 << before[0]) - 1, (1 << after[0]) - 1
    rest = significand >> (before[1] - after[1])
    if exponent == special:
        return [sign, largest, rest or int(significand > 0)]
    if not exponent:
        return [sign, 0, 0]
    moved = exponent - (special >> 1) + (largest >> 1)
    if moved <= 0:
        return [sign, 0, 0]
    if moved >= largest:
        return [sign, largest - 1, (1 << (after[1] - 1)) - 1]
    return [sign, moved, rest]


def _narrowed_fields(
    moves: Moves, args: tuple[int, ...], after: tuple[int, int]
) -> tuple[int, ...]:
    """Add the sign, exponent and significand of a smaller format; known values are rounded."""
    widths = (1, after[0], after[1] - 1)
    known = [value for each in args if (value := _value(moves, each)) is not None]
    if len(known) < 3:
        return tuple(map(_low_bits, (moves,) * 3, args, widths))
    exponent, significand = (_width(moves, each) for each in args[1:])
    fields = narrowed(known, (exponent, significand + 1), after)
    return tuple(
        moves.leaf(shortest(value, width), ("BitVec", width))
        for value, width in zip(fields, widths, strict=True)
    )


def narrowed_float(
    moves: Moves, shape: Shape, args: tuple[int, ...], sort: Sort | None
) -> int | None:
    """Add an operator on floats of a smaller format in place of one on a larger; None: cannot."""
    graph = moves.graph
    if shape.head in _BITS:
        texts = moves.constants(sort)
        return moves.leaf(texts[0], sort) if texts else None
    if not isinstance(sort, tuple) or sort[0] != "FloatingPoint":
        return graph.add(shape, args, sort)
    after = (int(str(sort[1])), int(str(sort[2])))
    conversion = _CONVERSION.fullmatch(shape.head)
    if conversion is not None:
        head = b"(_ %b %d %d)" % (conversion[1], *after)
        if len(args) == 1:
            args = tuple(_low_bits(moves, each, sum(after)) for each in args)
        return graph.add(graph.shapes.application(head, len(args)), args, sort)
    if shape.head == b"fp" and len(args) == 3:
        args = _narrowed_fields(moves, args, after)
    return graph.add(shape, args, sort)


def _low_bits(moves: Moves, node: int, width: int) -> int:
    """Return a node for the low `width` bits of a bit-vector that has at least as many."""
    if _width(moves, node) <= width:
        return node
    graph = moves.graph
    value = _value(moves, node)
    if value is not None:
        return moves.leaf(shortest(value, width), ("BitVec", width))
    extract = graph.shapes.application(b"(_ extract %d 0)" % (width - 1), 1)
    return graph.add(extract, (node,), ("BitVec", width))


def _value(moves: Moves, node: int) -> int | None:
    shape = moves.graph.shape[node]
    return None if shape.arity or shape.uses else literal_value(shape.head)


def _width(moves: Moves, node: int) -> int:
    sort = moves.graph.sort[node]
    return sort[1] if isinstance(sort, tuple) and isinstance(sort[1], int) else 0
