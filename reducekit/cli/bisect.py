"""`reducekit bisect INPUT`: find the version since which an input fails."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from reducekit.bisect import Bisection, BisectOptions
from reducekit.bisect.options import OWN
from reducekit.bisect.report import Tested
from reducekit.cli.command import Command
from reducekit.cli.interrupts import INTERRUPTED, ProcessContext
from reducekit.cli.options import PATH, GroupedOption, adding, declared
from reducekit.cli.reduce_options import failure_from
from reducekit.cli.streams import STANDARD_INPUT, read_text, say
from reducekit.errors import UsageError
from reducekit.session import Failure, Options
from reducekit.session.place.inputs import plain_path

_TAKEN = ("good", "bad")
"""Options of a failure (of --unstable) whose names stand for versions here."""
_FAILURE = [each.name for each in fields(Failure) if each.name not in _TAKEN]

_SHOWING = (
    click.option("--json", is_flag=True, cls=GroupedOption, help="Print the result as JSON."),
    click.option("-q", "--quiet", is_flag=True, cls=GroupedOption, help="Print only the result."),
)


@click.command(
    "bisect",
    cls=Command,
    examples=(
        "reducekit bisect in.smt2 --wheels z3-solver --cmd '{solver} model_validate=true'",
        "reducekit bisect in.cnf --builds ./builds --cmd '{solver} -q' --exit-code SIGSEGV",
    ),
)
@click.argument("input", type=PATH)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND]")
@adding(
    (
        *declared(Failure, _FAILURE),
        *declared(Options, ("repeat",)),
        *declared(BisectOptions, OWN),
        *_SHOWING,
    )
)
@click.pass_obj
def command(process: ProcessContext, /, **values: Any) -> int:
    """Find the version of a solver since which INPUT fails, and the options that it takes.

    In commands, {solver} is the program of a version, {version} its name, {options} the options of
    --options-file. A run is stopped after 60 seconds, unless --timeout says otherwise.
    """
    if values["json"] and not process.output_open:
        raise UsageError("standard output is closed: --json has nowhere to go")
    path: Path = values["input"]
    with process.interrupts.allowed():
        text = read_text(path)
    chosen = {name: values.pop(name) for name in OWN}
    name = "stdin" if path == STANDARD_INPUT else str(plain_path(path))
    options = BisectOptions(
        input=text,
        name=name,
        failure=failure_from(values),
        repeat=values["repeat"],
        **chosen,
    )

    def show(tested: Tested) -> None:
        if not values["quiet"]:
            say(f"reducekit: {tested.line()}")

    with process.interrupts.allowed():
        bisection = Bisection(options, show, guard=process.interrupts)
    report = bisection.run()
    print(report.json() if values["json"] else report.text())
    return INTERRUPTED if report.interrupted else 0
