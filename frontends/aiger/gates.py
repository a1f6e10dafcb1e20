"""Builds circuits: gates that are not made twice, and words of bits with their arithmetic.

A *word* is a list of literals, the lowest bit first. The operators mean what
`btor.model.semantics` says.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import reduce
from typing import TypeAlias

from reducekit.frontends.aiger.circuit import Circuit

FALSE, TRUE = 0, 1
Word: TypeAlias = Sequence[int]


class Gates:
    """Makes gates over literals. Those of inputs and latches are given; gates follow them.

    `before` is a circuit whose gates are there already.
    """

    def __init__(self, inputs: int, latches: int, before: Circuit | None = None) -> None:
        self.inputs, self.latches = inputs, latches
        self.left = array("i") if before is None else before.left[:]
        self.right = array("i") if before is None else before.right[:]
        self._known: dict[tuple[int, int], int] = {}

    # Bits.

    def both(self, one: int, other: int) -> int:
        """Return the conjunction."""
        low, high = (one, other) if one < other else (other, one)
        if low == FALSE or low ^ 1 == high:
            return FALSE
        if low in (TRUE, high):
            return high
        found = self._known.get((low, high))
        if found is None:
            found = 2 * (self.inputs + self.latches + 1 + len(self.left))
            self._known[low, high] = found
            self.left.append(high)
            self.right.append(low)
        return found

    def either(self, one: int, other: int) -> int:
        """Return the disjunction."""
        return self.both(one ^ 1, other ^ 1) ^ 1

    def differ(self, one: int, other: int) -> int:
        """Return whether two bits differ."""
        return self.both(self.both(one, other) ^ 1, self.either(one, other))

    def choose(self, condition: int, then: int, otherwise: int) -> int:
        """Return one of two bits."""
        if then == otherwise:
            return then
        return self.both(
            self.both(condition, then ^ 1) ^ 1, self.both(condition ^ 1, otherwise ^ 1) ^ 1
        )

    def all(self, bits: Word) -> int:
        """Return whether all bits are set."""
        return reduce(self.both, bits, TRUE)

    def any(self, bits: Word) -> int:
        """Return whether a bit is set."""
        return self.all(negated(bits)) ^ 1

    def parity(self, bits: Word) -> int:
        """Return whether an odd number of bits is set."""
        return reduce(self.differ, bits, FALSE)

    # Words of the same width.

    def mux(self, condition: int, then: Word, otherwise: Word) -> Word:
        """Return one of two words."""
        return [self.choose(condition, a, b) for a, b in zip(then, otherwise, strict=True)]

    def equal(self, one: Word, other: Word) -> int:
        """Return whether two words are equal."""
        return self.all([self.differ(a, b) ^ 1 for a, b in zip(one, other, strict=True)])

    def added(self, one: Word, other: Word, carry: int = FALSE) -> tuple[Word, int]:
        """Return the sum, and the carry out of it."""
        total = []
        for a, b in zip(one, other, strict=True):
            half = self.differ(a, b)
            total.append(self.differ(half, carry))
            carry = self.either(self.both(a, b), self.both(half, carry))
        return total, carry

    def subtracted(self, one: Word, other: Word) -> Word:
        """Return the difference."""
        return self.added(one, negated(other), TRUE)[0]

    def minus(self, word: Word) -> Word:
        """Return the negation in two's complement."""
        return self.subtracted([FALSE] * len(word), word)

    def less(self, one: Word, other: Word) -> int:
        """Return whether an unsigned number is less than another."""
        return self.added(one, negated(other), TRUE)[1] ^ 1

    def signed_less(self, one: Word, other: Word) -> int:
        """Return whether a signed number is less than another."""
        # With the sign bits exchanged, the order is that of unsigned numbers.
        return self.less([*one[:-1], other[-1]], [*other[:-1], one[-1]])

    def multiplied(self, one: Word, other: Word) -> Word:
        """Return the product, cut to the width."""
        width = len(one)
        total: Word = [FALSE] * width
        for at, bit in enumerate(other):
            row = [FALSE] * at + [self.both(bit, each) for each in one[: width - at]]
            total = self.added(total, row)[0]
        return total

    def divided(self, one: Word, other: Word) -> tuple[Word, Word]:
        """Return the quotient and the remainder; by 0: all ones, and the first operand."""
        width = len(one)
        rest: Word = [FALSE] * width
        quotient = [FALSE] * width
        divisor = [*other, FALSE]
        for at in reversed(range(width)):
            shifted = [one[at], *rest]
            fits = self.less(shifted, divisor) ^ 1
            quotient[at] = fits
            rest = self.mux(fits, self.subtracted(shifted, divisor), shifted)[:width]
        return quotient, rest

    def absolute(self, word: Word) -> Word:
        """Return the absolute value of a signed number."""
        return self.mux(word[-1], self.minus(word), word)

    def signed_divided(self, one: Word, other: Word) -> tuple[Word, Word]:
        """Return quotient and remainder of signed numbers, whose sign is that of the first."""
        quotient, rest = self.divided(self.absolute(one), self.absolute(other))
        signs = self.differ(one[-1], other[-1])
        return (
            self.mux(signs, self.minus(quotient), quotient),
            self.mux(one[-1], self.minus(rest), rest),
        )

    def modulo(self, one: Word, other: Word) -> Word:
        """Return the remainder of signed numbers whose sign is that of the divisor."""
        rest = self.signed_divided(one, other)[1]
        wrong = self.both(self.any(rest), self.differ(one[-1], other[-1]))
        return self.mux(wrong, self.added(rest, other)[0], rest)

    def shifted(self, word: Word, amount: Word, *, left: bool, fill: int) -> Word:
        """Return a word shifted by an unsigned number; `fill` comes in."""
        width = len(word)
        many = amount[(width - 1).bit_length() :]
        for at, bit in enumerate(amount[: (width - 1).bit_length()]):
            by = min(1 << at, width)
            filled = [fill] * by
            moved = [*filled, *word[: width - by]] if left else [*word[by:], *filled]
            word = self.mux(bit, moved, word)
        return self.mux(self.any(many), [fill] * width, word)

    def rotated(self, word: Word, amount: Word, *, left: bool) -> Word:
        """Return a word rotated by an unsigned number."""
        width = len(word)
        if width & (width - 1):
            # As wide as the word, so the width fits.
            amount = self.divided(amount, constant(width, len(amount)))[1]
        for at, bit in enumerate(amount[: (width - 1).bit_length()]):
            by = (1 << at) % width
            cut = width - by if left else by
            word = self.mux(bit, [*word[cut:], *word[:cut]], word)
        return word


def negated(word: Word) -> Word:
    """Return the complement."""
    return [each ^ 1 for each in word]


def constant(value: int, width: int) -> Word:
    """Return the bits of a number."""
    return [value >> at & 1 for at in range(width)]


def extended(word: Word, width: int, *, signed: bool) -> Word:
    """Return a word made wider."""
    return [*word, *[word[-1] if signed else FALSE] * (width - len(word))]
