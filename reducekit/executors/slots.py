"""The places of the local executor: a candidate file that stays, and a directory for leftovers."""

from __future__ import annotations

import errno
import os
import time

from reducekit.executors.executor import ExecutorError
from reducekit.executors.marks import Mark
from reducekit.executors.removal import remove
from reducekit.executors.run_directory import RunDirectory, directory_at, is_directory

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM)
_Stamp = tuple[int, int, int]
"""A directory's device, inode, and time of change in nanoseconds."""
_SETTLED = 0.05
"""Seconds, several ticks of the clock of file systems: a change after that shows in the stamp."""
_FURTHER = 10**6  # added to a slot's number for a new place; more slots there are not


class NoRoomError(ExecutorError):
    """The file system is full; when other checks end, it may be so no longer."""


class Slot:
    """A directory for one check at a time, with the candidate file at a path that stays the same.

    The file is rewritten in place, through a descriptor that is kept. If the
    path does not lead to that file any more, because the command moved or
    replaced it or made a hard link to it, the file is made anew; and in a new
    place, if the old one cannot be cleared.
    """

    def __init__(self, run: RunDirectory, number: int, name: str) -> None:
        self.number = number
        self.mark = Mark(run.run, number)
        """What marks the processes of its checks."""
        self._run = run
        self._name = name
        self._places = 0
        self._fd = -1
        self._size = 0
        self._file: tuple[int, int, int, int] | None = None
        self._seen: dict[str, tuple[_Stamp, float]] = {}
        """The stamps of the directories, and since when."""
        self._clean: dict[str, _Stamp] = {}
        """Those with which nothing is left in them, for certain."""
        self._settle()

    def _settle(self) -> None:
        name = str(self.number + self._places * _FURTHER)
        self.directory = os.path.join(self._run.path, name)
        self.path = os.path.join(self.directory, self._name)
        self.tmp = os.path.join(self.directory, "tmp")
        self._entries = (self._name, "tmp")

    def write(self, text: bytes) -> None:
        """Make `text` the candidate. Raises NoRoomError or ExecutorError."""
        try:
            if self._file is None or self._file != self._found():
                self._renew()
            done = 0
            while done < len(text):  # one round, but for sizes beyond 2 GiB
                done += os.pwrite(self._fd, text[done:] if done else text, done)
            os.ftruncate(self._fd, len(text))
        except OSError as error:
            self._discard()
            remove(self.path)  # what is there of it takes room, too
            full = error.errno in _FULL
            hint = "; TMPDIR names another place" if error.errno == errno.ENOSPC else ""
            raise (NoRoomError if full else ExecutorError)(
                f"cannot write the candidate to {self.path}: {error.strerror}{hint}"
            ) from None
        self._size = len(text)

    def _found(self) -> tuple[int, int, int, int] | None:
        try:
            return _identity(os.lstat(self.path))
        except OSError:
            return None

    def _renew(self) -> None:
        """Make the places and the file. Raises OSError."""
        self._discard()
        while not self._cleared():
            self._move()
        self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._file = self._found()

    def _cleared(self) -> bool:
        """Make both directories, remove the file; return whether that worked. Raises OSError."""
        if not is_directory(self._run.path):
            self._run.restore()
        for place in (self.directory, self.tmp):
            if is_directory(place):
                continue
            if not remove(place):
                return False
            os.mkdir(place, 0o700)
        return remove(self.path)

    def _move(self) -> None:
        """Leave this place for a new one. Raises OSError if it has been done too often."""
        self._discard()
        self._places += 1
        if self._places >= _FURTHER:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        self._settle()

    def tidy(self) -> None:
        """Remove what the command left behind."""
        try:
            if not self._tidied():
                self._move()
        except OSError:
            self._discard()  # so all is made anew

    def _tidied(self) -> bool:
        """Return whether all leftovers are gone. Raises OSError."""
        gone = True
        for place, kept in ((self.directory, self._entries), (self.tmp, ())):
            # From the top, and never through a link that the command put there: it leads
            # to files of others.
            found = directory_at(place)
            if found is None:
                self._discard()
                return True
            stamp = found.st_dev, found.st_ino, found.st_ctime_ns
            if self._clean.get(place) == stamp:
                continue
            leftovers = set(os.listdir(place)).difference(kept)
            for entry in leftovers:
                gone &= remove(os.path.join(place, entry))
            now = time.monotonic()
            seen, since = self._seen.get(place, (None, now))
            if leftovers or seen != stamp:
                self._seen[place] = stamp, now
            elif now - since > _SETTLED:
                self._clean[place] = stamp
        if self._file is not None:
            there = os.lstat(self.path)
            if (there.st_dev, there.st_ino) != self._file[:2]:
                # Another's now, or nobody's: what the command wrote instead
                # takes room that other checks may need.
                self._discard()
                gone &= remove(self.path)
            elif there.st_size > self._size and there.st_nlink == 1:
                os.ftruncate(self._fd, self._size)
        return gone

    def _discard(self) -> None:
        """Let go of the file: it will be made anew."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._file = -1, None

    def close(self) -> None:
        """Give the descriptor back."""
        self._discard()


def _identity(found: os.stat_result) -> tuple[int, int, int, int]:
    """Return what of a file's status stays the same unless somebody puts another in its place."""
    return found.st_dev, found.st_ino, found.st_mode, found.st_nlink
