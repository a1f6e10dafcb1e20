"""The file of a journal: opened, locked, and written so that no kill can damage it."""

from __future__ import annotations

import errno
import fcntl
import os
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.journal import records
from reducekit.journal.records import Contents, Head, digest
from reducekit.run import Closing, Outcome

_ENDING = ".journal"
_PENDING = 1 << 18  # bytes kept until a full disk has space again


def journal_path(output: Path) -> Path:
    """Return the path of the journal for this output: in the same folder."""
    # Names are at most 255 bytes.
    name = os.fsdecode(os.fsencode(output.name)[: 255 - len(_ENDING)])
    return output.parent / (name + _ENDING)


def load(path: Path) -> Contents:
    """Return the contents of a journal, even while a reduction is writing it.

    Raises UsageError if the file cannot be read or is not a journal.
    """
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"the journal {path} is not a regular file")
        data = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"the journal {path} does not exist") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"the journal {path} cannot be read: {_reason(error)}") from None
    return records.parse(data, path)


def open_journal(
    path: Path, head: Head, text: bytes, *, resume: bool, earlier: Contents | None = None
) -> Journal:
    """Open the journal of the reduction of `text` for writing, and lock it.

    A new journal starts with the steps of an `earlier` reduction of the same text, if given.

    With `resume`, the contents are loaded, and a torn record at the end is cut off; if the journal
    is missing, or ends before the end of its head, a new one is started. Without it, an existing
    journal is replaced. Raises UsageError if the file is not a journal, is in use, cannot be
    opened, or, with `resume`, has another head. A failing write raises nothing.
    """
    try:
        # Non-blocking, so that a pipe does not hang; it has no effect on files.
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
        handle = os.open(path, flags, 0o666)
    except (OSError, ValueError) as error:
        raise UsageError(f"the journal {path} cannot be written: {_reason(error)}") from None
    try:
        return Journal(path, handle, _claim(path, handle, head, resume), head, text, earlier)
    except BaseException:
        os.close(handle)
        raise


def lock(path: Path, handle: int) -> None:
    """Lock an open journal for this process, until it is closed.

    Raises UsageError if another process is writing it.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        output = path.with_name(path.name.removesuffix(_ENDING))
        other = output.with_name(f"{output.stem}-2{output.suffix}")
        raise UsageError(
            f"the journal {path} is in use by another reduction: wait for it, or write elsewhere "
            f"(`output` {shlex.quote(str(other))})"
        ) from None
    except OSError:
        pass  # the file system does not support locks


def _claim(path: Path, handle: int, head: Head, resume: bool) -> Contents:
    """Lock an open file and return its contents to resume from; empty if it is to be started."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise UsageError(f"the journal {path} is not a regular file")
    lock(path, handle)
    try:
        with open(handle, "rb", closefd=False) as file:
            data = file.read(-1 if resume else len(records.MAGIC))
    except OSError as error:
        raise UsageError(f"the journal {path} cannot be read: {_reason(error)}") from None
    if not resume:
        records.known(data, path)
        return Contents()
    found = records.parse(data, path)
    if found.head is None:
        return Contents()
    if differences := found.head.differences(head):
        raise UsageError(
            f"the journal {path} is of {'; and of '.join(differences)}. "
            "No files were changed. Rerun with the original options, or use `restart` to start over"
        )
    return found


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


