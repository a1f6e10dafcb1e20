"""What a Dask worker runs for us: it keeps the checking processes, and passes messages on.

The functions here are called by `Client.run`, or as a handler for connections of ours, so in the
event loop of the worker. A *room* is one checking process, that of one executor of one client. A
client that says nothing for a while is gone: its rooms are closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from reducekit.executors.cluster.protocol import LENGTH
from reducekit.version import __version__

OPERATION = "reducekit-room"
"""What a connection of a client's own begins with: Dask finds the handler by it."""
LEASE = 30.0
"""Seconds without a word of the client after which its checks are ended."""
_GLANCE = 0.5  # seconds between two looks whether a client is there
_PART = 1 << 20


class _Room:
    """A checking process, and until when its client is believed to be there."""

    def __init__(self, process: asyncio.subprocess.Process, setup: bytes) -> None:
        self.process = process
        self.ended = False
        self.abandoned = False
        """Whether it was closed because the client was not heard of."""
        self.write(setup)
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._heard = self._loop.time()
        self._lease = self._loop.call_later(LEASE, self._look)

    def write(self, orders: bytes) -> None:
        """Give the process orders, if it is there."""
        stdin = self.process.stdin
        assert stdin is not None
        if orders and not stdin.is_closing():
            stdin.write(orders)

    def renew(self) -> None:
        """The client is there."""
        self._heard = self._loop.time()

    def close(self) -> None:
        """End the process: it ends all that it runs when it reads no more."""
        self._lease.cancel()
        assert self.process.stdin is not None
        self.process.stdin.close()

    async def until(self, condition: Callable[[], bool], seconds: float) -> None:
        """Wait until something holds, or the process has ended, or for so many seconds."""
        end = self._loop.time() + seconds
        while not condition() and not self.ended and (left := end - self._loop.time()) > 0:
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except asyncio.TimeoutError:  # noqa: UP041 - another class before Python 3.11
                return

    async def end(self) -> None:
        """Take note that the process says nothing any more."""
        await self.process.wait()
        self.ended = True
        self._lease.cancel()
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _look(self) -> None:
        """Close the room if its client has not been heard of."""
        left = self._heard + LEASE - self._loop.time()
        if left > 0:
            self._lease = self._loop.call_later(left, self._look)
        else:
            self.abandoned = True
            self.close()


class _RelayedRoom(_Room):
    """One to which the scheduler relays messages: it brings them into order, and keeps reports."""

    def __init__(self, process: asyncio.subprocess.Process, setup: bytes) -> None:
        super().__init__(process, setup)
        self.next = 0
        """The number of the message that is to be passed on next."""
        self.reports: list[bytes] = []
        self._reading = asyncio.ensure_future(self._read())

    async def pass_on(self, number: int, orders: bytes) -> None:
        """Pass orders on when it is their turn: they may overtake each other on their way."""
        await self.until(lambda: self.next >= number, LEASE)
        if self.next == number:
            self.next += 1
            self.write(orders)
            self._tell()

    async def _read(self) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                # Whole messages: two answers to the client may overtake each other.
                head = await stdout.readexactly(LENGTH.size)
                body = await stdout.readexactly(LENGTH.unpack(head)[0])
                self.reports.append(head + body)
                self._tell()
        await self.end()


def _quiet(record: logging.LogRecord) -> bool:
    """Say whether the worker's log is to have a line: not one for each of our messages."""
    called = record.args[0] if isinstance(record.args, tuple) and record.args else None
    return not (record.msg.startswith("Run out-of-band") and called in ("exchange", "keep"))


