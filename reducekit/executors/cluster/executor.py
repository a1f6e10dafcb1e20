"""Runs checks on the workers of a cluster; behind the interface of the local executor.

All decisions are made in the thread of the caller, in `submit` and `wait`; what the network
brings comes in through one queue. A check is this executor's until its verdict is in: a worker
that is killed, cut off, or cannot write gives its checks back, and another one makes them.
"""

from __future__ import annotations

import contextlib
import math
import queue
import signal
import time
import uuid
from collections.abc import Callable
from concurrent.futures import wait
from dataclasses import dataclass, field, replace
from statistics import median
from typing import NamedTuple

from reducekit.executors.cluster import remote
from reducekit.executors.cluster.admission import Shipped, Tell, sent_along, why_no_answer
from reducekit.executors.cluster.base_text import BaseText
from reducekit.executors.cluster.connection import Connection
from reducekit.executors.cluster.members import Members
from reducekit.executors.cluster.placement import AHEAD, TOGETHER, Placement
from reducekit.executors.cluster.protocol import (
    Cancel,
    Check,
    Frames,
    Order,
    Report,
    Setup,
    frame,
)
from reducekit.executors.cluster.routes import SLOWNESS, Direct, Relayed, Route, Word
from reducekit.executors.executor import Executor, Finished
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle

_GLANCE = 0.25
_QUICK = 0.003  # seconds between two checks; another one will follow as soon
_HERE = "local"
"""The name among the workers of the slots on this machine, which take over if asked."""
_TAKING_OVER = 2.0  # seconds without a worker after which they do
_SAMPLES = 5  # checks that tell how fast a worker is
_SLOW = 1.5  # times as long as on the others


@dataclass(slots=True)
class _Room:
    """What we know of a room on a worker."""

    name: str
    route: Route
    orders: list[Order] = field(default_factory=list)
    frames: Frames = field(default_factory=Frames)
    version: int = 0
    """Of the base text that it has."""
    samples: int = 0
    pace: float = 0.0
    """Seconds that a run takes there, by those of late."""


class _Given(NamedTuple):
    """A check as it was submitted.

    It has a number of its own: tickets are used again, and what is said of an earlier check may
    be under way still.
    """

    ticket: int
    text: bytes
    limits: Limits


