"""A slot of the local executor: how a child is started and killed, and the files that it gets.

A child has its own signals, limits, mark and pipes. A slot has a persistent candidate file, and a
directory for leftovers. `Suspensions` notices that this process did not run for a while,
when its limits of time mean nothing.
"""

from __future__ import annotations

import errno
import math
import os
import resource
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from reducekit.executors import marks
from reducekit.executors.executor import ExecutorError
from reducekit.executors.marks import Mark, children
from reducekit.executors.run_directory import RunDirectory, directory_at, is_directory, remove
from reducekit.run import Limits

Actions = list[tuple[int, int, str, int, int] | tuple[int, int, int]]
"""What posix_spawn(3) does to the child's descriptors."""

_PAGE = resource.getpagesize()
_SPARE_BYTES = 256 << 20
_SPARE_SECONDS = 1.0
_CHUNK = 1 << 16  # a pipe's capacity: one read takes all that is in it
_DEFAULT_SIGNALS = (  # ignored by Python or by our parent, but not by our children
    signal.SIGPIPE,
    signal.SIGXFSZ,
    signal.SIGXCPU,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGHUP,
    signal.SIGTERM,
    signal.SIGCHLD,
)


class Stream:
    """The reading end of an output pipe, and what was read from it."""

    __slots__ = ("drops", "fd", "full", "parts", "room")

    def __init__(self, fd: int, room: int, *, drops: bool = False) -> None:
        self.fd = fd
        self.room = room
        self.drops = drops  # whether what exceeds the room is dropped, instead of ending the stream
        self.full = False
        self.parts: list[bytes] = []

    def read(self) -> bool:
        """Read what is available; False at the end of the stream, or when the limit is reached."""
        try:
            part = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return True
        more = bool(part)
        if len(part) > self.room:
            self.full = not self.drops
            part = part[: self.room]
        self.room -= len(part)
        if part:
            self.parts.append(part)
        return more and not self.full


def pipes(room: int, *, drops: bool = False) -> tuple[list[Stream], int, int]:
    """Create the pipes of stdout and stderr; return our ends (see `Stream`) and the child's."""
    ends: list[int] = []
    try:
        for _ in range(2):
            ends += os.pipe()
    except OSError as error:
        for fd in ends:
            os.close(fd)
        raise ExecutorError.of("cannot make a pipe", error) from None
    os.set_blocking(ends[0], False)
    os.set_blocking(ends[2], False)
    streams = [Stream(fd, room, drops=drops) for fd in (ends[0], ends[2])]
    return streams, ends[1], ends[3]


Wanted = dict[int, tuple[int, int]]  # kinds of limits, with soft and hard values


def inherited_limits() -> Wanted:
    """Return our limits that can be changed temporarily: every child would inherit them."""
    kinds = [resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_CORE]
    with marks.CHANGING:
        kinds += [marks.LIMIT] * marks.limits_usable()
        return {kind: resource.getrlimit(kind) for kind in kinds}


def wanted_limits(limits: Limits, inherited: Wanted) -> tuple[Wanted, Wanted]:
    """Return the limits that we can set on ourselves temporarily for inheritance, and the rest.

    They are soft limits: a script could not raise hard ones, and some shells then give up.
    Inheritance leaves no gap. But a CPU limit below what we have used would kill us, and near a
    memory limit our own allocations would fail.
    """
    ours: Wanted = {}
    later: Wanted = {}
    if limits.cpu is not None:
        seconds = _soft(max(1, math.ceil(limits.cpu)), inherited[resource.RLIMIT_CPU])
        safe = time.process_time() + _SPARE_SECONDS < seconds[0]
        (ours if safe else later)[resource.RLIMIT_CPU] = seconds
    if limits.memory is not None:
        size = _soft(limits.memory, inherited[resource.RLIMIT_AS])
        pages = marks.read("/proc/self/statm").split()
        safe = bool(pages) and int(pages[0]) * _PAGE + _SPARE_BYTES < size[0]
        (ours if safe else later)[resource.RLIMIT_AS] = size
    return ours, later