class Journal(Closing):
    """A journal that is being written; `open_journal` creates one.

    Every record is written at once, so killing the process loses none; nothing is forced to the
    disk, so a crash of the machine may lose the last seconds. A failed write is recorded in
    `trouble`, and retried with the next one. With more than 256 KiB outstanding, or if another
    program deletes or truncates the file, the journal is given up: it stays as it is, and ignores
    further records. An interrupt in the middle of a call leaves a journal that can be continued,
    too; only the record being written may be lost.
    """

    def __init__(
        self,
        path: Path,
        handle: int,
        found: Contents,
        head: Head,
        text: bytes,
        earlier: Contents | None = None,
    ) -> None:
        self.path = path
        self.head = head
        self.found = found  # what was in the file when it was opened
        self.resumed = found.head is not None
        self.earlier = found.earlier  # the steps of a reduction before its test changed
        self.trouble: OSError | None = None
        self.current = found.current  # the number of the step at which the search is
        self._handle: int | None = handle
        self._end = found.size
        self._pending = b""
        self._text: bytes | None = None  # the text of the current step; None if not restored yet
        self._count = len(found.steps)
        self._key = found.steps[self.current].key if found.steps else digest(b"")
        self._best = self._key
        """The key of the best text by the file; empty after an interrupt that left it open."""
        self._numbers = dict(found.numbers)
        self._replaying = False
        keys = [step.key for step in found.steps]
        # The recorded steps and returns, each with the texts before and after.
        self._known = {(records.STEP, keys[step.base], step.key) for step in found.steps}
        backs = ((keys[back.given_up], keys[back.step]) for back in found.returns)
        self._known |= {(records.RETURN, left, reached) for left, reached in backs}
        if not self.resumed or found.cut:
            try:  # only good records stay
                os.ftruncate(handle, self._end)
            except OSError as error:
                self._give_up(error)
        if not self.resumed:
            # In a single write, so that no file has half of it.
            magic, payload = records.MAGIC, records.json_payload(head._asdict())
            self._pending = magic + records.frame(records.HEAD, payload, len(magic))
        if not found.steps:  # the input
            key = digest(text)
            self._add_step(text, key, ("", ""), (0, 0.0))
            self._stand_on(text, key)
            self._best = key
            if earlier is not None:
                self.earlier = earlier
                for payload in records.earlier_payloads(earlier):
                    self._add(records.EARLIER, payload)

    def verdict(
        self, key: bytes, interesting: bool, seconds: float, *, unresolved: bool = False
    ) -> None:
        """Record the oracle's verdict on the text with this key (see `digest`)."""
        if len(key) != records.KEY:
            raise ValueError(f"a key has {records.KEY} bytes, not {len(key)}")
        payload = records.verdict_payload(key, interesting, seconds, unresolved=unresolved)
        self._add(records.VERDICT, payload)

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

        `seconds` and `checks` are since the reduction began; pass `key` if it is known, as hashing
        the text takes time.
        """
        key = key or digest(text)
        best, left = self._best, self._key
        if not self._recorded_before(records.STEP, key):
            self._best = b""
            self._add_step(text, key, (what, pass_name), (checks, seconds))
        self._stand_on(text, key)
        self._settle(best, left, key)
        return self.current

    def best(self, text: bytes) -> None:
        """Record that a step is the best text, unless that is clear from the steps themselves.

        A text that is no step, such as a pretty-printed one, changes nothing.
        """
        key = self._key if text is self._text else digest(text)
        if key != self._best and key in self._numbers:
            self._add(records.BEST, key)
            self._best = key

    def rolled_back(self, text: bytes) -> int:
        """Record that an earlier text is the best again; return the number of its step."""
        key = digest(text)
        best, left = self._best, self._key
        if key not in self._numbers:
            self._replaying, self._best = False, b""
            self._add_step(text, key, ("", ""), (0, 0.0))
        if not self._recorded_before(records.RETURN, key):
            self._best = b""
            self._add(records.RETURN, self._key + key)
        self._stand_on(text, key)
        self._settle(best, left, key)
        return self.current

    def pass_ended(self, name: str, number: int, *, checks: int, seconds: float) -> None:
        """Record the end of a pass in a round; both counts are since the reduction began."""
        if not self._replaying:
            self._add(records.PASS, records.json_payload([name, number, checks, seconds]))

    def golden(self, runs: Sequence[Sequence[Outcome]]) -> None:
        """Record the outcomes of the golden runs: for each run, one per command.

        Of each output, 64 KiB are kept.
        """
        self._add(records.GOLDEN, records.golden_payload(runs))

    def seen(self, still: bool) -> None:
        """Record that the failure was seen again, or that it is gone.

        If it is gone, the negative verdicts since it was last seen are forgotten: those texts may
        fail after all.
        """
        self._add(records.SEEN, bytes([still]))

    def note(self, name: str, value: str) -> None:
        """Record a value by name; a later one replaces it."""
        self._add(records.NOTE, records.json_payload([name, value]))

    @property
    def replaying(self) -> bool:
        """Whether the last record already existed, from the run that is being resumed."""
        return self._replaying

    def replay(self) -> None:
        """Prepare to receive everything again from the beginning.

        Existing steps and returns are not recorded a second time, up to the first new one.
        """
        if self.found.steps:
            self.current, self._key, self._text = 0, self.found.steps[0].key, None
            self._replaying = True

    def close(self) -> None:
        """Retry outstanding writes; close the file, so that another process can use it."""
        if self._pending:
            self._write(b"")
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)

    def _recorded_before(self, kind: int, key: bytes) -> bool:
        """Return whether this step or return exists at the current position of the replay."""
        self._replaying = self._replaying and (kind, self._key, key) in self._known
        return self._replaying

    def _stand_on(self, text: bytes, key: bytes) -> None:
        self.current, self._key, self._text = self._numbers[key], key, text

    def _settle(self, best: bytes, left: bytes, reached: bytes) -> None:
        """Note the best text after a move, unless it was replayed; `best` was that before."""
        if self._replaying:
            return
        if not best:
            self._add(records.BEST, reached)
        self._best = records.best_after(best or left, left, reached)

    def _add_step(
        self, text: bytes, key: bytes, words: tuple[str, str], progress: tuple[int, float]
    ) -> None:
        if self._handle is not None:
            try:
                base = self._text
                if base is None:
                    base = self.found.text(self.current) if self.found.steps else b""
                payload = records.step_payload(self._key, key, len(text), words, progress)
                from reducekit.delta import delta

                self._add(records.STEP, payload + delta(base, text))
            except UsageError as error:
                self._give_up(OSError(errno.EIO, str(error)))
        self._numbers[key] = self._count
        self._count += 1

    def _add(self, kind: int, payload: bytes) -> None:
        self._write(records.frame(kind, payload, self._end + len(self._pending)))

    def _write(self, record: bytes) -> None:
        """Write outstanding records, then `record`, which was made for the offset after them."""
        if self._handle is None:
            return
        # Assigned first: after an interrupt following the write, the same data is written
        # again, to the same place.
        data = self._pending = self._pending + record
        try:
            status = os.fstat(self._handle)
            if not status.st_nlink:
                self._give_up(OSError(errno.ENOENT, "it was deleted"))
            elif status.st_size < self._end:
                self._give_up(OSError(errno.EIO, "another program truncated it"))
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
