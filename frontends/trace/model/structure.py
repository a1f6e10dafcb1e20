"""Structures the tables of a TOML file, and says of each error where it is and what was expected.

msgspec does the work: a `Section` is a table, and its fields are the keys. The rest, done here,
are types that TOML has no word for, and messages with file, table, key and what was found.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from fractions import Fraction
from types import UnionType
from typing import Any, NamedTuple, NoReturn, Self, TypeVar, Union, get_args, get_origin

from msgspec import Struct, ValidationError, convert
from msgspec.structs import fields

from reducekit.errors import UsageError

T = TypeVar("T")
_WRONG = re.compile(r"(.*?)(?: - at (`key` in )?`\$(.*)`)?", re.DOTALL)
_EXPECTED = re.compile(r"Expected `([\w |]+).*?`(?: >= (\d+)| of (length \d+))?")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]|(\[\.\.\.\])")
# What a message calls the types of msgspec.
_KNOWN = {
    "object": "a table",
    "array": "a list",
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
}


class ModelError(UsageError):
    """A model file that cannot be used: names the file, table, key and what was expected."""


class Section(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a file. A key that is not a field is an error."""


class Words(tuple[str, ...]):
    """Texts; a single one may stand without a list."""

    __slots__ = ()
    expected = "a text or a list of texts"

    @classmethod
    def read(cls, value: Any) -> Self | None:
        """Return a value of a file as one of this type, None if it is not."""
        value = [value] if isinstance(value, str) else value
        good = isinstance(value, list) and all(isinstance(each, str) for each in value)
        return cls(value) if good else None


class Names(frozenset[str]):
    """Names in any order; a single one may stand without a list."""

    __slots__ = ()
    expected = Words.expected

    @classmethod
    def read(cls, value: Any) -> Self | None:
        """Return a value of a file as one of this type, None if it is not."""
        words = Words.read(value)
        return None if words is None else cls(words)


class Range(tuple[int, int]):
    """Two whole numbers, the lesser first."""

    __slots__ = ()
    expected = "two whole numbers [least, most]"

    @classmethod
    def read(cls, value: Any) -> Self | None:
        """Return a value of a file as one of this type, None if it is not. Raises ValueError."""
        if not isinstance(value, list) or len(value) != 2 or not all(map(is_whole, value)):
            return None
        if value[0] > value[1]:
            raise ValueError(f"expected the least number first, found {shown(value)}")
        return cls(value)


class Place(NamedTuple):
    """Where a table is: the file, and the path of keys to it."""

    source: str
    path: str = ""

    def fail(self, key: str, message: str) -> NoReturn:
        """Raise ModelError with the place of a key, which may have a path of its own."""
        above, _, key = key.rpartition(".")
        path = ".".join(filter(None, (self.path, above)))
        where = f"[{path}]" if path else "top level"
        raise ModelError(f"{self.source}: {where}{' ' if key else ''}{key}: {message}")

    def among(self, key: str, names: Iterable[str], known: Collection[str], expected: str) -> None:
        """Raise ModelError for a name that is not known; `{}` stands for all that are."""
        for name in names:
            if name not in known:
                self.fail(key, f"expected {expected.format(', '.join(known))}, found {shown(name)}")

    def inner(self, key: str) -> Place:
        """Return the place of a table in this one."""
        return Place(self.source, f"{self.path}.{key}" if self.path else key)


def structured(value: object, kind: type[T], place: Place, key: str = "") -> T:
    """Return a value, or what a key holds, as a section or as another type. Raises ModelError."""
    try:
        return convert(value, kind, dec_hook=_read, str_keys=True)
    except ValidationError as error:
        found = _WRONG.fullmatch(str(error))
        assert found is not None
        path, message = _in_our_words(found[1], found[3] or "", value, kind, of_key=bool(found[2]))
        place.fail(f"{key}.{path}".removeprefix(".") if path else key, message)


