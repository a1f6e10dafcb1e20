"""Runs a command and measures its cost: CPU time, wall time and peak memory, with children."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    """The cost of a command, and how it ended."""

    cpu: float
    """User and system seconds, including the children it waited for."""
    wall: float
    """Seconds."""
    rss: float
    """Peak memory of the largest process, in MB (10**6 bytes)."""
    status: int
    """The exit status, or the negative signal number."""
    capped: bool
    """Whether it was stopped at the time limit."""
    out: str


def run(
    command: Sequence[str | Path],
    cap: float | None = None,
    grace: float = 10.0,
    environment: Mapping[str, str] | None = None,
) -> Cost:
    """Run a command to its end in its own process group.

    After `cap` seconds the group gets SIGINT, and `grace` seconds later SIGKILL. The command
    inherits standard error, and the environment with `environment` on top.
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
                # wait4 reports on this one process, while getrusage adds up all children.
                pid, status, used = os.wait4(process.pid, os.WNOHANG if steps else 0)
                wall = time.monotonic() - before
                if pid:
                    break
                if wall >= steps[0][0]:
                    os.killpg(process.pid, steps.pop(0)[1])
                    capped = True
                time.sleep(0.01)
        finally:
            # Kills what it left running, or everything if we are interrupted.
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
