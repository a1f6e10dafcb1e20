"""A fork server as its client sees it: the process, and the memory shared with it."""

from __future__ import annotations

import mmap
import os
import signal
import socket
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from reducekit.errors import UsageError
from reducekit.executors.executor import ExecutorError
from reducekit.frontends.trace.player import server
from reducekit.frontends.trace.player.records import Encoder
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import ended

HEAD = 64
"""Bytes of the shared memory before the records; the first word is the number of calls begun."""
ROOM = 64 << 20
"""Bytes of shared memory to start with; the system provides only those that are used."""
STRINGS = 1 << 20
"""Bytes at the end of the memory for strings; more if they would fill more than half."""
# Libraries take options and names of files from other variables (LGL..., CADICAL...,
# BTOR...), and each solver that Lingeling makes looks for 350 of them.
_PASSED_ON = ("HOME", "LANG", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONHOME", "TMPDIR")
_PROGRAM, _FOLDER, _PLAYER = 6, 7, 8
"""Descriptors of the server's program, of the library's folder, and of `player.c` compiled."""
_STARTS = 3
_LOADING = 60.0  # seconds to load a library, which takes some milliseconds
_LONGEST = 1 << 16  # bytes of a message
_DEFAULT_SIGNALS = (  # what our parent may ignore, a replay shall not
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGPIPE,
    signal.SIGCHLD,
    signal.SIGXCPU,
    signal.SIGXFSZ,
    signal.SIGALRM,
)


class ServerGone(Exception):
    """A server has died; the text is what it said."""


class _KilledError(UsageError):
    """A server was killed from outside while it loaded its library."""


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """How a child ended: wait status, whether time was up, wall and CPU seconds."""

    wait_status: int
    late: bool
    seconds: float
    cpu: float


def room_for(calls: int, records: int, strings: int) -> int:
    """Return how much shared memory this many calls and bytes need."""
    return max(ROOM, 2 * (HEAD + records), 2 * (8 * calls + 2 * strings + 2 * STRINGS))


class ServerProcess:
    """A server process that has loaded a library, with one child at a time.

    `arguments` are those of `server.py` after the library. Raises UsageError
    if the library cannot be loaded, ExecutorError if the process
    cannot be started. `missing` are the functions that the library lacks,
    `address_space` is in bytes, `native` says whether `player.c` plays.

    `go` and `done` are event counters: a live child waits for the one, and
    raises the other (`live_replay.py`).
    """

    def __init__(self, path: str, arguments: list[str], room: int = ROOM) -> None:
        self.room = (room + mmap.PAGESIZE - 1) // mmap.PAGESIZE * mmap.PAGESIZE
        self.results_at = self.room // 2 // 8 * 8
        self._strings_at = 0
        self._strings = 0  # bytes of strings that are in the memory
        self._prologue: tuple[Limits, bytes, bytes] | None = None
        fds: list[int] = []
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            fds += [os.memfd_create(name) for name in ("out", "err", "shared")]
            fds += [os.eventfd(0, os.EFD_CLOEXEC) for _ in range(2)]
            os.ftruncate(fds[2], self.room)
            self.memory = mmap.mmap(fds[2], self.room)
            self.pid = _spawn(path, arguments, [theirs.fileno(), *fds])
        except OSError as error:
            for fd in fds:
                os.close(fd)
            raise ExecutorError(f"the replay server cannot be started: {error}") from None
        theirs.close()
        os.close(fds.pop(2))
        self.socket = ours
        self._out, self._err, self.go, self.done = fds
        ours.settimeout(_LOADING)  # what a library does when it is loaded may hang
        try:
            answer = ours.recv(_LONGEST)
        except TimeoutError:
            self.close()
            message = f"it was not loaded after {_LOADING:g} seconds"
            raise UsageError(f"cannot replay against {path}: {message}") from None
        except BaseException:  # interrupted: no other code could end the process
            self.close()
            raise
        ours.settimeout(None)
        if not answer.startswith(server.READY):
            message = answer[1:].decode("utf-8", "backslashreplace") or self._last_words()
            status = os.waitstatus_to_exitcode(self.close())
            if not message:
                killed = status == -signal.SIGKILL
                how = ended(status, -status if status < 0 else None)
                message = f"loading it ended in {how}: is the file complete?"
                if killed:
                    raise _KilledError(f"cannot replay against {path}: {message}")
            message = message.replace(_at(_FOLDER), os.path.dirname(path))
            raise UsageError(f"cannot replay against {path}: {message}")
        address_space, native, *missing = answer[1:].decode().split()
        self.address_space = int(address_space)
        self.native = native == "1"
        self.missing = frozenset(missing)

    def start(self, encoder: Encoder, records: bytes, limits: Limits) -> int:
        """Start a child that plays records; return where in the memory they end."""
        if self._prologue is None or self._prologue[0] != limits:
            self._prologue = (limits, *encoder.prologue(limits, self.address_space))
        _, values, setting = self._prologue
        memory = self.memory
        memory[:8] = bytes(8)
        self.put_strings(encoder)
        memory[self._strings_at : self._strings_at + len(values)] = values
        end = HEAD + len(setting) + len(records)
        memory[HEAD:end] = setting + records
        # Whole seconds are the system's to watch.
        cpu = limits.cpu if limits.cpu is not None and limits.cpu % 1 else 0.0
        request = server.REQUEST.pack(
            self.results_at, self._strings_at, HEAD, limits.wall or 0.0, cpu
        )
        try:
            self.socket.send(request)
        except OSError:
            raise ServerGone(self._last_words()) from None
        return end

    def distance(self, place: int) -> int:
        """Return how far after the strings of the running child a place in the memory is."""
        return place - self._strings_at

    def put_strings(self, encoder: Encoder) -> None:
        """Make the strings of all calls encoded so far known to the child."""
        size = len(encoder.strings)
        if size != self._strings:
            self._strings_at = self.room - max(STRINGS, 2 * size) // 4096 * 4096
            content = bytes(encoder.strings[encoder.reserved :])
            first = self._strings_at + encoder.reserved
            self.memory[first : first + len(content)] = content
            self._strings = size

    def end(self) -> ChildEnd:
        """Wait for the end of the child. Raises ServerGone, ExecutorError."""
        try:
            reply = self.socket.recv(_LONGEST)
        except OSError:
            reply = b""
        if not reply:
            raise ServerGone(self._last_words())
        if len(reply) != server.REPLY.size:
            raise ExecutorError(f"the replay server: {reply[1:].decode(errors='replace')}")
        wait_status, late, seconds, cpu = server.REPLY.unpack(reply)
        return ChildEnd(wait_status, bool(late), seconds, cpu)

    @property
    def begun(self) -> int:
        """How many calls have begun; one more than there are when the child reached the end."""
        return int.from_bytes(self.memory[:8], sys.byteorder)

    def results(self, first: int, end: int) -> bytes:
        """Return the results of some calls, 8 bytes each."""
        return self.memory[self.results_at + 8 * first : self.results_at + 8 * end]

    def outputs(self) -> tuple[bytes, bytes]:
        """Return what the library printed, and empty the files."""
        found = []
        for fd in (self._out, self._err):
            size = os.fstat(fd).st_size
            found.append(os.pread(fd, size, 0) if size else b"")
            if size:
                os.ftruncate(fd, 0)
                os.lseek(fd, 0, os.SEEK_SET)
        return found[0], found[1]

    def kill_child(self) -> None:
        """Have the child killed; its end still comes."""
        with suppress(OSError):
            self.socket.send(b"k")

    def close(self) -> int:
        """End the server, and with it the child that it may have; return its wait status."""
        self.socket.close()
        # The server leads a process group. Its child is also killed when its
        # parent dies, but has to ask for that first.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        status = 0
        with suppress(ChildProcessError):
            _, status = os.waitpid(self.pid, 0)
        self.memory.close()
        for fd in (self._out, self._err, self.go, self.done):
            os.close(fd)
        return status

    def _last_words(self) -> str:
        return self.outputs()[1].decode("utf-8", "backslashreplace").strip()[-500:]


def started(path: str, arguments: list[str], room: int = ROOM) -> ServerProcess:
    """Return a `ServerProcess`; one that is killed while it starts is started again."""
    for _ in range(_STARTS - 1):
        with suppress(_KilledError):
            return ServerProcess(path, arguments, room)
    return ServerProcess(path, arguments, room)


def _spawn(path: str, arguments: list[str], fds: list[int]) -> int:
    """Start the server with these descriptors as 0, 1, 2 and so on; return its process id.

    A child begins with the server's heap, and there are the names of the interpreter, of its
    program and of the library. What a fault that corrupts memory ends in depends on how long
    they are: so they are such as are the same in every folder. The library's folder is an open
    descriptor, from which the loader also finds what the library is linked with ($ORIGIN).
    """
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    # What an interpreter's hashes are seeded with moves its heap about.
    environment |= {"PATH": os.defpath, "PYTHONHASHSEED": "0"}
    interpreter = os.path.realpath(sys.executable)  # not the link of a virtual environment
    symbols, patch, player, helper = arguments
    with ExitStack() as closed:
        opened = [(server.__file__, os.O_RDONLY), (os.path.dirname(path), os.O_PATH)]
        opened += [(player, os.O_RDONLY)] if player else []
        for name, flags in opened:
            fd = os.open(name, flags | os.O_CLOEXEC)
            closed.callback(os.close, fd)
            fds = [*fds, fd]
        # Moved away first: a descriptor may have a number that another one is to get.
        fresh = max(*fds, len(fds)) + 1
        actions: list[tuple[int, int, int] | tuple[int, int]] = []
        actions += [(os.POSIX_SPAWN_DUP2, fd, fresh + place) for place, fd in enumerate(fds)]
        actions += [(os.POSIX_SPAWN_DUP2, fresh + place, place) for place in range(len(fds))]
        actions += [(os.POSIX_SPAWN_CLOSE, fresh + place) for place in range(len(fds))]
        return os.posix_spawn(
            interpreter,
            [
                *(interpreter, "-s", "-S", "-P", "-B", _at(_PROGRAM)),
                *(f"{_at(_FOLDER)}/{os.path.basename(path)}", symbols, patch),
                *(_at(_PLAYER) if player else "", helper),
            ],
            environment,
            file_actions=actions,
            setsid=True,
            setsigmask=(),
            setsigdef=_DEFAULT_SIGNALS,
        )


def _at(fd: int) -> str:
    return f"/proc/self/fd/{fd}"
