"""Reduces a bug of a hunt by a session, so that a hunt reduces as `reducekit FORMAT` does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reducekit.errors import NotInterestingError, ParseError, StoppedError, UsageError
from reducekit.events import Event
from reducekit.executors.guard import Guard
from reducekit.frontend import Frontend
from reducekit.hunt.stats import Bug
from reducekit.oracle.limits import Limits
from reducekit.session import Options, Session
from reducekit.session.golden import GoldenRunError
from reducekit.session.options import KnownFailure, Opener


@dataclass(frozen=True, slots=True)
class ReductionConfig:
    """How the inputs of a hunt are reduced. What is told of a result is its `size`, in `unit`."""

    frontend: Frontend
    limits: Limits
    """Of a run on the input that showed the bug."""
    patience: int
    """Checks in a row without success that end a reduction."""
    strategy: str
    opener: Opener | None = None
    """Where candidates are checked; None: on this machine, by the bug's commands."""
    jobs: int = 1
    strict: bool = False
    """The wall limit holds for candidates too, which otherwise follows the time of the best one."""
    size: Callable[[bytes], int] = len
    unit: str = "bytes"


def session_for(
    bug: Bug,
    text: bytes,
    config: ReductionConfig,
    seconds: float | None,
    listen: Callable[[Event], None],
    guard: Guard,
) -> Session:
    """Return the session that reduces an input that shows a bug, in at most `seconds`."""
    finding = bug.finding
    limits = config.limits
    options = Options(
        input=text,
        name=str(bug.path),
        format=config.frontend,
        known=KnownFailure(finding.commands, finding.criterion),
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
        journal=False,
    )
    return Session(options, listen, guard=guard)


def reduce(bug: Bug, session: Session) -> str | None:
    """Reduce, and note in the bug what came of it; return why the session stopped early, if so.

    A result that cannot be written, or a bug that does not show again, is noted and no more.
    """
    try:
        report = session.run()
    except GoldenRunError as error:
        bug.not_reduced = (
            "an empty file fails in the same way"
            if error.problem == "empty fails too"
            else "it does not show every time"
        )
    except NotInterestingError:
        bug.not_reduced = "it does not show every time"
    except ParseError as error:
        bug.not_reduced = f"our own frontend does not read it: {error}"
    except StoppedError as error:
        return str(error)
    except UsageError as error:
        bug.cannot_be_written(str(error))
    else:
        bug.reduced_size = len(report.text)
        return report.stopped
    return None
