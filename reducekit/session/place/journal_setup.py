"""The journal of a session: which reduction it belongs to, and how that is resumed."""

from __future__ import annotations

import contextlib
import json
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from reducekit.errors import UsageError
from reducekit.journal import OUTPUT, Contents, Head, Journal, journal_path, load, open_journal
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion
from reducekit.oracle.files import Files, FileState, changed_files, files_of
from reducekit.own_checks import Subject
from reducekit.session.options import Options
from reducekit.session.place.earlier import (
    WIDTH,
    Kept,
    earlier_run,
    edited_since,
    goes_on,
    keep_copy,
    put_aside,
)
from reducekit.session.place.files import output_path
from reducekit.session.place.output import OutputFile, SavedBest
from reducekit.session.report import Report
from reducekit.version import __version__

_ENDED = "ended"
_REPORT = "report"
_SUBJECT = "subject"
_WRITTEN = "written by the test"
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
"""The options that determine the steps of a run, besides those that the head has fields for."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The journal of a session, and what was found in its place."""

    journal: Journal | None
    """None: no journal is kept."""
    width: int
    kept: Kept = field(default_factory=Kept)
    notice: str | None = None
    changed: str | None = None
    """How the test has changed since the earlier run, whose verdicts are therefore not used."""
    edited: bytes | None = None
    """The text of the output, if somebody edited it since the earlier run."""
    files: Callable[[], dict[str, FileState]] = dict
    """Returns the current state of the test's files."""


def _without_journal(options: Options, output: Path | None, width: int) -> Opened:
    """Return a setup without a journal; an existing output is renamed."""
    if options.resume:
        raise UsageError(
            "`resume` and `journal` are mutually exclusive: give one"
            if output is not None
            else "`resume` needs an output: the journal stands beside it"
        )
    if output is None or options.in_place:
        return Opened(None, width)
    kept = put_aside(output)
    return Opened(None, width, kept, kept.notice("another run, as this one keeps no journal"))


def _own_files(options: Options, output: Path) -> set[str]:
    """Return the files that the reduction reads or writes: they do not belong to its test."""
    ours = [output, journal_path(output)]
    if isinstance(options.input, Path):
        ours.append(options.input)
    return {os.path.abspath(path) for path in ours}


def _resuming(output: Path, found: Contents) -> str:
    begun = "already finished:" if _ENDED in found.notes else "resuming from"
    return (
        f"{begun} {output} ({found.steps[found.current].size:,} bytes, "
        f"{len(found.verdicts):,} checks known); `restart` starts over"
    )


def open_for(
    options: Options,
    text: bytes,
    output: Path | None,
    *,
    format_name: str,
    commands: Sequence[Command],
    criterion: Criterion,
    libraries: Sequence[Path] = (),
) -> Opened:
    """Open the journal next to the output, and resume an earlier run of the same kind.

    If only the test has changed, the steps of that run become candidates and its verdicts are
    dropped. A function may change unnoticed, so with one nothing is resumed unless `resume` is
    given. `libraries` are files that the test uses without naming them. Results of other runs are
    renamed. Raises UsageError if `resume` is given and the journal belongs to another run, if it is
    in use, or if the file is not a journal.
    """
    width = options.width or options.jobs
    if options.resume and options.restart:
        raise UsageError("`resume` and `restart` are mutually exclusive: give one")
    if output is None or not options.journal:
        return _without_journal(options, output, width)
    found = earlier_run(output)
    recorded = None if found is None else found.head
    any_width = options.width is None
    files = partial(
        files_of,
        commands,
        (*libraries, *options.ship),
        without=_own_files(options, output),
        known=None if recorded is None else recorded.files,
    )
    head = _head(options, text, format_name, commands, criterion, width, files())
    resume, changed, notice = options.resume, None, None
    if resume and found is None and journal_path(output).exists():
        load(journal_path(output))  # raises UsageError where it is no journal
        resume = False  # it holds no run: what stands beside it is of another
    if found is not None and recorded is not None and not options.restart:
        if not resume and options.interesting is None:
            resume = goes_on(found, head, any_width=any_width)
        if resume and any_width:
            width = int(recorded.settings[WIDTH])
            head = replace(head, settings={**head.settings, WIDTH: str(width)})
        if resume and not recorded.differences(head):
            changed = _changed(found, head)
        if resume and found.current:
            notice = _resuming(output, found)
    if not resume or changed is not None:
        opened = _begin(options, text, output, head, found if changed else None, changed)
    else:
        journal = open_journal(journal_path(output), head, text, resume=True)
        opened = Opened(journal, width, notice=notice)
    edited = edited_since(output, text, found) if resume or options.in_place else None
    return replace(opened, edited=edited, files=files)


