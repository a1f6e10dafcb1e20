"""Spreads the seeds of a hunt over the workers of a cluster, and collects the findings.

Several consecutive seeds are one Dask task, which Dask gives to a worker with a free slot, and to
another one if that dies. No two tasks share a seed. Findings are processed in the order of the
seeds, so which input shows a bug first does not depend on the speed of workers.
"""

from __future__ import annotations

import os
import queue
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace

from reducekit.executors.cluster.admission import Members, sent_along
from reducekit.executors.executor import ExecutorError
from reducekit.hunt.chunk import Order, Tested, run
from reducekit.hunt.events import Control, InputResult
from reducekit.hunt.inputs import Input
from reducekit.hunt.options import HuntOptions
from reducekit.oracle.command import Command
from reducekit.session.cluster import Cluster

_FIRST = 10  # seeds of a task
_LONGEST = 10_000
_SECONDS = 3.0
"""That a task is to take: Dask's 4 ms are nothing then, and little is lost with a worker."""
_TASKS = 150  # in a second: a scheduler can take 500
_AHEAD = 2  # tasks for each slot: one that runs, and one that waits
_FAILURES = 3  # of a task, until it is believed that no worker can do it
_REST = 1.0  # seconds until what was lost with the scheduler is sent again


@dataclass(slots=True)
class _Task:
    """Seeds that were given to the cluster, and their results."""

    seeds: range
    future: Future[Tested] | None = None
    tested: Tested | None = None
    workers: frozenset[str] = frozenset()
    """The workers they were given to: one of these runs them."""
    not_before: float = 0.0
    failures: int = 0


@dataclass(slots=True)
class ClusterTests:
    """Tests seeds on a cluster; `commands` are those of the programs on the client."""

    cluster: Cluster
    options: HuntOptions
    commands: tuple[Command, ...]
    _members: Members = field(init=False)
    _done: queue.SimpleQueue[None] = field(default_factory=queue.SimpleQueue)
    """Receives each task that has ended, and each worker that has answered."""
    _each: float = 0.0
    """Seconds per seed."""

    def results(self, seeds: range, control: Control) -> Iterator[InputResult | None]:
        """Yield the results in the order of the seeds; after each task, reductions may run."""
        cluster = self.cluster
        placed = sent_along(self.commands, cluster.shipped)
        members = self._members = Members(
            cluster.connection, placed, cluster.shipped, cluster.tell, lambda: self._done.put(None)
        )
        members.wait_for_first()
        tasks: deque[_Task] = deque()
        upto = seeds.start
        try:
            while control.left() != 0:
                members.look()
                members.require()
                slots = sum(each.slots for each in members.admitted.values())
                while len(tasks) < _AHEAD * slots and upto < seeds.stop:
                    stop = min(upto + self._size(slots), seeds.stop)
                    tasks.append(_Task(range(upto, stop)))
                    upto = stop
                for each in tasks:
                    self._start(each)
                if not tasks:
                    return
                with suppress(queue.Empty):  # the workers of a task may go without a word
                    self._done.get(timeout=control.patience())
                tasks = deque(half for each in tasks for half in self._gathered(each))
                while tasks and tasks[0].tested is not None:
                    first = tasks.popleft()
                    assert first.tested is not None
                    yield from first.tested.results
                    yield None
        finally:
            for each in tasks:
                if each.future is not None:
                    each.future.cancel()

    def _size(self, slots: int) -> int:
        """Return the number of seeds for a task of a few seconds; more on many slots."""
        if not self._each:
            return _FIRST
        seconds = max(_SECONDS, slots / _TASKS)
        return min(_LONGEST, max(_FIRST, round(seconds / self._each / _FIRST) * _FIRST))

    def _start(self, task: _Task) -> None:
        """Submit a task, if it is not on the cluster yet and there is a worker."""
        admitted = self._members.admitted
        if task.future is not None or task.tested is not None or not admitted:
            return
        if time.monotonic() < task.not_before:
            return
        seeds = task.seeds
        options = replace(
            self.options, seed=seeds.start, count=len(seeds), jobs=1, cluster=None, ship=(),
            local_slots=0, reduce=False, max_time=None, restart=False, like=None,
        )  # fmt: skip
        placed = sent_along(self.commands, self.cluster.shipped)
        order = Order(options, placed, self.commands, os.getcwd())
        connection = self.cluster.connection
        task.workers = frozenset(admitted)
        task.future = connection.submit(sorted(task.workers), run, connection.name, order)
        task.future.add_done_callback(lambda _: self._done.put(None))

    def _is_tested(self, task: _Task, found: Tested) -> bool:
        """Take the results of a task, if it has all; raise ExecutorError if it fails too often."""
        if found.failed is None and len(found.results) == len(task.seeds):
            task.tested = found
            share = found.seconds / len(task.seeds)
            self._each = share if not self._each else 0.8 * self._each + 0.2 * share
            return True
        task.failures += 1
        if task.failures >= _FAILURES:
            raise ExecutorError(f"workers cannot test: {found.failed or 'results are missing'}")
        return False

    def _gathered(self, task: _Task) -> list[_Task]:
        """Handle the end of a task; return the tasks that replace it."""
        future = task.future
        if future is None:
            return [task]
        if not future.done():
            if not task.workers & self.cluster.connection.workers.keys():
                future.cancel()  # Dask would wait for one of them for ever
                task.future = None
            return [task]
        task.future = None
        error = None if future.cancelled() else future.exception()
        if error is None and not future.cancelled() and self._is_tested(task, future.result()):
            return [task]
        if type(error).__name__ == "KilledWorker":
            return self._apart(task)
        task.not_before = time.monotonic() + _REST
        return [task]

    def _apart(self, task: _Task) -> list[_Task]:
        """Split a task on which several workers died; a single seed is left out."""
        begin, stop = task.seeds.start, task.seeds.stop
        if len(task.seeds) > 1:
            middle = (begin + stop) // 2
            return [_Task(range(begin, middle)), _Task(range(middle, stop))]
        self.cluster.tell(f"seed {begin}: several workers died on it; it is left out")
        result = InputResult(Input(b"", "", number=begin), counts={"killed their workers": 1})
        task.tested = Tested((result,))
        return [task]
