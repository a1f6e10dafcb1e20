"""`reducekit bisect INPUT`: find the version since which an input fails."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from reducekit.bisect import Bisection, BisectOptions
from reducekit.bisect.options import OWN
from reducekit.bisect.search import Tested
from reducekit.cli.command import Command, adding, declared, flag
from reducekit.cli.process import INTERRUPTED, STANDARD_INPUT, ProcessContext, read_text, say
from reducekit.cli.reduce import INPUT_AND_WORDS, failure_from
from reducekit.errors import UsageError
from reducekit.session import Failure, Options
from reducekit.session.place.inputs import plain_path

_TAKEN = ("good", "bad")  # options of a failure (of --unstable) whose names stand for versions here
_FAILURE = [each.name for each in fields(Failure) if each.name not in _TAKEN]

_SHOWING = (
    flag("json", "Print the result as JSON.", group="Output"),
    flag("quiet", "Print only the result.", short="q", group="Output"),
)


@click.command(
    "bisect",
    cls=Command,
    examples=(
        "reducekit bisect in.smt2 --wheels z3-solver --cmd '{solver} model_validate=true'",
        "reducekit bisect in.cnf --builds ./builds --cmd '{solver} -q' --exit-code SIGSEGV",
    ),
)
@adding(
    (
        *INPUT_AND_WORDS,
        *declared(Failure, _FAILURE),
        *declared(Options, ("repeat",)),
        *declared(BisectOptions, OWN),
        *_SHOWING,
    )
)
@click.pass_obj
def bisect(process: ProcessContext, /, **values: Any) -> int:
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
    failure = failure_from(values)
    options = BisectOptions(
        input=text, name=name, failure=failure, repeat=values["repeat"], **chosen
    )

    def show(tested: Tested) -> None:
        if not values["quiet"]:
            say(f"reducekit: {tested.line()}")

    with process.interrupts.allowed():
        bisection = Bisection(options, show, guard=process.interrupts)
    report = bisection.run()
    print(report.json() if values["json"] else report.text())
    return INTERRUPTED if report.interrupted else 0
