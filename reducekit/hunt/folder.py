"""The folder of a hunt: each bug once, under a name that begins with the failure, and its state.

When a hunt is killed and started again, it continues without loss. Inputs are numbered (by seed, or
by index in a folder) and tested in order, so one number tells which are done. An input is done when
it was tested and the bugs that it was the first to show are reduced: if a kill interrupts that, the
next run tests the input again. It is counted only once: the file has the counts as of the first
input not tested.

The file holds a state for each hunt that used the folder. A state is valid for the content of the
programs under test: if a program has changed, the hunt starts over.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from multiprocessing import util
from pathlib import Path
from typing import Any

from reducekit.errors import UsageError
from reducekit.hunt.events import Bug, HuntStats, InputResult, as_state, restore
from reducekit.hunt.findings import Finding
from reducekit.oracle.command import Command, Files, FileState, changed_files, files_of
from reducekit.run import Closing
from reducekit.session.place.output import OutputFile, make_folder, write_file

_MARK = "differs by: "  # begins the line of a note that has the mark
NAME = "hunt.json"  # the state file in the folder of a hunt
SCHEMA = 3
_PAUSE = 0.5  # seconds between two writes without a bug: what was tested since is only retested


def prepare_folder(folder: Path) -> None:
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


def write_bug(bug: Bug, result: InputResult) -> None:
    """Write the files of a bug, the input last: then all are there. A failure is only recorded."""
    text = result.input.text
    runs = [f"run: {each}" for each in bug.runs]
    note = "\n".join([bug.title, f"made by: {result.input.made_by}", *runs, ""])
    try:
        write_file(bug.note_path, note.encode())
        write_file(bug.path, text)
    except UsageError as error:  # a full disk: findings are still reported
        bug.cannot_be_written(str(error))


def write_mark(bug: Bug, mark: str) -> None:
    """Record in title and note of a bug what distinguishes it. Raises UsageError."""
    title = f"{bug.title.removesuffix(f' ({bug.mark})')} ({mark})"
    # A note that somebody deleted is written again, without how the input was made.
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
    try:
        return bug.note_path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def remove_bug(bug: Bug) -> None:
    """Remove the files of a bug that turned out to be another one."""
    journal = bug.reduced_path.with_name(f"{bug.reduced_path.name}.journal")
    for path in (bug.reduced_path, journal, bug.note_path, bug.path):
        path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class TestFiles:
    """The files that determine the tests' results: those that the commands name, and libraries."""

    commands: tuple[Command, ...]
    libraries: tuple[Path, ...] = ()

    __test__ = False  # for pytest: its name begins with Test

    def states(self, known: Files | None = None) -> Files:
        """Return the current state of the files; see `files_of`."""
        return files_of(self.commands, self.libraries, known=known)

    def changed(self, before: Files, written: Collection[str] = ()) -> list[str]:
        """Return the files that have changed, except those that the tests have `written`.

        A command's program is never such a file.
        """
        programs = {each.words[0] for each in self.commands}
        now = changed_files(before, self.states(before))
        return [path for path in now if path in programs or path not in written]


