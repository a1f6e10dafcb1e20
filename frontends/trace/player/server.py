"""The fork server: loads a library once, then plays each trace in a forked child.

This file is a program of its own and imports nothing of this package: it runs in a fresh
interpreter without site-packages, because a fork costs what the process is big (0.35 ms CPU
with 13 MB; 2 ms and more in a process that has loaded a reducer). The other end is
`session.py`, the encoding `records.py`.

Descriptors: 0 the socket (SOCK_SEQPACKET) to the client, 1 and 2 files in memory that take what
the library prints, 3 the memory shared with the client, 4 and 5 event counters (GO, DONE) for a
child that is fed while it runs, 6 this program, 7 the folder of the library, 8 `player.c` as a
library. Arguments: the library, its symbols (separated by commas), a patch or nothing:
`SYMBOL:DISTANCE:EXPECTED:NEW` with the bytes in hexadecimal, the compiled player or nothing, and
a second library or nothing, with what the first one lacks.

The shared memory begins with the number of calls begun (u64), and holds results (i64 each),
strings and records at the offsets that each request names. A record is 32 bytes: function (u16),
kinds of six arguments (two bits each) with four flags (u16), cell (u32), six arguments (i32). An
argument is a number, or the index of a cell, an offset into the strings, the index of a function.
Cells are 64-bit words of the child's own. The flags: COUNTS, a call of the trace begins; STORES,
the result goes to the cell; KEEPS, it does not become the call's; SKIPS, unless the result (an
int) is 0, as many records are skipped as the sixth argument says. So a child can fork, to be
asked what the trace does not ask, and records can have other data between them.

Two functions are not the library's: EACH(object, function, numbers, count, last) calls the function
with the object, a number and the last argument for each number in turn (i32), and puts the result
in the number's place. PUT(address, value) stores 64 bits, and returns the address behind them.

A child runs `player.c`, and no Python: so the interpreter's objects need not even be copied to
it, and its heap is the library's alone. Without a compiler the loop in this file plays, with the
same results, in 2 to 3 times the CPU time.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import select
import struct
import sys
import time

NUMBER, CELL, STRING, FUNCTION = range(4)
COUNTS, STORES, KEEPS, SKIPS = 0x1000, 0x2000, 0x4000, 0x8000
EACH, PUT = "reducekit_each", "reducekit_put"
GO, DONE = 4, 5
RECORD = struct.Struct("<HHI6i")
REQUEST = struct.Struct("<3Qdd")  # offsets of results, strings, records; wall and CPU seconds
REPLY = struct.Struct("<iidd")  # wait status, whether time was up, wall and CPU seconds
READY, FAILED = b"R", b"F"
CELLS = 1 << 20
_NEVER = float("inf")
_TICK = 0.002  # seconds between looks at how much CPU a child has used, at least
_MADV_DONTFORK, _MADV_DOFORK = 10, 11
# Not by modules of Python's: what they load is a fifth of what a fork copies.
_SIGINT, _SIGKILL, _SIGPIPE, _SIGXFSZ = 2, 9, 13, 25
_IOLBF = 1  # a buffer for each line: a crash loses no whole one
_ARENA = 1 << 20  # bytes that Python maps at least for objects
_WARM_UP = 16
_IN_LISTS = 1 << 20  # bytes in the lists that malloc(3) keeps of blocks by size, at most
# Sizes in bytes, largest first: malloc(3) splits the rest of a block into smaller ones.
_BLOCKS = (*[1 << power for power in range(16, 10, -1)], *range(1032, 8, -16))


class _Mallinfo(ctypes.Structure):
    """What mallinfo2(3) returns: ten numbers; the last two matter here."""

    _fields_ = [
        ("others", ctypes.c_size_t * 8),
        ("free", ctypes.c_size_t),  # fordblks
        ("top", ctypes.c_size_t),  # keepcost: at the end of the heap
    ]


class Failure(Exception):
    """The library cannot be used; the message says why."""


def _libc() -> ctypes.PyDLL:
    """Return the C library. `PyDLL`: the interpreter's lock stays held."""
    library = ctypes.PyDLL(None, use_errno=True)
    pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    for name, result, *arguments in (
        ("__errno_location", pointer),
        ("madvise", number, pointer, size, number),
        ("malloc", pointer, size),
        ("mprotect", number, pointer, size, number),
        ("personality", number, ctypes.c_ulong),
        ("setvbuf", number, pointer, pointer, number, size),
        ("signal", pointer, number, pointer),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def address_of(library: ctypes.CDLL, symbol: str) -> int:
    """Return where a function of the library, or of what it is linked with, is; 0 for nowhere."""
    try:
        found = getattr(library, symbol)
    except AttributeError:
        return 0
    return ctypes.cast(found, ctypes.c_void_p).value or 0


def patch(library: ctypes.CDLL, libc: ctypes.PyDLL, text: str) -> None:
    """Overwrite bytes of the library, if they are as expected. Raises Failure."""
    # From an exported symbol: the loader knows no others.
    symbol, distance, expected, new = text.split(":")
    anchor = address_of(library, symbol)
    if not anchor:
        raise Failure(f"there is no symbol {symbol}")
    address = anchor + int(distance)
    old, code = bytes.fromhex(expected), bytes.fromhex(new)
    first = address // mmap.PAGESIZE * mmap.PAGESIZE
    size = address + len(old) - first
    # mprotect(2) also says whether there is memory at all: 7 is read, write, execute.
    if libc.mprotect(first, size, 7):
        raise Failure(f"the code cannot be made writable: {os.strerror(ctypes.get_errno())}")
    found = ctypes.string_at(address, len(old))
    if found != old:
        raise Failure(f"the bytes are {found.hex()}, not {expected}: it is another build")
    ctypes.memmove(address, code, len(code))
    libc.mprotect(first, size, 5)  # read, execute


def _take_freed(libc: ctypes.PyDLL) -> None:
    """Take all memory that the interpreter has had and freed."""
    # A child is to begin with the heap of a program that has just begun: what it allocates lies
    # side by side, not in gaps that Python left. So what a fault that corrupts memory ends in
    # depends on the trace, and hardly on what the server has done. Only with glibc.
    try:
        info = libc.mallinfo2
    except AttributeError:
        return
    info.restype = _Mallinfo
    # There is no more than that, unless another library than glibc provides malloc(3).
    room = info().free + _IN_LISTS
    for size in _BLOCKS:
        # While a list has such a block, malloc(3) takes it; then the top shrinks.
        top = info().top
        while info().top == top and room > 0:
            libc.malloc(size)
            room -= size
    libc.malloc(max(0, info().top - _BLOCKS[-1]))


def _of_the_interpreter(libc: ctypes.PyDLL) -> list[tuple[int, int]]:
    """Return the memory that only the interpreter uses, so far: addresses and sizes."""
    # That is what it has mapped for its objects: not the heap, the data of its library or the
    # variables of a thread, which other code uses as well, such as exit(3); and not what another
    # library maps, so call this before one is loaded.
    found = []
    of_thread = libc.__errno_location()
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        for line in file:
            addresses, access, _, _, _, *name = line.split()
            first, end = (int(each, 16) for each in addresses.split("-"))
            big = end - first >= _ARENA
            if access == "rw-p" and big and not name and not first <= of_thread < end:
                found.append((first, end - first))
    return found


def _run_in_python(pointers: ctypes.Array[ctypes.c_uint64]) -> None:
    """Play as `player.c` does."""
    record, strings, begun, result, cells, functions = pointers
    word = ctypes.c_int64.from_address
    call = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 6, use_errno=False)
    while True:
        function, kinds, cell, *arguments = RECORD.unpack(ctypes.string_at(record, RECORD.size))
        if kinds & COUNTS:
            word(begun).value += 1
            result += 8
        for index in range(6):
            kind = kinds >> 2 * index & 3
            if kind == CELL:
                arguments[index] = word(cells + 8 * arguments[index]).value
            elif kind == STRING:
                arguments[index] += strings
            elif kind == FUNCTION:
                arguments[index] = word(functions + 8 * arguments[index]).value
        value = call(word(functions + 8 * function).value)(*arguments)
        if not kinds & KEEPS:
            word(result).value = value
        if kinds & STORES:
            word(cells + 8 * cell).value = value
        if kinds & SKIPS and value & 0xFFFFFFFF:
            record += RECORD.size * arguments[5]
        record += RECORD.size


