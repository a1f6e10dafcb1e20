"""The options of the commands that reduce, declared once; their names are those of `Options`."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, get_args

import click
from click.shell_completion import CompletionItem

from reducekit import registry
from reducekit.cli.command import files
from reducekit.cli.options import (
    CLUSTER,
    EXIT_CODE,
    JOBS,
    MEGABYTES,
    MOST_JOBS,
    PATH,
    SECONDS,
    Function,
    Option,
    adding,
)
from reducekit.cli.streams import STANDARD_INPUT, read_text
from reducekit.errors import UsageError
from reducekit.frontend import Effort, Frontend
from reducekit.oracle.limits import Limits
from reducekit.session import Failure, Options, Repeat

_MEGABYTE = 1_000_000
_BINARY = b"\x7fELF"


def _repeat(ctx: click.Context, param: click.Parameter, value: str | None) -> Repeat | None:
    """Read how many of how many runs."""
    try:
        return None if value is None else Repeat.parse(value)
    except UsageError as error:
        raise click.BadParameter(f"{error}.", ctx, param) from None


def _strategies(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete names of strategies."""
    names = registry.names(registry.STRATEGIES)
    return [CompletionItem(each) for each in names if each.startswith(incomplete)]


def _programs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete programs: files."""
    return files(incomplete)


def _slowness(ctx: click.Context, param: click.Parameter, value: str | None) -> Slowness | None:
    """Read a time, or a ratio such as 10x."""
    if value is None:
        return None
    ratio = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*x\s*", value)
    if ratio is not None:
        return Slowness(None, float(ratio[1]))
    return Slowness(SECONDS.convert(value, param, ctx), None)


class Slowness(NamedTuple):
    """What --slower-than says."""

    seconds: float | None
    ratio: float | None


_FAILURE: tuple[Option, ...] = (
    click.option(
        "--cmd",
        metavar="CMD",
        shell_complete=_programs,
        help="The program under test; its failure is kept.",
    ),
    click.option(
        "--oracle",
        metavar="CMD",
        shell_complete=_programs,
        help="An interestingness test instead: exit status 0 keeps the candidate.",
    ),
    click.option(
        "--reference",
        metavar="CMD",
        shell_complete=_programs,
        help="Keep that CMD and this one disagree about sat and unsat.",
    ),
    click.option(
        "--slower-than",
        metavar="S|Rx",
        callback=_slowness,
        help="Keep that a run takes S seconds or more (5, 500ms, 2m); with --reference, and the "
        "other does not; 10x: ten times as long as the reference.",
    ),
    click.option(
        "--also-passes",
        multiple=True,
        metavar="CMD",
        help="This program must accept the candidate: end with 0 and print no error. Repeatable.",
    ),
    click.option(
        "--exit-code",
        type=EXIT_CODE,
        metavar="N|SIGNAL",
        help="Keep this exit status, or signal: SIGSEGV, -11 or 139.",
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
    click.option(
        "--shell", is_flag=True, help="Have /bin/sh run the commands: for pipes and variables."
    ),
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
        type=MEGABYTES,
        metavar="MB",
        help="Megabytes kept of each output stream; what prints more is stopped; "
        f"default: {Limits().output / 1e6:.1f}.",
    ),
)
_SEARCH: tuple[Option, ...] = (
    click.option(
        "-o",
        "--output",
        type=PATH,
        metavar="FILE",
        help="The result; default: INPUT with .reduced before its suffix.",
    ),
    click.option("--in-place", is_flag=True, help="Replace INPUT; the original is kept as .orig."),
    click.option(
        "--strategy",
        shell_complete=_strategies,
        default="adaptive",
        show_default=True,
        metavar="NAME",
        help=f"The algorithm: {', '.join(registry.names(registry.STRATEGIES))}.",
    ),
    click.option(
        "-j",
        "--jobs",
        type=JOBS,
        metavar="N",
        help="Checks at the same time; auto: one for each processor; default: 2 for a "
        "compiled program; 1 where times count, and for scripts: they may write files of one name.",
    ),
    click.option(
        "--width",
        type=click.IntRange(min=1, max=MOST_JOBS),
        metavar="N",
        help="Candidates tried at once; default: the jobs. The result depends only on this number.",
    ),
    click.option(
        "--fast",
        is_flag=True,
        help="Take verdicts as they come: quicker, but results may differ between runs.",
    ),
    click.option(
        "--resume",
        is_flag=True,
        help="Insist on going on from an earlier run: one of the same input and command is gone "
        "on from in any case, and what another has left is kept under a numbered name.",
    ),
    click.option("--restart", is_flag=True, help="Begin anew; what is there is kept."),
    click.option(
        "--only",
        multiple=True,
        metavar="PASS",
        help="Run this pass only. Repeatable; `reducekit passes FORMAT` lists the names.",
    ),
    click.option(
        "--without", multiple=True, metavar="PASS", help="Leave this pass out. Repeatable."
    ),
    click.option("--no-journal", is_flag=True, help="Keep no journal beside the output."),
    click.option(
        "--workdir",
        type=PATH,
        metavar="DIR",
        help="Write candidates there, each in a folder of its own; default: TMPDIR if it is set, "
        "otherwise in memory.",
    ),
)
_STOPPING: tuple[Option, ...] = (
    click.option(
        "--max-checks", type=click.IntRange(min=0), metavar="N", help="Stop after N checks."
    ),
    click.option("--max-time", type=SECONDS, metavar="S", help="Stop after S seconds."),
    click.option(
        "--until",
        type=click.IntRange(min=0),
        metavar="BYTES",
        help="Stop as soon as the file has at most BYTES bytes.",
    ),
    click.option(
        "--effort",
        type=click.Choice(get_args(Effort)),
        default="normal",
        show_default=True,
        help="quick: stop after the first, most productive passes. thorough: go on from the "
        "smallest file by steps that do not make it smaller at once (SMT-LIB scripts, API traces).",
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
)
_SHOWING: tuple[Option, ...] = (
    click.option(
        "--check", is_flag=True, help="Only say whether INPUT keeps the rules of its format."
    ),
    click.option(
        "--pretty", is_flag=True, help="Lay the result out for people, if it still fails so."
    ),
    click.option("--lenient", is_flag=True, help="Reduce what does not parse by lines and tokens."),
    click.option(
        "--report", type=PATH, metavar="FILE", help="Write what happened as one HTML file."
    ),
    click.option("--json", is_flag=True, help="Print the summary as one JSON object."),
    click.option("-q", "--quiet", is_flag=True, help="No progress and no summary."),
)


def reduce_options(function: Function) -> Function:
    """Add the options of all commands that reduce, in the order of the help."""
    arguments = (
        click.argument("input", type=PATH),
        click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND]"),
    )
    return adding((*arguments, *_FAILURE, *_SEARCH, *CLUSTER, *_LIMITS, *_STOPPING, *_SHOWING))(
        function
    )


def oracle_options(function: Function) -> Function:
    """Add the options that say which failure is kept, and the limits of a run."""
    return adding((*_FAILURE, *_LIMITS))(function)


def failure_from(values: dict[str, Any]) -> Failure:
    """Gather the options of `oracle_options` out of the parameters of a command."""
    return Failure(**_failure(values, values.get("words", ())))


def options_from(values: dict[str, Any], frontend: str | Frontend) -> Options:
    """Gather the options of `reduce_options` out of the parameters of a command.

    Raises UsageError where the command is given twice.
    """
    own = {field.name for field in fields(Options)} - {field.name for field in fields(Failure)}
    chosen = {name: values[name] for name in own & values.keys()}
    chosen["journal"] = not values["no_journal"]
    words = values["words"]
    _refuse_script(values["input"], words)
    enough = 1 if values["cmd"] or values["oracle"] else 2
    if not chosen["output"] and words and len(words) >= enough and not _runs(words[0]):
        # As ddSMT spells it: the input, the output, the command.
        chosen["output"], words = Path(words[0]), words[1:]
    if chosen["jobs"] is None:
        # On a cluster 1 stands for all that its workers can run.
        chosen["jobs"] = 1 if values["cluster"] else _usual_jobs(values, words)
    if chosen["input"] == STANDARD_INPUT:
        chosen["input"], chosen["name"] = read_text(STANDARD_INPUT), "standard input"
        chosen["output"] = chosen["output"] or Path(f"stdin.reduced{_suffix(frontend)}")
    return Options(format=frontend, **chosen, **_failure(values, words))


def _usual_jobs(values: dict[str, Any], words: Sequence[str]) -> int:
    """Return how many checks run at the same time where nothing is said about it.

    Two runs of a script may write to files of the same name, and disturb times.
    """
    if values["oracle"] or values["shell"] or values["slower_than"]:
        return 1
    try:
        program = (shlex.split(values["cmd"]) if values["cmd"] else words)[0]
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


def _suffix(frontend: str | Frontend) -> str:
    return (registry.frontend_class(frontend) if isinstance(frontend, str) else frontend).suffix


def _runs(word: str) -> bool:
    """Say whether a word names a program."""
    return shutil.which(os.path.expanduser(word)) is not None


def _failure(values: dict[str, Any], words: Sequence[str]) -> dict[str, Any]:
    if values["cmd"] and words:
        raise UsageError("--cmd and the command after -- exclude each other: give one")
    names = {field.name for field in fields(Failure)} & values.keys()
    chosen = {name: values[name] for name in names}
    for name in ("memory", "max_output"):
        if chosen[name] is not None:
            chosen[name] *= _MEGABYTE
    slow: Slowness = chosen["slower_than"] or Slowness(None, None)
    chosen["slower_than"], chosen["slower_ratio"] = slow
    return {**chosen, "command": values["cmd"] or words or None}
