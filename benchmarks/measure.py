"""Run a command and say what it cost: CPU of the process and all it waited for, memory, time."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    """What a command cost and how it ended."""

    cpu: float
    """User and system seconds, its waited-for children included."""
    wall: float
    """Seconds."""
    rss: float
    """Peak MB (10**6 bytes) of the largest process."""
    status: int
    """Exit status, or minus the signal."""
    capped: bool
    """Stopped because it took longer than allowed."""
    out: str


def run(
    command: Sequence[str | Path],
    cap: float | None = None,
    grace: float = 10.0,
    environment: Mapping[str, str] | None = None,
) -> Cost:
    """Run a command to its end, in a process group of its own.

    After `cap` seconds the group gets SIGINT, and `grace` seconds later SIGKILL.
    Its standard error goes where ours goes.
    """
    with tempfile.TemporaryFile() as out:
        before = time.monotonic()
        process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=out,
            start_new_session=True,
            env=None if environment is None else {**os.environ, **environment},
        )
        steps = [] if cap is None else [(cap, signal.SIGINT), (cap + grace, signal.SIGKILL)]
        capped = False
        try:
            while True:
                # wait4 reports on this one process, where getrusage mixes all children.
                pid, status, used = os.wait4(process.pid, os.WNOHANG if steps else 0)
                wall = time.monotonic() - before
                if pid:
                    break
                if wall >= steps[0][0]:
                    os.killpg(process.pid, steps.pop(0)[1])
                    capped = True
                time.sleep(0.01)
        finally:
            # What it left behind, or all of it when we are interrupted.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return Cost(
            cpu=used.ru_utime + used.ru_stime,
            wall=wall,
            rss=used.ru_maxrss * 1024 / 1e6,
            status=process.returncode,
            capped=capped,
            out=out.read().decode(errors="replace"),
        )


def spawn_loop(command: Sequence[str | Path], runs: int) -> float:
    """Return the CPU seconds, ours and the children's, of one run in a bare posix_spawn loop."""
    arguments = list(map(str, command))
    null = os.open(os.devnull, os.O_RDWR)
    streams = [(os.POSIX_SPAWN_DUP2, null, stream) for stream in (0, 1, 2)]
    before = _cpu()
    for _ in range(runs):
        os.waitpid(os.posix_spawnp(arguments[0], arguments, os.environ, file_actions=streams), 0)
    after = _cpu()
    os.close(null)
    return (after - before) / runs


def _cpu() -> float:
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, both))
