"""The process on a worker that runs checks: orders come in on stdin, reports go out on stdout.

It is not a thread of the Dask worker, because the limits of a command are those of its parent
for a moment (`spawning.py`), and because its end must be the end of all that it started: when
the worker dies in whatever way, stdin ends, and so do the checks.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections import deque
from contextlib import suppress
from dataclasses import replace
from typing import Any

from reducekit.errors import ReducekitError
from reducekit.executors.cluster.protocol import (
    Base,
    Cancel,
    Check,
    Frames,
    Order,
    Report,
    Setup,
    frame,
    in_place,
)
from reducekit.executors.local import LocalExecutor

_TICK = 20  # milliseconds between looks at limits of time
_PART = 1 << 20
_ROOM = 1 << 20  # bytes; where less is free, a command may have failed for lack of it


class _Checks:
    """The checks of one executor: as many run as there are slots, the others wait."""

    def __init__(self, executor: LocalExecutor) -> None:
        self.executor = executor
        self._base = b""
        self._waiting: deque[tuple[Check, bytes]] = deque()
        self._told = 0

    def take(self, orders: list[Order]) -> None:
        """Take orders in."""
        for order in orders:
            match order:
                case Base(new):
                    self._base = new.text(self._base)
                case Check():
                    self._waiting.append((order, order.new.text(self._base)))
                case Cancel(ticket):
                    self.executor.cancel(ticket)
                    self._waiting = deque(
                        each for each in self._waiting if each[0].ticket != ticket
                    )

    def turn(self) -> Report | None:
        """Start what there is room for, and return what has finished."""
        executor = self.executor
        while self._waiting and executor.free:
            check, text = self._waiting.popleft()
            executor.submit(check.ticket, text, check.limits)
        finished = executor.wait(0)
        if not finished:
            return None
        if not all(each.interesting for each in finished) and _full(executor.directory):
            return Report(failed=f"the file system of {executor.directory} is full")
        runs = executor.runs - self._told
        self._told += runs
        return Report(tuple(finished), runs)


def _full(path: str) -> bool:
    """Say whether so little room is left that a command may have failed for that."""
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize < _ROOM


def _report(report: Report) -> None:
    left = memoryview(frame(report))
    while left:
        left = left[os.write(1, left) :]


def serve(folder: str) -> None:
    """Run the checks that are asked for until stdin ends; `folder` has what was sent along."""
    frames = Frames()
    messages: list[Any] = []
    while not messages:
        part = os.read(0, _PART)
        if not part:
            return
        messages = frames.feed(part)
    setup: Setup
    jobs: int
    (setup, jobs), *orders = messages
    with suppress(OSError):
        os.chdir(setup.directory)
    # For the lines of a shell, which name what was sent along as they like.
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"
    commands = tuple(in_place(each, folder) for each in setup.oracle.commands)
    oracle = replace(setup.oracle, commands=commands)
    try:
        with LocalExecutor(oracle, jobs, setup.suffix, name=setup.name) as executor:
            _loop(_Checks(executor), frames, orders)
    except ReducekitError as error:
        _report(Report(failed=str(error)))


def _loop(checks: _Checks, frames: Frames, orders: list[list[Order]]) -> None:
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(checks.executor.fileno(), select.POLLIN)
    while True:
        for each in orders:
            checks.take(each)
        report = checks.turn()
        if report is not None:
            _report(report)
            if report.failed is not None:
                return
        orders = []
        for fd, _ in poll.poll(_TICK):
            if fd == 0:
                part = os.read(0, _PART)
                if not part:
                    return
                orders = frames.feed(part)


if __name__ == "__main__":
    # Ctrl-C on a local cluster and the end of a batch job go to every process: the worker
    # decides, and its end is ours.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with suppress(BrokenPipeError):
        serve(sys.argv[1])
