"""Finds and kills all processes of a run, wherever they hide.

A process that forks twice, starts a session and closes its files has cut all ties to the process
that started it. But it has inherited two things: its environment, which it may replace, and its
resource limits. One of these, RLIMIT_LOCKS, has had no effect since Linux 2.4.25 (getrlimit(2)), so
it can carry a number: a mark.
"""

from __future__ import annotations

import ctypes
import os
import re
import resource
import signal
import threading
import time
from collections.abc import Container
from contextlib import suppress
from typing import NamedTuple

VARIABLE = "REDUCEKIT_RUN"
"""Environment variable of all descendants; the mark of last resort.

Each nested reducekit appends a part to its value, while the limit identifies only the outermost.
"""

LIMIT = 10  # RLIMIT_LOCKS, asm-generic/resource.h; the module `resource` has no name for it
NONE = resource.RLIM_INFINITY
RUNS = 10**13
"""The number of different run numbers. With the slot, a mark must stay below 2**63."""

_SLOTS = 10**5
_CHUNK = 1 << 13
_SHOWN = re.compile(rb"^Max file locks +(\d+)", re.MULTILINE)


class Mark(NamedTuple):
    """The mark of a run, or of one of its slots; `run` is below `RUNS`."""

    run: int
    slot: int | None = None

    @property
    def number(self) -> int:
        """The value of the limit, for a slot."""
        return self.run * _SLOTS + (self.slot or 0) % _SLOTS

    @property
    def text(self) -> str:
        """The part of the variable's value that identifies the slot, or the whole run."""
        return f"/{self.run}." if self.slot is None else f"/{self.run}.{self.slot}."

    def on(self, pid: int, *, limits: bool) -> bool:
        """Return whether a process has this mark; zombies are found only by their limit.

        `limits` tells whether limits carry marks; if so, a process without one cannot have the
        mark in its variable either.
        """
        if limits:
            number = limit(pid)
            if number is None or number == NONE:
                return False
            if number // _SLOTS == self.run:
                return self.slot is None or number == self.number
        return self.text.encode() in read(f"/proc/{pid}/environ")


CHANGING = threading.RLock()
"""Held while a child inherits our limits: threads share them, and would take them for theirs."""


def limits_usable() -> bool:
    """Return whether limits can carry marks: no, if this process already has the mark of a run."""
    with CHANGING:
        try:
            if not hasattr(resource, "prlimit") or resource.getrlimit(LIMIT) != (NONE, NONE):
                return False
            resource.setrlimit(LIMIT, (NONE, NONE))
        except (OSError, ValueError):  # some sandboxes and systems support only a few limits
            return False
    return True


def limit(pid: int) -> int | None:
    """Return a process's soft limit, `NONE` if it has no mark; None if it has exited."""
    try:
        return resource.prlimit(pid, LIMIT)[0]
    except ProcessLookupError:
        return None
    except PermissionError:  # it runs as another user
        shown = _SHOWN.search(read(f"/proc/{pid}/limits"))
        return int(shown[1]) if shown else NONE


def read(path: str) -> bytes:
    """Return the contents of a file; nothing if it is gone or not readable."""
    # open() takes nearly twice the time, and every check with limits comes here.
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    parts = []
    try:
        while part := os.read(fd, _CHUNK):
            parts.append(part)
    except OSError:
        pass
    finally:
        os.close(fd)
    return b"".join(parts)


def processes() -> list[int]:
    """Return the ids of all processes."""
    with suppress(FileNotFoundError):  # only Linux has this folder
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return []


_SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 36, 37  # linux/prctl.h
_PF_EXITING = 0x4  # linux/sched.h
_STRANGER, _OTHER, _OURS, _REAPED = range(4)
_PAGE = 2048  # bytes; a list of children may be cut off at half of the smallest page


def adopting() -> bool:
    """Return whether orphaned descendants become children of this process."""
    flag = ctypes.c_int()
    _prctl(_GET_CHILD_SUBREAPER, ctypes.byref(flag))
    return bool(flag.value)


def set_adopting(on: bool) -> None:
    """Set whether orphaned descendants become children of this process (prctl(2))."""
    _prctl(_SET_CHILD_SUBREAPER, ctypes.c_ulong(on))


def _prctl(option: int, argument: object) -> None:
    with suppress(AttributeError):  # only Linux has it
        ctypes.CDLL(None, use_errno=True).prctl(option, argument, 0, 0, 0)


