"""The Dask actor on each worker, one per client, and its process, which runs the checks.

The actor relays orders and reports. It lives as long as its client: when that closes, or loses its
connection to the scheduler, Dask releases the actor, and its process ends. Running checks keep the
actor alive; they end when the lease expires.

In the process orders come in on stdin, and reports go out on stdout. It is not a thread of the Dask
worker, for two reasons. A command's limits are briefly set on its parent (`slots.py`). And when the
worker dies, in whatever way, stdin ends, and with it all checks. The checks also end if the client
is not heard from for the time of a lease.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import weakref
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, TypeAlias

from reducekit.delta import delta, patch
from reducekit.errors import ReducekitError
from reducekit.executors.executor import Finished
from reducekit.executors.local import LocalExecutor
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Oracle
from reducekit.run import Limits
from reducekit.runtime import __version__, own_python

ABANDONED = 75  # the exit status when the lease has ended
LEASE = 15.0  # seconds without a message from the client after which its checks are cancelled
SHIPPED = "\0"  # the first character of a word that names a shipped file; no other word contains it
_TICK = 20  # milliseconds between looks at limits of time
_IDLE = 1000  # milliseconds, where nothing runs
_LEVEL = 1  # of zlib: 30 ms for 3 MB, and a fifth of its size
LITTLE = 256  # bytes that a whole text would not beat by much
_FREE = 1 << 20  # bytes; on a disk with less, a command may have failed for lack of space


@dataclass(frozen=True, slots=True)
class Setup:
    """All that is needed to run the checks of one of the client's executors."""

    oracle: Oracle
    jobs: int
    suffix: str
    name: str  # the name of the candidate's file; empty for any
    directory: str  # the client's current directory; commands run in it if it exists here
    workdir: str | None = None  # of candidates; None: in memory, or where TMPDIR says


class NewText(NamedTuple):
    """A text as its difference from the worker's base; without a base it is whole."""

    change: bytes
    whole: bool

    @classmethod
    def of(cls, text: bytes, base: bytes | None) -> NewText:
        """Describe a text in the shorter way."""
        if base is not None:
            change = delta(base, text)
            if len(change) < LITTLE or len(change) < len(text) // 4:
                return cls(change, False)
        return cls(zlib.compress(text, _LEVEL), True)

    def text(self, base: bytes) -> bytes:
        """Return the text."""
        return zlib.decompress(self.change) if self.whole else patch(base, self.change)


class Check(NamedTuple):
    """A check to run."""

    number: int
    new: NewText
    limits: Limits


class Cancel(NamedTuple):
    """A check to cancel."""

    number: int


class Close(NamedTuple):
    """The end of an executor; answered once none of its processes runs."""

    number: int


Order: TypeAlias = Setup | NewText | Check | Cancel | Close
"""A NewText is the new base for all later orders."""


class Report(NamedTuple):
    """The answer to an order: a finished check, or why it cannot run here."""

    finished: Finished | None = None
    runs: int = 0  # how many runs of commands were started since the last report
    failed: str | None = None


def in_place(command: Command, folder: str) -> Command:
    """Return a command with the paths that shipped files have on a worker."""
    words = (
        os.path.join(folder, word.removeprefix(SHIPPED)) if word.startswith(SHIPPED) else word
        for word in command.words
    )
    return command._replace(words=tuple(words))


class _Checks:
    """The checks of one executor: as many run as it has jobs, the others wait."""

    def __init__(self, setup: Setup, folder: str) -> None:
        with suppress(OSError):
            os.chdir(setup.directory)
        commands = tuple(in_place(each, folder) for each in setup.oracle.commands)
        oracle = setup.oracle._replace(commands=commands)
        self.executor = LocalExecutor(
            oracle, setup.jobs, setup.suffix, name=setup.name, workdir=setup.workdir
        )
        self._base = b""
        self._waiting: deque[tuple[Check, bytes]] = deque()
        self.numbers: set[int] = set()  # the numbers of waiting and running checks
        self._reported = 0

    def take(self, order: Order) -> None:
        match order:
            case NewText():
                self._base = order.text(self._base)
            case Check(number, new, _):
                self._waiting.append((order, new.text(self._base)))
                self.numbers.add(number)
            case Cancel(number):
                self.executor.cancel(number)
                self._waiting = deque(each for each in self._waiting if each[0].number != number)
                self.numbers.discard(number)

    def turn(self) -> list[Finished]:
        executor = self.executor
        while self._waiting and executor.free:
            check, text = self._waiting.popleft()
            executor.submit(check.number, text, check.limits)
        finished = executor.wait(0) if self.numbers else []
        if not all(each.interesting for each in finished):
            found = os.statvfs(executor.directory)
            if found.f_bavail * found.f_frsize < _FREE:
                raise ReducekitError(f"the file system of {executor.directory} is full")
        self.numbers.difference_update(each.ticket for each in finished)
        return finished

    def new_runs(self) -> int:
        before, self._reported = self._reported, self.executor.runs
        return self._reported - before


