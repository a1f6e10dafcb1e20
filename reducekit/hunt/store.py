"""The folder of a hunt: it has each bug once, under a name that begins with the failure."""

from __future__ import annotations

import os
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.hunt.events import Bug, InputResult
from reducekit.hunt.findings import Finding
from reducekit.session.place.output import OutputFile, make_folder, write_file

_MARK = "differs by: "
"""Begins the line of a note that has the mark."""


def prepare(folder: Path) -> None:
    """Create the folder, private to its user. Raises UsageError if it cannot be written."""
    make_folder(folder, 0o700)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"the folder {folder} cannot be written")
    OutputFile(folder / "probe")  # raises if it cannot be written


def bug_of(folder: Path, suffix: str, name: str, finding: Finding, result: InputResult) -> Bug:
    """Return the bug of this name that an input shows."""
    path = folder / f"{name}{suffix}"
    text = result.input.text
    runs = tuple(each.shell_line(str(path), text) for each in result.commands(finding))
    return Bug(name, finding.title, runs, path, len(text))


def keep(bug: Bug, result: InputResult) -> None:
    """Write the files of a bug; if that fails, the bug records it.

    The input is written last: a bug whose input exists has all of its files.
    """
    text = result.input.text
    runs = [f"run: {each}" for each in bug.runs]
    note = "\n".join([bug.title, f"made by: {result.input.made_by}", *runs, ""])
    try:
        write_file(bug.note_path, note.encode())
        write_file(bug.path, text)
    except UsageError as error:  # a full disk: findings are still reported
        bug.cannot_be_written(str(error))


def mark(bug: Bug, mark: str) -> None:
    """Record in the title of a bug and in its note what distinguishes it.

    Raises UsageError if that cannot be written.
    """
    title = f"{bug.title.removesuffix(f' ({bug.mark})')} ({mark})"
    # A note that somebody deleted is written anew; how the input was made is lost with it.
    rest = _note(bug)[1:] or [f"run: {each}" for each in bug.runs]
    lines = [each for each in rest if not each.startswith(_MARK)]
    write_file(bug.note_path, "\n".join([title, *lines, f"{_MARK}{mark}", ""]).encode())
    bug.title, bug.mark = title, mark


def same_as(bug: Bug, bucket: str, mark: str) -> Bug | None:
    """Return a bug of the folder, if there is one, that fails in the same words and has a mark."""
    for path in sorted(bug.path.parent.glob(f"{bucket}*{bug.path.suffix}")):
        name = path.name.removesuffix(bug.path.suffix)
        other = Bug(name, "", (), path, 0, known_before=True, mark=mark)
        if name == bug.name or path == bug.reduced_path:
            continue
        lines = _note(other)
        if f"{_MARK}{mark}" in lines and other.measure():
            other.title = lines[0]
            other.runs = tuple(each[5:] for each in lines if each.startswith("run: "))
            return other
    return None


def _note(bug: Bug) -> list[str]:
    """Return the lines of a note, also of a damaged one; none if there is no note."""
    try:
        return bug.note_path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def remove(bug: Bug) -> None:
    """Remove the files of a bug that turned out to be another one."""
    journal = bug.reduced_path.with_name(f"{bug.reduced_path.name}.journal")
    for path in (bug.reduced_path, journal, bug.note_path, bug.path):
        path.unlink(missing_ok=True)
