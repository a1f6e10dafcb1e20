"""Reduces a bug of a hunt in a session, just as `reducekit FORMAT` does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reducekit.errors import NotInterestingError, ParseError, StoppedError, UsageError
from reducekit.events import Event
from reducekit.executors.executor import Guard
from reducekit.frontend import Frontend
from reducekit.hunt.events import FAILS_WHEN_EMPTY, Bug
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion
from reducekit.oracle.limits import Limits
from reducekit.own_checks import Subject
from reducekit.session import Options, Session
from reducekit.session.options import KnownFailure, Opener
from reducekit.session.runs.golden import GoldenRunError


@dataclass(frozen=True, slots=True)
class ReductionConfig:
    """How to reduce the inputs of a hunt. Results are reported with their `size`, in `unit`."""

    frontend: Frontend
    limits: Limits
    """The limits of a run on the input that showed the bug."""
    patience: int
    """The number of consecutive checks without success that ends a reduction."""
    strategy: str
    opener: Opener | None = None
    """Opens the executor of candidates; None: this machine, with the bug's commands."""
    jobs: int = 1
    strict: bool = False
    """Apply the wall limit to candidates, too, instead of one based on the best text's time."""
    size: Callable[[bytes], int] = len
    unit: str = "bytes"
    subject: Callable[[], Subject] | None = None
    """Describes what fails for a bug report, if it is not a program of the bug's commands."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A bug to reduce: its input, and the finding and result that show it."""

    bug: Bug
    text: bytes
    commands: tuple[Command, ...]
    criterion: Criterion
    bucket: str = ""
    """The name of the finding, if its bugs are to be told apart."""
    spared: Command | None = None
    """A program that takes the input, and has to take what it is reduced to."""


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
        format=config.frontend,
        known=KnownFailure(waiting.commands, waiting.criterion, config.subject),
        also_passes=() if waiting.spared is None else (waiting.spared.words,),
        opener=config.opener,
        strategy=config.strategy,
        jobs=config.jobs,
        timeout=limits.wall if config.strict else None,
        first_timeout=limits.wall,
        cpu=limits.cpu,
        memory=limits.memory,
        max_output=limits.output,
        max_time=seconds,
        patience=config.patience,
        output=bug.reduced_path,
    )
    return Session(options, listen, guard=guard)


def reduce(bug: Bug, session: Session) -> str | None:
    """Reduce, and record the result in the bug; return why the session stopped early, if it did.

    A result that cannot be written, or a bug that does not show again, is only recorded.
    """
    try:
        report = session.run()
    except GoldenRunError as error:
        bug.not_reduced = (
            FAILS_WHEN_EMPTY
            if error.problem == "baseline fails too"
            else "it does not show every time"
        )
    except NotInterestingError:
        bug.not_reduced = "it does not show every time"
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
