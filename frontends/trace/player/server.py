"""The fork server: loads a library once, then plays each trace in a forked child.

This file is a program of its own and imports nothing of this package: it runs
in a fresh interpreter without site-packages, as a fork costs what the process
is big (0.35 ms CPU with 13 MB; 2 ms and more in a process that has loaded a
reducer). The other end is `server_process.py`, the encoding `records.py`.

Descriptors: 0 the socket (SOCK_SEQPACKET) to the client, 1 and 2 files in
memory that take what the library prints, 3 the memory shared with the client,
4 and 5 event counters (GO, DONE) for a child that is fed while it runs, 6 this program, 7 the
folder of the library. Arguments: the library, its symbols (parted by commas), a patch or
nothing: `SYMBOL:DISTANCE:EXPECTED:NEW` with the bytes in hexadecimal, "native" for machine code,
and a second library or nothing, with what the first one lacks.

The shared memory begins with the number of calls begun (u64), and holds results
(i64 each), strings and records at the offsets that each request names. A record
is 32 bytes: function (u16), kinds of six arguments (two bits each) with four
flags (u16), cell (u32), six arguments (i32). An argument is a number, or the
index of a cell, an offset into the strings, the index of a function. Cells are
64-bit words of the child's own. The flags: COUNTS, a call of the trace begins;
STORES, the result goes to the cell; KEEPS, it does not become the call's;
SKIPS, unless the result (an int) is 0, as many records are passed over as the
sixth argument says. So a child can fork, to be asked what the trace does not ask,
and records can have other data between them.

Two functions are of this file: EACH(object, function, numbers, count, last) calls the
function with the object, a number and the last argument for each number in turn
(i32), and puts the result in the number's place. PUT(address, value) stores 64 bits,
and returns the address behind them.

On x86-64 the child runs the machine code below and no Python: so the interpreter's objects
need not even be copied to it. Measured (CPU milliseconds of a whole replay, with this code and
without): 1.0 and 2.2 for 5 calls, 0.9 and 3.1 for 200, 5.5 and 13.9 for 2,053 calls.
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
EACH, PUT = ":each", ":put"  # no names that a library could have
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
_SHARED = ("/ld-", "/ld.", "/libc.", "/libc-", "/libm", "/libpthread", "/libdl", "/librt",
           "/libgcc", "/libstdc++")  # fmt: skip
_ARENA = 1 << 20  # bytes that Python maps at least for objects
_WARM_UP = 16
_IN_LISTS = 1 << 20  # bytes in the lists that malloc(3) keeps of blocks by size, at most
_BLOCKS = (*[1 << power for power in range(16, 10, -1)], *range(1032, 8, -16))
"""Bytes. Larger ones first: of what is left of a block, smaller ones are made."""

# Forks, as a function of fork(2) and of what the loop takes: the child falls into the loop.
_FORK = """
53                          push rbx
4889f3                      mov rbx, rsi
ffd7                        call rdi
85c0                        test eax, eax
7402                        jz child
5b                          pop rbx
c3                          ret
4889df               child: mov rdi, rbx
5b                          pop rbx
"""

# The loop over the records, as a function of a pointer to six pointers: records,
# strings, number of calls begun, results, cells, functions. It never returns:
# the last record is a call of _exit. The System V ABI wants the first six
# arguments in rdi, rsi, rdx, rcx, r8, r9, and the stack aligned to 16 bytes.
_LOOP = """
53 55 4154 4155 4156 4157   push rbx, rbp, r12, r13, r14, r15
4883ec38                    sub rsp, 56
488b1f                      mov rbx, [rdi]            ; record
4c8b6708                    mov r12, [rdi+8]          ; strings
4c8b6f10                    mov r13, [rdi+16]         ; number of calls begun
4c8b7718                    mov r14, [rdi+24]         ; result, of the call before
4c8b7f20                    mov r15, [rdi+32]         ; cells
488b6f28                    mov rbp, [rdi+40]         ; functions
0fb75302              next: movzx edx, word [rbx+2]   ; kinds and flags
f6c610                      test dh, 0x10             ; COUNTS
7408                        jz same
49ff4500                    inc qword [r13]
4983c608                    add r14, 8
31c9                  same: xor ecx, ecx
4863448b08        argument: movsxd rax, dword [rbx+rcx*4+8]
89d6                        mov esi, edx
83e603                      and esi, 3
7417                        jz put                    ; NUMBER
83fe02                      cmp esi, 2
7408                        je string
770b                        ja function
498b04c7                    mov rax, [r15+rax*8]      ; CELL
eb0a                        jmp put
4c01e0              string: add rax, r12
eb05                        jmp put
488b44c500        function: mov rax, [rbp+rax*8]
488904cc               put: mov [rsp+rcx*8], rax
c1ea02                      shr edx, 2
ffc1                        inc ecx
83f906                      cmp ecx, 6
75cf                        jne argument
488b3c24                    mov rdi, [rsp]
488b742408                  mov rsi, [rsp+8]
488b542410                  mov rdx, [rsp+16]
488b4c2418                  mov rcx, [rsp+24]
4c8b442420                  mov r8, [rsp+32]
4c8b4c2428                  mov r9, [rsp+40]
0fb703                      movzx eax, word [rbx]
4c8b54c500                  mov r10, [rbp+rax*8]
31c0                        xor eax, eax
41ffd2                      call r10
f6430340                    test byte [rbx+3], 0x40   ; KEEPS
7503                        jnz kept
498906                      mov [r14], rax
f6430320              kept: test byte [rbx+3], 0x20   ; STORES
7407                        jz stored
8b4b04                      mov ecx, [rbx+4]
498904cf                    mov [r15+rcx*8], rax
f6430380            stored: test byte [rbx+3], 0x80   ; SKIPS
740e                        jz done
85c0                        test eax, eax
740a                        jz done
8b4b1c                      mov ecx, [rbx+28]
48c1e105                    shl rcx, 5
4801cb                      add rbx, rcx
4883c320              done: add rbx, 32
e95fffffff                  jmp next
"""

# EACH, as a function of the same ABI.
_EACH = """
53 55 4154 4155 4156        push rbx, rbp, r12, r13, r14
4889fb                      mov rbx, rdi              ; object
4889f5                      mov rbp, rsi              ; function
4989d4                      mov r12, rdx              ; number
4189cd                      mov r13d, ecx             ; how many are left
4d89c6                      mov r14, r8               ; last argument
4585ed                 all: test r13d, r13d
7419                        jz end
4889df                      mov rdi, rbx
49633424                    movsxd rsi, dword [r12]
4c89f2                      mov rdx, r14
ffd5                        call rbp
41890424                    mov [r12], eax
4983c404                    add r12, 4
41ffcd                      dec r13d
ebe2                        jmp all
415e 415d 415c 5d 5b   end: pop r14, r13, r12, rbp, rbx
c3                          ret
"""

# PUT, as well.
_PUT = """
488937                      mov [rdi], rsi
488d4708                    lea rax, [rdi+8]
c3                          ret
"""


def listings() -> dict[str, list[tuple[bytes, str, str]]]:
    """Return the lines of the machine code (x86-64): bytes, label or "", instruction."""
    named = {"fork": _FORK, "loop": _LOOP, "each": _EACH, "put": _PUT}
    return {name: _lines(listing) for name, listing in named.items()}


def _lines(listing: str) -> list[tuple[bytes, str, str]]:
    found = []
    for line in listing.split("\n"):
        code, _, rest = line.partition("  ")
        label, _, text = rest.partition(";")[0].rpartition(": ")
        if code:
            found.append((bytes.fromhex(code), label.strip(), text.strip()))
    return found


def _assembled(listing: str) -> bytes:
    return b"".join(code for code, _, _ in _lines(listing))


class _Mallinfo(ctypes.Structure):
    """What mallinfo2(3) says; of it, all bytes that are free, and those at the top of the heap."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