class ChildReaper:
    """The children of this process: those of its main thread, which adopts orphans.

    `limits` tells whether limits carry marks.
    """

    def __init__(self) -> None:
        self._session = os.getsid(0)
        self.limits = limits_usable()
        self._strangers: set[int] = set()  # children of the last sweep that no run of ours started
        pid = os.getpid()
        self._fd = -1
        with suppress(OSError):  # not every kernel has this file
            self._fd = os.open(f"/proc/self/task/{pid}/children", os.O_RDONLY | os.O_CLOEXEC)

    def sweep(self, mark: Mark, excluded: Container[int]) -> None:
        """Kill and reap all children that have the mark, and the orphans this creates.

        `excluded` children are left alone, as are children in this process's own session, which no
        check can have started. Costs one system call if there are no children besides these and
        those seen last time. Gives up after two seconds: a killed process may hang in the kernel.
        """
        pids = self._list()
        self._strangers.intersection_update(pids)  # process ids are reused
        pause, end = 0.0002, 0.0
        while True:
            pending = False
            for pid in pids:
                if pid in excluded or pid in self._strangers:
                    continue
                kind = self._kind(pid, mark)
                if kind == _STRANGER:
                    self._strangers.add(pid)
                elif kind == _OURS:
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)
                # Its children are now ours, perhaps since after the list was read.
                pending = pending or kind in (_OURS, _REAPED)
            if not pending:
                return
            now = time.monotonic()
            end = end or now + 2
            if now >= end:
                return
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
            pids = self._list()

    def close(self) -> None:
        """Close the descriptor."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def _list(self) -> list[int]:
        if self._fd < 0:
            return []
        listed = part = os.pread(self._fd, 1 << 16, 0)
        while len(part) >= _PAGE:
            part = os.pread(self._fd, 1 << 16, len(listed))
            listed += part
        return [int(word) for word in listed.split()]

    def _kind(self, pid: int, mark: Mark) -> int:
        """Classify a child: ours if it has the mark and is alive. Reaps our dead ones."""
        try:
            if os.getsid(pid) == self._session:
                return _STRANGER
            if not self.limits:
                # A zombie has no environment any more, and only its parent, this process, reaps it.
                if os.waitpid(pid, os.WNOHANG)[0] != 0:
                    return _REAPED
                return _OURS if mark.on(pid, limits=False) or _exiting(pid) else _OTHER
            if mark.on(pid, limits=True):
                return _REAPED if os.waitpid(pid, os.WNOHANG)[0] else _OURS
            return _STRANGER if limit(pid) == NONE else _OTHER
        except (ProcessLookupError, ChildProcessError):
            return _OTHER


def children(pid: int) -> list[int]:
    """Return the children that the main thread of a process has now."""
    return [int(word) for word in read(f"/proc/{pid}/task/{pid}/children").split()]


def end_run(run: int) -> None:
    """Kill all processes here that have the mark of a run, non-children too, within 5 seconds."""
    mark, own = Mark(run), os.getpid()
    pause, end = 0.0005, time.monotonic() + 5
    # A process that forks and exits in between, and its child, may both be missed
    # by one round: two consecutive rounds must find none.
    empty = 0
    while time.monotonic() < end:
        killed = sum(_killed(pid, mark) for pid in processes() if pid != own)
        empty = 0 if killed else empty + 1
        if empty == 2:
            return
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def _killed(pid: int, mark: Mark) -> bool:
    """Kill a process if it has the mark; return whether it had it and was alive."""
    try:
        # Opened first, so that the number cannot refer to another process when the signal is sent.
        fd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        found = mark.on(pid, limits=True) or mark.on(pid, limits=False)
        if not found or _state(pid)[:1] in (b"Z", b"X"):
            return False
        signal.pidfd_send_signal(fd, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


def _exiting(pid: int) -> bool:
    """Return whether a process is exiting: then it has no environment any more."""
    fields = _state(pid).split()
    return len(fields) > 6 and bool(int(fields[6]) & _PF_EXITING)


def _state(pid: int) -> bytes:
    """Return the fields of proc_pid_stat(5) from the third (the state) on; empty if it has exited.

    The name before them is in parentheses and may contain anything.
    """
    return read(f"/proc/{pid}/stat").rpartition(b")")[2].lstrip()