def shown(value: object) -> str:
    """Return a value as messages show it, shortened."""
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _in_our_words(
    message: str, path: str, value: Any, kind: Any, *, of_key: bool
) -> tuple[str, str]:
    """Return the path of what is wrong, and the message, from what msgspec says of a value."""
    # msgspec says a type and a path. Both are followed from the top, in the value and in the types
    # of the sections, to name what was found, and what could have been there.
    at = ""
    for step in _STEP.finditer(path):
        key: Any = step[1]
        if step[3]:  # msgspec does not say in which value of a table
            kind = get_args(kind)[1]
            key = next(name for name, one in value.items() if not _fits(one, kind))
        elif step[2]:
            key, kind = int(step[2]), get_args(kind)[0]
        else:
            kind = next(each.type for each in fields(kind) if each.encode_name == key)
        value, at = value[key], f"{at}[{key}]" if step[2] else f"{at}.{key}"
        if get_origin(kind) in (Union, UnionType):
            of = dict if isinstance(value, dict) else tuple if isinstance(value, list) else None
            # Of several types, the one that is written like the value.
            kinds = [each for each in get_args(kind) if each is not type(None)]
            kind = next((each for each in kinds if get_origin(each) is of), kinds[0])
    if of_key:
        kind = get_args(kind)[0]
        value = next(name for name in value if not _fits(name, kind, as_key=True))
        at += f".{value}"
    at = at.removeprefix(".")
    if (named := re.match(r"Object .* field `(.*)`", message)) is not None:
        key = f"{at}.{named[1]}".removeprefix(".")
        if "unknown" in message:
            known = ", ".join(each.encode_name for each in fields(kind))
            return key, f"unknown key; known are: {known}"
        wanted = next(each.type for each in fields(kind) if each.encode_name == named[1])
        return key, f"expected {getattr(wanted, 'expected', _KNOWN['str'])}, found nothing"
    if (
        plain := re.match(r"Expected `([\w |]+).*?`(?: >= (\d+)| of (length \d+))?", message)
    ) is not None:
        wanted = " or ".join(_KNOWN[each] for each in plain[1].split(" | ") if each != "null")
        wanted = "a name" if of_key and "str" in plain[1] else wanted
        least = f" of at least {plain[2]}" if plain[2] else f" of {plain[3]}" * bool(plain[3])
        # A table is named as a whole, all else by its key.
        at += "." * (wanted == _KNOWN["object"])
        return at, f"expected {wanted}{least}, found {shown(value)}"
    if message.startswith("Invalid enum value"):
        return at, f"expected one of {', '.join(map(str, get_args(kind)))}, found {shown(value)}"
    # By what is read here, or by a section, which may name the key.
    inner = re.fullmatch(r"(?!expected)(\S+): (.*)", message, re.DOTALL)
    if inner is None:
        return at, message
    return f"{at}.{inner[1]}".removeprefix("."), inner[2]


def _fits(value: object, kind: Any, *, as_key: bool = False) -> bool:
    try:
        convert(value, kind, dec_hook=_read, str_keys=True, strict=not as_key)
    except ValidationError:
        return False
    return True


def _read(kind: Any, value: object) -> object:
    """Return a value as one of the types above. Raises ValueError with what was expected."""
    found = chance(value) if kind is Fraction else kind.read(value)
    if found is None:
        expected = "a probability such as 0.25 or '1/4'" if kind is Fraction else kind.expected
        raise ValueError(f"expected {expected}, found {shown(value)}")
    return found


def chance(value: object) -> Fraction | None:
    """Return a value as a probability, None if it is not one."""
    found = Fraction(-1)
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        with suppress(ValueError, ZeroDivisionError):
            # By the decimal text: 0.1 is a tenth.
            found = Fraction(str(value).replace(" ", ""))
    return found if 0 <= found <= 1 else None


def is_whole(value: object) -> bool:
    """Return whether a value is a whole number; true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)
