"""The options that all reducing commands share, and what they mean for the oracle."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

import click

from reducekit.cli.options import (
    JOBS,
    MEGABYTES,
    MOST_JOBS,
    PATH,
    SECONDS,
    Function,
    Option,
    adding,
)
from reducekit.errors import UsageError
from reducekit.executors.repeating import Repeat
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion, Disagree, ExitZero, Matches, SlowerThan
from reducekit.oracle.limits import Limits

Effort = Literal["quick", "full"]


@dataclass(frozen=True, slots=True)
class OracleSettings:
    """The options that say what is to be kept alive, and the limits of a run, as given."""

    command: tuple[str, ...]
    cmd: str | None
    oracle: str | None
    reference: str | None
    slower_than: float | None
    exit_code: int | None
    match_out: tuple[str, ...]
    match_err: tuple[str, ...]
    ignore_out: bool
    ignore_err: bool
    stdin: bool
    timeout: float | None
    memory: int | None
    cpu: float | None
    max_output: int | None


@dataclass(frozen=True, slots=True)
class Settings(OracleSettings):
    """The shared options as given."""

    input: Path
    output: Path | None
    in_place: bool
    strategy: str
    jobs: int
    width: int | None
    fast: bool
    resume: bool
    no_journal: bool
    max_checks: int | None
    max_time: float | None
    until: int | None
    effort: Effort
    patience: int
    repeat: Repeat | None
    also_interesting: Path | None
    lenient: bool
    json: bool
    quiet: bool


def _repeat(ctx: click.Context, param: click.Parameter, value: str | None) -> Repeat | None:
    """Read how many of how many runs."""
    try:
        return None if value is None else Repeat.parse(value)
    except UsageError as error:
        raise click.BadParameter(f"{error}.", ctx, param) from None


_FAILURE: tuple[Option, ...] = (
    click.option("--cmd", metavar="CMD", help="The program under test; its failure is kept."),
    click.option(
        "--oracle",
        metavar="CMD",
        help="An interestingness test instead: exit status 0 keeps the candidate.",
    ),
    click.option(
        "--reference",
        metavar="CMD",
        help="Keep that CMD and this one disagree about sat and unsat.",
    ),
    click.option(
        "--slower-than", type=SECONDS, metavar="S", help="Keep that a run takes S seconds or more."
    ),
    click.option(
        "--exit-code",
        type=click.IntRange(min=-64, max=255),
        metavar="N",
        help="Keep this exit status; above 128 or negative: this signal.",
    ),
    click.option(
        "--match-out", multiple=True, metavar="REGEX", help="Keep that the output matches."
    ),
    click.option(
        "--match-err", multiple=True, metavar="REGEX", help="Keep that the error output matches."
    ),
    click.option("--ignore-out", is_flag=True, help="Take no failure line from the output."),
    click.option("--ignore-err", is_flag=True, help="Take no failure line from the error output."),
    click.option("--stdin", is_flag=True, help="Feed the file to the command's standard input."),
)
_LIMITS: tuple[Option, ...] = (
    click.option(
        "--timeout",
        type=SECONDS,
        metavar="S",
        help="Seconds for a run; default: follows the time of the best file so far.",
    ),
    click.option(
        "--memory",
        type=MEGABYTES,
        metavar="MB",
        help="Megabytes of address space for each process of a run.",
    ),
    click.option(
        "--cpu",
        type=SECONDS,
        metavar="S",
        help="Seconds of CPU time for each process of a run, rounded up.",
    ),
    click.option(
        "--max-output",
        type=click.IntRange(min=1, max=10_000),
        metavar="MB",
        help="Megabytes kept of each output stream; what prints more is stopped; "
        f"default: {Limits().output / 1e6:.1f}.",
    ),
)
_OPTIONS: tuple[Option, ...] = (
    click.argument("input", type=PATH),
    click.argument("command", nargs=-1, type=click.UNPROCESSED),
    *_FAILURE,
    click.option(
        "-o",
        "--output",
        type=PATH,
        metavar="FILE",
        help="The result; default: INPUT with .reduced before its ending.",
    ),
    click.option("--in-place", is_flag=True, help="Replace INPUT; the original is kept as .orig."),
    click.option("--strategy", default="adaptive", show_default=True, metavar="NAME"),
    click.option(
        "-j",
        "--jobs",
        type=JOBS,
        default=1,
        show_default=True,
        metavar="N",
        help="Checks at the same time; auto: one for each processor.",
    ),
    click.option(
        "--width",
        type=click.IntRange(min=1, max=MOST_JOBS),
        metavar="N",
        help="Candidates in flight; default: the jobs. "
        "The result depends on it, and neither on the jobs nor on timing.",
    ),
    click.option(
        "--fast", is_flag=True, help="Take verdicts as they come; the result depends on timing."
    ),
    click.option("--resume", is_flag=True, help="Go on where an interrupted reduction was."),
    click.option("--no-journal", is_flag=True, help="Keep no journal beside the output."),
    *_LIMITS,
    click.option(
        "--max-checks", type=click.IntRange(min=0), metavar="N", help="Stop after N checks."
    ),
    click.option("--max-time", type=SECONDS, metavar="S", help="Stop after S seconds."),
    click.option(
        "--until",
        type=click.IntRange(min=0),
        metavar="BYTES",
        help="Stop as soon as the file has at most so many bytes.",
    ),
    click.option(
        "--effort",
        type=click.Choice(get_args(Effort)),
        default="full",
        show_default=True,
        help="quick: end behind the first passes, which take away most for each check.",
    ),
    click.option(
        "--patience",
        type=click.IntRange(min=0),
        default=2000,
        show_default=True,
        metavar="N",
        help="Stop after N checks in a row without success; 0: never.",
    ),
    click.option(
        "--repeat",
        callback=_repeat,
        metavar="K-of-N",
        help="For a failure that does not show every time: it has to in K of N runs.",
    ),
    click.option(
        "--also-interesting",
        type=PATH,
        metavar="DIR",
        help="Keep the smallest file for each other failure met on the way.",
    ),
    click.option("--lenient", is_flag=True, help="Reduce what does not parse by lines and tokens."),
    click.option("--json", is_flag=True, help="Print the summary as one JSON object."),
    click.option("-q", "--quiet", is_flag=True, help="No progress and no summary."),
)


def shared_options(function: Function) -> Function:
    """Add the shared options to a command, in the order of the help."""
    return adding(_OPTIONS)(function)


def oracle_options(function: Function) -> Function:
    """Add the options that say what is to be kept alive, and the limits of a run."""
    return adding((*_FAILURE, *_LIMITS))(function)


def settings_from(values: dict[str, Any]) -> Settings:
    """Gather the shared options out of a command's parameters."""
    return Settings(**{each.name: values[each.name] for each in fields(Settings)})


