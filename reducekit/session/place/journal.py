"""The journal of a session: which reduction it belongs to, and how that is resumed."""

from __future__ import annotations

import contextlib
import json
import os
import platform
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from reducekit.errors import ParseError, UsageError
from reducekit.format import Format
from reducekit.journal import OUTPUT, Head, Journal, digest, journal_path, load, open_journal
from reducekit.journal import Contents as Contents
from reducekit.oracle.command import Command, FileState, changed_files, files_of
from reducekit.oracle.criterion import Criterion
from reducekit.runtime import __version__
from reducekit.session.options import Options
from reducekit.session.place.inputs import earlier_run, output_path, read_files
from reducekit.session.place.output import Kept, OutputFile, SavedBest, put_aside
from reducekit.session.report import Report

_WIDTH = "width"  # the setting of a journal's head that holds the width
ENDED = "ended"  # the note of a reduction that has finished
_WRITTEN = "written by the test"
_DECIDING = ("fast", "repeat", "timeout", "memory", "cpu", "max_output", "ignore_out", "ignore_err")
"""The options that determine the steps of a run and have no field of their own in the head."""


class Opened(NamedTuple):
    """The journal of a session, and what was found in its place."""

    journal: Journal | None  # None: no journal is kept
    width: int
    kept: Kept = Kept()
    notice: str | None = None
    changed: str | None = None
    """How the test has changed since the earlier run, whose verdicts are therefore not used."""
    edited: bytes | None = None  # the text of the output, if it was edited since the earlier run
    files: Callable[[], dict[str, FileState]] = dict  # the current state of the test's files

    @property
    def resumed(self) -> bool:
        """Whether an earlier run is resumed."""
        return self.journal is not None and self.journal.resumed


