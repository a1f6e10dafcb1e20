"""The options of the commands that reduce: those of `Options`, and some for terminals only."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from reducekit.cli.options import PATH, Function, GroupedOption, adding, declared
from reducekit.cli.streams import STANDARD_INPUT, STANDARD_OUTPUT, read_text
from reducekit.errors import UsageError
from reducekit.frontend import Frontend
from reducekit.session import Failure, Options
from reducekit.session.place.inputs import earlier_run

_BINARY = b"\x7fELF"

_SHOWING = (
    click.option("--check", is_flag=True, cls=GroupedOption, help="Validate INPUT and exit."),
    click.option(
        "--report", type=PATH, metavar="FILE", cls=GroupedOption, help="Write an HTML report."
    ),
    click.option(
        "--tui",
        is_flag=True,
        cls=GroupedOption,
        rare=True,
        help="Show the run full-screen (or press t).",
    ),
    click.option("--json", is_flag=True, cls=GroupedOption, help="Print the summary as JSON."),
    click.option(
        "-q", "--quiet", is_flag=True, cls=GroupedOption, help="Print neither progress nor summary."
    ),
)


def reduce_options(function: Function) -> Function:
    """Add the options of all commands that reduce."""
    arguments = (
        click.argument("input", type=PATH),
        click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND]"),
    )
    return adding((*arguments, *declared(Options), *_SHOWING))(function)


def oracle_options(function: Function) -> Function:
    """Add the options for the failure to preserve, and for the limits of a run."""
    return adding(declared(Failure))(function)


def failure_from(values: Mapping[str, Any]) -> Failure:
    """Collect the options of `oracle_options` from a command's parameters."""
    return Failure(**_values(Failure, values), command=_command(values))


def _begins_with_output(values: Mapping[str, Any], words: Sequence[str]) -> bool:
    """Return whether the first word is the output: no program, and a command is given anyway."""
    enough = 1 if values["command"] or values["oracle"] else 2
    return len(words) >= enough and not _runs(words[0])


def options_from(values: Mapping[str, Any], frontend: str | Frontend) -> Options:
    """Collect the options of `reduce_options` from a command's parameters.

    Raises UsageError if the command is given twice.
    """
    chosen = _values(Options, values)
    words = values["words"]
    _refuse_script(values["input"], words)
    if not chosen["output"] and _begins_with_output(values, words):
        # As ddSMT spells it: the input, the output, the command.
        _refuse_foreign(words[0])
        chosen["output"], words = Path(words[0]), words[1:]
    if chosen["jobs"] is None:
        # On a cluster 1 stands for all that its workers can run.
        chosen["jobs"] = 1 if values["cluster"] else _usual_jobs(values, words)
    if chosen["input"] == STANDARD_INPUT:
        chosen["input"], chosen["name"] = read_text(STANDARD_INPUT), "standard input"
        chosen["output"] = chosen["output"] or STANDARD_OUTPUT
    return Options(format=frontend, **chosen, command=_command({**values, "words": words}))


def _usual_jobs(values: Mapping[str, Any], words: Sequence[str]) -> int:
    """Return the default number of parallel checks.

    Two runs of a script may write files of the same name, and affect each other's times.
    """
    if values["oracle"] or values["shell"] or values["slower_than"]:
        return 1
    try:
        program = (shlex.split(values["command"]) if values["command"] else words)[0]
        with open(shutil.which(os.path.expanduser(program)) or "", "rb") as file:
            return 2 if file.read(len(_BINARY)) == _BINARY else 1
    except (OSError, ValueError, IndexError):
        return 1


def _refuse_script(path: Path, words: Sequence[str]) -> None:
    """Raise UsageError for a test before the input, as C-Vise and Shrink Ray have them."""
    if words and os.access(path, os.X_OK) and os.path.isfile(path) and os.path.isfile(words[0]):
        with open(path, "rb") as file:
            if file.read(2) == b"#!":
                test = path if "/" in str(path) else f"./{path}"
                raise UsageError(
                    f"{path} is a script: for a test, name the input first: {words[0]} "
                    f"--oracle {test}"
                )


def _refuse_foreign(output: str) -> None:
    """Raise UsageError for an output without -o that is somebody's file.

    C-Vise takes several files to reduce.
    """
    path = Path(output)
    if os.path.isfile(path) and path.stat().st_size and earlier_run(path) is None:
        raise UsageError(
            f"{path} exists and is not a result of reducekit. One file is reduced at a time: leave "
            f"{path} out; or type -o {shlex.quote(output)} to write there, and rename what is there"
        )


def _runs(word: str) -> bool:
    """Return whether a word names a program."""
    return shutil.which(os.path.expanduser(word)) is not None


def _values(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a command that are fields of a class, except the command."""
    names = {field.name for field in fields(cls)} - {"command"}
    return {name: values[name] for name in names & values.keys()}


def _command(values: Mapping[str, Any]) -> str | Sequence[str] | None:
    """Return the program under test: from `--cmd`, or the words after `--`."""
    words = values.get("words", ())
    if values["command"] and words:
        raise UsageError("--cmd and the command after -- are mutually exclusive: give one")
    return values["command"] or words or None
