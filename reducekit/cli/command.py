"""The common part of all commands: how words are parsed, and how wrong ones are answered."""

from __future__ import annotations

import difflib
import itertools
import os
import shlex
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from reducekit.cli.options import GROUPS, GroupedOption
from reducekit.cli.streams import say

if TYPE_CHECKING:
    from reducekit.usage.settings import Settings

_ONCE = ("command", "oracle", "reference", "output")
"""Pairs of contradictory options, except for repeatable ones."""
_HELP_ALL = "--help-all"
_COLUMN = 24  # of the help texts at most
_WHAT_FAILS = ("--cmd", "--oracle", "--")
"""If one of these is given, the settings for it do not apply."""


def same(words: Sequence[str]) -> Sequence[str]:
    """Return the words."""
    return words


class Command(click.Command):
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
                    callback=_show_all,
                    help="Show all options and exit.",
                )
            )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options below their headings, without the rare ones unless all are wanted."""
        if self.examples and not ctx.meta.get(_HELP_ALL):
            with formatter.section("Examples"):
                for each in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{each}\n")
        rows = self._rows(ctx)
        headings = [*(each for each in GROUPS if each in rows), ""]
        for heading in headings:
            with formatter.section(heading or ("Other" if len(headings) > 1 else "Options")):
                formatter.write_dl(rows[heading], col_max=_COLUMN)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the closing lines, below all options."""
        if not self.examples or ctx.meta.get(_HELP_ALL):
            super().format_epilog(ctx, formatter)

    def _rows(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return the options to show by their headings, each with its help."""
        rows: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            rare = isinstance(param, GroupedOption) and param.rare
            if record is None or not record[1] or (rare and not ctx.meta.get(_HELP_ALL)):
                continue
            rows.setdefault(getattr(param, "group", ""), []).append(record)
        return rows

    def _defaults(self, found: Settings, table: str, args: Sequence[str]) -> dict[str, Any]:
        """Return the values that settings give to the options of this command."""
        known = {
            spelled.lstrip("-"): (each.name or "", getattr(each, "multiple", False))
            for each in self.params
            if isinstance(each, click.Option)
            for spelled in each.opts
        }
        values = found.of(table, known, general=self.reduces)
        if any(word.partition("=")[0] in _WHAT_FAILS for word in args):
            return {name: each for name, each in values.items() if name not in _ONCE[:2]}
        return values

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Take defaults from the settings in the current folder."""
        from reducekit.usage.settings import settings

        found = None if extra.get("resilient_parsing") else settings(Path())
        if found is not None:
            own = parent is not None and parent.parent is not None
            table = parent.info_name if own and parent is not None else info_name
            extra["default_map"] = self._defaults(found, table or "", args)
            extra["obj"] = parent.obj if parent is not None else None
        context = super().make_context(info_name, args, parent, **extra)
        used = [
            each.opts[-1]
            for each in self.params
            if context.get_parameter_source(each.name or "") is ParameterSource.DEFAULT_MAP
        ]
        if found is not None and used and not context.params.get("quiet"):
            say(f"reducekit: from {found.path}: {', '.join(used)}")
        return context

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words. Raises UsageError."""
        words = list(self._respelled(args))
        try:
            _, _, order = self.make_parser(ctx).parse_args(list(words))
        except click.NoSuchOption as error:
            raise _answered(error, self, ctx, words) from None
        for each in order:
            if (
                each.name in _ONCE
                and not getattr(each, "multiple", False)
                and order.count(each) > 1
            ):
                raise click.UsageError(f"{each.opts[0]} is given twice: give one.", ctx)
        return super().parse_args(ctx, words)


def _show_all(ctx: click.Context, _param: click.Parameter, asked: bool) -> None:
    """Print the help with the rare options."""
    if asked and not ctx.resilient_parsing:
        ctx.meta[_HELP_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def _answered(
    error: click.NoSuchOption, command: click.Command, ctx: click.Context, words: Sequence[str]
) -> click.UsageError:
    """Return the error with what to type instead."""
    from reducekit.usage.habits import answer

    known = [each for param in command.params for each in (*param.opts, *param.secondary_opts)]
    name = error.option_name
    # Of `-timeout` the parser complains as of `-t`.
    whole = (word.partition("=")[0] for word in words if word.startswith(name))
    typed = name if name.startswith("--") else next(whole, name)
    said = for_file(name, words) or answer(typed, known)
    said = said or " ".join(filter(None, (_alike(typed, known), _of_the_program(typed, words))))
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


def _alike(typed: str, known: Sequence[str]) -> str:
    """Return a question naming the most similar option; empty if there is none."""
    bare = {each.lstrip("-"): each for each in known}
    close = difflib.get_close_matches(typed.lstrip("-"), bare, 1)
    return f"Did you mean {bare[close[0]]}?" if close else ""
