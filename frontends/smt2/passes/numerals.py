"""Shortens numbers by their digits: the fraction first, then halves from either end."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.passes import pass_
from reducekit.search.problem import FixedSearch, IndependentItems, Selection
from reducekit.search.selecting import Selecting, Selector

_NUMBER = re.compile(rb"(|bv)(?=[0-9.]{3})([0-9]+)(?:\.([0-9]+))?")
"""A number of at least three characters: zero and one were tried in place of the others."""


@dataclass(frozen=True, slots=True)
class Ends(Selector):
    """Takes items from both ends of each group, half of them first, then half of that, and so on.

    A group of n items that all have to stay costs two proposals for each power of two up to n / 2.
    """

    groups: tuple[tuple[int, ...], ...]
    """The remaining items of each group."""
    least: tuple[int, ...]
    """How many items of each group stay; if that is 0, all of it are proposed first."""
    at: int = 0
    size: int = 0
    """How many items to take; 0: the group was not begun yet."""
    front: bool = False

    def _first(self) -> int:
        group = self.groups[self.at]
        return len(group) // 2 if self.least[self.at] else len(group)

    def propose(self) -> Collection[int] | None:
        if self.at >= len(self.groups):
            return None
        group, size = self.groups[self.at], self.size or self._first()
        return group[:size] if self.front else group[-size:]

    def after(self, taken: Collection[int]) -> Ends:
        """Go on at the same end after a success, otherwise at the other one, then with half."""
        size, group = self.size or self._first(), self.groups[self.at]
        if taken:
            left = tuple(each for each in group if each not in taken)
            groups = (*self.groups[: self.at], left, *self.groups[self.at + 1 :])
            size = min(size, (len(left) - self.least[self.at] + 1) // 2)
            return replace(self, groups=groups, size=size)._or_next()
        if not self.front and size < len(group):
            return replace(self, size=size, front=True)
        return replace(self, size=size // 2, front=False)._or_next()

    def _or_next(self) -> Ends:
        """Return the selector at the next group if nothing is left to try in this one."""
        return self if self.size else replace(self, at=self.at + 1, front=False)


class Digits(IndependentItems):
    """The digits of numbers as items. A number that occurs several times stays one number."""

    def __init__(self, numbers: Sequence[tuple[re.Match[bytes], Sequence[int]]]) -> None:
        self.numbers = numbers
        self.owner: list[int] = []
        """The number of each item."""
        self.first: list[int] = []
        groups: list[tuple[int, ...]] = []
        least: list[int] = []
        for at, (number, _) in enumerate(numbers):
            base = len(self.owner)
            self.first.append(base)
            whole, fraction = len(number[2]), len(number[3] or b"")
            self.owner += [at] * (whole + fraction)
            if fraction and number[3].strip(b"0"):
                groups.append(tuple(range(base + whole, base + whole + fraction)))
                least.append(0)
            if whole > 1:
                groups.append(tuple(range(base, base + whole)))
                least.append(1)
        self.selector = Ends(tuple(groups), tuple(least))
        self.weights: Sequence[int] = [1] * len(self.owner)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Write the numbers of the chosen digits without these and those taken before."""
        gone = chosen | taken
        edits: list[Edit] = []
        for at in sorted({self.owner[item] for item in chosen}):
            number, nodes = self.numbers[at]
            text = _without(number, {item - self.first[at] for item in gone})
            edits += (Edit(node, (text,)) for node in nodes)
        return Change(tuple(edits), "shorter number")


def _without(number: re.Match[bytes], gone: Collection[int]) -> bytes:
    """Return a number without the digits at some places, counted without the point."""
    prefix, whole, fraction = number[1], number[2], number[3] or b""
    kept = bytes(digit for at, digit in enumerate(whole) if at not in gone)
    text = prefix + (kept.lstrip(b"0") or b"0")
    if number[3] is None:
        return text
    rest = bytes(digit for at, digit in enumerate(fraction, len(whole)) if at not in gone)
    return text + b"." + (rest.rstrip(b"0") or b"0")


@pass_("numerals")
def numerals(view: ScriptView) -> FixedSearch | None:
    """Shortens numerals, decimals and `(_ bvN w)` by some of their digits.

    At most one check and two for each halving of a number in which every digit is needed.
    """
    document, script = view.document, view.script
    text, start, stop, source = document.text, document.start, document.stop, document.source
    found: dict[bytes, tuple[re.Match[bytes], list[int]]] = {}
    for node, sort in enumerate(script.sort):
        if sort is None:
            continue
        if stop[node] == node + 4 and source(node + 1) == b"_":
            leaf = node + 2
        elif stop[node] == node + 1:
            leaf = node
        else:
            continue
        if text[start[leaf]] not in b"0123456789b" or script.refs[leaf] >= 0:
            continue
        number = _NUMBER.fullmatch(source(leaf))
        if number is not None and bool(number[1]) == (leaf != node):
            found.setdefault(number[0], (number, []))[1].append(leaf)
    if not found:
        return None
    items = Digits(list(found.values()))
    return FixedSearch(Selecting(items, items.selector)) if items.selector.groups else None
