"""Random literals of a sort."""

from __future__ import annotations

from random import Random

from reducekit.frontends.smt2.language.sorts import Sort, print_sort

ROUNDING = ("RNE", "RNA", "RTP", "RTN", "RTZ")
_LETTERS = 'ab01 -A"'
_CODES = (r"\u{0}", r"\u{7f}", r"\u{2ffff}", r"\u0041")


def literal(dice: Random, sort: Sort) -> str | None:
    """Return a literal, or the nearest that the sort has to one; None for a sort without.

    Small and extreme values are frequent, as solvers treat them as special cases.
    """
    if sort == "Bool":
        return dice.choice(("true", "false"))
    if sort == "Int":
        return _signed(dice, str(_whole(dice)))
    if sort == "Real":
        return _signed(dice, positive(dice, "Real") if dice.random() < 0.8 else "0.0")
    if sort == "String":
        return _string(dice)
    if sort == "RegLan":
        return f"(str.to_re {_string(dice)})"
    if sort == "RoundingMode":
        return dice.choice(ROUNDING)
    if isinstance(sort, str):
        return None
    return _compound(dice, sort)


def positive(dice: Random, sort: Sort) -> str:
    """Return a literal: of a number one above 0 without a sign, of Char a string of one letter."""
    if sort == "Int":
        return str(max(1, _whole(dice)))
    if sort == "Real":
        return f"{max(1, _whole(dice))}.{dice.choice((0, 0, 5, 25, 125))}"
    if sort == "Char":
        return f'"{dice.choice(_LETTERS[:-1])}"'
    found = literal(dice, sort)
    assert found is not None, sort
    return found


def _whole(dice: Random) -> int:
    if dice.random() < 0.9:
        return dice.randrange(11)
    return 2 ** dice.choice((8, 31, 32, 63, 64)) + dice.randrange(-1, 2)


def _signed(dice: Random, text: str) -> str:
    return text if dice.random() < 0.7 else f"(- {text})"


def _string(dice: Random) -> str:
    letters = [dice.choice(_LETTERS) for _ in range(dice.choice((0, 1, 1, 2, 3, 5)))]
    if dice.random() < 0.1:
        letters.append(dice.choice(_CODES))
    return '"' + "".join(letters).replace('"', '""') + '"'


def _compound(dice: Random, sort: tuple[int | Sort, ...]) -> str | None:
    name, *inside = sort
    if name == "BitVec":
        assert isinstance(inside[0], int)
        return bits(dice, inside[0])
    if name == "FloatingPoint":
        exponent, significand = inside
        assert isinstance(exponent, int)
        assert isinstance(significand, int)
        if dice.random() < 0.5:
            special = dice.choice(("+oo", "-oo", "+zero", "-zero", "NaN"))
            return f"(_ {special} {exponent} {significand})"
        parts = (bits(dice, 1), bits(dice, exponent), bits(dice, significand - 1))
        return f"(fp {' '.join(parts)})"
    if name == "Seq":
        return f"(as seq.empty {print_sort(sort).decode()})"
    if name in ("Set", "Bag"):
        return f"(as {str(name).lower()}.empty {print_sort(sort).decode()})"
    if name == "FiniteField":
        assert isinstance(inside[0], int)
        return f"(as ff{dice.randrange(inside[0])} {print_sort(sort).decode()})"
    return None


def bits(dice: Random, width: int) -> str:
    """Return a literal of a bit-vector."""
    most = 2**width - 1
    extremes = (0, 1, most, 2 ** (width - 1), most >> 1)
    value = min(most, dice.choice((*extremes, dice.randint(0, most), dice.randint(0, most))))
    if width % 4 == 0 and dice.random() < 0.5:
        return f"#x{value:0{width // 4}x}"
    return f"#b{value:0{width}b}"
