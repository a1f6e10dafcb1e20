"""The folder of a hunt: each bug is kept there once, by names that begin with the failure."""

from __future__ import annotations

import os
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.hunt.findings import Finding
from reducekit.hunt.results import InputResult
from reducekit.hunt.stats import Bug
from reducekit.session.output import OutputFile, make_folder, write_file


def prepare(folder: Path) -> None:
    """Make the folder. Raises UsageError if it cannot be had, or not be written."""
    make_folder(folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"the folder {folder} cannot be written")
    OutputFile(folder / "probe")  # tries it out


def keep(folder: Path, suffix: str, finding: Finding, result: InputResult) -> Bug:
    """Write the files of a bug, unless the folder has them; where that fails, the bug says so."""
    path = folder / f"{finding.name}{suffix}"
    text = result.input.text
    bug = Bug(finding, path, len(text))
    if path.exists():
        bug.known_before = True
        bug.size = path.stat().st_size
        return bug
    commands = finding.commands if result.run_by is None else result.run_by
    runs = [f"run: {each.shell_line(str(path))}" for each in commands]
    note = "\n".join([finding.title, f"made by: {result.input.made_by}", *runs, ""])
    try:
        write_file(path, text)
        write_file(bug.note_path, note.encode())
    except UsageError as error:  # a full disk: what has been found is told all the same
        bug.cannot_be_written(str(error))
    return bug
