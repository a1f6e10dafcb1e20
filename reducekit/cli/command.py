"""What all commands have in common: how they read words, and answer those that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

_ONCE = ("cmd", "oracle", "reference", "output")
"""Options of which two contradict each other, unless they can be repeated."""


def same(words: Sequence[str]) -> Sequence[str]:
    """Return the words."""
    return words


class Command(click.Command):
    """A command that answers options of other tools, and refuses what is said twice.

    `respelled` puts words of older programs into ours.
    """

    def __init__(
        self,
        *arguments: Any,
        respelled: Callable[[Sequence[str]], Sequence[str]] = same,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._respelled = respelled

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words. Raises UsageError."""
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
    said = answer(typed, known)
    if said is None and typed == name:
        return error
    return click.UsageError(f"No such option '{typed}'. {said or ''}".strip(), ctx)
