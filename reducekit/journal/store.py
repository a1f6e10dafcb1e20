"""The file of a journal: opened, locked, and written so that no kill can spoil it."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from reducekit.delta import delta
from reducekit.errors import UsageError
from reducekit.journal.records import (
    GOLDEN,
    HEAD,
    KEY,
    MAGIC,
    NOTE,
    PASS,
    RETURN,
    STEP,
    Contents,
    Head,
    PassEnd,
    digest,
    frame,
    frame_verdict,
    golden_payload,
    head_payload,
    known,
    note_payload,
    parse,
    pass_payload,
    return_payload,
    step_payload,
)
from reducekit.oracle.outcome import Outcome

_ENDING = ".journal"
_PENDING = 1 << 18  # bytes kept for a full disk to have room again


def journal_path(output: Path) -> Path:
    """Return where the journal of a reduction is that writes to this output: beside it."""
    # Names are at most 255 bytes.
    name = os.fsdecode(os.fsencode(output.name)[: 255 - len(_ENDING)])
    return output.parent / (name + _ENDING)


def load(path: Path) -> Contents:
    """Return what is in a journal, also while a reduction goes on writing it.

    Raises UsageError if the file cannot be read or is no journal.
    """
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"the journal {path} is not a regular file")
        data = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"the journal {path} does not exist") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"the journal {path} cannot be read: {_reason(error)}") from None
    return parse(data, path)


def open_journal(path: Path, head: Head, text: bytes, *, resume: bool) -> Journal:
    """Open the journal of the reduction of `text` for writing, and lock it.

    To resume, what is in it is loaded, and what a kill has torn at its end is
    cut off; a journal that is not there, or ends before the end of its head, is
    begun. Else a journal that is there already is replaced. Raises UsageError
    if the file is no journal, is in use, cannot be opened, or, to resume, is of
    a reduction with another head. A write that fails raises nothing.
    """
    try:
        # Not to hang on a pipe; it has no effect on files.
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
        handle = os.open(path, flags, 0o666)
    except (OSError, ValueError) as error:
        raise UsageError(f"the journal {path} cannot be written: {_reason(error)}") from None
    try:
        return Journal(path, handle, _claim(path, handle, head, resume), head, text)
    except BaseException:
        os.close(handle)
        raise


def lock(path: Path, handle: int) -> None:
    """Lock an open journal for this process, until it is closed.

    Raises UsageError if another process writes it.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(f"the journal {path} is in use by another reduction") from None
    except OSError:
        pass  # a file system without locks