def posix_spawn(
    argv: list[str],
    environment: Mapping[bytes, bytes],
    actions: Actions,
    mark: int | None,
    ours: Wanted,
    inherited: Wanted,
) -> int:
    """Start a process in a new session, marked, limited, without core files. Raises OSError.

    `inherited` is what our own limits are restored to.
    """
    handed = dict(ours)
    core = inherited[resource.RLIMIT_CORE]
    if core[0]:
        handed[resource.RLIMIT_CORE] = 0, core[1]
    if mark is not None:
        handed[marks.LIMIT] = mark, marks.NONE
    with marks.CHANGING:
        try:
            # Set a moment later on the child, the mark might miss the child's first children.
            for kind, value in handed.items():
                resource.setrlimit(kind, value)
            return os.posix_spawn(
                argv[0],
                argv,
                environment,
                file_actions=actions,
                setsid=True,
                setsigmask=(),
                setsigdef=_DEFAULT_SIGNALS,
            )
        finally:
            for kind in handed:
                resource.setrlimit(kind, inherited[kind])


def limit(pid: int, later: Wanted) -> None:
    """Set the limits that could not be inherited, also on processes that were started meanwhile."""
    waiting = [pid] if later and hasattr(resource, "prlimit") else []
    while waiting:
        pid = waiting.pop()
        with suppress(ProcessLookupError, PermissionError):  # exited, or another user's
            for kind, value in later.items():
                resource.prlimit(pid, kind, value)
            waiting += children(pid)


def _soft(value: int, inherited: tuple[int, int]) -> tuple[int, int]:
    """Return a limit with a new soft value, unless a lower one is inherited."""
    for bound in inherited:
        if bound != resource.RLIM_INFINITY:
            value = min(value, bound)
    return value, inherited[1]


def kill_group(pid: int) -> None:
    """Kill a process group if it exists."""
    if pid <= 0:  # between two commands of a check
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def has_ended(pid: int) -> bool:
    """Return whether a child has ended; if so, it is reaped."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


_SHORTEST = 0.5  # seconds; less may be a busy machine


class Suspensions:
    """Compares elapsed time with the time that this process computed or slept.

    Time spent in neither was lost. This needs no signal: a frozen control group or a halted virtual
    machine sends none. (The monotonic clock stops while the machine is suspended,
    clock_gettime(2).)
    """

    def __init__(self) -> None:
        self._wall = time.monotonic()
        self._busy = time.process_time()

    def look(self, slept: float) -> float:
        """Return the seconds lost since the last look; at most `slept` of them were a sleep."""
        wall, busy = time.monotonic(), time.process_time()
        lost = (wall - self._wall) - (busy - self._busy) - slept
        self._wall, self._busy = wall, busy
        return lost if lost >= _SHORTEST else 0.0


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM)
_Stamp = tuple[int, int, int]  # a directory's device, inode, and time of change in nanoseconds
_SETTLED = 0.05  # seconds, several ticks of a file system's clock: later changes get another stamp
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
        self.mark = Mark(run.run, number)  # the mark of the processes of its checks
        self._run = run
        self._name = name
        self._places = 0
        self._fd = -1
        self._size = 0
        self._file: tuple[int, int, int, int] | None = None
        self._seen: dict[str, tuple[_Stamp, float]] = {}  # stamps of directories, and since when
        self._clean: dict[str, _Stamp] = {}  # the stamps at which directories are certainly empty
        self._settle()

    def _settle(self) -> None:
        name = str(self.number + self._places * _FURTHER)
        self.directory = os.path.join(self._run.path, name)
        self.path = os.path.join(self.directory, self._name)
        self.tmp = os.path.join(self.directory, "tmp")
        self._entries = (self._name, "tmp")

    def write(self, text: bytes, *, several: bool = False) -> None:
        """Make `text`, or a folder of `several` files, the candidate.

        Raises NoRoomError or ExecutorError.
        """
        try:
            if several or self._file is None or self._file != self._found():
                self._renew()
            if several:
                from reducekit.packed import lay_out, unpack

                self._discard()
                os.unlink(self.path)
                lay_out(Path(self.path), unpack(text))
                return
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
            found = os.lstat(self.path)
        except OSError:
            return None
        # What only changes if the file is replaced.
        return found.st_dev, found.st_ino, found.st_mode, found.st_nlink

    def _renew(self) -> None:
        self._discard()
        while not self._cleared():
            self._move()
        self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._file = self._found()

    def _cleared(self) -> bool:
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
        gone = True
        entries = self._entries[self._file is None :]  # a folder of files is made for each run
        for place, kept in ((self.directory, entries), (self.tmp, ())):
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
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._file = -1, None

    def close(self) -> None:
        """Close the descriptor."""
        self._discard()
