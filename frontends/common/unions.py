"""Which things must be equal: union-find, also over tuples of things.

A *term* is a variable, a number, or a tuple of terms; two tuples are equal if their parts are.
"""

from __future__ import annotations

from typing import TypeAlias

Term: TypeAlias = "int | tuple[Term, ...]"


class Unions:
    """Classes of variables; the least variable represents each class."""

    def __init__(self) -> None:
        self.up: list[int] = []

    def fresh(self) -> int:
        """Return a new variable, equal to no other."""
        self.up.append(len(self.up))
        return len(self.up) - 1

    def find(self, variable: int) -> int:
        """Return the variable that represents the class of one."""
        up = self.up
        while up[variable] != variable:
            # Halving the path keeps the next walk short.
            up[variable] = up[up[variable]]
            variable = up[variable]
        return variable

    def unify(self, one: Term, other: Term) -> None:
        """Make two terms equal; terms of different shapes are left as they are."""
        work = [(one, other)]
        while work:
            x, y = work.pop()
            if x is y:
                continue
            if isinstance(x, int) and isinstance(y, int):
                x, y = self.find(x), self.find(y)
                self.up[max(x, y)] = min(x, y)
            elif isinstance(x, tuple) and isinstance(y, tuple):
                work += zip(x, y, strict=True)
