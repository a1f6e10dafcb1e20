"""Makes command-line options from those that sessions, hunts and formats declare as data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from reducekit import registry
from reducekit.errors import UsageError
from reducekit.option import Option, options_of

GROUPS = ("Failure", "Limits", "Search", "Output", "Cluster", "Format", "Inputs")
"""The headings of the help, in their order."""


class GroupedOption(click.Option):
    """An option with its heading in the help; a rare one is listed by `--help-all` only."""

    def __init__(self, *words: Any, group: str = "", rare: bool = False, **more: Any) -> None:
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


PATH = click.Path(path_type=Path)

Function = Callable[..., Any]
Added = Callable[[Any], Any]
"""Adds an option to a command, as what `click.option` returns."""


def adding(options: Iterable[Option | Added]) -> Callable[[Function], Function]:
    """Return a decorator that adds options to a command, in the order of the help."""
    table = [click_option(each) if isinstance(each, Option) else each for each in options]

    def add(function: Function) -> Function:
        for option in reversed(table):
            function = option(function)
        return function

    return add


def declared(cls: type, names: Collection[str] | None = None) -> list[Option]:
    """Return the options of a dataclass that command lines have, or some of them."""
    return [
        each
        for each in options_of(cls)
        if each.spelled is not None and (names is None or each.name in names)
    ]


def click_option(option: Option, group: str = "") -> Added:
    """Return what adds an option to a command; `group` is its heading if it has none."""
    spelled, default = option.long, option.default
    documented = "(default:" in option.help
    if documented and option.read is not None:
        default = None  # it depends on other options
    # A 0 goes without saying where it is the least value, but not for a seed.
    shown = default not in (None, (), 0) or (option.kind == "whole" and option.least is None)
    given: dict[str, Any] = {"help": option.help or None, "rare": option.rare}
    given |= {"group": option.group or group, "show_default": shown and not documented}
    # A default of None would do for an option that is required.
    given |= {"required": True} if option.required else {"default": default}
    if option.kind == "flag":
        given["is_flag"] = True
        if default is False or spelled.startswith("--no-"):
            given |= {"flag_value": not default, "show_default": False}
        else:
            spelled = f"{spelled}/--no-{spelled[2:]}"
    else:
        given |= {"type": _type(option), "metavar": option.metavar or None}
        given["multiple"] = option.kind == "texts" or isinstance(default, tuple)
        if " " in option.metavar:
            given |= {"nargs": len(option.metavar.split()), "type": str}
        given["shell_complete"] = _completion(option)
    short = (f"-{option.short}",) if option.short else ()
    return click.option(*short, spelled, option.name, cls=GroupedOption, **given)


def _type(option: Option) -> Any:
    match option.kind:
        case "path":
            return PATH
        case "choice":
            return click.Choice(option.choices)
        case "whole":
            ends = (option.least, option.most)
            least, most = (None if each is None else int(each) for each in ends)
            return click.INT if ends == (None, None) else click.IntRange(least, most)
        case "decimal":
            return click.FloatRange(option.least, option.most)
    if option.read is None or option.metavar in ("REGEX", "CMD", "PASS"):
        return str
    return Read(option.metavar, option.read)


def flag(name: str, help_: str, **more: Any) -> Option:
    """Return an option that is off by default."""
    return Option(name, help_, "flag", default=False, **more)


def file(name: str, help_: str, **more: Any) -> Option:
    """Return an option for a file."""
    return Option(name, help_, "path", **{"metavar": "FILE", **more})


def number(name: str, help_: str, default: int | None = None, **more: Any) -> Option:
    """Return an option for a whole number."""
    return Option(name, help_, "whole", default, **{"metavar": "N", **more})


def files(incomplete: str) -> list[CompletionItem]:
    """Let a shell complete file names."""
    return [CompletionItem(incomplete, type="file")]


def _completion(option: Option) -> Any:
    """Return the completion function for the values of an option; None: the type's own."""

    def strategies(_ctx: object, _param: object, incomplete: str) -> list[CompletionItem]:
        names = registry.names(registry.STRATEGIES)
        return [CompletionItem(each) for each in names if each.startswith(incomplete)]

    def programs(_ctx: object, _param: object, incomplete: str) -> list[CompletionItem]:
        return files(incomplete)

    return (
        strategies if option.name == "strategy" else (programs if option.metavar == "CMD" else None)
    )
