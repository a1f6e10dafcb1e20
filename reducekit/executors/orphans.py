"""Finding and ending the processes that a check leaves behind outside of its process group."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Container
from contextlib import suppress

_SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 36, 37  # linux/prctl.h
_PF_EXITING = 0x4  # linux/sched.h
MARK = "REDUCEKIT_RUN"
"""Environment variable that marks our children's children, wherever they hide.

Its value grows by a part for each reducekit that runs inside another.
"""


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


def sweep(mark: bytes, leaders: Container[int], patience: float = 2.0) -> None:
    """Kill and reap all children marked with `mark`, and those that come to us thereby.

    `mark` is a part of the variable's value, unique to us; `leaders` are children to
    leave alone; so are children in our own session, which no check can have
    started. Costs one system call if we have no children at all. Gives up
    after `patience` seconds: a killed process may hang in the kernel.
    """
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return
    session = os.getsid(0)
    pause, end = 0.0002, time.monotonic() + patience
    while time.monotonic() < end:
        pending = False
        for pid in _children():
            if pid in leaders or _reap(pid, session):
                continue
            environment = _read(f"/proc/{pid}/environ")
            if mark in environment:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
                pending = True
            elif not environment and _exiting(pid):
                pending = True
        if not pending:
            return
        time.sleep(pause)
        pause = min(2 * pause, 0.02)


def _children() -> list[int]:
    """Return the children of all our threads; empty where the kernel does not tell."""
    found: list[int] = []
    for task in os.listdir("/proc/self/task"):
        found += map(int, _read(f"/proc/self/task/{task}/children").split())
    return found


def _reap(pid: int, session: int) -> bool:
    """Reap a child that has ended; say whether it needs no more care."""
    try:
        return os.getsid(pid) == session or os.waitpid(pid, os.WNOHANG)[0] != 0
    except (ProcessLookupError, ChildProcessError):
        return True


def _exiting(pid: int) -> bool:
    """Say whether a process is on its way out: it has no environment any more."""
    # Fields after the name, which is in parentheses and may contain anything:
    # state is the third field, the flags are the ninth (proc_pid_stat(5)).
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return len(fields) > 6 and bool(int(fields[6]) & _PF_EXITING)


def _read(path: str) -> bytes:
    """Return the contents of a file, nothing if it has gone or is not for us."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""
