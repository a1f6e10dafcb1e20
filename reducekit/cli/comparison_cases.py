"""The files that algorithms are compared on: each fails, and each has an oracle."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reducekit.cli.executors import Executors
from reducekit.cli.files import naming
from reducekit.cli.interrupts import Interrupts
from reducekit.cli.settings import OracleSettings, commands_and_criterion, limits_from
from reducekit.errors import NotInterestingError, UsageError
from reducekit.frontend import Frontend
from reducekit.frontends.btor import Btor
from reducekit.frontends.trace import Traces
from reducekit.frontends.trace.check import find_model
from reducekit.frontends.trace.formats import read_trace
from reducekit.frontends.trace.replay.lawful import Lawful
from reducekit.golden import Golden, establish, trivial
from reducekit.oracle.command import Command
from reducekit.oracle.limits import Limits
from reducekit.output import read_input
from reducekit.registry import FRONTENDS, load, names


def labels_of(files: Sequence[Path]) -> list[str]:
    """Return short names for files: without endings, else of their folders, else whole paths.

    A file `input` is called as its folder. Raises UsageError for a file that comes twice.
    """
    folders = [path.absolute().parent.name for path in files]
    stems = [path.stem for path in files]
    short = [
        folder if stem == "input" and folder else stem
        for stem, folder in zip(stems, folders, strict=True)
    ]
    for labels in (short, folders, [str(path) for path in files]):
        if len(set(labels)) == len(files) and all(labels):
            return labels
    raise UsageError("a file is named twice")


@dataclass(frozen=True, slots=True)
class Case:
    """A file that fails, and all that its runs need."""

    label: str
    format: str
    text: bytes
    commands: tuple[Command, ...]
    golden: Golden
    limits: Limits
    empty: bool
    """Whether an empty file fails, too."""
    verdicts: dict[bytes, tuple[bool, float]] = field(default_factory=dict)
    """Of all texts that were given to the oracle: an algorithm's verdicts serve the next.

    A text that took too long stays so for all, though limits follow the best text so far.
    """

    def frontend(self, simplify: bool) -> Frontend:
        """Return a new frontend: some keep what they have seen."""
        if self.format == Btor.name:
            return Btor(simplify=simplify)
        made: Frontend = load(FRONTENDS, self.format)()
        return made


def case_of(
    path: Path,
    label: str,
    format: str | None,  # noqa: A002 - as in the tables
    settings: OracleSettings,
    interrupts: Interrupts,
) -> Case:
    """Read a file and make sure that it fails.

    Raises UsageError, ParseError or NotInterestingError.
    """
    text = read_input(path)
    chosen = format_of(path) if format is None else format
    frontend: Frontend = load(FRONTENDS, chosen)()
    commands, criterion = commands_and_criterion(_filled(settings, path))
    limits = limits_from(settings)
    with naming(path):
        frontend.parse(text)
    with Executors(interrupts, frontend.suffix) as executors:
        try:
            golden = establish(
                commands,
                criterion,
                text,
                limits,
                executors.open,
                path=str(path),
                out=not settings.ignore_out,
                err=not settings.ignore_err,
            )
        except NotInterestingError as error:
            error.args = (f"{path}: {error}",)
            raise
        if chosen == Traces.name and not settings.oracle:
            # A breach of the API's contract is never the failure.
            lawful = Lawful(golden.criterion, find_model(read_trace(text)).classify)
            golden = replace(golden, criterion=lawful)
        empty = trivial(commands, golden, limits, executors.open)
    return Case(label, chosen, text, commands, golden, limits, empty)


def format_of(path: Path) -> str:
    """Return the name of the frontend for files of that ending. Raises UsageError."""
    for name in names(FRONTENDS):
        suffix = load(FRONTENDS, name)().suffix
        if suffix and path.suffix.startswith(suffix):
            return name
    known = ", ".join(names(FRONTENDS))
    raise UsageError(f"of which format is {path}? Say --frontend NAME (there is: {known})")


def _filled(settings: OracleSettings, path: Path) -> OracleSettings:
    """Put the folder and the name of a file in the places for them in its commands."""

    def fill(line: str | None) -> str | None:
        if line is None:
            return None
        for place, value in (("{dir}", str(path.parent)), ("{stem}", path.stem)):
            line = line.replace(place, shlex.quote(value))
        return line

    return replace(
        settings,
        cmd=fill(settings.cmd),
        oracle=fill(settings.oracle),
        reference=fill(settings.reference),
    )
