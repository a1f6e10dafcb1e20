"""Groups of commands, each in a module of its own that is loaded when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group whose commands are named with their modules; a module's command is `command`."""

    def __init__(self, *arguments: Any, modules: Mapping[str, str], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._modules = dict(modules)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names."""
        return sorted(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; None if there is no such name."""
        if cmd_name not in self._modules:
            return None
        command = import_module(self._modules[cmd_name]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which there are."""
        name = args[0]
        if name in self._modules or name.startswith("-"):
            return super().resolve_command(ctx, args)
        known = ", ".join(sorted(self._modules))
        raise click.UsageError(f"There is no command {name!r} (there is: {known})", ctx)
