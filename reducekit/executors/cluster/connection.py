"""A thread with a Dask client: tracks the workers, and keeps a checker on each."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import pickle
import resource
import sys
import threading
import time
import uuid
from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from reducekit.errors import ReducekitError, UsageError
from reducekit.executors.cluster.checking import HEAD, LEASE, Cancel, Checker, Order, Report
from reducekit.executors.cluster.spec import ClusterSpec, start
from reducekit.executors.executor import ExecutorError
from reducekit.run import Closing
from reducekit.runtime import __version__

_CONNECTING = 10.0  # seconds
_ANSWERING = 10.0  # seconds that the scheduler may take to answer
_REACHING = 3.0  # seconds that a worker may take to answer without the scheduler in between
_GLANCE = 0.5  # seconds between two looks which workers there are
_PAUSE = 1.0  # seconds between attempts to connect
_SLICE = 0.1  # seconds of waiting after which Ctrl-C is answered
_REST = 3.0  # seconds until a worker that has failed is tried again
_FAILURES = 3  # in a row, after which a worker is given up
PATIENCE = 10.0  # seconds that a checker may take to answer
_LOOKS = 10  # for the answer in that time: a pause of this process is not the worker's
_RENEWING = LEASE / 5
_JOINING = 30.0  # seconds that a worker may take to have a slot free for the start of a checker
_RELAYED = 400  # checks at a time where the scheduler relays: it has 512 files for that, or more
_NOBODY = -1  # an executor that there is not: a cancelled check of it is answered, too


T = TypeVar("T")


class LinkError(ReducekitError):
    """The checker on a worker is gone."""


class Link:
    """The client's side of the checker on one worker. Use it in the connection's thread only."""

    def __init__(self, connection: Connection, address: str, slots: int, actor: Any) -> None:
        self.address = address
        self.slots = slots
        self.version = ""  # the version of reducekit on the worker
        self.checks: set[int] = set()  # the numbers of its checks, of all executors
        self.answers: dict[Hashable, Future[list[str]]] = {}
        """What it lacks, by what it was asked to have: executors with equal needs ask once."""
        self.why = "it has gone"  # why it is no longer used
        self.proved = False  # whether it has ever finished a check
        self.actor = actor
        self.broken: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        """Set to the error when the checker fails."""
        self.renewing: asyncio.Future[Any] | None = None
        self._connection = connection
        self._turn = itertools.count()  # the turn of the next orders, which may arrive out of order
        self._tasks: set[asyncio.Task[Any] | None] = set()

    async def ask(self, which: int, orders: Sequence[Order], number: int) -> Report:
        """Send orders to an executor on the worker; return the report for `number`.

        Raises LinkError if the checker is lost.
        """
        data = pickle.dumps((which, orders), pickle.HIGHEST_PROTOCOL)
        self._connection.sent += len(data)
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            answer = await self.actor.check(HEAD.pack(next(self._turn), number) + data)
        except asyncio.CancelledError:
            if self.broken.done():
                raise LinkError(self.why) from None
            raise
        except Exception as error:  # of the network, and of whatever the worker says
            if not self.broken.done():
                self.broken.set_result(error)
            raise LinkError(self.why) from None
        finally:
            self._tasks.discard(task)
        self._connection.received += len(answer)
        report: Report = pickle.loads(answer)
        self.proved = self.proved or report.finished is not None
        return report

    def cancel(self, which: int, number: int) -> None:
        """Cancel a check."""
        call = self.actor.cancel(next(self._turn), which, number)
        task = asyncio.ensure_future(_awaited(call))
        self._tasks.add(task)

        def cancelled(task: asyncio.Task[Any]) -> None:
            self._tasks.discard(task)
            if not task.cancelled():
                task.exception()  # if the checker is lost, others notice

        task.add_done_callback(cancelled)

    def close(self, why: str) -> None:
        """Make all pending requests fail."""
        self.why = why or self.why
        if not self.broken.done():
            self.broken.cancel()
        for task in (*self._tasks, self.renewing):
            if task is not None:
                task.cancel()


class Connection(Closing):
    """A connection to a cluster; reconnects when the scheduler returns.

    `workers` maps the address of each worker that is there to how many checks it can run at a
    time, `links` to its checker once that has answered. `refused` says what is wrong with the
    others. Each is replaced as a whole; then the functions of `watchers` are called, in the
    thread of the connection.
    """

    def __init__(self, spec: ClusterSpec) -> None:
        """Start the cluster if it is not running yet, and wait for a worker.

        Raises UsageError if the scheduler cannot be used, ExecutorError if it has no worker.
        """
        self.spec = spec
        self.name = uuid.uuid4().hex  # the name of this client on the workers
        self.workers: Mapping[str, int] = {}
        self.links: Mapping[str, Link] = {}
        self.refused: Mapping[str, str] = {}
        self.watchers: set[Callable[[], None]] = set()
        self.numbers = itertools.count()  # the numbers of checks and executors, all different
        self.sent = self.received = 0  # bytes of orders sent, and of reports received
        self.why = ""  # why the scheduler does not answer; empty if it does
        self.client: Any = None
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self.most = files // 2 if files != resource.RLIM_INFINITY else sys.maxsize
        """Most checks at a time: each takes a connection, so an open file, while it runs."""
        self.slot = asyncio.Event()  # set, and replaced, when a slot may have become free
        self._attending: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Future[Any]] = set()
        self._stopped = False
        self._stopping = asyncio.Event()
        self._binding = asyncio.Lock()
        self._place = start(spec)
        self._loop = asyncio.new_event_loop()
        self._serving: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="reducekit-cluster", daemon=True)
        self._thread.start()
        try:
            self._wait_for_worker()
        except BaseException:
            self.close()
            raise

    @property
    def address(self) -> str:
        """The address of the scheduler."""
        return self._place.address

    @property
    def slots(self) -> int:
        """How many checks the present workers can run at a time."""
        return sum(self.workers.values())

    def run(self, call: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine in the thread of the connection."""
        return asyncio.run_coroutine_threadsafe(call, self._loop)

    def soon(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call a function in the thread of the connection."""
        with contextlib.suppress(RuntimeError):  # it is closed
            self._loop.call_soon_threadsafe(function, *arguments)

    def freed(self) -> None:
        """Wake all that wait for a slot. Call this in the connection's thread only."""
        self.slot.set()
        self.slot = asyncio.Event()

    def call(self, link: Link, method: str, *arguments: Any) -> Future[Any]:
        """Call a method of a checker. The future raises whatever goes wrong."""

        async def called() -> Any:
            return await asyncio.wait_for(getattr(link.actor, method)(*arguments), LEASE)

        return self.run(called())

    async def link_here(self, slots: int) -> Link:
        """Return a checker on this machine, for one executor only."""
        link = Link(self, "this machine", slots, Checker("", self._loop))

        async def renew() -> None:
            with contextlib.suppress(Exception):
                await self._renew(link)
            link.close("")

        link.renewing = self._loop.create_task(renew())
        return link

    def submit(
        self, workers: Sequence[str], function: Callable[..., Any], *arguments: Any
    ) -> Future[Any]:
        """Call a function on one of the workers, as a Dask task that uses one of its slots.

        The future raises whatever goes wrong: KilledWorker if several workers died of it.
        Cancelling it withdraws a task that has not begun.
        """

        async def submitted() -> Any:
            client = self.client
            if client is None:
                raise ConnectionError(self.why or "the scheduler does not answer")
            task = client.submit(function, *arguments, pure=False, workers=list(workers))
            waiting = asyncio.ensure_future(_awaited(task))
            self._tasks.add(waiting)
            try:
                return await waiting
            except asyncio.CancelledError:
                if self.client is client:
                    raise
                raise ConnectionError("the scheduler has gone") from None
            finally:
                self._tasks.discard(waiting)

        return self.run(submitted())

    def close(self) -> None:
        """Cancel all checks, disconnect, and stop the cluster if it was started here."""
        if self._stopped:
            return
        self._stopped = True
        self.soon(self._stopping.set)
        if self.client is None and self._serving is not None:
            self.soon(self._serving.cancel)  # otherwise it leaves by itself, and says goodbye
        self._thread.join()
        self._place.close()

    def _wait_for_worker(self) -> None:
        end = time.monotonic() + self.spec.wait
        while not self.workers:
            if time.monotonic() > end or not self._thread.is_alive():
                unusable = f"the cluster at {self.address} cannot be used"
                waited = f"(waited for {self.spec.wait:g} s)"
                if self.client is None:
                    why = self.why or "no scheduler answers"
                    raise UsageError(f"{unusable}: {why} {waited}")
                raise ExecutorError(f"{unusable}: it has no worker {waited}; start one")
            time.sleep(_SLICE)
        # Those that come at the same time count from the beginning.
        wanted = self.spec.workers or int(self.spec.arguments.get("n_workers", 0))
        while len(self.workers) < wanted and time.monotonic() < end:
            time.sleep(_SLICE)

    # -- in the thread of the connection -----------------------------------------------

    def _run(self) -> None:
        with (
            contextlib.suppress(asyncio.CancelledError),
            asyncio.Runner(loop_factory=lambda: self._loop) as runner,
        ):
            runner.run(self._serve())

    async def _serve(self) -> None:
        """Connect, and reconnect, until stopped."""
        from distributed import Client

        self._serving = asyncio.current_task()
        while not self._stopped:
            client: Any = Client(  # type: ignore[no-untyped-call]
                self.address,
                asynchronous=True,
                timeout=_CONNECTING,
                set_as_default=False,
                security=self._place.security,
                name="reducekit",
                direct_to_workers=True,
                connection_limit=1 << 20,  # each check is a connection while it runs
            )
            try:
                await client
                self.client, self.why = client, ""
                while not self._stopped:
                    found: Any = await asyncio.wait_for(client.nthreads(), _ANSWERING)
                    self._set_workers(dict(found))
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._stopping.wait(), _GLANCE)
                closing = [each.actor.close() for each in self.links.values()]
                await asyncio.wait_for(asyncio.gather(*map(_awaited, closing)), _ANSWERING)
            except Exception as error:  # of the network, in all its forms
                self.why = str(error) or type(error).__name__
            finally:
                self.client = None
                self._set_workers({})
                for each in list(self._tasks):
                    each.cancel()
                with contextlib.suppress(Exception):
                    await asyncio.wait_for(client.close(), _ANSWERING)
            if not self._stopped:
                await asyncio.sleep(_PAUSE)

    def _set_workers(self, workers: dict[str, int]) -> None:
        if workers == self.workers:
            return
        for address in self.workers.keys() - workers.keys():
            self._attending.pop(address).cancel()
        self.refused = {each: why for each, why in self.refused.items() if each in workers}
        for address in workers.keys() - self.workers.keys():
            task = self._loop.create_task(self._attend(address, workers[address]))
            self._attending[address] = task
        self._set(workers=workers)

    def _set(self, **found: Mapping[str, Any]) -> None:
        """Replace attributes about the workers, and call the watchers."""
        for name, value in found.items():
            setattr(self, name, value)
        for each in list(self.watchers):
            each()

    async def _attend(self, address: str, slots: int) -> None:
        """Keep a checker on a worker while it exists; refuse a worker that keeps failing."""
        failures, why = 0, ""
        while failures < _FAILURES:
            link, why = None, ""
            try:
                link = await self._linked(address, slots)
                self._set(links={**self.links, address: link})
                await self._renew(link)
            except ImportError as error:
                why = f"it has no {error.name}: install reducekit {__version__} there"
                break
            except ChildProcessError as error:
                why = str(error)
            except Exception as error:  # of the network, and of whatever a worker says
                why = f"it does not answer ({str(error) or type(error).__name__})"
            finally:
                if link is not None:
                    link.close(why)
                    self._set(links={a: its for a, its in self.links.items() if its is not link})
            failures = 1 if link is not None and link.proved else failures + 1
            await asyncio.sleep(_REST * failures)
        self._set(refused={**self.refused, address: why})

    async def _linked(self, address: str, slots: int) -> Link:
        """Create a checker on a worker, and find out how to reach it."""
        client = self.client
        made = client.submit(Checker, self.name, actor=True, workers=[address], priority=100)
        async with asyncio.timeout(_JOINING):
            while made.status == "pending":
                await asyncio.sleep(_SLICE)
        async with self._binding:  # the settings that this changes are those of the process
            with client.as_current():  # the actor takes the current client for its own
                actor = await made
        link = Link(self, address, slots, actor)
        if client.direct_to_workers:
            with contextlib.suppress(OSError, TimeoutError):
                link.version = await asyncio.wait_for(actor.version(), _REACHING)
                return link
            client.direct_to_workers = False
        try:
            link.version = await asyncio.wait_for(actor.version(), _ANSWERING)
        except (OSError, TimeoutError):
            client.direct_to_workers = True  # the scheduler does not reach it either
            raise
        self.most = min(self.most, _RELAYED)
        return link

    async def _renew(self, link: Link) -> None:
        """Keep renewing the lease. Raises the checker's failure."""

        async def ping() -> None:
            number = next(self.numbers)
            with contextlib.suppress(LinkError):
                await link.ask(_NOBODY, [Cancel(number)], number)

        while True:
            renewed = self._loop.create_task(ping())
            for _ in range(_LOOKS):
                either: set[asyncio.Future[Any]] = {renewed, link.broken}
                await asyncio.wait(either, timeout=PATIENCE / _LOOKS, return_when="FIRST_COMPLETED")
                if renewed.done() or link.broken.done():
                    break
            else:
                raise TimeoutError(f"nothing for {PATIENCE:g} s")
            await asyncio.wait({link.broken}, timeout=_RENEWING)
            if link.broken.done():
                raise link.broken.result()


async def _awaited(task: Any) -> Any:
    """Return the result of a future of Dask."""
    return await task