async def _started(folder: str) -> asyncio.subprocess.Process:
    """Start a checking process; `folder` has the files that were sent along."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "reducekit.executors.cluster.checking",
        folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


class _Spares:
    """A checking process for each client that waits for a room: starting one takes 0.2 s."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[asyncio.subprocess.Process]] = {}

    def prepare(self, client: str, folder: str) -> None:
        """Start one, if there is none."""
        if client in _seen and client not in self._waiting:
            self._waiting[client] = asyncio.ensure_future(_started(folder))
            asyncio.get_running_loop().call_later(LEASE, self._look, client)

    async def take(self, client: str, folder: str) -> asyncio.subprocess.Process:
        """Return the one that waits, or start one."""
        waiting = self._waiting.pop(client, None)
        if waiting is not None:
            process = await waiting
            if process.returncode is None:
                return process
        return await _started(folder)

    async def close(self, client: str) -> None:
        """End the one of a client that goes."""
        waiting = self._waiting.pop(client, None)
        if waiting is not None:
            process = await waiting
            assert process.stdin is not None
            process.stdin.close()
            await process.wait()

    def _look(self, client: str) -> None:
        """End the one of a client that has not been heard of."""
        if client not in self._waiting:
            return
        if time.monotonic() > _seen.get(client, -LEASE) + LEASE:
            _seen.pop(client, None)
            self._closing = asyncio.ensure_future(self.close(client))
        else:
            asyncio.get_running_loop().call_later(LEASE, self._look, client)


_spares = _Spares()
_rooms: dict[str, _Room] = {}
_seen: dict[str, float] = {}
"""When each client was last heard of, by the monotonic clock."""


def answer(
    client: str,
    directory: str,
    programs: Sequence[str],
    files: Sequence[str],
    shipped: Sequence[tuple[str, int, bytes]],
    dask_worker: Any = None,
) -> tuple[str, tuple[str, ...]]:
    """Take in the files that are sent along; return our version, and what is missing here.

    Only plain types come and go here, so that every version of ours understands them.
    """
    _seen[client] = time.monotonic()
    logging.getLogger("distributed.worker").addFilter(_quiet)  # only once, however often

    async def handle(comm: Any, **opening: Any) -> Any:
        return await _attend(comm, dask_worker, **opening)

    dask_worker.handlers[OPERATION] = handle
    folder = _folder(client, dask_worker)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        for name, mode, data in shipped:
            path = os.path.join(folder, name)
            with open(f"{path}.part", "wb") as file:
                file.write(data)
            os.chmod(f"{path}.part", mode)
            os.replace(f"{path}.part", path)
    except OSError as error:
        return __version__, (f"{error.filename or folder}: {error.strerror}",)
    _spares.prepare(client, folder)
    missing = []
    for path in programs:
        if not os.path.isfile(path):
            missing.append(f"there is no program {path}")
        elif not os.access(path, os.X_OK):
            missing.append(f"{path} is not executable")
    there = directory if os.path.isdir(directory) else os.getcwd()
    missing += [
        f"there is no file {path}"
        for path in files
        if not os.path.exists(os.path.join(there, path))
    ]
    return __version__, tuple(missing)


async def exchange(
    client: str,
    name: str,
    number: int,
    setup: bytes,
    orders: bytes,
    patience: float,
    dask_worker: Any = None,
) -> tuple[bytes, bool] | None:
    """Pass orders on to a room; return what it has said, and whether it has ended.

    If it has said nothing, this waits for so many seconds, or until the client's next message.
    The first message opens the room, and the next one must not be sent before it is answered.
    None: there is no such room (any more).
    """
    room = _rooms.get(name)
    if room is None:
        if number > 0:
            return None
        process = await _spares.take(client, _folder(client, dask_worker))
        room = _rooms[name] = _RelayedRoom(process, setup)
    assert isinstance(room, _RelayedRoom)
    room.renew()
    await room.pass_on(number, orders)
    await room.until(lambda: bool(room.reports) or room.next > number + 1, patience)
    reports, room.reports = room.reports, []
    if room.ended:
        _rooms.pop(name, None)
    return b"".join(reports), room.ended


