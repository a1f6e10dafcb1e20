"""Results of earlier runs at the place of the output: never overwritten.

A run resumes an earlier one with the same input, command and options. Any other result, with its
journal, is renamed: `in.reduced.1.smt2`.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from dataclasses import dataclass
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.journal import Contents, Head, digest, journal_path, load, lock

WIDTH = "width"
"""The setting of a journal's head that holds the width."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Files that were renamed: their new paths and their old ones."""

    moves: tuple[tuple[Path, Path], ...] = ()

    def notice(self, why: str) -> str | None:
        """Return a message that names what was kept; None if nothing was."""
        if not self.moves:
            return None
        now, was = self.moves[0]
        return f"what {was} was before ({why}) is kept as {now}"

    def put_back(self) -> None:
        """Rename them back: the run that was to replace them has not begun."""
        for now, was in self.moves:
            with contextlib.suppress(OSError):
                if not os.path.lexists(was):
                    os.replace(now, was)


def earlier_run(output: Path) -> Contents | None:
    """Return the journal of the run that wrote this output; None if there is none to read."""
    with contextlib.suppress(UsageError):
        found = load(journal_path(output))
        if found.head is not None and found.steps:
            return found
    return None


def goes_on(found: Contents, wanted: Head, *, any_width: bool) -> bool:
    """Return whether a run with this head resumes that journal.

    With `any_width`, the width is taken from the journal.
    """
    assert found.head is not None
    differences = found.head.differences(wanted)
    if any_width:
        differences = [each for each in differences if not each.startswith(f"another {WIDTH}:")]
    return not differences


def put_aside(output: Path, *, only_journal: bool = False) -> Kept:
    """Rename an output and its journal to numbered names.

    Raises UsageError if one is in use.
    """
    journal = journal_path(output)
    _refuse_in_use(journal)
    files = [journal] if only_journal else [output, journal]
    there = [path for path in files if _worth_keeping(path)]
    if not there:
        return Kept()
    numbered = _numbered(output)
    names = {output: numbered, journal: journal_path(numbered)}
    moves: list[tuple[Path, Path]] = []
    for path in there:
        try:
            os.replace(path, names[path])
        except OSError as error:
            Kept(tuple(moves)).put_back()
            raise UsageError(
                f"{path} cannot be kept under another name: {error.strerror}"
            ) from None
        moves.append((names[path], path))
    return Kept(tuple(moves))


def edited_since(output: Path, text: bytes, found: Contents | None) -> bytes | None:
    """Return the text of an output that somebody edited; None if a run or the input has it.

    `found` is the journal of the run that wrote it.
    """
    try:
        held = output.read_bytes()
    except OSError:
        return None
    if not held or held == text:
        return None
    return None if found is not None and digest(held) in found.all_steps().numbers else held


def keep_copy(output: Path, edited: bytes) -> Path:
    """Write an edited text under a numbered name. Raises UsageError."""
    numbered = _numbered(output)
    try:
        with open(numbered, "xb") as file:
            file.write(edited)
    except OSError as error:
        raise UsageError(
            f"{output} was edited, and no copy can be kept as {numbered}: {error.strerror}"
        ) from None
    return numbered


def _numbered(output: Path) -> Path:
    """Return the first numbered name that neither a file nor a journal has."""
    return next(
        path
        for number in itertools.count(1)
        for path in [output.with_name(f"{output.stem}.{number}{output.suffix}")]
        if not os.path.lexists(path) and not os.path.lexists(journal_path(path))
    )


def _worth_keeping(path: Path) -> bool:
    """Return whether a file has contents worth keeping: it is not empty, nor a journal without a
    run."""
    try:
        if not path.is_file() or path.is_symlink() or not path.stat().st_size:
            return False
    except OSError:
        return False
    if path.suffix == ".journal":
        with contextlib.suppress(UsageError):
            return bool(load(path).verdicts)
    return True


def _refuse_in_use(journal: Path) -> None:
    """Raise UsageError if another process writes a journal."""
    try:
        handle = os.open(journal, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return
    try:
        lock(journal, handle)
    finally:
        os.close(handle)
