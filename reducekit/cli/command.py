"""Commands: their options, how words are parsed, and how wrong ones are answered.

Options are made from those that sessions, hunts and formats declare as data. Their defaults may
come from a file: `reducekit.toml`, or `[tool.reducekit]` in `pyproject.toml`.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from reducekit import registry
from reducekit.cli.process import has_colours, say
from reducekit.errors import UsageError
from reducekit.option import Option, options_of
from reducekit.text import printable

_SETTINGS = ("reducekit.toml", "pyproject.toml")
GROUPS = ("Failure", "Limits", "Search", "Output", "Cluster", "Format", "Inputs")
"""The headings of the help, in their order."""
PATH = click.Path(path_type=Path)
Function = Callable[..., Any]
Added = Callable[[Any], Any]  # adds an option to a command, as what `click.option` returns
_ONCE = ("command", "oracle", "reference", "output")
"""Pairs of contradictory options, except for repeatable ones."""
_HELP_ALL = "--help-all"
_COLUMN = 24  # of the help texts at most
_HEADING = re.compile(r"^\S[^\n]*:$|^Usage:", re.MULTILINE)
_OPTION = re.compile(r"(?<=^  )-\S+(?: \S+)*", re.MULTILINE)
_WHAT_FAILS = ("--cmd", "--oracle", "--")  # where one is given, settings for it do not apply


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
    def complete(_ctx: object, _param: object, incomplete: str) -> list[CompletionItem]:
        if option.metavar == "CMD":
            return files(incomplete)
        names = registry.names(registry.STRATEGIES)
        return [CompletionItem(each) for each in names if each.startswith(incomplete)]

    return complete if option.name == "strategy" or option.metavar == "CMD" else None


def same(words: Sequence[str]) -> Sequence[str]:
    """Return the words."""
    return words


class Coloured(click.Command):
    """A command whose help has colours."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option `--help`."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = print_help
        return option


class Command(Coloured):
    """A command that explains options of other tools, and rejects contradictions.

    `respelled` puts words of older programs into ours. Defaults come from `reducekit.toml`: those
    outside of its tables where it `reduces`, and those of the command's own table. The help shows
    options below their headings, and `examples` in place of the options that are rarely needed;
    `--help-all` lists these, too.
    """

    def __init__(
        self,
        *arguments: Any,
        respelled: Callable[[Sequence[str]], Sequence[str]] = same,
        reduces: bool = False,
        examples: Sequence[str] = (),
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.reduces = reduces
        self.examples = examples
        self._respelled = respelled
        if any(getattr(each, "rare", False) for each in self.params):
            self.params.append(
                click.Option(
                    [_HELP_ALL],
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=print_help,
                    help="Show all options and exit.",
                )
            )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options below their headings, without the rare ones unless all are wanted."""
        if self.examples and not ctx.meta.get(_HELP_ALL):
            with formatter.section("Examples"):
                for each in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{each}\n")
        rows: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            rare = getattr(param, "rare", False) and not ctx.meta.get(_HELP_ALL)
            if record is not None and record[1] and not rare:
                rows.setdefault(getattr(param, "group", ""), []).append(record)
        headings = [*(each for each in GROUPS if each in rows), ""]
        for heading in headings:
            with formatter.section(heading or ("Other" if len(headings) > 1 else "Options")):
                formatter.write_dl(rows[heading], col_max=_COLUMN)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the closing lines, below all options."""
        if not self.examples or ctx.meta.get(_HELP_ALL):
            super().format_epilog(ctx, formatter)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Take defaults from the settings in the current folder."""
        file = ""
        if not extra.get("resilient_parsing") and any(map(os.path.exists, _SETTINGS)):
            from reducekit.cli.settings import settings  # 10 ms, and seldom needed

            own = parent is not None and parent.parent is not None
            table = parent.info_name if own and parent is not None else info_name
            known = {
                spelled.lstrip("-"): (each.name or "", getattr(each, "multiple", False))
                for each in self.params
                if isinstance(each, click.Option)
                for spelled in each.opts
            }
            file, values = settings(Path(), table or "", known, general=self.reduces)
            if any(word.partition("=")[0] in _WHAT_FAILS for word in args):
                values = {name: each for name, each in values.items() if name not in _ONCE[:2]}
            extra["default_map"] = values
            extra["obj"] = parent.obj if parent is not None else None
        context = super().make_context(info_name, args, parent, **extra)
        used = [
            each.opts[-1]
            for each in self.params
            if context.get_parameter_source(each.name or "") is ParameterSource.DEFAULT_MAP
        ]
        if used and not context.params.get("quiet"):
            say(f"reducekit: from {file}: {', '.join(used)}")
        return context

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words. Raises UsageError."""
        words = list(self._respelled(args))
        try:
            _, _, order = self.make_parser(ctx).parse_args(list(words))
        except click.NoSuchOption as error:
            raise _answered(error, self, ctx, words) from None
        for each in order:
            several = getattr(each, "multiple", False)
            if each.name in _ONCE and not several and order.count(each) > 1:
                raise click.UsageError(f"{each.opts[0]} is given twice: give one.", ctx)
        return super().parse_args(ctx, words)


def print_help(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    """Print the help, coloured where the terminal has colours, and exit; a callback of options."""
    if not asked or ctx.resilient_parsing:
        return
    ctx.meta[_HELP_ALL] = _HELP_ALL in param.opts
    text, stream = printable(ctx.get_help(), keep="\n"), sys.stdout
    if has_colours(stream):
        text = _HEADING.sub(lambda found: click.style(found[0], bold=True), text)
        text = _OPTION.sub(lambda found: click.style(found[0], fg="cyan"), text)
        stream = getattr(stream, "styled", stream)
    print(text, file=stream)
    ctx.exit()


def _answered(
    error: click.NoSuchOption, command: click.Command, ctx: click.Context, words: Sequence[str]
) -> click.UsageError:
    from reducekit.usage.habits import answer

    known = [each for param in command.params for each in (*param.opts, *param.secondary_opts)]
    name = error.option_name
    # Of `-timeout` the parser complains as of `-t`.
    whole = (word.partition("=")[0] for word in words if word.startswith(name))
    typed = name if name.startswith("--") else next(whole, name)
    said = for_file(name, words) or answer(typed, known)
    if not said:
        bare = {each.lstrip("-"): each for each in known}
        from difflib import get_close_matches

        close = get_close_matches(typed.lstrip("-"), bare, 1)
        like = f"Did you mean {bare[close[0]]}?" if close else ""
        said = " ".join(filter(None, (like, _of_the_program(typed, words))))
    return click.UsageError(f"No such option '{typed}'. {said}".strip(), ctx)


def for_file(option: str, words: Sequence[str]) -> str:
    """Return how to type the file that was taken for an option; empty if there is none."""
    there = (word for word in words if word.startswith(option) and os.path.lexists(word))
    file = next(there, None)
    return "" if file is None else f"For the file, type {shlex.quote('./' + file)}"


def _of_the_program(typed: str, words: Sequence[str]) -> str:
    """Return what to type if a program precedes an option; empty if it does not."""
    before = list(itertools.takewhile(lambda word: not word.startswith(typed), words))
    # After -- comes the command of --cmd: the value of no other option belongs there.
    pairs = itertools.pairwise(before)
    free = (each for last, each in pairs if last == "--cmd" or not last.startswith("-"))
    program = next(filter(shutil.which, free), None)
    if program is None:
        return ""
    return f"Options of your program go after --, as in -- {shlex.join([program, typed])}"
