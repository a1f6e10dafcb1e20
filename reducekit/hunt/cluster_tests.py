"""Spreads the seeds of a hunt over the workers of a cluster, and collects the findings.

Several consecutive seeds are one Dask task, which Dask gives to a worker with a free slot, and to
another one if that dies. No two tasks share a seed. Findings are processed in the order of the
seeds, so which input shows a bug first does not depend on the speed of workers.

A task starts a process that tests: a hunt without reductions, so each format tests with its own
code. The order arrives on its stdin, results go to stdout; stdin ends when the client is gone.
"""

from __future__ import annotations

import os
import pickle
import queue
import select
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from reducekit.errors import ReducekitError
from reducekit.executors.cluster.admission import Members, sent_along
from reducekit.executors.cluster.checking import checkers, in_place
from reducekit.executors.executor import ExecutorError
from reducekit.hunt.campaign import HuntOptions, prepare
from reducekit.hunt.events import Control, InputResult
from reducekit.hunt.inputs import Input
from reducekit.oracle.command import Command
from reducekit.run import NoSignals
from reducekit.runtime import own_python
from reducekit.session.cluster import Cluster

_GLANCE = 0.5  # seconds between two looks whether the client is there
_FIRST = 10  # seeds of a task
_LONGEST = 10_000
_SECONDS = 3.0  # of a task: Dask's 4 ms are nothing then, and little is lost with a worker
_TASKS = 150  # in a second: a scheduler can take 500
_AHEAD = 2  # tasks for each slot: one that runs, and one that waits
_FAILURES = 3  # of a task, until it is believed that no worker can do it
_REST = 1.0  # seconds until tasks lost with the scheduler are sent again


@dataclass(frozen=True, slots=True)
class Order:
    """Seeds to test: the hunt's options, with the client's commands."""

    options: HuntOptions
    commands: tuple[Command, ...]
    """The commands, with placeholders for shipped files; a reference is the last one."""
    known: tuple[Command, ...]  # the same commands as on the client
    directory: str  # the client's current directory; used here too if it exists


class Tested(NamedTuple):
    """The reply to an order: one result for each seed, in order."""

    results: tuple[InputResult, ...] = ()
    seconds: float = 0.0
    failed: str | None = None  # why the seeds could not be tested


def run(client: str, order: Order) -> Tested:
    """Have a process test the seeds, and end it when the client is gone."""
    folder = checkers[client].folder
    words = own_python("-c", "from reducekit.hunt.cluster_tests import main; main()", folder)
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process, suppress(BrokenPipeError):
        process.stdin.write(pickle.dumps(order))
        process.stdin.flush()
        while not select.select([process.stdout], [], [], _GLANCE)[0]:
            if client not in checkers:
                process.stdin.close()
        found = process.stdout.read()
        if found:
            results: Tested = pickle.loads(found)
            return results
    return Tested(failed="the process that tests ended without a result")


def tested(order: Order, folder: str, control: Control) -> Tested:
    """Test the seeds; `folder` has the shipped files."""
    begin = time.monotonic()
    here = [in_place(each, folder) for each in order.commands]
    lines = [each.words for each in here]
    reference = lines.pop() if order.options.reference is not None else None
    options = replace(order.options, programs=lines, reference=reference)
    # What is found is described in the words of the client: by them a bug is known again.
    words = {each.words: theirs for each, theirs in zip(here, order.known, strict=True)}
    try:
        with ExitStack() as stack:
            campaign = prepare(options, NoSignals(), stack)
            results = campaign.results(campaign.numbers, control)
            found = [each for each in results if each is not None]
    except ReducekitError as error:
        return Tested(failed=str(error))
    for at, each in enumerate(found):
        if not each.findings:  # only an input that shows a bug is sent
            found[at] = replace(each, input=Input(b"", "", number=each.input.number))
        findings = tuple(
            replace(finding, commands=tuple(words.get(c.words, c) for c in finding.commands))
            for finding in each.findings
        )
        found[at] = replace(found[at], findings=findings)
    return Tested(tuple(found), time.monotonic() - begin)


def main() -> None:
    """Test what the order asks for; the only argument is the folder of the shipped files."""

    def left() -> float | None:
        """Return no time left if the client is gone, which ends stdin."""
        return 0.0 if select.select([0], [], [], 0)[0] else None

    given: Order = pickle.load(sys.stdin.buffer)
    with suppress(OSError):
        os.chdir(given.directory)
    results = pickle.dumps(tested(given, sys.argv[1], Control(lambda: False, left)))
    with suppress(BrokenPipeError):
        sys.stdout.buffer.write(results)


@dataclass(slots=True)
class _Task:
    seeds: range
    future: Future[Tested] | None = None
    tested: Tested | None = None
    workers: frozenset[str] = frozenset()  # the workers they were given to: one of these runs them
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
    _each: float = 0.0  # seconds per seed

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
                # A task of a few seconds; more on many slots.
                size = _FIRST
                if self._each:
                    size = round(max(_SECONDS, slots / _TASKS) / self._each / _FIRST) * _FIRST
                    size = min(_LONGEST, max(_FIRST, size))
                while len(tasks) < _AHEAD * slots and upto < seeds.stop:
                    stop = min(upto + size, seeds.stop)
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

    def _start(self, task: _Task) -> None:
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
        if type(error).__name__ != "KilledWorker":
            task.not_before = time.monotonic() + _REST
            return [task]
        # Several workers died on it: it is split, and a single seed left out.
        begin, stop = task.seeds.start, task.seeds.stop
        if len(task.seeds) > 1:
            middle = (begin + stop) // 2
            return [_Task(range(begin, middle)), _Task(range(middle, stop))]
        self.cluster.tell(f"seed {begin}: several workers died on it; it is left out")
        result = InputResult(Input(b"", "", number=begin), counts={"killed their workers": 1})
        task.tested = Tested((result,))
        return [task]
