"""A session with a fork server: the process that has loaded a library, and its child that plays."""

from __future__ import annotations

import mmap
import os
import re
import signal
import socket
import sys
from array import array
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from reducekit.errors import UsageError
from reducekit.executors.executor import ExecutorError
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.player import server
from reducekit.frontends.trace.player.faults import Patch
from reducekit.frontends.trace.player.libraries import Library, compiled
from reducekit.frontends.trace.player.outcome import (
    CONTRACT,
    CONVERTED,
    MISMATCH,
    Ending,
    OutcomeKind,
    ReplayOutcome,
    first_mismatch,
    where,
)
from reducekit.frontends.trace.player.records import RESERVED, Encoder, Illegal, prologue
from reducekit.run import Closing, Limits, ended

# Of a replay. A trace of 2,000 calls takes some milliseconds.
DEFAULT_LIMITS = Limits(wall=60, cpu=10, memory=4 << 30, output=1 << 20)
# Bytes of the shared memory before the records; the first word is the number of calls begun.
_HEAD = 64
# Bytes of shared memory to start with; the system provides only those that are used.
ROOM = 64 << 20
# Bytes at the end of the memory for strings; more if they would fill more than half.
STRINGS = 1 << 20
# Libraries take options and names of files from other variables (LGL..., CADICAL...,
# BTOR...), and each solver that Lingeling makes looks for 350 of them.
_PASSED_ON = ("HOME", "LANG", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONHOME", "TMPDIR")
# Descriptors of the server's program, of the library's folder, and of `player.c` compiled.
_PROGRAM, _FOLDER, _PLAYER = 6, 7, 8
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


class ServerGone(ExecutorError):
    """A server has died; `said` is what it printed last."""

    def __init__(self, said: str) -> None:
        super().__init__(f"the replay server died: {said}")
        self.said = said


class _KilledError(UsageError):
    """A server was killed from outside while it loaded its library."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What the servers of a library load, and how calls are encoded for them.

    `patch` is an argument of `server.py`, `player` the path of `player.c` compiled, "" if the
    loop in Python plays. `contract` finds complaints of a broken contract.
    """

    library: Library
    encoder: Encoder
    patch: str
    player: str
    contract: re.Pattern[bytes]

    @classmethod
    def of(cls, library: Library, patch: Patch | None, *, native: bool = True) -> Setup:
        """Return the set-up of a library with a patch; `native`: compiled code plays if it can."""
        return cls(
            library,
            Encoder(library.interface),
            "" if patch is None else patch.text,
            (compiled("player.c", "") if native else None) or "",
            re.compile(library.interface.contract),
        )


def room_for(calls: int, records: int, strings: int) -> int:
    """Return how much shared memory this many calls and bytes need."""
    # Records fill the first half of the memory, results and strings the second.
    return max(ROOM, 2 * (_HEAD + records), 2 * (8 * calls + 2 * strings + 2 * STRINGS))


class Session(Closing):
    """A server process that has loaded a library, with one child at a time.

    Raises UsageError if the library cannot be loaded, ExecutorError if the process cannot be
    started. One that is killed from outside while it starts is started again. `native` says
    whether compiled code plays; `size` is that of the shared memory in bytes.

    `go` and `done` are event counters: a live child waits for the one, and raises the other.
    """

    def __init__(self, setup: Setup, size: int = ROOM) -> None:
        self.setup = setup
        self.encoder = setup.encoder
        self.size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        results = self.encoder.results.items()
        self._convert = {name: CONVERTED[kind] for name, kind in results if kind in CONVERTED}
        self.results_at = self.size // 2 // 8 * 8
        self.strings_at = 0
        self._strings = 0  # bytes of strings that are in the memory
        self._prologue: tuple[Limits, bytes, bytes] | None = None
        # The kernel may have killed a server for want of memory.
        for _ in range(_STARTS - 1):
            with suppress(_KilledError):
                self._open()
                return
        self._open()

    def _open(self) -> None:
        """Start the server, and wait until it has loaded the library."""
        path = self.setup.library.path
        if not hasattr(os, "memfd_create"):
            raise UsageError("only Linux replays traces in a library: replay with a program, --cmd")
        fds: list[int] = []
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            fds += [os.memfd_create(name) for name in ("out", "err", "shared")]
            fds += [os.eventfd(0, os.EFD_CLOEXEC) for _ in range(2)]
            os.ftruncate(fds[2], self.size)
            self.memory = mmap.mmap(fds[2], self.size)
            self.pid = _spawn(self.setup, [theirs.fileno(), *fds])
        except OSError as error:
            for fd in fds:
                os.close(fd)
            raise ExecutorError(f"the replay server cannot be started: {error}") from None
        # The server has its end of the socket, and of the shared memory the mapping is enough.
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
            self.close()
            status = os.waitstatus_to_exitcode(self._status)
            kind: type[UsageError] = UsageError
            if not message:
                kind = _KilledError if status == -signal.SIGKILL else UsageError
                how = ended(status, -status if status < 0 else None)
                message = f"loading it ended in {how}: is the file complete?"
            # The loader knows the library by the descriptor of its folder.
            message = message.replace(_at(_FOLDER), os.path.dirname(path))
            raise kind(f"cannot replay against {path}: {message}")
        address_space, native, *missing = answer[1:].decode().split()
        self._address_space = int(address_space)
        self.native = native == "1"
        self.encoder.tables.missing = frozenset(missing)

    def start(self, records: bytes, limits: Limits) -> int:
        """Start a child that plays records; return where in the memory they end.

        Raises ServerGone.
        """
        if self._prologue is None or self._prologue[0] != limits:
            setting = prologue(self.encoder.tables, limits, self._address_space)
            self._prologue = (limits, *setting)
        _, values, setting_records = self._prologue
        memory = self.memory
        memory[:8] = bytes(8)
        self.put_strings()
        memory[self.strings_at : self.strings_at + len(values)] = values
        end = _HEAD + len(setting_records) + len(records)
        memory[_HEAD:end] = setting_records + records
        # Whole seconds are the system's to watch.
        cpu = limits.cpu if limits.cpu is not None and limits.cpu % 1 else 0.0
        request = server.REQUEST.pack(
            self.results_at, self.strings_at, _HEAD, limits.wall or 0.0, cpu
        )
        try:
            self.socket.send(request)
        except OSError:
            raise ServerGone(self._last_words()) from None
        return end

    def put_strings(self) -> None:
        """Make the strings of all calls encoded so far known to the child."""
        strings = self.encoder.tables.strings
        size = len(strings)
        if size != self._strings:
            # Room for as many again, so that the offset seldom changes.
            self.strings_at = self.size - max(STRINGS, 2 * size) // 4096 * 4096
            first = self.strings_at + RESERVED
            self.memory[first : self.strings_at + size] = bytes(strings[RESERVED:])
            self._strings = size

    def end(self) -> Ending:
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
        return Ending(wait_status, bool(late), seconds, cpu, *self.outputs())

    @property
    def begun(self) -> int:
        """How many calls have begun; one more than there are when the child reached the end."""
        return int.from_bytes(self.memory[:8], sys.byteorder)

    def results(self, calls: Sequence[Call], first: int, count: int) -> list[int | None]:
        """Return the results of `count` calls from the one with number `first` on.

        That of a call that returns nothing is None; pointers are addresses in the child.
        """
        at = self.results_at + 8 * first
        words = array("q", self.memory[at : at + 8 * count])
        convert = self._convert.get
        return [
            to(word) if (to := convert(call.name)) else None
            for call, word in zip(calls, words, strict=False)
        ]

    def outcome_of(
        self,
        calls: Sequence[Call],
        ending: Ending,
        *,
        first: int = 0,
        begun: int | None = None,
        illegal: Illegal | None = None,
        check_results: bool = False,
    ) -> ReplayOutcome:
        """Return the outcome of a trace whose first call was that with number `first`.

        `begun` is how many of its calls have begun, by default as the child counts them: one more
        than there are if it came to the end. `illegal` is the call that the records end before.
        """
        begun = max(0, self.begun - first) if begun is None else begun
        results = self.results(calls, first, min(begun, len(calls)))
        # The record behind the last call counts too: it ends the child.
        finished = begun > (len(calls) if illegal is None else illegal.index)
        last = min(begun, len(calls)) - 1
        returned = len(calls) if finished and illegal is None else max(0, last)
        number, status = ending.wait_status & 0x7F or None, ending.wait_status >> 8
        wrong = first_mismatch(calls, results, returned) if check_results else None
        kind: OutcomeKind
        reason = ""
        if wrong is not None:
            last, expected, real = wrong
            kind, status, number, returned = "mismatch", MISMATCH, None, last + 1
            reason = f"{where(last, calls[last])}: returned {real}, the trace says {expected}"
        # The system ends a child at a limit of whole seconds (SIGXCPU), the server at others.
        elif ending.late or number == signal.SIGXCPU:
            kind = "timeout"
        elif number == signal.SIGXFSZ:
            kind = "output"
        elif self.setup.contract.search(ending.stderr):
            kind, status, number = "contract", CONTRACT, None
            first_line = (
                ending.stderr.strip().partition(b"\n")[0].decode("utf-8", "backslashreplace")
            )
            reason = f"{where(last, calls[last])}: {first_line}"
        elif finished and illegal is not None and status == CONTRACT:
            kind = "contract"
            reason = f"{where(last, calls[last])}: {illegal.why}"
        elif finished and ending.wait_status == 0:
            kind = "ok"
        elif number is None and status == CONTRACT:
            # The library called back to abort, and not over its contract: it would
            # have done so by abort() without the callback.
            kind, number = "signal", int(signal.SIGABRT)
        else:
            kind = "exit" if number is None else "signal"
        return ReplayOutcome(
            kind=kind,
            status=status if number is None else None,
            signal=number,
            last_call=last,
            results=results[:returned],
            stdout=ending.stdout,
            stderr=ending.stderr,
            reason=reason,
            seconds=ending.seconds,
            cpu=ending.cpu,
        )

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

    def close(self) -> None:
        """End the server, and with it the child that it may have."""
        if self.socket.fileno() < 0:
            return
        self.socket.close()
        # The server leads a process group. Its child is also killed when its
        # parent dies, but has to ask for that first.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._status = 0
        with suppress(ChildProcessError):
            _, self._status = os.waitpid(self.pid, 0)
        self.memory.close()
        for fd in (self._out, self._err, self.go, self.done):
            os.close(fd)

    def _last_words(self) -> str:
        return self.outputs()[1].decode("utf-8", "backslashreplace").strip()[-500:]


def _spawn(setup: Setup, fds: list[int]) -> int:
    """Start a server with these descriptors as 0, 1, 2 and so on; return its process id."""
    # A child begins with the server's heap, which holds the names of the interpreter, of its
    # program and of the library. What a fault that corrupts memory ends in depends on how long
    # they are, so they are the same in every folder. The library's folder is an open descriptor,
    # from which the loader also finds what the library is linked with ($ORIGIN).
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    # What an interpreter's hashes are seeded with moves its heap about.
    environment |= {"PATH": os.defpath, "PYTHONHASHSEED": "0"}
    interpreter = os.path.realpath(sys.executable)  # not the link of a virtual environment
    folder, name = os.path.split(setup.library.path)
    opened = [(server.__file__, os.O_RDONLY), (folder, os.O_PATH)]
    # Compiled files are in a cache, which may be emptied at any time: then Python plays.
    player = os.path.isfile(setup.player)
    opened += [(setup.player, os.O_RDONLY)] if player else []
    with ExitStack() as closed:
        for path, flags in opened:
            fd = os.open(path, flags | os.O_CLOEXEC)
            closed.callback(os.close, fd)
            fds = [*fds, fd]
        # Moved away first: a descriptor may have a number that another one is to get.
        fresh = max(*fds, len(fds)) + 1
        actions: list[tuple[int, int, int] | tuple[int, int]] = []
        actions += [(os.POSIX_SPAWN_DUP2, fd, fresh + place) for place, fd in enumerate(fds)]
        actions += [(os.POSIX_SPAWN_DUP2, fresh + place, place) for place in range(len(fds))]
        actions += [(os.POSIX_SPAWN_CLOSE, fresh + place) for place in range(len(fds))]
        words = [interpreter, "-s", "-S", "-P", "-B", _at(_PROGRAM)]
        words += [f"{_at(_FOLDER)}/{name}", ",".join(setup.encoder.tables.symbols), setup.patch]
        words += [_at(_PLAYER) if player else "", setup.library.interface.helper]
        return os.posix_spawn(
            interpreter,
            words,
            environment,
            file_actions=actions,
            setsid=True,
            setsigmask=(),
            setsigdef=_DEFAULT_SIGNALS,
        )


def _at(fd: int) -> str:
    return f"/proc/self/fd/{fd}"
