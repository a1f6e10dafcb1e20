"""The slots of the local executor: a persistent candidate file, and a directory for leftovers."""

from __future__ import annotations

import errno
import os
import time

from reducekit.executors.executor import ExecutorError
from reducekit.executors.marks import Mark
from reducekit.executors.run_directory import RunDirectory, directory_at, is_directory, remove

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM)
_Stamp = tuple[int, int, int]
"""A directory's device, inode, and time of change in nanoseconds."""
_SETTLED = 0.05
"""Seconds, several ticks of a file system's clock: later changes get a different stamp."""
_FURTHER = 10**6  # added to a slot's number for a new directory; there are fewer slots than that


class NoRoomError(ExecutorError):
    """The file system is full; this may change when other checks end."""


class Slot:
    """A directory for one check at a time, with the candidate file at a constant path.

    The file is rewritten in place through a descriptor that stays open. If the path no longer
    leads to that file, because the command moved, replaced or hard-linked it, the file is
    recreated; in a new directory if the old one cannot be cleared.
    """

    def __init__(self, run: RunDirectory, number: int, name: str) -> None:
        self.number = number
        self.mark = Mark(run.run, number)
        """The mark of the processes of its checks."""
        self._run = run
        self._name = name
        self._places = 0
        self._fd = -1
        self._size = 0
        self._file: tuple[int, int, int, int] | None = None
        self._seen: dict[str, tuple[_Stamp, float]] = {}
        """The stamps of the directories, and since when they have held."""
        self._clean: dict[str, _Stamp] = {}
        """The stamps at which the directories are certainly empty."""
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
            while done < len(text):  # a single round, except above 2 GiB
                done += os.pwrite(self._fd, text[done:] if done else text, done)
            os.ftruncate(self._fd, len(text))
        except OSError as error:
            self._discard()
            remove(self.path)  # the partial file takes space, too
            kind = NoRoomError if error.errno in _FULL else ExecutorError
            raise kind.of(f"cannot write the candidate to {self.path}", error) from None
        self._size = len(text)

    def _found(self) -> tuple[int, int, int, int] | None:
        try:
            return _identity(os.lstat(self.path))
        except OSError:
            return None

    def _renew(self) -> None:
        """Create the directories and the file. Raises OSError."""
        self._discard()
        while not self._cleared():
            self._move()
        self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._file = self._found()

    def _cleared(self) -> bool:
        """Create both directories, remove the file; return whether it worked. Raises OSError."""
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
        """Switch to a new directory. Raises OSError if that has happened too often."""
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
            self._discard()  # so everything is recreated

    def _tidied(self) -> bool:
        """Return whether all leftovers are gone. Raises OSError."""
        gone = True
        for place, kept in ((self.directory, self._entries), (self.tmp, ())):
            # From the top, and never through a link that the command created: it leads
            # to other people's files.
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
                # No longer ours: whatever the command wrote instead takes space
                # that other checks may need.
                self._discard()
                gone &= remove(self.path)
            elif there.st_size > self._size and there.st_nlink == 1:
                os.ftruncate(self._fd, self._size)
        return gone

    def _discard(self) -> None:
        """Close the file, so that it is recreated."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._file = -1, None

    def close(self) -> None:
        """Close the descriptor."""
        self._discard()


def _identity(found: os.stat_result) -> tuple[int, int, int, int]:
    """Return the part of a file's status that only changes if the file is replaced."""
    return found.st_dev, found.st_ino, found.st_mode, found.st_nlink
