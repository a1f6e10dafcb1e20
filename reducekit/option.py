"""An option, declared once as plain data: every face is made from that.

The options of a session or a hunt are fields of a dataclass, where their values are kept: `option`
attaches to a field what a person reads and types. Formats list theirs. The command line, the manual
page, the settings file and the reference are made from both, and values given as text from Python
are read in the same way.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from reducekit import quantities
from reducekit.errors import UsageError

Group: TypeAlias = Literal["Failure", "Limits", "Search", "Output", "Cluster", "Inputs"]
"""The heading of an option in the help. Options appear in the order of these headings."""

_KEY = "option"
_METAVARS: Mapping[Any, str] = {
    quantities.count: "N", quantities.exit_code: "N|SIGNAL", quantities.jobs: "N",
    quantities.number: "N", quantities.positive: "N", quantities.seconds: "S",
    quantities.size: "MB", quantities.width: "N",
}  # fmt: skip
"""How the help writes a value, by what reads it."""


@dataclass(frozen=True, slots=True)
class Option:
    """What a person reads and types of an option.

    A format gets its value by `name`: a `str` for text, choice and path, a `bool` for a flag, an
    `int` or a `float` for numbers, a tuple of `str` for texts that can be repeated; the default
    where it is not given.
    """

    name: str  # as in Python; the command line spells it with dashes
    help: str  # one sentence of at most 100 characters, with unit and default
    kind: Literal["text", "flag", "choice", "path", "whole", "decimal", "texts"] = "text"
    """A flag that is on by default, or neither on nor off, can be switched off: `--no-name`."""
    default: Any = None  # that of an option that can be repeated is a tuple
    choices: tuple[str, ...] = ()
    metavar: str = ""
    spelled: str | None = ""
    """How the command line spells it, if that is not its name: `vars`. None: only Python has it."""
    short: str = ""  # its letter: `n` for `-n`
    least: float | None = None
    most: float | None = None  # the smallest and largest number that is accepted
    rare: bool = False  # whether only the full help lists it, where there are other options
    required: bool = False  # whether the command line has to give it
    group: Group | Literal[""] = ""  # its heading; that of the face if empty
    read: Callable[[Any], object] | None = None
    """Reads a value or its text. Raises ValueError with what was expected."""

    @property
    def long(self) -> str:
        """How it is spelled on the command line, with the dashes."""
        return "--" + (self.spelled or self.name.replace("_", "-"))

    def words(self, value: Any) -> list[str]:
        """Return the words that give it this value on a command line; none for the default."""
        if value == self.default:
            return []
        if self.kind == "flag":
            return [self.long if value else f"--no-{self.long[2:]}"]
        if self.kind == "texts":
            return [word for each in value for word in (self.long, each)]
        return [self.long, str(value)]


FormatOption = Option  # the name by which formats know it


def words_of(options: Iterable[Option], values: Mapping[str, Any]) -> list[str]:
    """Return the words that give options their values on a command line, defaults left out."""
    return [word for each in options for word in each.words(values[each.name])]


def with_defaults(options: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all options. Raises UsageError for one that there is not."""
    unknown = given.keys() - {each.name for each in options}
    if unknown:
        known = ", ".join(each.name for each in options)
        raise UsageError(f"unknown option {min(unknown)!r}; options: {known}")
    return {each.name: given.get(each.name, each.default) for each in options}


def option(help_: str, group: Group, default: Any = None, **more: Any) -> Any:
    """Return a field of a dataclass that is an option; `more` are fields of `Option`."""
    more = {"metavar": _METAVARS.get(more.get("read"), ""), **more}
    if isinstance(default, bool):
        more["kind"] = "flag"
    elif default == () and more["metavar"] != "FILE":
        more = {"read": several, **more}
    elif "choices" in more:
        more["kind"] = "choice"
    elif more["metavar"] in ("FILE", "DIR"):
        more = {"kind": "path", "read": Path, **more}
    declared = Option("", help_, default=default, group=group, **more)
    return field(default=default, metadata={_KEY: declared})


def same(cls: type, name: str, **changes: Any) -> Any:
    """Return a field that is an option of another dataclass, too, with changes."""
    (declared,) = (each for each in options_of(cls) if each.name == name)
    declared = replace(declared, **changes)
    return field(default=declared.default, metadata={_KEY: declared})


def in_group(group: Group, *, rare: bool = False) -> Callable[..., Any]:
    """Return `option` for the options under one heading: it takes help, default and the rest."""
    return lambda help_, default=None, **more: option(help_, group, default, rare=rare, **more)


def several(given: Any) -> Any:
    """Return a sequence of values; one alone stands for itself."""
    return (given,) if isinstance(given, str | os.PathLike) else given


def options_of(cls: type) -> Iterator[Option]:
    """Yield each field of a dataclass that is an option."""
    for each in fields(cls):
        if _KEY in each.metadata:
            yield replace(each.metadata[_KEY], name=each.name)


def given_fields(instance: Any) -> dict[str, Any]:
    """Return name and value of each field whose value is not the default."""
    return {
        each.name: value
        for each in fields(instance)
        if each.default is not MISSING and (value := getattr(instance, each.name)) != each.default
    }


def read_fields(instance: Any) -> Iterator[tuple[str, object]]:
    """Yield name and value of each option that was given, read. Raises UsageError."""
    for each in options_of(type(instance)):
        given = getattr(instance, each.name)
        if each.choices and given not in each.choices:
            raise UsageError(f"`{each.name}`: {given!r} is none of {', '.join(each.choices)}")
        if each.read is None or given is None:
            continue
        try:
            yield each.name, each.read(given)
        except (ValueError, TypeError, UsageError) as error:
            raise UsageError(f"`{each.name}`: {error}") from None
