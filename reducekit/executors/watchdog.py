"""A process that tidies up behind us when we are killed by what cannot be caught.

It waits for the end of a pipe whose other end only we have. Its session is its
own, so it survives what kills our process group. It waits as a shell, which
costs 1 ms of CPU where a Python costs 8, and becomes a Python only if it has
something to do.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

from reducekit.executors import marks
from reducekit.executors.orphans import end_run
from reducekit.executors.removal import remove

_SHELL = "/bin/sh"
_WAIT = 'cd /; while read -r _; do :; done; exec "$@"'
_HELD = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
"""Signals that it never gets. A trap would leave it a moment in which they end it."""
_PYTHON = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from reducekit.executors.watchdog import clean_up; clean_up(int(sys.argv[2]), sys.argv[3])"
)
_KEPT = ("PATH", "LD_LIBRARY_PATH", marks.VARIABLE)
"""Variables that Python may need to start, and the mark of a run that ours is part of."""


class Watchdog:
    """Kills the processes of a run and removes its directory if this process does not live to."""

    def __init__(self, run: int, directory: str, null: int) -> None:
        """Start it; `null` is a descriptor of /dev/null. Without a shell there is none."""
        self.pid = self._fd = -1
        home = os.path.abspath(__file__)
        for _ in range(3):
            home = os.path.dirname(home)
        python = [sys.executable, "-I", "-S", "-c", _PYTHON, home, str(run), directory]
        ours = -1
        try:
            theirs, ours = os.pipe()
            try:
                self.pid = os.posix_spawn(
                    _SHELL,
                    [_SHELL, "-c", _WAIT, "reducekit-watchdog", *python],
                    {name: os.environ[name] for name in _KEPT if name in os.environ},
                    file_actions=[
                        (os.POSIX_SPAWN_DUP2, theirs, 0),
                        (os.POSIX_SPAWN_DUP2, null, 1),
                        (os.POSIX_SPAWN_DUP2, null, 2),
                    ],
                    setsid=True,
                    setsigmask=_HELD,
                    setsigdef=(signal.SIGCHLD, signal.SIGPIPE),
                )
            finally:
                os.close(theirs)
        except OSError:
            # The next run cleans up.
            if ours >= 0:
                os.close(ours)
            return
        self._fd = ours

    def close(self) -> None:
        """End it: there is nothing to do any more."""
        if self.pid > 0:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            os.close(self._fd)
        self.pid = self._fd = -1


def clean_up(run: int, directory: str) -> None:
    """Kill the processes of a run that is dead, and remove its directory."""
    end_run(run)
    remove(directory)
