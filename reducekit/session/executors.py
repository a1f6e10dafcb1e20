"""The executors of one session: opened as the options say, counted, and closed at the end."""

from __future__ import annotations

from pathlib import Path

from reducekit.executors.executor import Closing, Executor
from reducekit.executors.guard import Guard
from reducekit.executors.inprocess import InProcess
from reducekit.executors.local import LocalExecutor
from reducekit.executors.repeating import Repeat, Repeating
from reducekit.oracle.oracle import Oracle
from reducekit.session.cluster import Cluster
from reducekit.session.options import Opener, Options
from reducekit.session.unpack import plain_path


def opener_of(options: Options, suffix: str, guard: Guard) -> Opener:
    """Return a function that opens executors for these options, for candidates with that suffix."""
    if options.opener is not None:
        return options.opener
    interesting = options.interesting
    if interesting is not None:
        return lambda oracle, jobs: InProcess(interesting, jobs)
    name = plain_path(options.input).name if isinstance(options.input, Path) else ""
    workdir = None if options.workdir is None else str(options.workdir.absolute())
    if isinstance(options.cluster, Cluster):
        return options.cluster.opener(suffix, name=name, workdir=workdir)
    return local_opener(suffix, guard, name=name, workdir=workdir)


def local_opener(
    suffix: str, guard: Guard, *, name: str = "", workdir: str | None = None
) -> Opener:
    """Return a function that opens executors on this machine."""
    return lambda oracle, jobs: LocalExecutor(
        oracle, jobs, suffix, guard=guard, name=name, workdir=workdir
    )


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
        """Close all."""
        for each in reversed(self._opened):
            each.close()
