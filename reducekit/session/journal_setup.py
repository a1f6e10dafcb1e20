"""The journal of a session: which reduction it belongs to, and how to go on from it."""

from __future__ import annotations

import contextlib
import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.journal import OUTPUT, Head, Journal, journal_path, open_journal
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion
from reducekit.session.earlier import WIDTH, Kept, earlier_run, goes_on, put_aside
from reducekit.session.options import Options
from reducekit.session.report import Report
from reducekit.version import __version__

_ENDED = "ended"
_REPORT = "report"
_DECIDING = (
    "fast",
    "repeat",
    "timeout",
    "memory",
    "cpu",
    "max_output",
    "ignore_out",
    "ignore_err",
)
"""The options, besides those with a place of their own, on which the steps of a run depend."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The journal of a session, and what stood in its place."""

    journal: Journal | None
    """None: no journal is kept."""
    width: int
    kept: Kept = field(default_factory=Kept)
    notice: str | None = None


def open_for(
    options: Options,
    text: bytes,
    output: Path | None,
    *,
    format_name: str,
    commands: Sequence[Command],
    criterion: Criterion | None,
) -> Opened:
    """Open the journal beside the output, going on from an earlier run of the same kind.

    What another run has left there is kept under a numbered name. Raises UsageError if `resume`
    is asked for and the journal is of another run, if it is in use, or if it is no journal.
    """
    width = options.width or options.jobs
    if options.resume and options.restart:
        raise UsageError("`resume` and `restart` exclude each other: give one")
    if output is None or not options.journal:
        if options.resume:
            raise UsageError(
                "`resume` and `journal` exclude each other: give one"
                if output is not None
                else "`resume` needs an output: the journal stands beside it"
            )
        if output is None or options.in_place:
            return Opened(None, width)
        kept = put_aside(output)
        return Opened(None, width, kept, kept.notice("another run, as this one keeps no journal"))
    found = earlier_run(output)
    any_width = options.width is None
    if found is not None and found.head is not None and any_width:
        with contextlib.suppress(ValueError):
            recorded = int(found.head.settings.get(WIDTH, ""))
            width = recorded if options.resume else width
    head = _head(options, text, format_name, commands, criterion, width)
    kept, notice, resume = Kept(), None, options.resume
    if not resume and found is not None and not options.restart:
        resume = goes_on(found, head, any_width=any_width)
        if resume and any_width and found.head is not None:
            width = int(found.head.settings[WIDTH])
            head = _head(options, text, format_name, commands, criterion, width)
    if resume and found is not None and found.current:
        notice = (
            f"going on from {output} ({found.steps[found.current].size:,} bytes, "
            f"{len(found.verdicts):,} checks known); `restart` begins anew"
        )
    if not resume:
        kept = put_aside(output, only_journal=options.in_place)
        notice = kept.notice("begun anew" if options.restart else "of another run")
    try:
        journal = open_journal(journal_path(output), head, text, resume=resume)
    except BaseException:
        kept.put_back()
        raise
    return Opened(journal, width, kept, notice)


def _head(
    options: Options,
    text: bytes,
    format_name: str,
    commands: Sequence[Command],
    criterion: Criterion | None,
    width: int,
) -> Head:
    return Head.of(
        text,
        version=__version__,
        frontend=format_name,
        strategy=options.strategy,
        commands=[command.shell_line("FILE") for command in commands],
        criterion="the command's own failure" if criterion is None else criterion.describe(),
        settings={
            WIDTH: str(width),
            **{name: str(getattr(options, name)) for name in _DECIDING},
            **{
                name: ", ".join(sorted(getattr(options, name)))
                for name in ("only", "without")
                if getattr(options, name)
            },
        },
    )


def replayed(journal: Journal) -> bytes | None:
    """Get ready to be told everything again; return the best text it knows, None if it is new."""
    if not journal.resumed:
        return None
    journal.replay()
    return journal.found.text(journal.found.current)


def end(journal: Journal, stopped: str | None) -> None:
    """Record that the reduction has ended by itself, if so."""
    if stopped is None:
        journal.note(_ENDED, "")


def tell(journal: Journal, report: Report) -> None:
    """Record what the report tells, for those who look at the journal later."""
    runs = [
        {
            "command": each.command,
            "ended": None if each.outcome is None else each.outcome.describe(),
            "stdout": "" if each.outcome is None else _text(each.outcome.stdout),
            "stderr": "" if each.outcome is None else _text(each.outcome.stderr),
        }
        for each in report.reproducers
    ]
    versions = {"Python": platform.python_version(), "system": platform.platform()}
    said = {**json.loads(report.json()), "last_runs": runs, "versions": versions}
    journal.note(_REPORT, json.dumps(said))


def _text(output: bytes) -> str:
    return output[:OUTPUT].decode("utf-8", "backslashreplace")


def discard(opened: Opened) -> None:
    """Remove the journal of a reduction that has not begun; what stood in its place comes back."""
    journal = opened.journal
    if journal is not None:
        journal.close()
        if not journal.resumed:
            with contextlib.suppress(OSError):
                journal.path.unlink()
    opened.kept.put_back()
