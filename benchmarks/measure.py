"""Measures the cost of running a command; `run` and `Cost` are those of `reducekit compare`."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from reducekit.compare.reducers import Cost, run

__all__ = ["Cost", "TreePeak", "run", "spawn_loop"]

_EVERY = 0.05
"""Seconds between two samples of memory."""


class TreePeak:
    """Samples the resident memory of all processes below this one while the body runs.

    Pages that processes share count for each of them, so the peak is never too low for that.
    """

    def __init__(self) -> None:
        self.peak = 0.0
        """The most memory of all of them at one time, in MB (10**6 bytes)."""
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> TreePeak:
        """Begin to sample."""
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop sampling."""
        self._end.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._end.wait(_EVERY):
            self.peak = max(self.peak, sum(map(_resident, _below(os.getpid()))) / 1e6)


def _below(process: int) -> list[int]:
    """Return the processes that a process started, and those that they started."""
    found, at = [process], 0
    while at < len(found):
        with suppress(OSError):
            for task in os.listdir(f"/proc/{found[at]}/task"):
                children = Path(f"/proc/{found[at]}/task/{task}/children").read_text()
                found += map(int, children.split())
        at += 1
    return found[1:]


def _resident(process: int) -> int:
    """Return the bytes of resident memory of a process; 0 if it has ended."""
    with suppress(OSError, IndexError):
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
        return int(pages) * resource.getpagesize()
    return 0


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
