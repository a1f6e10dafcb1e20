"""`reducekit hunt btor`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click

from reducekit.cli.generator_options import command_line, generator_options, parameters_from
from reducekit.cli.group import Surroundings
from reducekit.cli.hunting import Hunt, Sample, hunt, prepare, summary
from reducekit.cli.run import INTERRUPTED
from reducekit.errors import UsageError
from reducekit.frontends.btor.generate import Parameters, generate_text
from reducekit.frontends.btor.hunt import series, suffix
from reducekit.oracle.command import Command
from reducekit.oracle.limits import Limits
from reducekit.registry import strategy as known_strategy

_SECONDS = click.FloatRange(min=0, min_open=True, max=10_000_000)


@click.command("btor")
@click.option(
    "--cmd",
    "programs",
    multiple=True,
    metavar="CMD",
    help="A program under test; several have to agree on sat and unsat.",
)
@click.option("--reference", metavar="CMD", help="A program that is right where others disagree.")
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("failures"),
    show_default=True,
    metavar="DIR",
    help="The folder for the bugs; what it has is not reported as new again.",
)
@click.option(
    "--count", type=click.IntRange(min=1), metavar="N", help="So many inputs; default: no end."
)
@click.option("--max-time", type=_SECONDS, metavar="S", help="Stop after S seconds.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 1024),
    default=1,
    show_default=True,
    metavar="N",
    help="Inputs at the same time.",
)
@click.option(
    "--timeout",
    type=_SECONDS,
    default=10.0,
    show_default=True,
    metavar="S",
    help="Seconds for a run.",
)
@click.option(
    "--memory",
    type=click.IntRange(1, 10_000_000),
    metavar="MB",
    help="Megabytes of address space for each process of a run.",
)
@click.option("--keep-timeouts", is_flag=True, help="A run that takes longer is a bug, too.")
@click.option("--vary", is_flag=True, help="Draw sizes and shapes anew for each file.")
@click.option("--no-reduce", is_flag=True, help="Keep bugs as they were found.")
@click.option("--strategy", default="adaptive", show_default=True, metavar="NAME")
@click.option("-q", "--quiet", is_flag=True, help="Only the summary.")
@generator_options
@click.pass_obj
def command(
    surroundings: Surroundings,
    /,
    programs: tuple[str, ...],
    reference: str | None,
    folder: Path,
    count: int | None,
    max_time: float | None,
    jobs: int,
    timeout: float,
    memory: int | None,
    keep_timeouts: bool,
    vary: bool,
    no_reduce: bool,
    strategy: str,
    quiet: bool,
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
    known_strategy(strategy)
    if math.isnan(timeout) or (max_time is not None and math.isnan(max_time)):
        raise UsageError("--timeout and --max-time are times in seconds, not nan")
    parameters = parameters_from(values)
    generate_text(parameters)  # what contradicts itself is said before anything is made
    prepare(folder)
    plan = Hunt(
        commands,
        reference is not None,
        folder,
        suffix(parameters.dialect),
        Limits(wall=timeout, memory=None if memory is None else memory * 1_000_000),
        jobs,
        max_time,
        keep_timeouts,
        None if no_reduce else "btor",
        strategy,
        quiet,
    )
    tally = hunt(plan, _samples(parameters, vary, count), surroundings.interrupts)
    print(summary(tally))
    return INTERRUPTED if tally.interrupted else 0


def _samples(first: Parameters, vary: bool, count: int | None) -> Iterator[Sample]:
    for each in islice(series(first, vary=vary), count):
        yield Sample(generate_text(each), command_line(each))