class Failure(Exception):
    """The library cannot be used; the message says why."""


class _Libc:
    """What the server calls of the C library. `PyDLL`: the interpreter's lock stays held."""

    def __init__(self) -> None:
        self.all = library = ctypes.PyDLL(None, use_errno=True)
        self.fork = library.fork
        self.exit = library._exit
        self.mprotect = library.mprotect
        self.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self.errno_location = library["__errno_location"]
        self.errno_location.restype = ctypes.c_void_p
        self.madvise = library.madvise
        self.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self.personality = library.personality
        self.personality.argtypes = [ctypes.c_ulong]
        self.setvbuf = library.setvbuf
        self.setvbuf.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
        self.signal = library.signal
        self.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
        self.signal.restype = ctypes.c_void_p
        self.stdout = ctypes.c_void_p.in_dll(library, "stdout")
        self.malloc = library.malloc
        self.malloc.argtypes = [ctypes.c_size_t]
        self.malloc.restype = ctypes.c_void_p


def address_of(library: ctypes.CDLL, symbol: str) -> int:
    """Return where a function of the library, or of what it is linked with, is; 0 for nowhere."""
    try:
        found = getattr(library, symbol)
    except AttributeError:
        return 0
    return ctypes.cast(found, ctypes.c_void_p).value or 0


