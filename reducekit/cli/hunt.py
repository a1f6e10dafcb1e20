"""`reducekit hunt`: a group, with a command for each format."""

from __future__ import annotations

import click

from reducekit.cli.lazy import LazyGroup

MODULES = {"btor": "reducekit.cli.hunt_btor", "trace": "reducekit.cli.hunt_trace"}
"""Where the command of each format is."""


@click.group("hunt", cls=LazyGroup, modules=MODULES)
def command() -> None:
    """Look for failures on random inputs, and reduce what is new."""
