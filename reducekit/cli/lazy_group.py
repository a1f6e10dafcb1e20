"""A group of commands that are made when they are named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

import click


class LazyGroup(click.Group):
    """A group whose commands `load` returns by name; `names` is called for help and messages."""

    def __init__(
        self,
        *arguments: Any,
        names: Callable[[], Sequence[str]],
        load: Callable[[str], click.Command | None],
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._names = names
        self._load = load

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names."""
        return sorted(self._names())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; None if there is no such name."""
        return self._load(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the error for an unknown one lists the commands."""
        name = args[0]
        command = None if name.startswith("-") else self.get_command(ctx, name)
        if command is not None or ctx.resilient_parsing:
            return name, command, args[1:]
        known = self.list_commands(ctx)
        close = get_close_matches(name, known, 1)
        hint = f". Did you mean {close[0]}?" if close else ""
        raise click.UsageError(f"Unknown command {name!r}. Commands: {', '.join(known)}{hint}", ctx)
