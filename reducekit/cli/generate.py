"""`reducekit generate`: a group, with a command for each format."""

from __future__ import annotations

import click

from reducekit.cli.lazy import LazyGroup

MODULES = {"btor": "reducekit.cli.generate_btor", "trace": "reducekit.cli.generate_trace"}
"""Where the command of each format is."""


@click.group("generate", cls=LazyGroup, modules=MODULES)
def command() -> None:
    """Generate random inputs: the same options give the same files."""
