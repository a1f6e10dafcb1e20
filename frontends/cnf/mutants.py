"""Mutants of formulas: other literals, clauses more or less, and two formulas in one.

Near the threshold of satisfiability a literal decides, so a mutant may be answered in another way
than its seed; nothing is known of its answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from reducekit.errors import ParseError
from reducekit.frontends.cnf.reader import Format, Line, View, problems, write

_MOST = 5
"""The number of changes of a mutant, at most."""
_SHARED = 0.5
"""How often two formulas that are joined have variables in common."""


@dataclass(frozen=True, slots=True)
class Seed:
    """A formula, ready to be changed."""

    format: Format
    lines: tuple[Line, ...]
    variables: int
    """The largest variable."""
    flaws: int
    """What is wrong with its quantifiers: a mutant is not worse."""


def seed_of(text: bytes, notation: Format | None = None) -> Seed | None:
    """Return a formula as a seed; None if it does not parse or has no clause.

    None also for one of another format, if a `notation` is given.
    WCNF with a header becomes that of 2022, without one.
    """
    try:
        view = View(text)
    except ParseError:
        return None
    if notation not in (None, view.format):
        return None
    if not any(map(view.counts, range(len(view)))) or not view.variables:
        return None
    weighted = view.format == "wcnf"
    lines = tuple(
        Line(b"h" if weighted and view.is_hard(prefix) else prefix, tuple(literals))
        for prefix, literals in view.lines()
    )
    flaws = len(problems(View(write(view.format, lines))))
    return Seed(view.format, lines, view.variables[-1], flaws)


def changed(dice: Random, seed: Seed, other: Seed | None) -> bytes | None:
    """Return the text of a seed, joined with the other one if that can be, with some changes."""
    if other is not None and other.format == seed.format:
        seed = joined(dice, seed, other)
    lines = list(seed.lines)
    for _ in range(dice.randint(1, _MOST)):
        clauses = [at for at, each in enumerate(lines) if _is_clause(seed, each)]
        if not clauses:
            break
        dice.choice(_CHANGES)(dice, seed, lines, dice.choice(clauses))
    if tuple(lines) == seed.lines:
        return None
    text = write(seed.format, lines, seed.variables)
    # Other formats can only have a wrong header, and `write` computes it.
    if seed.format == "qdimacs" and len(problems(View(text))) > seed.flaws:
        return None
    return text


def _is_clause(seed: Seed, line: Line) -> bool:
    return seed.format == "wcnf" or not line.prefix


def joined(dice: Random, first: Seed, second: Seed) -> Seed:
    """Return the conjunction of two formulas, whose variables are the same ones or others."""
    common = dice.random() < _SHARED and first.format != "qdimacs"  # none is quantified twice
    by = 0 if common else first.variables
    moved = [
        Line(prefix, tuple(each + by if each > 0 else each - by for each in literals))
        for prefix, literals in second.lines
    ]
    if first.format == "qdimacs":
        blocks = [each for each in (*first.lines, *moved) if each.prefix]
        lines = (*blocks, *(each for each in (*first.lines, *moved) if not each.prefix))
    else:
        lines = (*first.lines, *moved)
    variables = max(first.variables, second.variables + by)
    return Seed(first.format, lines, variables, first.flaws + second.flaws)


def _literal(dice: Random, seed: Seed) -> int:
    return dice.choice((1, -1)) * dice.randint(1, seed.variables)


_Change: TypeAlias = Callable[[Random, Seed, list[Line], int], None]


def _of_literals(change: Callable[[Random, Seed, list[int]], None], least: int) -> _Change:
    """Return the change of a clause that changes its literals, if it has at least some."""

    def changed_clause(dice: Random, seed: Seed, lines: list[Line], at: int) -> None:
        literals = list(lines[at].literals)
        if len(literals) >= least:
            change(dice, seed, literals)
            lines[at] = Line(lines[at].prefix, tuple(literals))

    return changed_clause


def _negate(dice: Random, seed: Seed, literals: list[int]) -> None:
    literals[dice.randrange(len(literals))] *= -1


def _exchange(dice: Random, seed: Seed, literals: list[int]) -> None:
    literals[dice.randrange(len(literals))] = _literal(dice, seed)


def _lengthen(dice: Random, seed: Seed, literals: list[int]) -> None:
    literals.append(_literal(dice, seed))


def _shorten(dice: Random, seed: Seed, literals: list[int]) -> None:
    del literals[dice.randrange(len(literals))]


def _remove(dice: Random, seed: Seed, lines: list[Line], at: int) -> None:
    """Remove a clause."""
    if sum(_is_clause(seed, each) for each in lines) > 1:
        del lines[at]


def _add(dice: Random, seed: Seed, lines: list[Line], at: int) -> None:
    """Add a clause as long as another one, after it."""
    prefix, literals = lines[at]
    new = tuple(_literal(dice, seed) for _ in literals) or (_literal(dice, seed),)
    lines.insert(at + 1, Line(prefix, new))


def _equate(dice: Random, seed: Seed, lines: list[Line], at: int) -> None:
    """Add that two literals are equal, as solvers look for equivalences."""
    one, other = _literal(dice, seed), _literal(dice, seed)
    prefix = lines[at].prefix
    lines[at + 1 : at + 1] = [Line(prefix, (one, -other)), Line(prefix, (-one, other))]


_CHANGES: tuple[_Change, ...] = (
    _of_literals(_negate, 1), _of_literals(_exchange, 1), _of_literals(_lengthen, 0),
    _of_literals(_shorten, 2), _remove, _add, _equate,
)  # fmt: skip
