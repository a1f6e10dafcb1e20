"""Reads tables of a TOML file, and says of each error where it is and what was expected."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NoReturn

from reducekit.frontends.trace.model.definition import ModelError


class Table:
    """A table of a file, with its place for messages; keys that nobody reads are an error."""

    def __init__(self, source: str, path: str, content: object) -> None:
        self.source = source
        self.path = path
        if not isinstance(content, dict):
            self.fail("", f"expected a table, found {shown(content)}")
        self.content: dict[str, Any] = content
        self.left = set(self.content)

    def fail(self, key: str, message: str) -> NoReturn:
        """Raise ModelError with the place of the key."""
        where = f"[{self.path}]" if self.path else "top level"
        raise ModelError(f"{self.source}: {where}{' ' if key else ''}{key}: {message}")

    def take(self, key: str, default: object = None) -> Any:
        """Return what the key holds, whatever it is; the key counts as known."""
        self.left.discard(key)
        return self.content.get(key, default)

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text."""
        value = self.take(key, default)
        if not isinstance(value, str):
            self.fail(key, f"expected a text, found {shown(value)}")
        return value

    def flag(self, key: str) -> bool:
        """Return true or false; false if there is none."""
        value = self.take(key, False)
        if not isinstance(value, bool):
            self.fail(key, f"expected true or false, found {shown(value)}")
        return value

    def number(self, key: str, default: int | None = None) -> int | None:
        """Return a whole number."""
        value = self.take(key, default)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            self.fail(key, f"expected a whole number, found {shown(value)}")
        return value

    def chance(self, key: str, default: Fraction) -> Fraction:
        """Return a probability."""
        return self.as_chance(key, self.take(key, default))

    def as_chance(self, key: str, value: object) -> Fraction:
        """Return a value as a probability."""
        found = Fraction(-1)
        if isinstance(value, (str, int, float, Fraction)) and not isinstance(value, bool):
            with suppress(ValueError, ZeroDivisionError):
                # By the decimal text: 0.1 is a tenth.
                found = Fraction(str(value).replace(" ", ""))
        if not 0 <= found <= 1:
            self.fail(key, f"expected a probability such as 0.25 or '1/4', found {shown(value)}")
        return found

    def words(self, key: str, default: Sequence[str] = ()) -> tuple[str, ...]:
        """Return texts; a single one may stand without a list."""
        value = self.take(key, default)
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
            self.fail(key, f"expected a text or a list of texts, found {shown(value)}")
        return tuple(value)

    def range(self, key: str, default: tuple[int, int] | None = None) -> tuple[int, int]:
        """Return two whole numbers, the lesser first."""
        value = self.take(key, default)
        good = isinstance(value, (list, tuple)) and len(value) == 2
        if not good or not all(isinstance(v, int) and not isinstance(v, bool) for v in value):
            self.fail(key, f"expected two whole numbers [least, most], found {shown(value)}")
        if value[0] > value[1]:
            self.fail(key, f"expected the least number first, found {shown(value)}")
        return value[0], value[1]

    def table(self, key: str) -> Table:
        """Return a table; an empty one if there is none."""
        path = f"{self.path}.{key}" if self.path else key
        return Table(self.source, path, self.take(key, {}))

    def items(self, key: str) -> list[Any]:
        """Return a list."""
        value = self.take(key, [])
        if not isinstance(value, list):
            self.fail(key, f"expected a list, found {shown(value)}")
        return value

    def tables(self, key: str) -> list[Table]:
        """Return a list of tables."""
        path = f"{self.path}.{key}" if self.path else key
        return [
            Table(self.source, f"{path}[{number}]", each)
            for number, each in enumerate(self.items(key))
        ]

    def each(self, pattern: re.Pattern[str], what: str) -> Iterable[str]:
        """Yield the keys, which have to be names that fit a pattern."""
        for key in self.content:
            if not pattern.match(key):
                self.fail(key, f"expected the name of {what}")
            yield key

    def done(self, known: str) -> None:
        """Raise ModelError for a key that was not taken."""
        if self.left:
            self.fail(sorted(self.left)[0], f"unknown key; known are: {known}")


def shown(value: object) -> str:
    """Return a value as messages show it, shortened."""
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
