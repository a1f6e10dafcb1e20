"""Makes command-line options from those that formats declare as data."""

from __future__ import annotations

from typing import Any

import click

from reducekit.cli.options import PATH, Added, GroupedOption
from reducekit.offers import FormatOption


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
        given["type"] = _type(option)
        given["metavar"] = option.metavar or None
        given["multiple"] = option.kind == "texts"
    short = (f"-{option.short}",) if option.short else ()
    return click.option(*short, spelled, option.name, **given)


def _type(option: FormatOption) -> Any:
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
