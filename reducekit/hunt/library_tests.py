"""Tests inputs with a library that their format replays them on, in one or more processes.

Reports are processed in the order of the seeds, so which bug is found first does not depend on the
processes' speed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from reducekit.executors.own import OwnTests, Tested, Tester
from reducekit.hunt.events import Control, InputResult
from reducekit.hunt.findings import Finding
from reducekit.hunt.inputs import Input, input_from
from reducekit.offers import made_by
from reducekit.oracle.command import Command
from reducekit.run import Closing, Guard

CHUNK = 10
"""Number of seeds that a process gets at a time.

This many inputs may share a replay process (`frontends/trace/player/live_tester.py`), so a
continued hunt begins with the first seed of a chunk.
"""
_AHEAD = 4  # chunks for each process that may wait for an earlier one


@dataclass(slots=True)
class _Chunk:
    """Seeds that were given to a process, and its reports on them."""

    seeds: range
    reports: list[Tested] | None = None


@dataclass(slots=True)
class _Worker:
    process: Any
    connection: Connection
    chunk: _Chunk | None = None


class Workers(Closing):
    """Processes with a tester each, as many as `jobs`; defer signals while they start."""

    def __init__(self, open_tester: Callable[[], Tester], jobs: int) -> None:
        self._workers: list[_Worker] = []
        # Forked: the model is already loaded; signals are only recorded, as here while deferred.
        context = multiprocessing.get_context("fork")
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            others = [ours, *(each.connection for each in self._workers)]
            arguments = (open_tester, theirs, others)
            process = context.Process(target=_work, args=arguments, daemon=True)
            process.start()
            theirs.close()
            self._workers.append(_Worker(process, ours))

    def close(self) -> None:
        """End them; their replay servers end when their sockets are closed."""
        for each in self._workers:
            each.process.kill()
        for each in self._workers:
            each.process.join()
            each.connection.close()
        self._workers.clear()

    def reports(self, seeds: range, control: Control) -> Iterator[Tested]:
        """Yield the reports in the order of the seeds, until no time is left."""
        chunks = (seeds[at : at + CHUNK] for at in range(0, len(seeds), CHUNK))
        waiting: list[_Chunk] = []
        while True:
            for each in self._workers:  # one that is far ahead waits for the others
                if each.chunk is None and len(waiting) < _AHEAD * len(self._workers):
                    given = next(chunks, None)
                    if given is None:
                        break
                    each.chunk = _Chunk(given)
                    waiting.append(each.chunk)
                    each.connection.send(given)
            if not waiting:
                return
            busy = [each for each in self._workers if each.chunk is not None]
            ready = wait([each.connection for each in busy], control.patience())
            if control.left() == 0:
                return
            for each in busy:
                if each.chunk is not None and each.connection in ready:
                    each.chunk.reports = _received(each)
                    each.chunk = None
            while waiting and waiting[0].reports is not None:
                yield from waiting.pop(0).reports or ()


def _received(worker: _Worker) -> list[Tested]:
    try:
        found = worker.connection.recv()
    except EOFError:
        worker.process.join()
        raise RuntimeError(f"a process ended with status {worker.process.exitcode}") from None
    if isinstance(found, BaseException):
        raise found
    reports: list[Tested] = found
    return reports


def _work(
    open_tester: Callable[[], Tester], connection: Connection, others: Sequence[Connection]
) -> None:
    for each in others:
        each.close()
    try:
        with open_tester() as tester:
            while True:
                connection.send([tester.test(seed) for seed in connection.recv()])
    except (EOFError, BrokenPipeError):
        pass
    except Exception as error:
        with contextlib.suppress(OSError):
            connection.send(error)


@dataclass(frozen=True, slots=True)
class LibraryTests(Closing):
    """Has a format test its inputs, with one tester in this process or in `jobs` processes."""

    format: str
    own: OwnTests
    jobs: int
    guard: Guard
    opened: ExitStack

    def seeds(self, seeds: range, control: Control) -> Iterator[InputResult | None]:
        """Generate and test the inputs of seeds. None after each one: a reduction may run."""
        tested: Iterator[Tested]
        if self.jobs == 1:
            tested = map(self.opened.enter_context(self.own.open()).test, seeds)
        else:
            # Signals are deferred while processes start, so that none of them is lost.
            with self.guard.held():
                workers = self.opened.enter_context(Workers(self.own.open, self.jobs))
            tested = workers.reports(seeds, control)
        for each in tested:
            words = made_by(self.format, self.own.words(each.seed))
            if each.preceding:
                words += f", after the inputs of the seeds from {each.seed - each.preceding} on"
            yield self._result(each, Input(each.text, words, f"seed {each.seed}", each.seed))
            yield None
            if control.left() == 0:
                return

    def files(
        self, paths: Sequence[Path], numbers: range, control: Control
    ) -> Iterator[InputResult | None]:
        """Test the contents of files, at these indices."""
        tester: Tester = self.opened.enter_context(self.own.open())
        for number in numbers:
            given = input_from(paths, number)
            yield self._result(tester.test_text(given.text), given)
            yield None
            if control.left() == 0:
                return

    def _result(self, tested: Tested, given: Input) -> InputResult:
        found: tuple[Finding, ...] = ()
        if tested.criterion is not None:
            found = (Finding((Command(self.own.label),), tested.criterion),)
        return InputResult(given, found, (self.own.command,), tested.timed_out, tested.counts)

    def close(self) -> None:
        self.opened.close()
