"""The Dask actor on each worker, one per client: relays orders and reports.

An actor lives as long as its client: when that closes, or loses its connection to the scheduler,
Dask releases the actor, and its process ends. Running checks keep the actor alive; they end when
the lease expires.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import shutil
import struct
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import Pipe
from typing import Any

from reducekit.executors.cluster.checking import ABANDONED, Cancel
from reducekit.interpreter import own_python
from reducekit.version import __version__

HEAD = struct.Struct("<QQ")
"""The turn of the orders, and the number of the check or request to answer."""
checkers: weakref.WeakValueDictionary[str, Checker] = weakref.WeakValueDictionary()
"""The checkers on this worker, by the names of their clients."""


_MAIN = "from reducekit.executors.cluster.checking import main; main()"


class Checker:
    """Runs the checks of one client in a separate process."""

    def __init__(self, client: str, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Start the process. `loop` is given on the client itself, where this is not an actor."""
        place = None
        if loop is None:
            from distributed import get_worker

            worker: Any = get_worker()
            place, loop = worker.local_directory, worker.loop.asyncio_loop
        assert loop is not None
        self.folder = tempfile.mkdtemp(prefix="reducekit-", dir=place)
        """The folder for shipped files."""
        self._process = _Process(self.folder, loop)
        weakref.finalize(self, self._process.orders.close)
        self._next = 0
        self._early: dict[int, bytes] = {}
        """Orders that arrived before their turn."""
        checkers[client] = self

    async def version(self) -> str:
        """Return the version of reducekit here."""
        return __version__

    def _write(self, name: str, mode: int, data: bytes) -> None:
        """Write a shipped file atomically: no check ever sees half of it."""
        path = os.path.join(self.folder, name)
        with open(f"{path}.part", "wb") as file:
            file.write(data)
        os.chmod(f"{path}.part", mode)
        os.replace(f"{path}.part", path)

    async def missing(
        self,
        directory: str,
        programs: Sequence[str],
        files: Sequence[str],
        shipped: Sequence[tuple[str, int, bytes]],
    ) -> list[str]:
        """Write the shipped files; return one sentence for each thing that is missing here."""
        try:
            for each in shipped:
                self._write(*each)
        except OSError as error:
            return [f"{error.filename or self.folder}: {error.strerror}"]
        there = directory if os.path.isdir(directory) else os.getcwd()
        found = [f"there is no program {each}" for each in programs if not os.path.isfile(each)]
        found += [
            f"{each} is not executable"
            for each in programs
            if os.path.isfile(each) and not os.access(each, os.X_OK)
        ]
        return found + [
            f"there is no file {each}"
            for each in files
            if not os.path.exists(os.path.join(there, each))
        ]

    async def check(self, message: bytes) -> bytes:
        """Pass orders on when it is their turn; return the report for their number.

        Both numbers are the `HEAD` of the message: Dask takes 0.1 ms for each argument.
        """
        turn, number = HEAD.unpack_from(message)
        report = self._process.report(number)
        self._give(turn, message[HEAD.size :])
        return await report

    async def cancel(self, turn: int, which: int, number: int) -> None:
        """Cancel a check of one of the client's executors."""
        self._give(turn, pickle.dumps((which, [Cancel(number)])))

    async def close(self) -> None:
        """Cancel all checks, and wait until no process runs."""
        self._process.orders.close()
        await self._process.ended.wait()

    def _give(self, turn: int, orders: bytes) -> None:
        self._early[turn] = orders
        while self._next in self._early:
            with suppress(OSError):  # it has ended; who waits for a report is told
                self._process.orders.send_bytes(self._early.pop(self._next))
            self._next += 1


class _Process:
    """The process, and a thread that relays its reports.

    The thread refers to this object and not to the checker, which otherwise would never be freed.
    """

    def __init__(self, folder: str, loop: asyncio.AbstractEventLoop) -> None:
        theirs, self.orders = Pipe(duplex=False)
        self._reports, mine = Pipe(duplex=False)
        with theirs, mine:
            self._process = subprocess.Popen(
                own_python("-c", _MAIN, folder),
                stdin=theirs.fileno(),
                stdout=mine.fileno(),
                start_new_session=True,
            )
        self._folder = folder
        self._loop = loop
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self.ended = asyncio.Event()
        threading.Thread(target=self._listen, name="reducekit-checker", daemon=True).start()

    def report(self, number: int) -> asyncio.Future[bytes]:
        """Return the report for a number, once it is there."""
        found = self._waiting[number] = self._loop.create_future()
        if self.ended.is_set():
            self._end()
        return found

    def _listen(self) -> None:
        with suppress(EOFError, OSError, RuntimeError), self._reports:
            while True:
                self._loop.call_soon_threadsafe(self._pass_on, *self._reports.recv())
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
        with suppress(RuntimeError):  # the worker is closing
            self._loop.call_soon_threadsafe(self._end)

    def _pass_on(self, number: int, report: bytes) -> None:
        waiting = self._waiting.pop(number, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(report)

    def _end(self) -> None:
        self.ended.set()
        abandoned = self._process.returncode == ABANDONED
        why = "it lost contact with the client" if abandoned else "its checking process was killed"
        for each in self._waiting.values():
            if not each.done():
                each.set_exception(ChildProcessError(why))
        self._waiting.clear()
