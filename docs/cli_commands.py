"""The commands as attributes, for the directives in docs/cli: some are made on demand."""

from __future__ import annotations

import click

from reducekit.cli.group import reducekit

_CONTEXT = click.Context(reducekit, info_name="reducekit")
NAMES = list(reducekit.list_commands(_CONTEXT))


def __getattr__(name: str) -> click.Command:
    command = reducekit.get_command(_CONTEXT, name)
    if command is None:
        raise AttributeError(name)
    return command