def open_for(
    options: Options,
    text: bytes,
    output: Path | None,
    *,
    frontend: Format,
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
    # The files that the reduction itself reads or writes do not belong to its test.
    own = [output, journal_path(output)]
    if isinstance(options.input, Path):
        own += (options.input, *options.more_inputs)
    files = partial(
        files_of,
        commands,
        (*libraries, *options.ship),
        without={os.path.abspath(path) for path in own},
        known=None if recorded is None else recorded.files,
    )
    head = Head.of(
        text,
        version=__version__,
        frontend=frontend.name,
        strategy=options.strategy,
        commands=[command.shell_line("FILE") for command in commands],
        criterion=criterion.describe(),
        settings={_WIDTH: str(width), **_settings(options)},
        files=files(),
    )
    resume, changed, notice = _resumes(options, output, head, found), None, None
    if resume and found is not None and recorded is not None and not options.restart:
        if options.width is None:  # that of the journal will do
            width = int(recorded.settings[_WIDTH])
            head = head._replace(settings={**head.settings, _WIDTH: str(width)})
        if not recorded.differences(head):
            changed = _changed(found, head)
        if found.current:
            begun = "already finished:" if ENDED in found.notes else "resuming from"
            notice = (
                f"{begun} {output} ({found.steps[found.current].size:,} bytes, "
                f"{len(found.verdicts):,} checks known); `restart` starts over"
            )
    if not resume or changed is not None:
        opened = _begin(options, text, output, head, found if changed else None, changed)
    else:
        journal = open_journal(journal_path(output), head, text, resume=True)
        opened = Opened(journal, width, notice=notice)
    edited = _edited_since(output, text, found, frontend) if resume or options.in_place else None
    return opened._replace(edited=edited, files=files)


def _resumes(options: Options, output: Path, head: Head, found: Contents | None) -> bool:
    """Return whether the run with this head resumes what was found; with `resume` it has to."""
    if found is None or found.head is None:
        if options.resume and journal_path(output).exists():
            load(journal_path(output))  # raises UsageError where it is no journal
            return False  # it holds no run: the output is of another
        return options.resume
    if options.resume or options.restart or options.interesting is not None:
        return options.resume
    any_width = options.width is None
    return all(
        any_width and each.startswith(f"another {_WIDTH}:") for each in found.head.differences(head)
    )


def _without_journal(options: Options, output: Path | None, width: int) -> Opened:
    if options.resume:
        raise UsageError(
            "`resume` and `journal` are mutually exclusive: give one"
            if output is not None
            else "`resume` needs an output: the journal is written next to it"
        )
    if output is None or options.in_place:
        return Opened(None, width)
    kept = put_aside(output)
    return Opened(None, width, kept, kept.notice("another run, as this one keeps no journal"))


def _settings(options: Options) -> dict[str, str]:
    """Return the options that determine the steps, as text. Most are named only if given."""
    given = {
        name: value
        for name in ("only", "without", "protect", "propose", "prefer", "prefer_first")
        if (value := getattr(options, name))
    }
    return {
        **{name: str(getattr(options, name)) for name in _DECIDING},
        **{
            name: ", ".join(sorted(value)) if name in ("only", "without") else repr(value)
            for name, value in given.items()
        },
        **({} if options.unresolved is None else {"unresolved": str(options.unresolved)}),
    }


def _edited_since(
    output: Path, text: bytes, found: Contents | None, frontend: Format
) -> bytes | None:
    """Return the text of an output that somebody edited; None if a run or the input has it.

    `found` is the journal of the run that wrote it.
    """
    try:
        held = read_files(output) if output.is_dir() else output.read_bytes()
    except (OSError, UsageError):
        return None
    if not held or held == text:
        return None
    forms = {held}
    with contextlib.suppress(ParseError):  # a step may have been written in another form
        forms.update(frontend.in_form(held, suffix) for suffix in frontend.suffixes)
    steps = () if found is None else found.all_steps().numbers
    return None if any(digest(each) in steps for each in forms) else held


def begin_again(opened: Opened, options: Options, text: bytes, changed: str) -> Opened:
    """Start a journal in place of the one to be resumed; its steps become candidates."""
    journal = opened.journal
    output = output_path(options)
    assert journal is not None
    assert output is not None
    journal.close()
    return _begin(options, text, output, journal.head, journal.found, changed)


def _begin(
    options: Options,
    text: bytes,
    output: Path,
    head: Head,
    earlier: Contents | None,
    changed: str | None,
) -> Opened:
    kept = put_aside(output, only_journal=options.in_place)
    steps = None if earlier is None else earlier.all_steps()
    try:
        journal = open_journal(journal_path(output), head, text, resume=False, earlier=steps)
    except BaseException:
        kept.put_back()
        raise
    why = "started over" if options.restart else changed or "of another run"
    return Opened(journal, int(head.settings[_WIDTH]), kept, kept.notice(why), changed)


def _changed(found: Contents, head: Head) -> str | None:
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


def note_report(journal: Journal, report: Report[bytes]) -> None:
    """Record the data of the report, for readers of the journal."""

    def text(output: bytes) -> str:
        return output[:OUTPUT].decode("utf-8", "backslashreplace")

    runs = [
        {
            "command": each.command,
            "ended": None if each.outcome is None else each.outcome.describe(),
            "stdout": "" if each.outcome is None else text(each.outcome.stdout),
            "stderr": "" if each.outcome is None else text(each.outcome.stderr),
        }
        for each in report.reproducers
    ]
    versions = {"Python": platform.python_version(), "system": platform.platform()}
    said = {**json.loads(report.json()), "last_runs": runs, "versions": versions}
    journal.note("report", json.dumps(said))


def discard(opened: Opened) -> None:
    """Remove the journal of a reduction that has not begun, and restore what was in its place."""
    journal = opened.journal
    if journal is not None:
        journal.close()
        if not journal.resumed:
            with contextlib.suppress(OSError):
                journal.path.unlink()
    opened.kept.put_back()