def patch(library: ctypes.CDLL, libc: _Libc, text: str) -> None:
    """Overwrite bytes of the library, if they are as expected. Raises Failure."""
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
    libc.mprotect(first, size, 5)


def _take_freed(libc: _Libc) -> None:
    """Take all memory that the interpreter has had and freed.

    A child is to begin with a heap as a program does that has just begun: what it allocates lies
    side by side, and is not what Python left behind. So what a fault that corrupts memory ends
    in depends on the trace, and hardly on what the server has done. Only with glibc.
    """
    try:
        info = libc.all.mallinfo2
    except AttributeError:
        return
    info.restype = _Mallinfo
    # There is no more than that, unless another library than glibc gives out memory.
    room = info().fordblks + _IN_LISTS
    for size in _BLOCKS:
        top = info().keepcost
        while info().keepcost == top and room > 0:
            libc.malloc(size)
            room -= size
    libc.malloc(max(0, info().keepcost - _BLOCKS[-1]))


def _of_the_interpreter(libc: _Libc) -> list[tuple[int, int]]:
    """Return the memory that only the interpreter uses, so far: addresses and sizes.

    That is what it has mapped for its objects. Not the heap, the data of its library or
    the variables of a thread, which others use as well, or exit(3) does; and not what
    another library maps, so this is for before one is loaded.
    """
    found = []
    of_thread = libc.errno_location()
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        for line in file:
            addresses, access, _, _, _, *name = line.split()
            first, end = (int(each, 16) for each in addresses.split("-"))
            big = end - first >= _ARENA
            if access == "rw-p" and big and not name and not first <= of_thread < end:
                found.append((first, end - first))
    return found


def _run_in_python(pointers: ctypes.Array[ctypes.c_uint64], libc: _Libc) -> None:
    """Do what the machine code does."""
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
    """Do what the machine code of EACH does."""
    call = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_int64] * 3, use_errno=False)(function)
    for number in (ctypes.c_int32 * count).from_address(numbers) if count else ():
        ctypes.c_int32.from_address(numbers).value = call(at, number, last)
        numbers += 4


def _put(at: int, value: int) -> int:
    """Do what the machine code of PUT does."""
    ctypes.c_int64.from_address(at).value = value
    return at + 8


