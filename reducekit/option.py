"""An option, declared once, where its value is kept: every face is made from that.

The options of a session or a hunt are fields of a dataclass. `option` attaches to a field what a
person reads and types. The command line, the manual page, the settings file and the reference are
made from these fields, and values given as text from Python are read in the same way.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal, TypeAlias

from reducekit.errors import UsageError

Group: TypeAlias = Literal["Failure", "Limits", "Search", "Output", "Cluster", "Inputs"]
"""The heading of an option in the help. Options appear in the order of these headings."""

_KEY = "option"


@dataclass(frozen=True, slots=True)
class Option:
    """What a person reads and types of an option."""

    help: str
    """One sentence of at most 100 characters, with unit and default."""
    group: Group
    read: Callable[[Any], object] | None = None
    """Reads a value or its text. Raises ValueError with what was expected."""
    metavar: str = ""
    spelled: str | None = ""
    """On the command line, if it is not the name with dashes: `--cmd`. `--no-...` turns it off.

    None: only Python has it.
    """
    short: str = ""
    """Its letter: `o` for `-o`."""
    choices: tuple[str, ...] = ()
    rare: bool = False
    """Whether only the full help lists it."""


def option(help_: str, group: Group, default: Any = None, **more: Any) -> Any:
    """Return a field of a dataclass that is an option; `more` are fields of `Option`."""
    return field(default=default, metadata={_KEY: Option(help_, group, **more)})


def in_group(group: Group) -> Callable[..., Any]:
    """Return `option` for the options under one heading: it takes help, default and the rest."""
    return lambda help_, default=None, **more: option(help_, group, default, **more)


def several(given: Any) -> Any:
    """Return a sequence of values; one alone stands for itself."""
    return (given,) if isinstance(given, str | os.PathLike) else given


def options_of(cls: type) -> Iterator[tuple[str, Option, Any]]:
    """Yield name, option and default of each field of a dataclass that is an option."""
    for each in fields(cls):
        if _KEY in each.metadata:
            yield each.name, each.metadata[_KEY], each.default


def given_fields(instance: Any) -> dict[str, Any]:
    """Return name and value of each field whose value is not the default."""
    return {
        each.name: value
        for each in fields(instance)
        if each.default is not MISSING and (value := getattr(instance, each.name)) != each.default
    }


def read_fields(instance: Any) -> Iterator[tuple[str, object]]:
    """Yield name and value of each option that was given, read. Raises UsageError."""
    for name, each, _ in options_of(type(instance)):
        given = getattr(instance, name)
        if each.choices and given not in each.choices:
            raise UsageError(f"`{name}`: {given!r} is none of {', '.join(each.choices)}")
        if each.read is None or given is None:
            continue
        try:
            yield name, each.read(given)
        except (ValueError, TypeError, UsageError) as error:
            raise UsageError(f"`{name}`: {error}") from None
