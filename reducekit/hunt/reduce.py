"""Reduces a bug of a hunt in a session, and distinguishes bugs that are reported in the same words.

An invalid model, a wrong answer or a plain signal names no place in the code, so inputs for many
bugs land in one bucket. Once reduced they differ: in the functions on the stack of a crash,
otherwise in the operators and sorts that are left. That is the `mark` of a bug.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reducekit.errors import NotInterestingError, ParseError, StoppedError, UsageError
from reducekit.events import Event
from reducekit.executors.local import LocalExecutor
from reducekit.executors.own import OwnReduction, Subject
from reducekit.format import Format
from reducekit.hunt.events import FAILS_WHEN_EMPTY, Bug
from reducekit.hunt.findings import Finding
from reducekit.oracle.command import Command
from reducekit.oracle.compared import Disagree
from reducekit.oracle.criterion import Criterion, Everything, Oracle
from reducekit.oracle.own import MemoryFault, SameSignature
from reducekit.oracle.stack import crash_under_gdb, under_gdb
from reducekit.run import Guard, Limits
from reducekit.session import Options, Session
from reducekit.session.failure import KnownFailure
from reducekit.session.runs.golden import GoldenRunError
from reducekit.session.runs.run import run_once

SAMPLES = 20
"""The number of inputs of a bucket that are reduced to distinguish bugs; others are only counted.
"""
SECONDS = 20.0  # the time limit of each of these reductions but the first, which has none
_PATIENCE = 30.0  # seconds for the debugger
_NO_PLACE = re.compile(
    rb"(?:invalid|incorrect|wrong) (?:model|proof|unsat core|witness|lemma)|ERRORS SATISFYING"
    rb"|(?:model|proof|core)[ -]?(?:check|validation)|check_?(?:model|unsat|proof)"
    rb"|seg(?:mentation )?fault|bus error|floating point exception|illegal instruction|^aborted"
    rb"|caught signal|core dumped|unsoundness|expected result",
    re.IGNORECASE,
)


def can_tell(frontend: Format, finding: Finding) -> bool:
    """Return whether a finding may be several bugs, which its format can distinguish."""
    if not frontend.offers("skeleton"):
        return False
    criterion = finding.criterion
    if isinstance(criterion, SameSignature) and criterion.expected.limit is None:
        line = criterion.expected.line
        return line is None or _NO_PLACE.search(line) is not None
    return isinstance(criterion, (Disagree, MemoryFault))


def mark_of(
    frontend: Format, text: bytes, commands: Sequence[Command], criterion: Criterion, path: Path
) -> str:
    """Return what a reduced text, in the file `path`, shows of its bug, as one line."""
    crashed = isinstance(criterion, SameSignature) and criterion.expected.signal is not None
    if (crashed or isinstance(criterion, MemoryFault)) and (
        stack := _stack(commands[0].with_options_of(text), text, path.suffix)
    ):
        return f"in {stack}"
    try:
        return f"with {frontend.skeleton(text)}"
    except ParseError:
        return "not parsed"


def _stack(command: Command, text: bytes, suffix: str) -> str:
    """Return the innermost functions of a crash, if a debugger is installed and finds them."""
    gdb = under_gdb(command)
    if gdb is None or command.stdin or command.in_folder is not None:
        return ""
    oracle = Oracle((gdb._replace(patience=0.0),), Everything(1))
    with LocalExecutor(oracle, 1, suffix) as executor:
        outcome = run_once(executor, text, Limits(wall=_PATIENCE)).outcomes[0]
    found = None if outcome.limit == "time" else crash_under_gdb(outcome)
    return found.describe() if found is not None and found.named else ""


@dataclass(frozen=True, slots=True)
class ReductionConfig:
    """How to reduce the inputs of a hunt."""

    own: OwnReduction
    limits: Limits  # the limits of a run on the input that showed the bug
    strategy: str
    jobs: int = 1
    strict: bool = False
    """Apply the wall limit to candidates, too, instead of one based on the best text's time."""
    subject: Callable[[], Subject] | None = None
    """Describes what fails for a bug report, if it is not a program of the bug's commands."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A bug to reduce: its input, and the finding and result that show it."""

    bug: Bug
    text: bytes
    commands: tuple[Command, ...]
    criterion: Criterion
    bucket: str = ""  # the name of the finding, if its bugs are to be distinguished
    spared: Command | None = None  # a program that takes the input, and has to take the result


def session_for(
    waiting: Waiting,
    config: ReductionConfig,
    seconds: float | None,
    listen: Callable[[Event], None],
    guard: Guard,
) -> Session:
    """Return the session that reduces a bug in at most `seconds`; it keeps a journal."""
    bug, limits = waiting.bug, config.limits
    options = Options(
        input=waiting.text,
        name=str(bug.path),
        format=config.own.frontend,
        known=KnownFailure(waiting.commands, waiting.criterion, config.subject),
        also_passes=() if waiting.spared is None else (waiting.spared.words,),
        opener=config.own.opener,
        strategy=config.strategy,
        jobs=config.jobs,
        timeout=limits.wall if config.strict else None,
        first_timeout=limits.wall,
        cpu=limits.cpu,
        memory=limits.memory,
        max_output=limits.output,
        max_time=seconds,
        patience=config.own.patience,
        output=bug.reduced_path,
    )
    return Session(options, listen, guard=guard)


def reduce(bug: Bug, session: Session) -> str | None:
    """Reduce, and record the result, or its lack, in the bug; return why the session stopped."""
    try:
        report = session.run()
    except NotInterestingError as error:
        empty = isinstance(error, GoldenRunError) and error.problem == "baseline fails too"
        bug.not_reduced = FAILS_WHEN_EMPTY if empty else "it does not show every time"
    except ParseError as error:
        bug.not_reduced = f"reducekit cannot parse it: {error}"
    except StoppedError as error:
        return str(error)
    except UsageError as error:
        bug.cannot_be_written(str(error))
    else:
        bug.reduced_size = len(report.text)
        return report.stopped
    return None
