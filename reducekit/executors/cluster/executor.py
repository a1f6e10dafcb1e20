"""Runs checks on the workers of a cluster, with the interface of the local executor.

Each check is a coroutine in the thread of the connection: it finds a worker with an idle slot,
calls the checker there, and retries elsewhere if that fails. So no check is lost, whatever happens
to a worker. Everything for the caller's thread goes through one queue.
"""

from __future__ import annotations

import asyncio
import math
import os
import queue
import signal
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from statistics import median

from reducekit.errors import UsageError
from reducekit.executors.cluster.admission import Members, Shipped, Tell, sent_along
from reducekit.executors.cluster.checking import LITTLE, Check, Close, NewText, Order, Setup
from reducekit.executors.cluster.connection import Connection, Link, LinkError
from reducekit.executors.executor import Executor, ExecutorError, Finished
from reducekit.oracle.criterion import Oracle
from reducekit.run import Limits

AHEAD = 4  # slots per check that waits on the worker: so no slot idles until the next message
_GLANCE = 0.25  # seconds between looks whether there are workers
_CLOSING = 10.0  # seconds that workers may take to end all checks
_TAKING_OVER = 2.0  # seconds without a worker after which this machine does
_SAMPLES = 5  # checks that tell how fast a worker is
_SLOW = 1.5  # times as long as on the others


class _Place:
    def __init__(self, link: Link) -> None:
        self.link = link
        self.checks: set[int] = set()  # of this executor; kept when the worker is lost
        self.base: bytes | None = None  # its base text; None if it does not know this executor
        self.samples = 0
        self.pace = 0.0  # mean seconds of the latest runs

    @property
    def idle(self) -> int:
        """Number of free slots, counting all executors; if negative, of waiting checks."""
        return self.link.slots - len(self.link.checks)

    @property
    def full(self) -> bool:
        """Whether no more checks may wait there."""
        return -self.idle >= math.ceil(self.link.slots / AHEAD)