def begin_again(opened: Opened, options: Options, text: bytes, changed: str) -> Opened:
    """Start a journal in place of the one to be resumed; its steps become candidates."""
    journal = opened.journal
    output = output_path(options)
    assert journal is not None
    assert output is not None
    journal.close()
    return _begin(options, text, output, journal.head, journal.found, changed)


def keep_edited(opened: Opened, output: OutputFile) -> str:
    """Copy the edited output to a numbered name before it is replaced, and report that."""
    assert opened.edited is not None
    kept = keep_copy(output.path, opened.edited)
    return f"{output.path} was edited since the last run: the edited text is kept as {kept}"


def _begin(
    options: Options,
    text: bytes,
    output: Path,
    head: Head,
    earlier: Contents | None,
    changed: str | None,
) -> Opened:
    """Start a journal; rename what is in its place."""
    kept = put_aside(output, only_journal=options.in_place)
    steps = None if earlier is None else earlier.all_steps()
    try:
        journal = open_journal(journal_path(output), head, text, resume=False, earlier=steps)
    except BaseException:
        kept.put_back()
        raise
    why = "begun anew" if options.restart else changed or "of another run"
    return Opened(journal, int(head.settings[WIDTH]), kept, kept.notice(why), changed)


def _changed(found: Contents, head: Head) -> str | None:
    """Describe how the test differs from the journal's; None if it does not."""
    assert found.head is not None
    if found.head.files is None or head.files is None:
        return "the earlier run did not record its test"
    written = json.loads(found.notes.get(_WRITTEN, "[]"))
    names = [
        os.path.basename(path)
        for path in changed_files(found.head.files, head.files)
        if path not in written
    ]
    if not names:
        return None
    shown = " and ".join([*filter(None, [", ".join(names[:-1])]), names[-1]])
    return f"{shown} {'has' if len(names) == 1 else 'have'} changed since"


def note_written(opened: Opened, commands: Sequence[Command]) -> None:
    """Record which files the first runs wrote, such as a log: these are not part of the test.

    The program that a command starts is part of it, whoever changes it.
    """
    journal = opened.journal
    if journal is None or journal.head.files is None:
        return
    programs = {command.words[0] for command in commands}
    now = opened.files()
    written = [each for each in changed_files(journal.head.files, now) if each not in programs]
    if written:
        journal.note(_WRITTEN, json.dumps(written))


def _head(
    options: Options,
    text: bytes,
    format_name: str,
    commands: Sequence[Command],
    criterion: Criterion,
    width: int,
    files: Files,
) -> Head:
    return Head.of(
        text,
        version=__version__,
        frontend=format_name,
        strategy=options.strategy,
        commands=[command.shell_line("FILE") for command in commands],
        criterion=criterion.describe(),
        settings={
            WIDTH: str(width),
            **{name: str(getattr(options, name)) for name in _DECIDING},
            **{
                name: ", ".join(sorted(getattr(options, name)))
                for name in ("only", "without")
                if getattr(options, name)
            },
            **{
                name: repr(getattr(options, name))
                for name in ("protect", "propose", "prefer", "prefer_first")
                if getattr(options, name)
            },
            **({} if options.unresolved is None else {"unresolved": str(options.unresolved)}),
        },
        files=files,
    )


def saved_best(
    journal: Journal | None, text: bytes, output: OutputFile | None, order: Callable[[bytes], Any]
) -> SavedBest:
    """Return the best text to start from: the journal's if it has one, otherwise the input.

    The journal is then ready to receive everything again from the beginning.
    """
    if journal is None or not journal.resumed:
        return SavedBest(text, output, order, journal)
    journal.replay()
    return SavedBest(journal.found.text(journal.found.current), output, order, journal)


def end(journal: Journal, stopped: str | None) -> None:
    """Record that the reduction has finished, if it was not stopped."""
    if stopped is None:
        journal.note(_ENDED, "")


def note_subject(journal: Journal, subject: Subject) -> None:
    """Record what fails, if that is not the first command's program.

    It is recorded at the start, so that it is there even if the run is killed.
    """
    journal.note(_SUBJECT, json.dumps(asdict(subject)))


def tell(journal: Journal, report: Report[bytes]) -> None:
    """Record the data of the report, for readers of the journal."""
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
    """Remove the journal of a reduction that has not begun, and restore what was in its place."""
    journal = opened.journal
    if journal is not None:
        journal.close()
        if not journal.resumed:
            with contextlib.suppress(OSError):
                journal.path.unlink()
    opened.kept.put_back()