def oracle_settings_from(values: dict[str, Any]) -> OracleSettings:
    """Gather the options of `oracle_options` out of a command's parameters."""
    names = [each.name for each in fields(OracleSettings) if each.name != "command"]
    return OracleSettings(command=(), **{name: values[name] for name in names})


def _pattern(text: str) -> re.Pattern[bytes]:
    try:
        return re.compile(text.encode("utf-8", "surrogateescape"), re.MULTILINE)
    except re.error as error:
        raise UsageError(f"{text!r} is not a regular expression: {error}") from None


def commands_and_criterion(
    settings: OracleSettings,
) -> tuple[tuple[Command, ...], Criterion | None]:
    """Return the commands of the oracle and the criterion asked for.

    None for the criterion stands for the command's own failure, whatever it is.
    Raises UsageError for options that do not go together.
    """
    given = [
        name
        for name, value in (
            ("--cmd", settings.cmd),
            ("--oracle", settings.oracle),
            ("the command behind --", settings.command),
        )
        if value
    ]
    if not given:
        raise UsageError(
            "which program fails? Say --cmd './solver --opt' "
            "(or --oracle TEST for a test that exits with 0 if the file is interesting)"
        )
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} do not go together: give one")
    if settings.oracle:
        looked_at = {
            "--reference": settings.reference is not None,
            "--slower-than": settings.slower_than is not None,
            "--exit-code": settings.exit_code is not None,
            "--match-out": bool(settings.match_out),
            "--match-err": bool(settings.match_err),
            "--ignore-out": settings.ignore_out,
            "--ignore-err": settings.ignore_err,
        }
        wrong = [name for name, used in looked_at.items() if used]
        if wrong:
            raise UsageError(
                f"with --oracle only the exit status counts: {wrong[0]} goes with --cmd"
            )
        return (Command.of(settings.oracle, stdin=settings.stdin),), ExitZero()
    command = Command.of(settings.cmd or settings.command, stdin=settings.stdin)
    matches = settings.exit_code is not None or settings.match_out or settings.match_err
    kinds = [settings.reference is not None, settings.slower_than is not None, bool(matches)]
    if sum(kinds) > 1:
        raise UsageError(
            "--reference, --slower-than and --match-out, --match-err, --exit-code "
            "each say what is wrong: give one"
        )
    if any(kinds) and (settings.ignore_out or settings.ignore_err):
        raise UsageError(
            "--ignore-out and --ignore-err are about the command's own failure: "
            "they do not go with an option that says what is wrong"
        )
    if settings.reference is not None:
        return (command, Command.of(settings.reference, stdin=settings.stdin)), Disagree()
    if settings.slower_than is not None:
        if settings.timeout is not None:
            raise UsageError("--slower-than is the time limit: it does not go with --timeout")
        return (command,), SlowerThan(settings.slower_than)
    if matches:
        out = tuple(map(_pattern, settings.match_out))
        err = tuple(map(_pattern, settings.match_err))
        return (command,), Matches(settings.exit_code, out, err)
    return (command,), None


def limits_from(settings: OracleSettings) -> Limits:
    """Return the limits asked for; without --timeout the wall limit follows the best file."""
    memory = None if settings.memory is None else settings.memory * 1_000_000
    limits = Limits(wall=settings.timeout, cpu=settings.cpu, memory=memory)
    if settings.max_output is None:
        return limits
    return replace(limits, output=settings.max_output * 1_000_000)
