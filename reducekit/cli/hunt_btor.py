"""`reducekit hunt btor`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import click

from reducekit.cli.generator_options import command_line, generator_options, parameters_from
from reducekit.cli.group import Surroundings
from reducekit.cli.hunt_options import hunt_options, hunt_options_from
from reducekit.cli.hunting import prepare, summary
from reducekit.cli.hunting_commands import Hunt, Sample, hunt
from reducekit.errors import UsageError
from reducekit.frontends.btor.generate import Parameters, generate_text
from reducekit.frontends.btor.hunt import series, suffix
from reducekit.oracle.command import Command
from reducekit.oracle.limits import Limits


@click.command("btor")
@click.option(
    "--cmd",
    "programs",
    multiple=True,
    metavar="CMD",
    help="A program under test; several have to agree on sat and unsat.",
)
@click.option("--reference", metavar="CMD", help="A program that is right where others disagree.")
@click.option("--keep-timeouts", is_flag=True, help="A run that takes longer is a bug, too.")
@click.option("--vary", is_flag=True, help="Draw sizes and shapes anew for each file.")
@hunt_options("files", "run")
@generator_options
@click.pass_obj
def command(
    surroundings: Surroundings,
    /,
    programs: tuple[str, ...],
    reference: str | None,
    keep_timeouts: bool,
    vary: bool,
    **values: Any,
) -> int:
    """Run programs on random BTOR files until one fails, or two disagree.

    Each bug is kept once, by its signature: the file that showed it first, how to make and
    run it, and the reduced file. The options below --quiet are those of `generate btor`.
    """
    if not programs:
        raise UsageError("which program is to fail? Say --cmd './solver --opt'")
    lines = [*programs, *([reference] if reference else [])]
    commands = tuple(Command.of(line) for line in lines)
    options = hunt_options_from(values)
    parameters = parameters_from(values)
    generate_text(parameters)  # what contradicts itself is said before anything is made
    prepare(options.folder)
    plan = Hunt(
        commands,
        reference is not None,
        options.folder,
        suffix(parameters.dialect),
        Limits(wall=options.timeout, memory=options.bytes),
        options.jobs,
        options.max_time,
        keep_timeouts,
        None if options.no_reduce else "btor",
        options.strategy,
        options.quiet,
    )
    tally = hunt(plan, _samples(parameters, vary, options.count), surroundings.interrupts)
    print(summary(tally))
    return tally.exit_code


def _samples(first: Parameters, vary: bool, count: int | None) -> Iterator[Sample]:
    for each in islice(series(first, vary=vary), count):
        yield Sample(generate_text(each), command_line(each))