def _each(at: int, function: int, numbers: int, count: int, last: int) -> None:
    call = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_int64] * 3, use_errno=False)(function)
    for number in (ctypes.c_int32 * count).from_address(numbers) if count else ():
        ctypes.c_int32.from_address(numbers).value = call(at, number, last)
        numbers += 4


def _put(at: int, value: int) -> int:
    ctypes.c_int64.from_address(at).value = value
    return at + 8


class Server:
    """The loaded library, and all that a child needs. Raises Failure."""

    def __init__(
        self,
        libc: ctypes.PyDLL,
        path: str,
        symbols: list[str],
        patched: str,
        player: str,
        helper: str,
    ) -> None:
        self.libc = libc
        interpreters = _of_the_interpreter(libc)
        mode = os.RTLD_LOCAL | os.RTLD_NOW
        try:
            self.libraries = [ctypes.CDLL(each, mode=mode) for each in (path, helper) if each]
        except OSError as error:
            raise Failure(str(error)) from None
        self.start = None
        try:
            if player:
                self.libraries.append(ctypes.PyDLL(player))
                self.start = self.libraries[-1].reducekit_start
                self.start.argtypes = [ctypes.c_void_p] * 2
        except OSError:  # some systems run no code from the folder of a user
            pass
        found = [
            next(filter(None, (address_of(library, symbol) for library in self.libraries)), 0)
            for symbol in symbols
        ]
        if self.start is None:
            number = ctypes.c_int64
            each = ctypes.CFUNCTYPE(None, *[number] * 5)(_each)
            put = ctypes.CFUNCTYPE(number, *[number] * 2)(_put)
            self.callbacks = {EACH: each, PUT: put}
            for name, function in self.callbacks.items():
                found[symbols.index(name)] = ctypes.cast(function, ctypes.c_void_p).value or 0
        self.missing = [symbol for symbol, at in zip(symbols, found, strict=True) if not at]
        # What a child reads is in memory of its own, not among the interpreter's objects.
        self.tables = mmap.mmap(-1, 8 * (6 + len(found)) + RECORD.size)
        self.pointers = (ctypes.c_uint64 * 6).from_buffer(self.tables)
        self.functions = (ctypes.c_uint64 * len(found)).from_buffer(self.tables, 8 * 6)
        for index, at in enumerate(found):
            self.functions[index] = at
        if patched:
            patch(self.libraries[0], libc, patched)
        self.shared = mmap.mmap(3, 0)
        self.shared_at = ctypes.addressof(ctypes.c_char.from_buffer(self.shared))
        self.cells = mmap.mmap(-1, 8 * CELLS, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.pointers[2] = self.shared_at
        self.pointers[4] = ctypes.addressof(ctypes.c_char.from_buffer(self.cells))
        self.pointers[5] = ctypes.addressof(self.functions)
        last = len(self.tables) - RECORD.size
        self.tables[last:] = RECORD.pack(symbols.index("_exit"), KEEPS, 0, 0, 0, 0, 0, 0, 0)
        self.nothing = ctypes.addressof(self.pointers) + last  # a record that ends a child
        self.poll = select.poll()
        self.poll.register(0, select.POLLIN)
        self.fork_at = ctypes.cast(libc.fork, ctypes.c_void_p).value
        if self.start is not None:
            self._leave_out(interpreters)
        libc.setvbuf(ctypes.c_void_p.in_dll(libc, "stdout"), None, _IOLBF, 1 << 12)

    def _leave_out(self, memory: list[tuple[int, int]]) -> None:
        """Keep memory from being copied to children, if one can end without it."""
        for first, size in memory:
            self.libc.madvise(first, size, _MADV_DONTFORK)
        # A child that plays nothing dies if it needs any of that.
        pid = self.fork(0, 0, self.nothing - self.shared_at)
        if pid > 0 and os.waitpid(pid, 0)[1]:
            for first, size in memory:
                self.libc.madvise(first, size, _MADV_DOFORK)

    def fork(self, results: int, strings: int, records: int) -> int:
        """Start a child that plays the records at an offset; return its process id."""
        pointers, at = self.pointers, self.shared_at
        pointers[0] = at + records
        pointers[1] = at + strings
        pointers[3] = at + results - 8
        # Not os.fork(): what Python does after a fork is for a child that runs Python.
        if self.start is not None:
            return int(self.start(self.fork_at, ctypes.addressof(pointers)))
        pid: int = self.libc.fork()
        if pid == 0:
            try:
                _run_in_python(pointers)
            finally:
                self.libc._exit(70)
        return pid

    def serve(self) -> None:
        """Play what is asked for, until the client has gone."""
        # Always the same memory: a child begins with the server's heap, and what a faulty library
        # does may depend on what lies where. It shall not depend on what was played before.
        request = bytearray(REQUEST.size)
        while size := os.readv(0, [request]):
            if size != REQUEST.size:
                continue  # it came too late to end anything
            reply = self._play(*REQUEST.unpack(request))
            os.write(0, reply or FAILED + b"the process cannot be forked")

    def warm_up(self) -> None:
        """Play nothing some times, until nothing is done for the first time any more."""
        # The heap is like that of a program that has just begun. Python's own code changes too as
        # it is run: up to the eighth time with 3.11.
        if self.start is not None:
            _take_freed(self.libc)
            for _ in range(_WARM_UP):
                self._play(0, 0, self.nothing - self.shared_at, 0.0, 0.0)

    def _play(self, results: int, strings: int, records: int, wall: float, cpu: float) -> bytes:
        started = time.monotonic()
        pid = self.fork(results, strings, records)
        if pid < 0:
            return b""
        late = _watch(self.poll, pid, started + (wall or _NEVER), cpu or _NEVER)
        _, status, usage = os.wait4(pid, 0)
        seconds = time.monotonic() - started
        used = usage.ru_utime + usage.ru_stime
        return REPLY.pack(status, late, seconds, used)


def _watch(poll: select.poll, pid: int, deadline: float, cpu: float) -> bool:
    """Wait until a child has ended; kill it when time is up, or the client wants it or has gone.

    `cpu` are seconds, too few for a limit of the system's, which counts whole ones.
    """
    # A descriptor of the process, so that one poll(2) waits for its end and for the client.
    late = False
    pidfd = os.pidfd_open(pid)
    poll.register(pidfd, select.POLLIN)
    while True:
        # A child with one thread uses no more CPU time than passes.
        rest = min(deadline - time.monotonic(), max(_TICK, cpu - _cpu(pid)))
        events = poll.poll(None if rest == _NEVER else max(0.0, rest) * 1000)
        if any(fd == pidfd for fd, _ in events):
            break
        if not events and time.monotonic() < deadline and _cpu(pid) < cpu:
            continue
        late = not events
        if events and not os.read(0, 4096):
            poll.unregister(0)  # the end of the socket: it would be ready for ever
        deadline = cpu = _NEVER
        os.kill(pid, _SIGKILL)
    poll.unregister(pidfd)
    os.close(pidfd)
    return late


def _cpu(pid: int) -> float:
    """Return the seconds of CPU that a child has used; none if it has just ended."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # CPUCLOCK_SCHED of the process
    except OSError:
        return 0.0


def _same_addresses() -> None:
    """Start again without address space layout randomisation, if that is allowed."""
    # A fault may leave garbage in a register: what that does is to be the same in each server.
    off = 0x0040000  # ADDR_NO_RANDOMIZE, personality(2)
    libc = _libc()
    now = libc.personality(0xFFFFFFFF)
    if now == -1 or now & off or libc.personality(now | off) == -1:
        return
    if libc.personality(0xFFFFFFFF) & off:
        os.execv(sys.executable, sys.orig_argv)


def main(path: str, symbols: str, patched: str, player: str, helper: str) -> None:
    """Run the server."""
    _same_addresses()
    libc = _libc()
    for number in (_SIGINT, _SIGPIPE, _SIGXFSZ):
        libc.signal(number, None)  # SIG_DFL: the interpreter has set others
    try:
        server = Server(libc, path, symbols.split(","), patched, player, helper)
    except Failure as failure:
        os.write(0, FAILED + str(failure).encode())
        return
    gc.disable()  # a collection would change the heap that children begin with
    # Before the heap is made ready: to read a file leaves freed memory behind.
    with open("/proc/self/statm", "rb") as file:
        pages = int(file.read().split()[0])
    fields = [pages * mmap.PAGESIZE, int(server.start is not None), *server.missing]
    server.warm_up()
    os.write(0, READY + " ".join(map(str, fields)).encode())
    server.serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
