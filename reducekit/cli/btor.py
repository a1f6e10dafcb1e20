"""`reducekit btor`."""

from __future__ import annotations

from typing import Any

import click

from reducekit.cli.group import Surroundings
from reducekit.cli.run import run
from reducekit.cli.settings import settings_from, shared_options
from reducekit.frontends.btor import Btor
from reducekit.frontends.btor.operators import Dialect


@click.command(
    "btor",
    epilog="The command can also stand at the end: reducekit btor in.btor -- ./solver --opt",
)
@shared_options
@click.option(
    "--dialect",
    type=click.Choice([each.value for each in Dialect]),
    help="What INPUT is written in; default: detected.",
)
@click.option(
    "--simplify/--no-simplify",
    default=True,
    show_default=True,
    help="Apply rules such as and(x, 0) = 0 to what has changed.",
)
@click.pass_obj
def command(surroundings: Surroundings, /, **values: Any) -> int:
    """Reduce the BTOR or BTOR2 file INPUT while the program still fails on it.

    The file is the last argument of the program, or stands where it says {}.
    """
    dialect = values["dialect"]
    frontend = Btor(None if dialect is None else Dialect(dialect), simplify=values["simplify"])
    return run(settings_from(values), frontend, surroundings)
