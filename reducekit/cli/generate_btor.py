"""`reducekit generate btor`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from reducekit.cli.generated import destination_from, destination_options
from reducekit.cli.generator_options import generator_options, parameters_from
from reducekit.cli.group import Surroundings
from reducekit.frontends.btor.generate import generate_text
from reducekit.frontends.btor.hunt import suffix


@click.command("btor")
@generator_options
@destination_options("file")
@click.pass_obj
def command(surroundings: Surroundings, /, **values: Any) -> int:
    """Generate random BTOR files: well-sorted graphs of bit-vectors and arrays.

    Leaves first, then random operators, and what has no parent in the end is merged to one
    root (A. Vida, Linz 2008). The options are the thesis', the defaults too.
    """
    parameters = parameters_from(values)
    destination = destination_from(values, "file", suffix(parameters.dialect))

    def make(seed: int) -> bytes:
        return generate_text(replace(parameters, seed=seed))

    return destination.write_all(make, surroundings.interrupts)