async def _attend(
    comm: Any,
    dask_worker: Any,
    client: str,
    room: str = "",
    setup: bytes = b"",
    pulse: float = LEASE,
) -> Any:
    """Keep a room for a client's own connection: orders come in, reports go out as they are there.

    Every so many seconds nothing is sent, to say that the worker is there; at the end, whether the
    room was closed because nothing was heard of the client. When the connection closes, so does
    the room. Without a room, this just says whether the client is known.
    """
    from distributed.core import Status

    try:
        await comm.write(client if client in _seen else "")
        if room and client in _seen:
            process = await _spares.take(client, _folder(client, dask_worker))
            await _converse(comm, room, _Room(process, setup), pulse)
    except OSError:
        pass  # the client has gone
    comm.abort()
    return Status.dont_reply


async def _converse(comm: Any, name: str, room: _Room, pulse: float) -> None:
    _rooms[name] = room
    sending = [asyncio.ensure_future(each) for each in (_report(comm, room), _beat(comm, pulse))]
    try:
        while True:
            orders = await comm.read()
            room.renew()
            room.write(orders)
    finally:
        for each in sending[1:]:
            each.cancel()
        room.close()
        await room.until(lambda: False, LEASE)
        _rooms.pop(name, None)


async def _report(comm: Any, room: _Room) -> None:
    """Send what a room has to say until it has ended, also when nobody listens any more."""
    stdout = room.process.stdout
    assert stdout is not None
    while part := await stdout.read(_PART):
        with contextlib.suppress(OSError):
            await comm.write(part)
    await room.end()
    with contextlib.suppress(OSError):
        await comm.write(room.abandoned)


async def _beat(comm: Any, pulse: float) -> None:
    """Say again and again that the worker is there."""
    with contextlib.suppress(OSError):
        while True:
            await asyncio.sleep(pulse)
            await comm.write(b"")


async def keep(names: Sequence[str], client: str) -> None:
    """Say that a client is there, though it has nothing to say."""
    _seen[client] = time.monotonic()
    for each in names:
        if each in _rooms:
            _rooms[each].renew()


async def release(names: Sequence[str], client: str, dask_worker: Any = None) -> None:
    """Close rooms, and wait for the end of their checks."""
    if await _closed(names):
        # For the room that comes next: now that nothing runs, the start disturbs nobody.
        _spares.prepare(client, _folder(client, dask_worker))


async def leave(names: Sequence[str], client: str, dask_worker: Any = None) -> None:
    """Close the rooms of a client that goes, and remove what it has sent along."""
    _seen.pop(client, None)
    await _closed(names)
    await _spares.close(client)
    shutil.rmtree(_folder(client, dask_worker), ignore_errors=True)


async def _closed(names: Sequence[str]) -> bool:
    """Close rooms and wait for the end of their checks; return whether there was one."""
    rooms = [_rooms.pop(each) for each in names if each in _rooms]
    for each in rooms:
        each.close()
    for each in rooms:
        await each.until(lambda: False, LEASE)
    return bool(rooms)


def work(client: str, module: str, order: bytes) -> bytes:
    """Run `main` of a module with an order on its stdin, as a task of Dask; return its output.

    When the client has gone, its stdin ends: then so does it.
    """
    from distributed import get_worker

    folder = _folder(client, get_worker())
    process = subprocess.Popen(
        [sys.executable, "-c", f"from {module} import main; main()", folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process, contextlib.suppress(BrokenPipeError):
        process.stdin.write(order)
        process.stdin.flush()
        parts: list[bytes] = []
        while True:
            if not select.select([process.stdout], [], [], _GLANCE)[0]:
                if time.monotonic() > _seen.get(client, -LEASE) + LEASE:
                    process.stdin.close()
                continue
            part = os.read(process.stdout.fileno(), _PART)
            if not part:
                return b"".join(parts)
            parts.append(part)
    return b""


def _folder(client: str, dask_worker: Any) -> str:
    """Return the folder for what a client sends along."""
    return os.path.join(dask_worker.local_directory, f"reducekit-{client}")
