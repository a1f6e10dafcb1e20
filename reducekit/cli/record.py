"""The journal of a reduction from the command line: which one it is, and going on from it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from reducekit import __version__
from reducekit.cli.settings import Settings
from reducekit.errors import UsageError
from reducekit.journal import Head, Journal, journal_path, load, open_journal
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion

_ENDED = "ended"
_WIDTH = "--width"


def width(settings: Settings, output: Path) -> int:
    """Return how many candidates are in flight: of a resumed reduction, as many as before."""
    if settings.width is None and settings.resume:
        with contextlib.suppress(UsageError, ValueError):
            head = load(journal_path(output)).head
            if head is not None:
                return int(head.settings.get(_WIDTH, ""))
    return settings.width or settings.jobs


def open_record(
    settings: Settings,
    text: bytes,
    output: Path,
    *,
    frontend: str,
    commands: Sequence[Command],
    criterion: Criterion | None,
) -> Journal | None:
    """Open the journal beside the output; None if none is wanted.

    Where there is none to resume, it begins anew: a kill may have come before
    it. The journal of an earlier reduction that is not resumed is put aside.
    Raises UsageError if the journal is of another reduction, in use, or none.
    """
    if settings.no_journal:
        if settings.resume:
            raise UsageError("--resume and --no-journal do not go together: give one")
        return None
    path = journal_path(output)
    head = Head.of(
        text,
        version=__version__,
        frontend=frontend,
        strategy=settings.strategy,
        commands=[command.shell_line("FILE") for command in commands],
        criterion="the command's own failure" if criterion is None else criterion.describe(),
        settings={
            name: str(value)
            for name, value in (
                (_WIDTH, width(settings, output)),
                ("--fast", settings.fast),
                ("--repeat", settings.repeat),
                ("--timeout", settings.timeout),
                ("--memory", settings.memory),
                ("--cpu", settings.cpu),
                ("--max-output", settings.max_output),
                ("--ignore-out", settings.ignore_out),
                ("--ignore-err", settings.ignore_err),
            )
        },
    )
    if not settings.resume:
        _put_aside(path)
    return open_journal(path, head, text, resume=settings.resume)


def _put_aside(path: Path) -> None:
    """Keep the journal of an earlier reduction under another name: it may be dear."""
    with contextlib.suppress(UsageError, OSError):
        if load(path).verdicts:
            os.replace(path, _aside(path))


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}~")


def begin(journal: Journal) -> bytes | None:
    """Get ready to be told everything again; return the best text it knows, None if it is new."""
    if not journal.resumed:
        return None
    journal.replay()
    return journal.found.text(journal.found.current)


def end(journal: Journal, stopped: str | None) -> None:
    """Note that the reduction has ended by itself, and close the journal."""
    if stopped is None:
        journal.note(_ENDED, "")
    journal.close()


def discard(journal: Journal) -> None:
    """Remove the journal of a reduction that has not begun; what it took the place of is back."""
    journal.close()
    if not journal.resumed:
        with contextlib.suppress(OSError):
            journal.path.unlink()
            os.replace(_aside(journal.path), journal.path)