class Server:
    """Processes orders until the pipe closes; `folder` contains the shipped files."""

    def __init__(self, orders: Connection, reports: Connection, folder: str) -> None:
        self._orders = orders
        self._reports = reports
        self._folder = folder
        self._poll = select.poll()
        self._poll.register(orders.fileno(), select.POLLIN)
        self._executors: dict[int, _Checks] = {}
        self._failed: dict[int, str] = {}  # executors that cannot run checks here: why

    def run(self) -> None:
        """Process orders until the pipe closes or the lease expires."""
        heard = time.monotonic()
        try:
            while time.monotonic() < heard + LEASE:
                busy = any(each.numbers for each in self._executors.values())
                for fd, _ in self._poll.poll(_TICK if busy else _IDLE):
                    if fd == self._orders.fileno():
                        heard = time.monotonic()
                        self._follow(*self._orders.recv())
                for which, checks in list(self._executors.items()):
                    with self._guard(which):
                        for each in checks.turn():
                            self._answer(each.ticket, Report(each, checks.new_runs()))
        finally:
            for which in list(self._executors):
                self._close(which)

    def _follow(self, which: int, orders: list[Order]) -> None:
        for order in orders:
            match order:
                case Setup():
                    with self._guard(which):
                        checks = self._executors[which] = _Checks(order, self._folder)
                        self._poll.register(checks.executor.fileno(), select.POLLIN)
                case Check(number) if which in self._failed:
                    self._answer(number, Report(failed=self._failed[which]))
                case Close(number):
                    self._close(which)
                    self._answer(number, Report())
                case _ if which in self._executors:
                    self._executors[which].take(order)
            if isinstance(order, Cancel):
                self._answer(order.number, Report())

    @contextmanager
    def _guard(self, which: int) -> Iterator[None]:
        """If an executor fails, report that for all its checks, and close it."""
        try:
            yield
        except ReducekitError as error:
            self._failed[which] = str(error)
            checks = self._executors.get(which)
            for number in checks.numbers if checks is not None else ():
                self._answer(number, Report(failed=str(error)))
            self._close(which)

    def _close(self, which: int) -> None:
        checks = self._executors.pop(which, None)
        if checks is not None:
            self._poll.unregister(checks.executor.fileno())
            checks.executor.close()

    def _answer(self, number: int, report: Report) -> None:
        self._reports.send((number, pickle.dumps(report, pickle.HIGHEST_PROTOCOL)))


def main() -> None:
    """Serve on stdin and stdout; the only argument is the folder of the shipped files."""
    # Ctrl-C on a local cluster and the end of a batch job go to every process: the worker
    # decides, and its end is ours.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # For the lines of a shell, which name shipped files as they like.
    os.environ["PATH"] = f"{sys.argv[1]}{os.pathsep}{os.environ.get('PATH', '')}"
    with suppress(BrokenPipeError, EOFError):
        Server(Connection(0, writable=False), Connection(1, readable=False), sys.argv[1]).run()
        sys.exit(ABANDONED)


HEAD = struct.Struct("<QQ")  # the turn of the orders, and the number of what to answer


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
        self.folder = tempfile.mkdtemp(prefix="reducekit-", dir=place)  # of shipped files
        self._process = _Process(self.folder, loop)
        weakref.finalize(self, self._process.orders.close)
        self._next = 0
        self._early: dict[int, bytes] = {}  # orders that arrived before their turn
        checkers[client] = self

    async def version(self) -> str:
        """Return the version of reducekit here."""
        return __version__

    async def missing(
        self,
        directory: str,
        programs: Sequence[str],
        files: Sequence[str],
        shipped: Sequence[tuple[str, int, bytes]],
    ) -> list[str]:
        """Write the shipped files; return one sentence for each thing that is missing here."""
        try:
            for name, mode, data in shipped:
                path = os.path.join(self.folder, name)
                with open(f"{path}.part", "wb") as file:
                    file.write(data)
                os.chmod(f"{path}.part", mode)
                os.replace(f"{path}.part", path)  # no check ever sees half of it
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
            with suppress(OSError):  # it has ended; whoever waits for a report gets one
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
