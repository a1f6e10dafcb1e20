"""Solves "must be the same" by unification: which parts of some patterns change together.

A pattern is a term over variables, such as the sort of a node in which some parts may change:
an `int` is a variable, a tuple is a constructor with patterns as its arguments, such as
`("Array", 3, 4)`, and anything else is a constant. Operators say which patterns are equal
(`unify`), and which stay as they are (`freeze`). The others are in classes. Each class can get
another value, and `instance` returns what a pattern is then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

Pattern = Any
"""A variable (`int`), a constructor with its arguments (`tuple`), or a constant."""


class Classes:
    """Variables, which can be joined and frozen. Each has a value, equal in the whole class."""

    def __init__(self, *, loose: bool = False) -> None:
        self.value: list[Any] = []
        """By variable: its value now. Only that of the representative counts."""
        self.loose = loose
        """Whether a pattern may equal a constant without being frozen."""
        self._above: list[int] = []
        self._frozen: list[bool] = []

    def variable(self, value: Any) -> int:
        """Return a new variable, in a class of its own."""
        self.value.append(value)
        self._frozen.append(False)
        self._above.append(len(self._above))
        return len(self._above) - 1

    def find(self, variable: int) -> int:
        """Return the representative of a class."""
        # Path halving (Tarjan and van Leeuwen, JACM 1984): no second pass, no recursion.
        above = self._above
        while above[variable] != variable:
            above[variable] = above[above[variable]]
            variable = above[variable]
        return variable

    def unify(self, one: Pattern, other: Pattern) -> None:
        """Join the variables at equal places; freeze what cannot be equal."""
        # Unification (Robinson, JACM 1965) without an occurs check: values are finite, and equal in
        # a class, so a variable never meets a term that contains it.
        todo = [(one, other)]
        while todo:
            one, other = todo.pop()
            if isinstance(one, int) and isinstance(other, int):
                one, other = self.find(one), self.find(other)
                if self.value[one] != self.value[other]:
                    self.freeze(one, other)
                else:
                    # Without ranks: path halving alone makes operations logarithmic (amortized).
                    self._above[one] = other
                    self._frozen[other] = self._frozen[other] or self._frozen[one]
            elif _are_alike(one, other):
                todo += zip(one[:0:-1], other[:0:-1], strict=True)
            elif one != other and not (self.loose and _has_constant(one, other)):
                self.freeze(one, other)

    def freeze(self, *patterns: Pattern) -> None:
        """Mark the variables of patterns as not to be changed."""
        for pattern in patterns:
            for variable in variables(pattern):
                self._frozen[self.find(variable)] = True

    def largest(self, patterns: Iterable[Pattern]) -> list[int]:
        """Return the classes in some patterns that are not frozen, the most frequent first."""
        # Largest first: a class with many members removes the most text, and is the least special.
        size = Counter(self.find(each) for pattern in patterns for each in variables(pattern))
        free = (each for each in size if not self._frozen[each])
        return sorted(free, key=lambda each: (-size[each], each))

    def instance(self, pattern: Pattern, changed: int = -1, value: Any = None) -> Any:
        """Return a pattern with the values of its variables, that of the class `changed` replaced.

        A constructor without arguments is its name: `(("FloatingPoint", 8, 24),)` keeps its numbers
        from being taken for variables.
        """
        # Called for each node of each candidate, so the short way: recursive, for sorts of bounded
        # depth. What nests as deep as an input reads `value` and `find` instead.
        if isinstance(pattern, int):
            found = self.find(pattern)
            return value if found == changed else self.value[found]
        if not isinstance(pattern, tuple):
            return pattern
        head, *parts = pattern
        return (head, *[self.instance(each, changed, value) for each in parts]) if parts else head


def variables(pattern: Pattern) -> Iterator[int]:
    """Yield the variables of a pattern."""
    todo = [pattern]
    while todo:
        each = todo.pop()
        if isinstance(each, int):
            yield each
        elif isinstance(each, tuple):
            todo += each[:0:-1]


def _are_alike(one: Pattern, other: Pattern) -> bool:
    """Return whether two patterns have the same constructor."""
    both = isinstance(one, tuple) and isinstance(other, tuple)
    return both and len(one) == len(other) and bool(one[0] == other[0])


def _has_constant(one: Pattern, other: Pattern) -> bool:
    return not (isinstance(one, int | tuple) and isinstance(other, int | tuple))