class ClusterExecutor(Executor):
    """Runs checks on the workers of a connection, at most `jobs` at a time.

    Some more may be submitted, which wait on the workers: so no slot idles until a message comes.

    `local` opens an executor on this machine for when no worker is left; without it, that is
    waited for as long as the cluster's description says. `tell` gets sentences for the user.
    """

    def __init__(
        self,
        connection: Connection,
        oracle: Oracle,
        jobs: int,
        *,
        suffix: str = "",
        name: str = "",
        shipped: tuple[Shipped, ...] = (),
        local: Callable[[], Executor] | None = None,
        tell: Tell = lambda text: None,
    ) -> None:
        """Ask all workers what they have. Raises UsageError if none can run the commands."""
        self.runs = 0
        self._connection = connection
        self._jobs = jobs
        commands = sent_along(oracle.commands, shipped)
        self._members = Members(connection, commands, shipped, tell, self._wake)
        placed = replace(oracle, commands=commands)
        self._setup = Setup(placed, suffix, name, self._members.needs.directory)
        self._open_local = local
        self._local: Executor | None = None
        self._tell = tell
        self._checks: dict[int, _Given] = {}  # by number
        self._numbers: dict[int, int] = {}  # by ticket
        self._submitted = 0
        self._ready: list[Finished] = []
        self._placement = Placement(connection.load)
        self._base = BaseText()
        self._rooms: dict[str, _Room] = {}
        self._again: dict[int, str] = {}
        """Checks that are made once more elsewhere, and the workers that are not believed."""
        self._inbox: queue.SimpleQueue[Word | None] = queue.SimpleQueue()
        self._submitted_at = 0.0
        self._told_of_wait = False
        self._closed = False
        connection.watchers.add(self._wake)
        try:
            if local is None:
                self._members.wait_for_first()
            self._look()
        except BaseException:
            self.close()
            raise

    @property
    def workers(self) -> tuple[str, ...]:
        """The addresses of the workers that get checks."""
        return tuple(self._rooms)

    @property
    def free(self) -> int:
        """How many checks may be submitted now."""
        return self._jobs + self._jobs // AHEAD - len(self._checks)

    def ready(self, workers: int, seconds: float = 30.0) -> None:
        """Wait until so many workers get checks, at most so many seconds."""
        end = time.monotonic() + seconds
        while len(self._rooms) < workers and time.monotonic() < end:
            self._look()
            self._take_in(_GLANCE)

    def build_on(self, text: bytes) -> None:
        """Take note of the text that the next candidates are made from: they differ little."""
        self._base.offer(text)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Take a check of `text`; it is sent now, or with others that follow, or on waiting."""
        assert ticket not in self._numbers, "the ticket is in use"
        self._submitted += 1
        self._numbers[ticket] = number = self._submitted
        self._checks[number] = _Given(ticket, text, limits)
        self._placement.submit(number)
        now = time.monotonic()
        quick = now - self._submitted_at < _QUICK
        self._submitted_at = now
        if not quick or self._placement.queued >= TOGETHER:
            self._place()
            self._send(at_once=True)

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Wait for at least one check to finish, at most `timeout` seconds; return all finished.

        Raises ExecutorError if no worker can run checks any more.
        """
        give_up = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            self._look()
            self._place()
            self._send()
            left = give_up - time.monotonic()
            if self._ready or not self._checks or left <= 0:
                ready, self._ready = self._ready, []
                return ready
            self._take_in(min(left, _GLANCE))

    def cancel(self, ticket: int) -> None:
        """End a check and forget it; one that is not running is ignored."""
        self._ready = [done for done in self._ready if done.ticket != ticket]
        number = self._numbers.pop(ticket, None)
        if number is not None:
            del self._checks[number]
            self._forget(number, self._placement.cancel(number))

    def close(self) -> None:
        """End all checks, and wait until the workers say that nothing of them runs."""
        if self._closed:
            return
        self._closed = True
        self._connection.watchers.discard(self._wake)
        for number in self._checks:
            self._placement.cancel(number)
        self._checks.clear()
        calls = []
        for address, room in self._rooms.items():
            self._connection.rooms.pop(room.name, None)
            calls.append(
                self._connection.call(
                    address, remote.release, [room.name], self._connection.name, seconds=SLOWNESS
                )
            )
        if self._local is not None:
            self._local.close()
        wait(calls, SLOWNESS)
        for room in self._rooms.values():
            room.route.close()
        self._rooms.clear()

    # -- workers come and go ---------------------------------------------------------

    def _wake(self) -> None:
        self._inbox.put(None)

    def _look(self) -> None:
        """Take in which workers there are, and what becomes of checks if there are none."""
        members = self._members
        members.look()
        for address in [each for each in self._rooms if each not in members.admitted]:
            self._lose(address, "it has gone")
        for address in members.admitted - self._rooms.keys():
            slots = max(1, self._connection.workers.get(address, 1))
            self._rooms[address] = self._opened(address, slots)
            self._placement.add_worker(address, slots)
        alone = members.seconds_alone
        if alone is not None:
            self._do_without(alone)
        elif self._rooms:
            self._told_of_wait = False
            if self._local is not None:
                self._end_local()

    def _opened(self, address: str, slots: int) -> _Room:
        name = uuid.uuid4().hex
        self._connection.rooms[name] = address
        kind = Direct if self._connection.goes_straight(address) else Relayed
        setup = frame((self._setup, slots))
        return _Room(name, kind(self._connection, address, name, setup, self._inbox.put))

    def _lose(self, address: str, why: str) -> None:
        """Let a worker go; its checks are made elsewhere."""
        room = self._rooms.pop(address, None)
        if room is None:
            return
        self._connection.rooms.pop(room.name, None)
        room.route.close()
        again = self._placement.remove_worker(address)
        if again:
            number = "a check" if again == 1 else f"{again} checks"
            self._tell(f"worker {address}: {why}; {number} made elsewhere")

    def _do_without(self, alone: float) -> None:
        """Have this machine take over, or wait for a worker. Raises ExecutorError in the end."""
        if self._open_local is not None:
            ready = alone > _TAKING_OVER or self._members.refused
            if self._local is None and self._checks and ready:
                self._local = self._open_local()
                self._placement.add_worker(_HERE, self._local.free, ahead=False)
                self._tell("no worker is left: checks are made on this machine meanwhile")
            return
        self._members.require()
        if not self._told_of_wait:
            self._told_of_wait = True
            why = self._connection.why or "none is left"
            self._tell(f"no worker ({why}): waiting for {self._connection.spec.wait:g} s")

    def _end_local(self) -> None:
        assert self._local is not None
        self._placement.remove_worker(_HERE)
        self.runs += self._local.runs
        self._local.close()
        self._local = None
        self._tell("there are workers again")

    # -- checks --------------------------------------------------------------------------

    def _place(self) -> None:
        """Place what is queued, and say so to the workers."""
        now = time.monotonic()
        for number, worker in self._placement.place(now, self._again):
            _, text, limits = self._checks[number]
            if worker == _HERE:
                assert self._local is not None
                self._local.submit(number, text, limits)
                continue
            new = self._base.describe(text, len(self._rooms))
            room = self._rooms[worker]
            room.orders += self._base.orders_for(room.version)
            room.version = self._base.version
            room.orders.append(Check(number, new, limits))

    def _send(self, *, at_once: bool = False) -> None:
        """Send what there is to say, all of a worker in one message; or only where it is cheap."""
        for address, room in self._rooms.items():
            if at_once and not (room.orders and room.route.at_once):
                continue
            waiting = bool(self._placement.workers[address].checks)
            if room.route.send(frame(room.orders) if room.orders else b"", waiting):
                room.orders = []

    def _take_in(self, timeout: float) -> None:
        """Wait for what the network brings, and take all of it in."""
        if self._local is not None:
            timeout = 0.0
            for finished in self._local.wait(0.02):
                self._finish(finished, _HERE)
        with contextlib.suppress(queue.Empty):
            message = self._inbox.get(timeout=timeout) if timeout else self._inbox.get_nowait()
            while True:
                if message is not None:
                    self._take_word(message)
                message = self._inbox.get_nowait()

    def _take_word(self, word: Word) -> None:
        """Take in what a room has said, or that it does not answer any more."""
        address, error = word.address, word.error
        room = self._rooms.get(address)
        if room is None or room.name != word.room:
            return  # of a room that was given up
        room.route.heard()
        if error is not None:
            self._lose(address, f"it does not answer ({str(error) or type(error).__name__})")
            self._members.strike(address, why_no_answer(error))
            return
        if word.forgotten:
            self._lose(address, "it was without a word from us for too long")
            return
        self._connection.received += len(word.reports)
        failed = None
        for report in room.frames.feed(word.reports):
            assert isinstance(report, Report)
            self.runs += report.runs
            failed = failed or report.failed
            for finished in report.finished:
                self._members.forgive(address)
                self._finish(finished, address)
        if failed is not None:
            self._lose(address, failed)
            self._members.refuse(address, failed)
        elif word.ended:
            self._lose(address, "its checking process was killed")
            self._members.strike(address, "its checking process was killed again and again")

    def _finish(self, finished: Finished, worker: str) -> None:
        """Take a verdict in, unless it has to be made sure of elsewhere."""
        number = finished.ticket
        given = self._checks.get(number)
        if given is None or worker not in self._placement.workers:
            return
        if worker != _HERE and self._doubted(finished, worker):
            self._again[number] = worker
            self._placement.put_back(number, worker)
            return
        others = self._placement.finish(number, worker, time.monotonic())
        if others is None:
            return
        del self._checks[number], self._numbers[given.ticket]
        self._forget(number, others)
        self._ready.append(replace(finished, ticket=given.ticket))
        if finished.interesting:
            self._base.offer(given.text)

    def _doubted(self, finished: Finished, worker: str) -> bool:
        """Say whether a run may have ended as it did because of its worker.

        That is: out of time on a slow one, or killed where there is too little memory. Then it
        is made on another worker, once.
        """
        room = self._rooms[worker]
        if any(each.signal == signal.SIGKILL and not each.limit for each in finished.outcomes):
            return len(self._rooms) > 1 and finished.ticket not in self._again
        if not any(each.limit == "time" for each in finished.outcomes):
            for each in finished.outcomes:
                share = 1 / min(room.samples + 1, 4 * _SAMPLES)
                room.pace += share * (each.seconds - room.pace)
                room.samples += 1
            return False
        if finished.ticket in self._again:
            return False
        others = [
            each.pace
            for each in self._rooms.values()
            if each is not room and each.samples >= _SAMPLES
        ]
        if len(self._rooms) < 2:
            return False
        return room.samples < _SAMPLES or bool(others and room.pace > _SLOW * median(others))

    def _forget(self, number: int, places: list[str]) -> None:
        """End a check where it runs."""
        self._again.pop(number, None)
        for each in places:
            if each == _HERE:
                assert self._local is not None
                self._local.cancel(number)
            elif each in self._rooms:
                self._rooms[each].orders.append(Cancel(number))
