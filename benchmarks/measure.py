"""Measures what running a command costs; `run` and `Cost` are those of `reducekit compare`."""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence
from pathlib import Path

from reducekit.compare.cost import Cost, run

__all__ = ["Cost", "run", "spawn_loop"]


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