@dataclass(slots=True)
class Progress:
    """The progress of a hunt; `open_progress` reads it."""

    path: Path
    kind: str  # a hash of everything that the results depend on
    begin: int  # the first input to test in this run
    stats: HuntStats  # the results of all runs of the hunt
    next: int  # the first input that was not tested
    test: TestFiles
    files: Files  # the files of the test when this hunt began
    written: Collection[str] | None = None
    """Those that the first test wrote, such as a log; None if not known yet."""
    changed: Sequence[str] = ()
    """Files that have changed since an earlier run, so that this one starts over."""
    pending: dict[str, int] = field(default_factory=dict)
    """The bugs to reduce, by the names of their findings, with the inputs that showed them."""
    others: dict[str, Any] = field(default_factory=dict)  # the states of other hunts in this folder
    trouble: str | None = None  # why the file could not be written; the hunt continues
    _saved: float = 0.0  # when the file was last written, by the monotonic clock

    def is_pending(self, name: str) -> bool:
        """Return whether this hunt, or another one in the folder, has yet to reduce a bug."""
        return name in self.pending or any(name in each["pending"] for each in self.others.values())

    def is_new(self, number: int) -> bool:
        """Return whether no earlier run has counted an input."""
        return number >= self.next

    def tested(self, number: int, shown: Collection[str]) -> None:
        """Record that an input was tested and counted, and the names of the bugs it shows."""
        self.next = max(self.next, number + 1)
        for name in [name for name, its in self.pending.items() if its == number]:
            if name not in shown:  # a flaky bug: it cannot be reduced
                del self.pending[name]
        if time.monotonic() - self._saved > _PAUSE:
            self.save()

    def found(self, names: Collection[str], number: int) -> None:
        """Record that an input shows new bugs, before their files or the count are written."""
        if names:
            self.pending |= dict.fromkeys(names, number)
            self.save()

    def finished(self, name: str) -> None:
        """Record that nothing is left to do for a bug."""
        self.pending.pop(name, None)
        for each in self.others.values():
            each["pending"].pop(name, None)
        self.save()

    def save(self) -> None:
        """Write the whole file."""
        if self.written is None:
            self.written = self.test.changed(self.files)
        state = {
            "next": self.next,
            "pending": self.pending,
            "stats": as_state(self.stats),
            "files": self.files,
            "written": self.written,
        }
        hunts = {**self.others, self.kind: state}
        try:
            write_file(self.path, json.dumps({"schema": SCHEMA, "hunts": hunts}).encode())
        except UsageError as error:
            self.trouble = str(error)
        self._saved = time.monotonic()


def open_progress(
    folder: Path,
    deciding: object,
    test: TestFiles,
    numbers: range,
    stats: HuntStats,
    *,
    row: int,
    restart: bool,
) -> Progress:
    """Return the progress of the hunt with these tests in its folder, and restore its `stats`.

    `deciding` is what its results depend on, besides the content of the files of the `test`. Inputs
    are tested in groups of `row`, so a run begins with the first of a group. Raises UsageError if
    the file cannot be used.
    """
    path = folder / NAME
    kind = hashlib.sha256(repr(deciding).encode()).hexdigest()
    first = numbers.start
    try:
        hunts = _read(path)
        state = hunts.pop(kind, None)
        files: Files = {} if state is None else state["files"]
        progress = Progress(path, kind, first, stats, first, test, files, others=hunts)
        if state is not None:
            progress.pending = state["pending"]
            progress.changed = test.changed(files, state["written"])
        if state is None or restart or progress.changed:
            progress.files = test.states(files)
            return progress
        restore(stats, state["stats"], folder)
        begin = min([state["next"], *progress.pending.values()])
        progress.begin = max(first, begin - (begin - first) % row)
        progress.next = max(progress.begin, state["next"])
        progress.written = state["written"]
        return progress
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(
            f"{path} is not a hunt state file: move it away, or use another folder"
        ) from None


def known_bug(path: Path) -> Bug | None:
    """Return what the hunts in a folder know of a file there; None if that is nothing."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        for state in _read(path.parent / NAME).values():
            stats = HuntStats()
            restore(stats, state["stats"], path.parent)
            for bug in stats.bugs.values():
                if path.name in (bug.path.name, bug.reduced_path.name):
                    return bug
    return None


def _read(path: Path) -> dict[str, Any]:
    """Return the states in the file by kind; none if there is no file, or one of an old version."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    if found["schema"] != SCHEMA:
        return {}
    return {
        str(kind): {
            "next": int(each["next"]),
            "pending": {str(name): int(number) for name, number in each["pending"].items()},
            "stats": each["stats"],
            "files": {str(name): FileState(*state) for name, state in each["files"].items()},
            "written": list(map(str, each["written"])),
        }
        for kind, each in found["hunts"].items()
    }


class Claim(Closing):
    """Keeps other hunts out of a folder while this one uses it."""

    def __init__(self, folder: Path) -> None:
        """Lock the folder. Raises UsageError if another hunt uses it."""
        self._handle: int | None = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        # A forked process would keep the lock after this one is killed.
        util.register_after_fork(self, Claim.close)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise UsageError(
                f"another hunt is using the folder {folder}: wait for it, or use another folder"
            ) from None
        except OSError:
            pass  # the file system does not support locks

    def close(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            with contextlib.suppress(OSError):
                os.close(handle)
