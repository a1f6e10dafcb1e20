"""How orders get to a room on a worker, and what it says back: straight there, or relayed.

A connection of our own to the worker takes orders and brings reports as they are there. Where
a worker can only be reached through the scheduler, as from outside of Kubernetes, the scheduler
relays calls: each of them costs the three sides six times as much (`benchmarks/dask_cost.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, NamedTuple, Protocol

from reducekit.executors.cluster import remote
from reducekit.executors.cluster.connection import Connection

PATIENCE = 3.0
"""Seconds after which a room says that it is there, if it has nothing else to say."""
SLOWNESS = 10.0
"""Seconds that this may take in addition."""
_LOOKS = 13
"""How often it is looked in that time whether something has been said."""


class Word(NamedTuple):
    """What a room has said, or what has become of it."""

    address: str
    room: str
    reports: bytes = b""
    ended: bool = False
    """Whether its process has."""
    forgotten: bool = False
    """Whether the worker knows of no such room (any more)."""
    error: BaseException | None = None


Put = Callable[[Word], None]
"""Takes a word, in the thread of the connection."""


class Route(Protocol):
    """The way to a room and back; what comes back is put where the executor finds it."""

    at_once: bool
    """Whether it costs so little that orders need not be gathered."""

    def send(self, orders: bytes, waiting: bool) -> bool:
        """Send orders; return whether they have gone. `waiting`: reports are to be expected."""

    def heard(self) -> None:
        """Take note that a word has been taken in."""

    def close(self) -> None:
        """Take no more words."""


class Relayed:
    """Calls through the scheduler; there is always one on the worker that waits for its reports."""

    at_once = False

    def __init__(
        self, connection: Connection, address: str, room: str, setup: bytes, put: Put
    ) -> None:
        self._connection = connection
        self._address = address
        self._room = room
        self._setup = setup
        self._put = put
        self._number = 0
        """Of the next message."""
        self._open = False
        self._under_way = 0
        """Messages without an answer."""

    def send(self, orders: bytes, waiting: bool) -> bool:
        """Send orders, or just wait for reports, unless the first message has no answer yet."""
        if self._under_way and not (self._open and orders):
            return False
        if not orders and not waiting:
            return False
        patience = PATIENCE if self._number else 0.0
        setup = b"" if self._number else self._setup
        reply = self._connection.call(
            self._address,
            remote.exchange,
            self._connection.name,
            self._room,
            self._number,
            setup,
            orders,
            patience,
            seconds=patience + SLOWNESS,
        )
        self._connection.sent += len(setup) + len(orders)
        self._number += 1
        self._under_way += 1
        reply.add_done_callback(self._replied)
        return True

    def heard(self) -> None:
        """Take note that a message has been answered."""
        self._under_way -= 1
        self._open = True

    def close(self) -> None:
        """Answers that are under way are for nobody."""

    def _replied(self, reply: Future[tuple[bytes, bool] | None]) -> None:
        word = partial(Word, self._address, self._room)
        error = reply.exception()
        if error is not None:
            self._put(word(error=error))
            return
        found = reply.result()
        self._put(word(forgotten=True) if found is None else word(*found))


class Direct:
    """A connection to the worker for this room alone."""

    at_once = True

    def __init__(
        self, connection: Connection, address: str, room: str, setup: bytes, put: Put
    ) -> None:
        self._connection = connection
        self._put = partial(_put, put, partial(Word, address, room))
        self._orders: list[bytes] = []
        self._any = asyncio.Event()
        self._looks = 0
        """How often nothing new was found to be said."""
        connection.sent += len(setup)
        opening = {"client": connection.name, "room": room, "setup": setup, "pulse": PATIENCE}
        self._serving = connection.attend(address, opening, self._serve)
        self._serving.add_done_callback(self._ended)

    def send(self, orders: bytes, waiting: bool) -> bool:
        """Send orders; reports come by themselves."""
        if orders:
            self._connection.sent += len(orders)
            self._connection.soon(self._take, orders)
        return bool(orders)

    def heard(self) -> None:
        """Take note that a word has been taken in: there is nothing to do."""

    def close(self) -> None:
        """Close the connection."""
        self._serving.cancel()

    def _take(self, orders: bytes) -> None:
        self._orders.append(orders)
        self._any.set()

    async def _serve(self, comm: Any) -> None:
        """Pass on what there is, until the room has ended. Raises what the network does."""
        reading = asyncio.current_task()
        assert reading is not None
        writing = asyncio.ensure_future(self._write(comm))
        looking = asyncio.ensure_future(self._look(reading))
        try:
            while isinstance(part := await comm.read(), bytes):
                self._looks = 0
                if part:
                    self._put(reports=part)
            self._put(forgotten=bool(part), ended=not part)
        except asyncio.CancelledError:
            if self._looks < _LOOKS:
                raise
            raise TimeoutError(f"nothing for {PATIENCE + SLOWNESS:g} s") from None
        finally:
            writing.cancel()
            looking.cancel()

    async def _write(self, comm: Any) -> None:
        while True:
            await self._any.wait()
            self._any.clear()
            orders, self._orders = b"".join(self._orders), []
            with contextlib.suppress(OSError):  # the one who reads gets it, too
                await comm.write(orders)

    async def _look(self, reading: asyncio.Task[Any]) -> None:
        """End the connection when nothing is said for too long.

        It is not looked at the clock: this process may have been stopped for a while.
        """
        while self._looks < _LOOKS:
            await asyncio.sleep((PATIENCE + SLOWNESS) / _LOOKS)
            self._looks += 1
        reading.cancel()

    def _ended(self, serving: Future[None]) -> None:
        error = ConnectionError("it has gone") if serving.cancelled() else serving.exception()
        if error is not None:
            self._put(error=error)


def _put(put: Put, word: Callable[..., Word], **said: Any) -> None:
    put(word(**said))
