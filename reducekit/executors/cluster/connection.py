"""A thread that talks to a Dask scheduler: it knows which workers there are, and calls them."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import sys
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from reducekit.errors import UsageError
from reducekit.executors.cluster import remote
from reducekit.executors.cluster.placement import Load
from reducekit.executors.cluster.spec import ClusterSpec, start
from reducekit.executors.executor import Closing

_CONNECTING = 10.0  # seconds
_ANSWERING = 10.0  # seconds that the scheduler may take to say which workers there are
_REACHING = 2.0  # seconds that a worker may take to answer without the scheduler in between
_AT_A_TIME = 64  # workers of which that is found out
_GLANCE = 0.5  # seconds between two such questions
_PAUSE = 1.0  # seconds between attempts to connect
_SLICE = 0.1  # seconds of waiting after which Ctrl-C is answered
_SWITCH = 0.0005
"""Seconds after which the thread that searches lets this one in, if it has something to do.

By default it is 5 ms: each message, which takes some steps of the loop, would wait for that so
often, while all slots of a worker stand idle.
"""


class Connection(Closing):
    """A connection to a cluster, which comes back by itself when the scheduler does.

    `workers` maps the address of each worker that is there to how many checks it can run at a
    time. It is replaced as a whole when it changes; then the functions of `watchers` are called,
    in the thread of the connection.
    """

    def __init__(self, spec: ClusterSpec) -> None:
        """Start the cluster, if it is to be, and wait for a worker. Raises UsageError."""
        self.spec = spec
        self.name = uuid.uuid4().hex
        """That of this client, on the workers."""
        self.workers: Mapping[str, int] = {}
        self.watchers: set[Callable[[], None]] = set()
        self.load = Load()
        self.fit: set[tuple[str, Hashable]] = set()
        """Workers that have said that they have what is needed, with that: asked once."""
        self.direct: set[str] = set()
        """Workers that can be reached without the scheduler in between."""
        self.rooms: dict[str, str] = {}
        """The rooms that are open (see `remote`), each with its worker."""
        self.sent = self.received = 0
        """Bytes of the messages to the workers and from them."""
        self.why = ""
        """Why the scheduler does not answer; empty if it does."""
        self._client: Any = None
        self._looks = 0
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most = files // 2 if files != resource.RLIM_INFINITY else sys.maxsize
        """Direct connections at a time: each is an open file, and others are needed, too."""
        self._attending: set[Future[None]] = set()
        self._reaching = asyncio.Semaphore(_AT_A_TIME)
        self._calls: dict[str, set[asyncio.Future[Any]]] = {}
        """Those under way, by worker."""
        self._tasks: set[asyncio.Future[Any]] = set()
        self._stopped = False
        self._stopping = asyncio.Event()
        self._switch = sys.getswitchinterval()
        self._place = start(spec)
        sys.setswitchinterval(min(_SWITCH, self._switch))
        self._loop = asyncio.new_event_loop()
        self._serving = self._loop.create_task(self._serve())
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
        """How many checks the workers that are there can run at a time."""
        return sum(self.workers.values())

    def call(
        self, address: str, function: Callable[..., Any], *arguments: Any, seconds: float
    ) -> Future[Any]:
        """Have a worker call a function of `remote`; at most so many seconds are waited for it.

        Whatever goes wrong is the exception of the future.
        """
        return asyncio.run_coroutine_threadsafe(
            self._called(address, function, arguments, seconds), self._loop
        )

    def ask(
        self, address: str, function: Callable[..., Any], *arguments: Any, seconds: float
    ) -> Future[Any]:
        """Do what `call` does, and find out whether the worker can be reached directly."""

        async def asked() -> Any:
            found = await self._called(address, function, arguments, seconds)
            await self._reach(address)
            return found

        return asyncio.run_coroutine_threadsafe(asked(), self._loop)

    def attend(
        self, address: str, opening: Mapping[str, Any], serve: Callable[[Any], Awaitable[None]]
    ) -> Future[None]:
        """Connect to a worker for one room, and have `serve` use the connection in our thread.

        Whatever goes wrong is the exception of the future; it is cancelled when the worker goes.
        """
        attending = asyncio.run_coroutine_threadsafe(
            self._attended(address, opening, serve), self._loop
        )
        self._attending.add(attending)
        attending.add_done_callback(self._attending.discard)
        return attending

    def goes_straight(self, address: str) -> bool:
        """Say whether to connect to a worker directly: it can be, and there are not too many."""
        return address in self.direct and len(self._attending) < self._most

    def soon(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call a function in the thread of the connection."""
        with contextlib.suppress(RuntimeError):  # it is closed
            self._loop.call_soon_threadsafe(function, *arguments)

    def submit(
        self, workers: Sequence[str], function: Callable[..., Any], *arguments: Any
    ) -> Future[Any]:
        """Have one of the workers call a function as a task of Dask, which uses one of its slots.

        Whatever goes wrong is the exception of the future: KilledWorker if that happened to
        several workers. Cancelling it takes the task back if it has not begun.
        """
        return asyncio.run_coroutine_threadsafe(
            self._submitted(list(workers), function, arguments), self._loop
        )

    def refresh(self) -> None:
        """Wait until it has been looked once more which workers there are."""
        before, end = self._looks, time.monotonic() + _ANSWERING
        while self._looks < before + 2 and time.monotonic() < end:
            time.sleep(_SLICE / 2)

    def close(self) -> None:
        """End all checks and the connection, and the cluster if it was started for us."""
        if self._stopped:
            return
        self._stopped = True
        self.soon(self._stopping.set)
        if self._client is None:  # otherwise it leaves by itself, and says goodbye
            self.soon(self._serving.cancel)
        self._thread.join()
        sys.setswitchinterval(self._switch)
        self._place.close()

    def _wait_for_worker(self) -> None:
        """Wait for a first worker. Raises UsageError."""
        end = time.monotonic() + self.spec.wait
        while not self.workers:
            if time.monotonic() > end or not self._thread.is_alive():
                said = self.why or "it has no worker"
                raise UsageError(
                    f"the cluster at {self._place.address} cannot be used: {said} "
                    f"(waited for {self.spec.wait:g} s)"
                )
            time.sleep(_SLICE)
        # Those that come at the same time count from the beginning.
        wanted = self.spec.workers or int(self.spec.arguments.get("n_workers", 0))
        while len(self.workers) < wanted and time.monotonic() < end:
            time.sleep(_SLICE)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            with contextlib.suppress(asyncio.CancelledError):
                self._loop.run_until_complete(self._serving)
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        """Connect, again and again, until stopped."""
        from distributed import Client

        while not self._stopped:
            client = Client(  # type: ignore[no-untyped-call]
                self._place.address,
                asynchronous=True,
                timeout=_CONNECTING,
                set_as_default=False,
                security=self._place.security,
                name="reducekit",
            )
            try:
                await client
                self._client, self.why = client, ""
                await self._watch(client)
                await self._leave()
            except Exception as error:  # of the network, in all its forms
                self.why = str(error) or type(error).__name__
            finally:
                self._client = None
                self._set_workers({})
                for each in list(self._tasks):
                    each.cancel()
                with contextlib.suppress(Exception):
                    closing = client.close()  # type: ignore[no-untyped-call]
                    await asyncio.wait_for(closing, _ANSWERING)
            if not self._stopped:
                await asyncio.sleep(_PAUSE)

    async def _watch(self, client: Any) -> None:
        """Look which workers there are, until stopped. Raises what the network does."""
        kept = time.monotonic()
        while not self._stopped:
            self._set_workers(dict(await asyncio.wait_for(client.nthreads(), _ANSWERING)))
            self._looks += 1
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), _GLANCE)
            if time.monotonic() > kept + remote.LEASE / 4:
                kept = time.monotonic()
                self._keep()

    def _keep(self) -> None:
        """Tell the workers that we are there, also while nothing is to be said."""
        rooms = self._by_worker()
        for address in self.workers:
            arguments = (rooms.get(address, []), self.name)
            call = self._called(address, remote.keep, arguments, _ANSWERING)
            asyncio.ensure_future(call).add_done_callback(_ignored)

    async def _leave(self) -> None:
        """End the checks on all workers, and remove what was sent along."""
        rooms = self._by_worker()
        await asyncio.gather(
            *(
                self._called(address, remote.leave, (rooms.get(address, []), self.name), _ANSWERING)
                for address in self.workers
            ),
            return_exceptions=True,
        )

    def _by_worker(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, address in list(self.rooms.items()):
            found.setdefault(address, []).append(name)
        return found

    def _set_workers(self, workers: dict[str, int]) -> None:
        if workers != self.workers:
            self.fit = {each for each in list(self.fit) if each[0] in workers}
            self.direct = {each for each in list(self.direct) if each in workers}
            for address in self.workers.keys() - workers.keys():
                for call in self._calls.pop(address, ()):
                    call.cancel()  # otherwise it would try to connect for long
            self.workers = workers
            for each in list(self.watchers):
                each()

    async def _submitted(
        self, workers: list[str], function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:
        client = self._client
        if client is None:
            raise ConnectionError(self.why or "the scheduler does not answer")
        task = client.submit(function, *arguments, pure=False, workers=workers)
        waiting = asyncio.ensure_future(_awaited(task))
        self._tasks.add(waiting)
        try:
            return await waiting
        except asyncio.CancelledError:
            if self._client is client:
                raise
            raise ConnectionError("the scheduler has gone") from None
        finally:
            self._tasks.discard(waiting)

    async def _called(
        self,
        address: str,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        seconds: float,
    ) -> Any:
        client = self._client
        if client is None:
            raise ConnectionError(self.why or "the scheduler does not answer")
        call = asyncio.ensure_future(
            client.run(function, *arguments, workers=[address], on_error="return")
        )
        calls = self._calls.setdefault(address, set())
        calls.add(call)
        try:
            found = (await asyncio.wait_for(call, seconds)).get(address)
        except asyncio.CancelledError:
            raise ConnectionError("it has gone") from None
        finally:
            calls.discard(call)
        if isinstance(found, BaseException):
            raise found
        return found

    async def _reach(self, address: str) -> None:
        """Find out whether a worker can be reached without the scheduler in between."""
        with contextlib.suppress(Exception):  # whatever it is, the scheduler can relay
            async with self._reaching:
                comm = await self._connected(address, {}, _REACHING)
                comm.abort()
                self.direct.add(address)

    async def _attended(
        self, address: str, opening: Mapping[str, Any], serve: Callable[[Any], Awaitable[None]]
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        calls = self._calls.setdefault(address, set())
        calls.add(task)
        try:
            comm = await self._connected(address, opening, _CONNECTING)
            try:
                await serve(comm)
            finally:
                comm.abort()
        except OSError as error:  # of all kinds, also those of Dask
            self.direct.discard(address)  # the next time, the scheduler relays
            told = isinstance(error, TimeoutError | ConnectionError)
            raise error if told else ConnectionError("the connection was closed") from None
        finally:
            calls.discard(task)

    async def _connected(self, address: str, opening: Mapping[str, Any], seconds: float) -> Any:
        """Connect to a worker, and make sure that it is the one that knows us."""
        from distributed.comm import connect  # type: ignore[attr-defined]

        client = self._client
        if client is None:
            raise ConnectionError(self.why or "the scheduler does not answer")
        security = client.security.get_connection_args("client")
        comm = await connect(address, timeout=seconds, **security)  # type: ignore[no-untyped-call]
        try:
            await comm.write({"op": remote.OPERATION, "client": self.name, **opening})
            if await asyncio.wait_for(comm.read(), seconds) != self.name:
                raise ConnectionError("it does not know us")
        except BaseException:
            comm.abort()
            raise
        return comm


async def _awaited(task: Any) -> Any:
    """Return the result of a task of Dask."""
    return await task


def _ignored(done: asyncio.Future[Any]) -> None:
    """Take note of an error that does not matter: otherwise it would be told at the end."""
    if not done.cancelled():
        done.exception()
