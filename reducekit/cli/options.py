"""Makes command-line options from those that sessions, hunts and formats declare as data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from reducekit import quantities, registry
from reducekit.errors import UsageError
from reducekit.offers import FormatOption
from reducekit.option import Option, options_of

GROUPS = ("Failure", "Limits", "Search", "Output", "Cluster", "Format", "Inputs")
"""The headings of the help, in their order."""


class GroupedOption(click.Option):
    """An option with its heading in the help; a rare one is listed by `--help-all` only."""

    def __init__(self, *words: Any, group: str = "Output", rare: bool = False, **more: Any) -> None:
        super().__init__(*words, **more)
        self.group = group
        self.rare = rare


class Read(click.ParamType):  # type: ignore[type-arg]  # not generic in every click
    """A value that a function reads from text. Numbers of a settings file are text, too."""

    def __init__(self, name: str, read: Callable[[Any], object]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value, or fail with what was expected."""
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        try:
            return self._read(str(value) if plain else value)
        except (ValueError, UsageError) as error:
            self.fail(f"{error}.", param, ctx)


SECONDS = Read("time", quantities.seconds)
SIZE = Read("size", quantities.size)
JOBS = Read("jobs", quantities.jobs)
PATH = click.Path(path_type=Path)

Function = Callable[..., Any]
Added = Callable[[Any], Any]
"""Adds an option to a command, as what `click.option` returns."""


def adding(options: Iterable[Added]) -> Callable[[Function], Function]:
    """Return a decorator that adds options to a command, in the order of the help."""
    table = list(options)

    def add(function: Function) -> Function:
        for option in reversed(table):
            function = option(function)
        return function

    return add


def declared(cls: type, names: Collection[str] | None = None) -> list[Added]:
    """Return the options that a dataclass declares (see `reducekit.option`), or some of them."""
    return [
        _option(name, each, default)
        for name, each, default in options_of(cls)
        if each.spelled is not None and (names is None or name in names)
    ]


def _option(name: str, declared: Option, default: Any) -> Added:
    spelled = declared.spelled or "--" + name.replace("_", "-")
    given: dict[str, Any] = {"help": declared.help, "group": declared.group, "rare": declared.rare}
    if isinstance(default, bool):
        given |= {"is_flag": True, "default": default, "flag_value": not default}
    else:
        if "(default:" in declared.help:
            default = None  # it depends on other options
        shown = default not in (None, (), 0)
        given |= {"default": default, "show_default": shown, "metavar": declared.metavar or None}
        given |= {"multiple": isinstance(default, tuple), "type": _type(declared)}
        if " " in declared.metavar:
            given |= {"nargs": len(declared.metavar.split()), "type": str}
        given |= {"shell_complete": _completion(name, declared)}
    short = (f"-{declared.short}",) if declared.short else ()
    return click.option(*short, spelled, name, cls=GroupedOption, **given)


def _type(declared: Option) -> Any:
    if declared.choices:
        return click.Choice(declared.choices)
    if declared.metavar in ("FILE", "DIR"):
        return PATH
    if declared.read is None or declared.metavar in ("REGEX", "CMD", "PASS"):
        return str
    return Read(declared.metavar, declared.read)


def files(incomplete: str) -> list[CompletionItem]:
    """Let a shell complete file names."""
    return [CompletionItem(incomplete, type="file")]


def _completion(name: str, declared: Option) -> Any:
    """Return the completion function for the values of an option; None: the type's own."""

    def strategies(_ctx: object, _param: object, incomplete: str) -> list[CompletionItem]:
        names = registry.names(registry.STRATEGIES)
        return [CompletionItem(each) for each in names if each.startswith(incomplete)]

    def programs(_ctx: object, _param: object, incomplete: str) -> list[CompletionItem]:
        return files(incomplete)

    return strategies if name == "strategy" else programs if declared.metavar == "CMD" else None


def format_option(option: FormatOption, group: str = "Format") -> Added:
    """Return the option of a command for one that a format declares."""
    shown = option.default not in (None, False, ())
    spelled = option.long
    given: dict[str, Any] = {"show_default": shown, "help": option.help}
    given |= {"cls": GroupedOption, "group": group, "rare": option.rare}
    # A default of None would do for an option that is required.
    given |= {"required": True} if option.required else {"default": option.default}
    if option.kind == "flag":
        given["is_flag"] = True
        if option.default is not False:
            spelled = f"{spelled}/--no-{spelled[2:]}"
    else:
        given["type"] = _format_type(option)
        given["metavar"] = option.metavar or None
        given["multiple"] = option.kind == "texts"
    short = (f"-{option.short}",) if option.short else ()
    return click.option(*short, spelled, option.name, **given)


def _format_type(option: FormatOption) -> Any:
    match option.kind:
        case "path":
            return PATH
        case "choice":
            return click.Choice(option.choices)
        case "whole":
            least, most = (None if x is None else int(x) for x in (option.least, option.most))
            return click.IntRange(least, most)
        case "decimal":
            return click.FloatRange(option.least, option.most)
        case _:
            return str