def _claim(path: Path, handle: int, head: Head, resume: bool) -> Contents:
    """Lock an open file and return what to go on from: nothing if it is to be begun."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise UsageError(f"the journal {path} is not a regular file")
    lock(path, handle)
    try:
        with open(handle, "rb", closefd=False) as file:
            data = file.read(-1 if resume else len(MAGIC))
    except OSError as error:
        raise UsageError(f"the journal {path} cannot be read: {_reason(error)}") from None
    if not resume:
        known(data, path)
        return Contents()
    found = parse(data, path)
    if found.head is None:
        return Contents()
    if differences := found.head.differences(head):
        raise UsageError(
            f"the journal {path} is of {'; and of '.join(differences)}. "
            "Nothing was changed: go on as it began, or begin anew without it"
        )
    return found


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


class Journal:
    """A journal that is written; `open_journal` makes one.

    Every record is written at once, so a kill of the process loses none; nothing
    is forced to the disk, so a crash of the machine may lose the last seconds. A
    write that fails is remembered in `trouble`, and what it should have written
    is tried again with the next one; with more than 256 KiB outstanding, or when
    the file is deleted or cut short by others, the journal is given up: it takes
    no more, and ends where it was. An interrupt in the middle of a call, too,
    leaves a journal that can be written on; what was being recorded may be lost.
    """

    def __init__(self, path: Path, handle: int, found: Contents, head: Head, text: bytes) -> None:
        self.path = path
        self.found = found
        """What was in it when it was opened."""
        self.resumed = found.head is not None
        self.trouble: OSError | None = None
        self.current = found.current
        """The number of the step that holds the best text."""
        self._handle: int | None = handle
        self._end = found.size
        self._pending = b""
        self._text: bytes | None = None
        """The text of the current step; None: still to be restored."""
        self._count = len(found.steps)
        self._key = found.steps[self.current].key if found.steps else digest(b"")
        self._numbers = dict(found.numbers)
        self._replaying = False
        keys = [step.key for step in found.steps]
        self._known = {(STEP, keys[step.base], step.key) for step in found.steps}
        self._known |= {(RETURN, keys[back.given_up], keys[back.step]) for back in found.returns}
        if not self.resumed or found.cut:
            self._cut(handle)
        if not self.resumed:
            # In one write, so that no file has half of it.
            self._pending = MAGIC + frame(HEAD, head_payload(head), len(MAGIC))
        if not found.steps:  # the input
            key = digest(text)
            self._add_step(text, key, ("", ""), (0, 0.0))
            self._stand_on(text, key)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def verdict(self, key: bytes, interesting: bool, seconds: float) -> None:
        """Record what the oracle said of the text with this key (see `digest`)."""
        if len(key) != KEY:
            raise ValueError(f"a key has {KEY} bytes, not {len(key)}")
        self._write(frame_verdict(key, interesting, seconds, self._next))

    def step(
        self,
        text: bytes,
        what: str,
        pass_name: str,
        *,
        seconds: float,
        checks: int,
        key: bytes | None = None,
    ) -> int:
        """Record an accepted text, and return the number of the step.

        `seconds` and `checks` are since the reduction began; `key` spares a
        look at the whole text.
        """
        key = key or digest(text)
        if not self._told_before(STEP, key):
            self._add_step(text, key, (what, pass_name), (checks, seconds))
        self._stand_on(text, key)
        return self.current

    def rolled_back(self, text: bytes) -> int:
        """Record that an earlier text is the best again; return the number of its step."""
        key = digest(text)
        if key not in self._numbers:
            self._replaying = False
            self._add_step(text, key, ("", ""), (0, 0.0))
        if not self._told_before(RETURN, key):
            self._add(RETURN, return_payload(self._key, key))
        self._stand_on(text, key)
        return self.current

    def pass_ended(self, name: str, number: int, *, checks: int, seconds: float) -> None:
        """Record the end of a pass in that round; both counts are since the reduction began."""
        if not self._replaying:
            self._add(PASS, pass_payload(PassEnd(name, number, checks, seconds)))

    def golden(self, runs: Sequence[Sequence[Outcome]]) -> None:
        """Record the outcomes of the golden runs, for each run those of its commands.

        Of each output 64 KiB are kept.
        """
        self._add(GOLDEN, golden_payload(runs))

    def note(self, name: str, value: str) -> None:
        """Record a value by name; of several, the last counts."""
        self._add(NOTE, note_payload(name, value))

    def replay(self) -> None:
        """Get ready to be told everything from the beginning again.

        Steps and returns that are there already are not recorded a second time,
        up to the first one that is new.
        """
        if self.found.steps:
            self.current, self._key, self._text = 0, self.found.steps[0].key, None
            self._replaying = True

    def close(self) -> None:
        """Try once more to write what is outstanding; close the file, for another to use it."""
        if self._pending:
            self._write(b"")
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)

    def _restored(self) -> bytes:
        """Return the text of the current step as it was found."""
        return self.found.text(self.current) if self.found.steps else b""

    def _told_before(self, kind: int, key: bytes) -> bool:
        """Say whether a step or return from where we are is there, and we are still replaying."""
        self._replaying = self._replaying and (kind, self._key, key) in self._known
        return self._replaying

    def _stand_on(self, text: bytes, key: bytes) -> None:
        self.current, self._key, self._text = self._numbers[key], key, text

    def _add_step(
        self, text: bytes, key: bytes, words: tuple[str, str], progress: tuple[int, float]
    ) -> None:
        if self._handle is not None:
            try:
                base = self._text if self._text is not None else self._restored()
                payload = step_payload(self._key, key, len(text), words, progress)
                self._add(STEP, payload + delta(base, text))
            except UsageError as error:
                self._give_up(OSError(errno.EIO, str(error)))
        self._numbers[key] = self._count
        self._count += 1

    @property
    def _next(self) -> int:
        """Where the next record will stand."""
        return self._end + len(self._pending)

    def _add(self, kind: int, payload: bytes) -> None:
        self._write(frame(kind, payload, self._next))

    def _write(self, record: bytes) -> None:
        """Write what is outstanding and a record that was made to stand after it."""
        if self._handle is None:
            return
        # Outstanding first: an interrupt after the writing makes it be written
        # again, to the same place.
        data = self._pending = self._pending + record
        try:
            status = os.fstat(self._handle)
            if not status.st_nlink:
                self._give_up(OSError(errno.ENOENT, "it was deleted"))
            elif status.st_size < self._end:
                self._give_up(OSError(errno.EIO, "another program has cut it short"))
            else:
                while data:
                    count = os.pwrite(self._handle, data, self._end)
                    data = data[count:]
                    self._end, self._pending = self._end + count, data
                self.trouble = None
        except OSError as error:
            self.trouble = error
            if len(data) > _PENDING:
                self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self.trouble = error
        self._pending = b""
        self.close()

    def _cut(self, handle: int) -> None:
        """Cut the file off after what is good in it."""
        try:
            os.ftruncate(handle, self._end)
        except OSError as error:
            self._give_up(error)
