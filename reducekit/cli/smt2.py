"""`reducekit smt2`."""

from __future__ import annotations

from typing import Any

import click

from reducekit.cli.group import Surroundings
from reducekit.cli.run import run
from reducekit.cli.settings import settings_from, shared_options
from reducekit.frontends.smt2 import Smt2


@click.command(
    "smt2",
    epilog="The command can also stand at the end: reducekit smt2 in.smt2 -- ./solver --opt",
)
@shared_options
@click.pass_obj
def command(surroundings: Surroundings, /, **values: Any) -> int:
    """Reduce the SMT-LIB v2 script INPUT while the program still fails on it.

    The file is the last argument of the program, or stands where it says {}.
    """
    return run(settings_from(values), Smt2(), surroundings)
