"""How a session opens executors, counts their runs and closes them, and the limits of a run."""

from __future__ import annotations

import math
import time
from pathlib import Path

from reducekit.executors.executor import Executor, Finished, InProcess, Repeat, Repeating
from reducekit.oracle.criterion import Criterion, Oracle
from reducekit.reduction.control import POLL, Control
from reducekit.run import Closing, Guard, Limits
from reducekit.session.failure import Opener
from reducekit.session.options import Options
from reducekit.session.place.inputs import plain_path

_OF_STEPS = 5.0
"""Seconds at least for a run that steps bound: on a busy machine it takes several times as long."""


class Executors(Closing):
    """Opens executors, and closes those still open at the end, the latest first."""

    def __init__(self, opener: Opener, repeat: Repeat | None, guard: Guard) -> None:
        self._opener = opener
        self._guard = guard
        self._repeat = repeat
        self._opened: list[Executor] = []

    def open(self, oracle: Oracle, jobs: int = 1) -> Executor:
        """Open an executor that makes each run once."""
        with self._guard.held():
            executor = self._opener(oracle, jobs)
            self._opened.append(executor)
        return executor

    def open_repeating(self, oracle: Oracle, jobs: int = 1) -> Executor:
        """Open an executor that makes as many runs for a verdict as `repeat` says."""
        executor = self.open(oracle, jobs)
        return executor if self._repeat is None else Repeating(executor, self._repeat)

    @property
    def runs(self) -> int:
        """The number of runs of commands that were started."""
        return sum(each.runs for each in self._opened)

    def close(self) -> None:
        for each in reversed(self._opened):
            each.close()


class Stoppable(Executor):
    """Waits in short slices, and checks between them whether `control` raises Stopped."""

    def __init__(self, inner: Executor, control: Control) -> None:
        self._inner = inner
        self._control = control

    @property
    def free(self) -> int:
        return self._inner.free

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        self._inner.submit(ticket, text, limits)

    def wait(self, timeout: float | None = None) -> list[Finished]:
        until = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            self._control.check()
            left = until - time.monotonic()
            finished = self._inner.wait(max(0.0, min(POLL, left)))
            if finished or left <= 0:
                return finished

    def cancel(self, ticket: int) -> None:
        self._inner.cancel(ticket)

    def close(self) -> None:
        self._inner.close()


def run_once(executor: Executor, text: bytes, limits: Limits) -> Finished:
    """Run one check and wait for it."""
    executor.submit(0, text, limits)
    while True:
        for finished in executor.wait():
            return finished


def opener_of(options: Options, suffix: str, guard: Guard) -> Opener:
    """Return a function that opens executors for these options, for candidates with that suffix."""
    if options.opener is not None:
        return options.opener
    interesting = options.interesting
    if interesting is not None:
        return lambda oracle, jobs: InProcess(interesting, jobs)
    source = b"" if options.several else options.input
    name = plain_path(source).name if isinstance(source, Path) else ""
    workdir = None if options.workdir is None else str(options.workdir.absolute())
    cluster = options.cluster
    if cluster is not None:
        assert not isinstance(cluster, str)  # it is connected
        return cluster.opener(suffix, name=name, workdir=workdir)
    return local_opener(suffix, guard, name=name, workdir=workdir)


def local_opener(
    suffix: str, guard: Guard, *, name: str = "", workdir: str | None = None
) -> Opener:
    """Return a function that opens executors on this machine."""
    from reducekit.executors.local import LocalExecutor

    return lambda oracle, jobs: LocalExecutor(
        oracle, jobs, suffix, guard=guard, name=name, workdir=workdir, shows=True
    )


def timeout_for(seconds: float) -> float:
    """Return the wall limit for candidates when the best so far takes that many seconds."""
    return max(0.4, 4 * seconds + 0.2)


def limits_for(criterion: Criterion, limits: Limits, seconds: float) -> Limits:
    """Return the limits for candidates when the best so far takes that many seconds.

    The wall limit is the criterion's, else the user's, else follows the time.
    """
    found = timeout_for(seconds)
    if criterion.counts_steps:
        found = max(found, _OF_STEPS)
    wall = next((w for w in (criterion.wall, limits.wall) if w is not None), found)
    return Limits(wall, limits.cpu, limits.memory, limits.output)
