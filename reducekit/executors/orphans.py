"""Finding and ending the processes that a check leaves behind outside of its process group."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Container
from contextlib import suppress

from reducekit.executors import marks
from reducekit.executors.marks import Mark

_SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 36, 37  # linux/prctl.h
_PF_EXITING = 0x4  # linux/sched.h
_STRANGER, _OTHER, _OURS, _REAPED = range(4)
_PAGE = 2048  # bytes of a list of children that may have been cut: half of the smallest page


def adopting() -> bool:
    """Say whether orphaned descendants become children of this process."""
    flag = ctypes.c_int()
    _prctl(_GET_CHILD_SUBREAPER, ctypes.byref(flag))
    return bool(flag.value)


def set_adopting(on: bool) -> None:
    """Make orphaned descendants become children of this process, or not (prctl(2))."""
    _prctl(_SET_CHILD_SUBREAPER, ctypes.c_ulong(on))


def _prctl(option: int, argument: object) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, argument, 0, 0, 0)


class ChildReaper:
    """The children of this process: those of its main thread, to which the orphans come.

    `limits` says whether limits carry our marks.
    """

    def __init__(self) -> None:
        self._session = os.getsid(0)
        self.limits = marks.limits_usable()
        self._strangers: set[int] = set()
        """Children, as of the last time, that no run of ours has started."""
        pid = os.getpid()
        self._fd = -1
        with suppress(OSError):  # not every kernel tells
            self._fd = os.open(f"/proc/self/task/{pid}/children", os.O_RDONLY | os.O_CLOEXEC)

    def sweep(self, mark: Mark, excluded: Container[int], patience: float = 2.0) -> None:
        """Kill and reap all children that have the mark, and those that come to us thereby.

        `excluded` are children to leave alone; so are children in our own session,
        which no check can have started. Costs one system call if there are no
        others than such and those of the last time. Gives up after `patience` seconds: a killed
        process may hang in the kernel.
        """
        pids = self._list()
        self._strangers.intersection_update(pids)  # a number may become another's
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
                # Its children have come to us, perhaps after the list was read.
                pending = pending or kind in (_OURS, _REAPED)
            if not pending:
                return
            now = time.monotonic()
            end = end or now + patience
            if now >= end:
                return
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
            pids = self._list()

    def close(self) -> None:
        """Give the descriptor back."""
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
        """Say whose a child is: ours if it has the mark and is not dead. Reaps our dead ones."""
        try:
            if os.getsid(pid) == self._session:
                return _STRANGER
            if not self.limits:
                # A zombie has no environment any more, and nobody else to reap it.
                if os.waitpid(pid, os.WNOHANG)[0] != 0:
                    return _REAPED
                return _OURS if mark.on(pid, limits=False) or _exiting(pid) else _OTHER
            if mark.on(pid, limits=True):
                return _REAPED if os.waitpid(pid, os.WNOHANG)[0] else _OURS
            return _STRANGER if marks.limit(pid) == marks.NONE else _OTHER
        except (ProcessLookupError, ChildProcessError):
            return _OTHER


def children(pid: int) -> list[int]:
    """Return the children that the main thread of a process has now."""
    return [int(word) for word in marks.read(f"/proc/{pid}/task/{pid}/children").split()]


def end_run(run: int, patience: float = 5.0) -> None:
    """Kill all processes on this machine that have the mark of a run, be they children or not.

    Gives up after `patience` seconds.
    """
    mark, own = Mark(run), os.getpid()
    pause, end = 0.0005, time.monotonic() + patience
    # A process that forks and exits meanwhile may be seen in no round with its
    # child: two rounds must find none.
    empty = 0
    while time.monotonic() < end:
        killed = sum(_killed(pid, mark) for pid in marks.processes() if pid != own)
        empty = 0 if killed else empty + 1
        if empty == 2:
            return
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def _killed(pid: int, mark: Mark) -> bool:
    """Kill a process if it has the mark; say whether it had it and was alive."""
    try:
        # Held first: so the number cannot be another's when it comes to killing.
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
    """Say whether a process is on its way out: it has no environment any more."""
    fields = _state(pid).split()
    return len(fields) > 6 and bool(int(fields[6]) & _PF_EXITING)


def _state(pid: int) -> bytes:
    """Return the fields of proc_pid_stat(5) from the third, the state, on; nothing if it has gone.

    They stand after the name, which is in parentheses and may contain anything.
    """
    return marks.read(f"/proc/{pid}/stat").rpartition(b")")[2].lstrip()