class Server:
    """The loaded library, and all that a child needs."""

    def __init__(
        self, path: str, symbols: list[str], patched: str, *, native: bool, helper: str = ""
    ) -> None:
        self.libc = libc = _Libc()
        interpreters = _of_the_interpreter(libc)
        try:
            self.library = ctypes.CDLL(path, mode=os.RTLD_LOCAL | os.RTLD_NOW)
            self.helper = ctypes.CDLL(helper, mode=os.RTLD_LOCAL | os.RTLD_NOW) if helper else None
        except OSError as error:
            raise Failure(str(error)) from None
        found = [address_of(self.library, symbol) for symbol in symbols]
        if self.helper is not None:
            found = [
                at or address_of(self.helper, symbol)
                for at, symbol in zip(found, symbols, strict=True)
            ]
        self.missing = [
            symbol
            for symbol, at in zip(symbols, found, strict=True)
            if not at and symbol not in (EACH, PUT)
        ]
        # What a child reads is in memory of its own, not among the interpreter's objects.
        self.tables = mmap.mmap(-1, 8 * (6 + len(found)) + RECORD.size)
        self.pointers = (ctypes.c_uint64 * 6).from_buffer(self.tables)
        self.functions = (ctypes.c_uint64 * len(found)).from_buffer(self.tables, 8 * 6)
        for index, at in enumerate(found):
            self.functions[index] = at
        if patched:
            patch(self.library, libc, patched)
        self.shared = mmap.mmap(3, 0)
        self.shared_at = ctypes.addressof(ctypes.c_char.from_buffer(self.shared))
        self.cells = mmap.mmap(-1, 8 * CELLS, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.cells_at = ctypes.addressof(ctypes.c_char.from_buffer(self.cells))
        self.pointers[2] = self.shared_at
        self.pointers[4] = self.cells_at
        self.pointers[5] = ctypes.addressof(self.functions)
        self.start = None
        self.nothing = 0  # where the record is that ends a child
        self.poll = select.poll()
        self.poll.register(0, select.POLLIN)
        self.fork_at = ctypes.cast(libc.fork, ctypes.c_void_p).value or 0
        # Callbacks of Python's, unless there is machine code.
        self.each = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 5)(_each)
        self.put = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 2)(_put)
        own = {
            EACH: ctypes.cast(self.each, ctypes.c_void_p).value,
            PUT: ctypes.cast(self.put, ctypes.c_void_p).value,
        }
        if native:
            code = _assembled(_FORK) + _assembled(_LOOP)
            each = code + _assembled(_EACH)
            whole = each + _assembled(_PUT)
            try:
                self.code = mmap.mmap(-1, len(whole), prot=7)
            except OSError:  # some systems allow no memory that is writable and executable
                pass
            else:
                self.code.write(whole)
                at = ctypes.addressof(ctypes.c_char.from_buffer(self.code))
                self.start = ctypes.PYFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 2)(at)
                own = {EACH: at + len(code), PUT: at + len(each)}
                self._leave_out(interpreters, symbols)
        for name in own.keys() & symbols:
            self.functions[symbols.index(name)] = own[name] or 0
        libc.setvbuf(libc.stdout, None, 1, 1 << 12)  # _IOLBF: a crash loses no whole line

    def _leave_out(self, memory: list[tuple[int, int]], symbols: list[str]) -> None:
        """Keep memory from being copied to children, if one can end without it."""
        for first, size in memory:
            self.libc.madvise(first, size, _MADV_DONTFORK)
        last = len(self.tables) - RECORD.size
        self.tables[last:] = RECORD.pack(symbols.index("_exit"), KEEPS, 0, 0, 0, 0, 0, 0, 0)
        self.pointers[0] = self.nothing = ctypes.addressof(self.pointers) + last
        pid = self._forked()
        if pid > 0 and os.waitpid(pid, 0)[1]:
            for first, size in memory:
                self.libc.madvise(first, size, _MADV_DOFORK)

    def _forked(self) -> int:
        """Fork; the child plays what the pointers say."""
        assert self.start is not None
        return int(self.start(self.fork_at, ctypes.addressof(self.pointers)))

    def fork(self, results: int, strings: int, records: int) -> int:
        """Start a child that plays the records at an offset; return its process id."""
        pointers, at = self.pointers, self.shared_at
        pointers[0] = at + records
        pointers[1] = at + strings
        pointers[3] = at + results - 8
        # Not os.fork(): what Python does after a fork is for a child that runs Python.
        if self.start is not None:
            return self._forked()
        libc = self.libc
        pid: int = libc.fork()
        if pid == 0:
            try:
                _run_in_python(pointers, libc)
            finally:
                libc.exit(70)
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
        """Play nothing some times, until nothing is done for the first time any more.

        The heap is like that of a program that has just begun. Python's own code changes too as
        it is run: up to the eighth time with 3.11.
        """
        if self.start is not None:
            _take_freed(self.libc)
            for _ in range(_WARM_UP):
                self._play(0, 0, self.nothing - self.shared_at, 0.0, 0.0)

    def _play(self, results: int, strings: int, records: int, wall: float, cpu: float) -> bytes:
        """Play records in a child, to its end; return what there is to reply."""
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
    late = False
    pidfd = os.pidfd_open(pid)
    poll.register(pidfd, select.POLLIN)
    while True:
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
    """Start again without address space layout randomisation, if that is allowed.

    A fault may leave garbage in a register: what it then does shall not change
    from one server to the next.
    """
    off = 0x0040000  # ADDR_NO_RANDOMIZE, personality(2)
    libc = _Libc()
    now = libc.personality(0xFFFFFFFF)
    if now == -1 or now & off or libc.personality(now | off) == -1:
        return
    if libc.personality(0xFFFFFFFF) & off:
        os.execv(sys.executable, sys.orig_argv)


def main(arguments: list[str]) -> None:
    """Run the server."""
    _same_addresses()
    libc = _Libc()
    for number in (_SIGINT, _SIGPIPE, _SIGXFSZ):
        libc.signal(number, None)  # SIG_DFL: the interpreter has set others
    path, symbols, patched, native, helper = arguments
    try:
        fast = native == "native" and os.uname().machine in ("x86_64", "AMD64")
        server = Server(path, symbols.split(","), patched, native=fast, helper=helper)
    except Failure as failure:
        os.write(0, FAILED + str(failure).encode())
        return
    gc.disable()
    # Before the heap is made ready: to read a file leaves freed memory behind.
    with open("/proc/self/statm", "rb") as file:
        pages = int(file.read().split()[0])
    fields = [pages * mmap.PAGESIZE, int(server.start is not None), *server.missing]
    server.warm_up()
    os.write(0, READY + " ".join(map(str, fields)).encode())
    server.serve()


if __name__ == "__main__":
    main(sys.argv[1:])
