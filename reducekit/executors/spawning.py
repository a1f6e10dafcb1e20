"""Starts a process with its signals, limits, mark and pipes, and kills its group.

Also notices that this process did not run for a while, when its limits of time mean nothing.
"""

from __future__ import annotations

import math
import os
import resource
import signal
import time
from collections.abc import Mapping
from contextlib import suppress

from reducekit.executors import marks
from reducekit.executors.executor import ExecutorError
from reducekit.executors.marks import children
from reducekit.oracle.limits import Limits

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

    __slots__ = ("fd", "full", "parts", "room")

    def __init__(self, fd: int, room: int) -> None:
        self.fd = fd
        self.room = room
        self.full = False
        self.parts: list[bytes] = []

    def read(self) -> bool:
        """Read what is available; False at the end of the stream, or when the limit is reached."""
        try:
            part = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return True
        if len(part) > self.room:
            self.full = True
            part = part[: self.room]
        self.room -= len(part)
        if part:
            self.parts.append(part)
        return bool(part) and not self.full


def pipes(room: int) -> tuple[list[Stream], int, int]:
    """Create the pipes of stdout and stderr; return our ends and the child's."""
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
    return [Stream(ends[0], room), Stream(ends[2], room)], ends[1], ends[3]


Wanted = dict[int, tuple[int, int]]
"""Kinds of limits, with soft and hard values."""


def inherited_limits() -> Wanted:
    """Return our limits that can be changed temporarily: every child would inherit them."""
    kinds = resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_CORE, marks.LIMIT
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
    waiting = [pid] if later else []
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