class ClusterExecutor(Executor):
    """Runs checks on the workers of a connection, at most `jobs` at a time.

    Some more may be submitted and wait on the workers: so no slot idles until a message arrives.

    When no worker is left, `local_slots` slots of this machine take over; if it is 0, the executor
    waits for a worker as long as the cluster's description says. `tell` is called with messages for
    the user.
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
        local_slots: int = 0,
        workdir: str | None = None,
        tell: Tell = lambda text: None,
    ) -> None:
        """Ask all workers what they lack. Raises UsageError if none can run the commands."""
        self.runs = 0
        self._connection = connection
        self._jobs = jobs
        self._which = next(connection.numbers)
        commands = sent_along(oracle.commands, shipped)
        placed = oracle._replace(commands=commands)
        self._setup = Setup(placed, 0, suffix, name, os.getcwd(), workdir)
        self._local_slots = local_slots
        self._tell: Tell = lambda text: self._inbox.put(partial(tell, text))
        self._calls: dict[int, Future[Finished]] = {}  # by ticket
        self._ready: list[Finished] = []
        self._inbox: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        """Calls to make in the caller's thread."""
        # What follows is for the thread of the connection.
        self._places: dict[Link, _Place] = {}
        self._here: Link | None = None  # the checker on this machine, while it takes over
        self._base: bytes | None = None  # the text that candidates are edits of
        self._failure: ExecutorError | None = None  # why no worker will come any more
        self._changed = asyncio.Event()
        self._waits = False
        self._members = Members(connection, commands, shipped, self._tell, self._wake)
        try:
            self._members.wait_for_first(_TAKING_OVER if local_slots else math.inf)
        except (UsageError, ExecutorError):
            if not local_slots:
                raise
        connection.watchers.add(self._wake)
        self._tending = connection.run(self._tend())
        self.ready(bool(self._members.admitted))
        self._take_in(0.0)

    @property
    def workers(self) -> tuple[str, ...]:
        """The addresses of the workers that get checks."""
        return tuple(each.address for each in list(self._places))

    @property
    def free(self) -> int:
        return self._jobs + self._jobs // AHEAD - len(self._calls)

    def ready(self, workers: int, seconds: float = 30.0) -> None:
        """Wait until that many workers get checks, at most `seconds`."""
        end = time.monotonic() + seconds
        while len(self.workers) < workers and time.monotonic() < end:
            time.sleep(0.01)

    def build_on(self, text: bytes) -> None:
        self._connection.soon(self._rebase, text)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Start a check of `text` on a worker, once one has a free slot."""
        assert ticket not in self._calls, "the ticket is in use"
        call = self._calls[ticket] = self._connection.run(self._verdict(text, limits))
        call.add_done_callback(lambda call: self._inbox.put(partial(self._finish, ticket, call)))

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Wait for at least one check to finish, at most `timeout` seconds; return all finished.

        Raises ExecutorError if no worker can run checks any more.
        """
        give_up = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            left = give_up - time.monotonic()
            if self._ready or not self._calls or left <= 0:
                self._take_in(0.0)
                ready, self._ready = self._ready, []
                return ready
            self._take_in(min(left, _GLANCE))

    def cancel(self, ticket: int) -> None:
        self._ready = [done for done in self._ready if done.ticket != ticket]
        call = self._calls.pop(ticket, None)
        if call is not None:
            call.cancel()

    def close(self) -> None:
        if self._wake not in self._connection.watchers:
            return
        self._connection.watchers.discard(self._wake)
        self._tending.cancel()
        for ticket in list(self._calls):
            self.cancel(ticket)
        with suppress(OSError, CancelledError, TimeoutError):
            self._connection.run(self._leave()).result(_CLOSING)

    # -- in the thread of the caller ---------------------------------------------------

    def _take_in(self, timeout: float) -> None:
        """Make the calls of the inbox, after waiting for one."""
        if self._tending.done():
            self._tending.result()
        with suppress(queue.Empty):
            act = self._inbox.get(timeout=timeout) if timeout > 0 else self._inbox.get_nowait()
            while True:
                act()
                act = self._inbox.get_nowait()

    def _finish(self, ticket: int, call: Future[Finished]) -> None:
        if self._calls.get(ticket) is call:
            del self._calls[ticket]
            self._ready.append(call.result()._replace(ticket=ticket))

    # -- workers come and go -------------------------------------------------------------

    def _wake(self) -> None:
        self._connection.soon(self._changed.set)

    async def _tend(self) -> None:
        """Keep the list of workers up to date, and act if there are none."""
        while True:
            self._members.look()
            admitted = self._members.admitted
            if self._here is not None and self._here.broken.done():
                await self._end_here()
            for link in self._places.keys() - {self._here, *admitted.values()}:
                self._lose(link)
            for link in admitted.values():
                self._add(link)
            if admitted:
                self._waits, self._failure = False, None
                if self._here is not None:
                    self._tell("there are workers again")
                    await self._end_here()
            elif self._members.seconds_alone is not None:
                await self._do_without(self._members.seconds_alone)
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), _GLANCE)

    def _add(self, link: Link) -> None:
        if link not in self._places:
            self._places[link] = _Place(link)
            self._connection.freed()

    def _lose(self, link: Link) -> None:
        """Drop a worker; its checks fail there and are retried elsewhere."""
        number = len(self._places.pop(link).checks)
        if number:
            checks = "a check" if number == 1 else f"{number} checks"
            self._tell(f"worker {link.address}: {link.why}; {checks} made elsewhere")

    async def _do_without(self, alone: float) -> None:
        """Let this machine take over, or wait for a worker; after too long, fail all checks."""
        if self._local_slots:
            if self._here is None and self._calls and alone > _TAKING_OVER:
                self._tell("no worker is left: checks are made on this machine meanwhile")
                self._here = await self._connection.link_here(self._local_slots)
                await self._members.ship(self._here)
                self._add(self._here)
            return
        try:
            self._members.require()
        except ExecutorError as error:
            self._failure = error
            self._connection.freed()
        if not self._waits:
            self._waits = True
            why = self._connection.why or "none is left"
            self._tell(f"no worker ({why}): waiting for {self._connection.spec.wait:g} s")

    async def _end_here(self) -> None:
        if self._here is not None:
            here, self._here = self._here, None
            self._places.pop(here, None)
            here.close("")
            await here.actor.close()

    async def _leave(self) -> None:
        """Close this executor on the workers."""
        closing = [
            link.ask(self._which, [Close(number := next(self._connection.numbers))], number)
            for link, place in self._places.items()
            if place.base is not None
        ]
        await asyncio.gather(*closing, return_exceptions=True)
        await self._end_here()
        self._places.clear()  # an actor lives as long as somebody knows its link

    # -- checks --------------------------------------------------------------------------

    async def _verdict(self, text: bytes, limits: Limits) -> Finished:
        """Run a check, and again elsewhere if that fails or its verdict is in doubt."""
        doubted: _Place | None = None
        while True:
            while (place := self._best_place(doubted)) is None:
                if self._failure is not None:
                    raise self._failure
                await self._connection.slot.wait()
            finished = await self._tried(place, text, limits)
            if finished is None:
                continue
            if doubted is None and self._doubted(finished, place):
                doubted = place
                continue
            if finished.interesting:
                self._rebase(text)
            return finished

    async def _tried(self, place: _Place, text: bytes, limits: Limits) -> Finished | None:
        """Run a check on a worker, as one of its checks; return None if that fails."""
        number = next(self._connection.numbers)
        place.link.checks.add(number)
        place.checks.add(number)
        # A task of its own: what ends the link's requests must not pass for the caller's `cancel`.
        task = asyncio.ensure_future(self._run(place, number, text, limits))
        try:
            await asyncio.wait({task})
            return task.result()
        finally:
            task.cancel()
            place.link.checks.discard(number)
            if not place.link.broken.done():
                place.checks.discard(number)
            self._connection.freed()

    async def _run(
        self, place: _Place, number: int, text: bytes, limits: Limits
    ) -> Finished | None:
        link = place.link
        try:
            report = await link.ask(self._which, self._orders(place, number, text, limits), number)
        except LinkError:
            return None
        except asyncio.CancelledError:
            link.cancel(self._which, number)
            raise
        self.runs += report.runs
        if report.finished is None and link in self._places:
            link.why = report.failed or ""
            self._members.refuse(link.address, link.why)
            self._lose(link)
        return report.finished

    def _orders(self, place: _Place, number: int, text: bytes, limits: Limits) -> list[Order]:
        """Return the orders for a check on a worker, and record that they are sent."""
        orders: list[Order] = []
        if place.base is None:
            orders.append(replace(self._setup, jobs=place.link.slots))
        base = self._base = text if self._base is None else self._base
        if place.base is not base:
            orders.append(NewText.of(base, place.base))
            place.base = base
        new = NewText.of(text, base)
        if len(new.change) > LITTLE and len(text) > len(base):
            self._base = text  # what the base lacks, the next ones may have as well
        return [*orders, Check(number, new, limits)]

    def _rebase(self, text: bytes) -> None:
        """Have later candidates sent as edits of a text."""
        if self._base is None or len(text) < len(self._base):
            self._base = text

    def _best_place(self, avoided: _Place | None) -> _Place | None:
        """Return the worker with the most idle slots, or with the fewest waiting checks."""
        places = [each for each in self._places.values() if not each.link.broken.done()]
        if sum(len(each.link.checks) for each in places) >= self._connection.most:
            return None
        others = [each for each in places if each is not avoided] or places
        found = max(others, key=lambda each: each.idle / each.link.slots, default=None)
        return None if found is None or found.full else found

    def _doubted(self, finished: Finished, place: _Place) -> bool:
        """Return whether a run may have ended as it did because of its worker.

        That is: out of time on a slow one, or killed where there is too little memory. Then it
        is made on another worker, once.
        """
        several = len(self._places) > 1
        if any(each.signal == signal.SIGKILL and not each.limit for each in finished.outcomes):
            return several
        if not any(each.limit == "time" for each in finished.outcomes):
            for each in finished.outcomes:
                share = 1 / min(place.samples + 1, 4 * _SAMPLES)
                place.pace += share * (each.seconds - place.pace)
                place.samples += 1
            return False
        if not several or place.samples < _SAMPLES:
            return several
        others = (each for each in self._places.values() if each is not place)
        paces = [each.pace for each in others if each.samples >= _SAMPLES]
        return bool(paces) and place.pace > _SLOW * median(paces)
