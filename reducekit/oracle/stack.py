"""Where in the code a program crashes: the innermost functions, from gdb or a sanitizer's report.

A signal names no place, so a reduction may end at another bug with the same one. gdb runs the
command with all processes that it starts, so a crash in a script's solver is found as well.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from reducekit.oracle.command import PLACE, Command
from reducekit.oracle.criterion import AroundFirst, Criterion
from reducekit.run import Limits, Outcome

FRAMES = 3  # the number of innermost functions that are compared by default
_PATIENCE = 30.0  # seconds that gdb may take longer than the program: it reads large symbols
_SCRIPT = r"""
import gdb
OURS = "SIGSEGV SIGABRT SIGBUS SIGFPE SIGILL SIGSYS"
for each in (
    "unset environment LINES", "unset environment COLUMNS", "set confirm off",
    "set pagination off", "set width 0", "set print thread-events off",
    "set detach-on-fork off", "set follow-fork-mode child", "set disable-randomization off",
    "handle all nostop noprint pass", "handle %s stop print pass" % OURS,
):
    gdb.execute(each, to_string=True)
stops = []
gdb.events.stop.connect(stops.append)

def tried(line):
    try:
        gdb.execute(line, to_string=True)
    except gdb.error:
        return False
    return True

def number(text):
    return int(gdb.parse_and_eval("(unsigned long)(%s)" % text)) & (1 << 64) - 1

def bases():
    found = dict()
    try:
        with open("/proc/%d/maps" % gdb.selected_inferior().pid) as file:
            for line in file:
                words = line.split(None, 5)
                path = words[5].strip() if len(words) > 5 else ""
                if path.startswith("/") or path == "[vdso]":
                    low, high = (int(each, 16) for each in words[0].split("-"))
                    found.setdefault(path, [low, high])[1] = high
    except OSError:
        pass
    return found

def record(signal):
    deep = False
    try:
        address = number("$_siginfo._sifields._sigfault.si_addr")
        deep = signal == "SIGSEGV" and abs(address - number("$sp")) < 1 << 20
    except gdb.error:
        pass
    maps, frames = bases(), []
    try:
        frame = gdb.newest_frame()
        while frame is not None and len(frames) < 64:
            pc = frame.pc()
            name, offset = next(
                ((path, pc - low) for path, (low, high) in maps.items() if low <= pc < high),
                ("", 0),
            )
            called = frame.name() or "??"
            if frame.type() == gdb.SIGTRAMP_FRAME:
                called = "handler of a signal"
            frames.append("#%d %s at %s+0x%x" % (len(frames), called[:2000], name, offset))
            frame = frame.older()
    except gdb.error:
        pass
    said = "crash in process %d" % gdb.selected_inferior().pid
    return [said + (", out of stack" if deep else ""), *frames, "end of the stack"]

ran, crashed = tried("run"), 0
for _ in range(1000):
    stop = stops[-1] if stops else None
    stops.clear()
    if isinstance(stop, gdb.SignalEvent) and stop.stop_signal in OURS.split():
        crashed = crashed or gdb.selected_inferior().pid
        print(*record(stop.stop_signal), sep=chr(10), flush=True)
    alive = [each for each in gdb.inferiors() if each.pid and each.threads()]
    if not alive or crashed and crashed not in [each.pid for each in alive]:
        break
    if not gdb.selected_inferior().pid or gdb.selected_thread() is None:
        tried("inferior %d" % alive[-1].num)
    if not tried("continue"):
        break
if ran:
    print("end of the run", flush=True)
"""
"""What gdb runs. It prints the stack of each crash, and a last line if the command ran.

Addresses stay random, as they are without gdb: some memory errors crash only then. A child runs to
its end before its parent goes on: with both at once (schedule-multiple), gdb 13 loses the child of
a vfork() now and then, and waits for ever.
"""
_DEBUGGER = ("/usr/bin/env", "SHELL=/bin/sh")
_QUIET = ("/bin/sh", "-c", 'exec "$@" > /dev/null 2>&1', "sh")
"""Executes the command without its output: the debuggee of gdb, which takes no scripts."""


def under_gdb(command: Command) -> Command | None:
    """Return the command that runs another in gdb and prints where it crashes; None without gdb."""
    gdb = shutil.which("gdb")
    if gdb is None:
        return None
    words = [*_DEBUGGER, os.path.abspath(gdb), "-nx", "-q", "-batch"]
    words += ["-iex", "set debuginfod enabled off", "-iex", "set auto-load no"]
    # exec() makes it one line: gdb reads the lines of a longer one from its input.
    words += ["-ex", f"python exec({_SCRIPT!r})", "--args", *_QUIET, *command.words]
    return command._replace(words=tuple(words), line=_by_hand(command), patience=_PATIENCE)


def _by_hand(command: Command) -> str:
    """Return a shell line that shows a person the same."""
    if command.line is not None:
        return f"gdb -batch -ex run -ex bt --args sh -c {shlex.quote(command.line)}"
    line = shlex.join(command.words).replace(shlex.quote(PLACE), PLACE)
    return f"gdb -batch -ex run -ex bt --args env {line}"


def is_debugger(command: Command) -> bool:
    """Return whether `under_gdb` made a command."""
    return command.words[: len(_DEBUGGER)] == _DEBUGGER


@dataclass(frozen=True, slots=True)
class Stack:
    """The functions of a program on the stack of a crash, innermost first.

    Functions of the C and C++ libraries are left out. After an endless recursion, these are the
    functions that call each other, sorted: which of them is the innermost is chance.
    """

    functions: tuple[str, ...]
    recursion: bool = False

    @property
    def named(self) -> bool:
        """Whether the innermost function is known by its name, not by its place in a file."""
        return "+0x" not in self.functions[0]

    def top(self, count: int) -> Stack:
        """Return only the innermost functions, unless it is a recursion."""
        return self if self.recursion else Stack(self.functions[:count])

    def same_place(self, other: Stack, count: int = FRAMES) -> bool:
        """Return whether the innermost functions are the same.

        Of two recursions, half of the functions of the smaller one are in the other.
        """
        if not (self.recursion and other.recursion):
            return self.top(count) == other.top(count)
        both = set(self.functions) & set(other.functions)
        return 2 * len(both) >= min(len(self.functions), len(other.functions))

    def describe(self, count: int = FRAMES) -> str:
        """Return it as `innermost < its caller < ...`."""
        if self.recursion:
            return f"endless recursion of {', '.join(self.functions)}"
        return " < ".join(self.functions[:count])


@dataclass(frozen=True, slots=True)
class _Frame:
    """A frame: the function as printed, '' if unknown, and the place in a file of code."""

    name: str
    module: str
    offset: int
    trampoline: bool = False  # whether the kernel called a signal handler here

    def label(self) -> str:
        """Return the name of the function, the offset in its file, or '' for neither."""
        if self.name and self.name != "??":
            return function_name(self.name)
        return f"{self.module}+{self.offset:#x}" if self.module else ""


_CRASH = re.compile(
    r"^crash in process (\d+)(, out of stack)?\n((?:#.*\n)*)end of the stack$", re.MULTILINE
)
_FRAME = re.compile(r"^#\d+ (.*?) at (.*)\+(0x[0-9a-f]+)$", re.MULTILINE)
_HANDLER = "handler of a signal"
_ENDED = re.compile(rb"^end of the run$", re.MULTILINE)


def ran_under_gdb(outcome: Outcome) -> bool:
    """Return whether gdb could run the command at all."""
    return _ENDED.search(outcome.stdout) is not None


def crash_under_gdb(outcome: Outcome) -> Stack | None:
    """Return the stack of the crash that a run of `under_gdb` shows; None if there is none."""
    crashes = _CRASH.findall(outcome.stdout.decode("utf-8", "replace"))
    # gdb stops at the end of the first process that crashes: `timeout` repeats its signal. Of the
    # signals in one the last: a handler of SIGSEGV may end the program by abort().
    for process, deep, text in reversed(crashes):
        if process != crashes[0][0]:
            continue
        frames = [
            _Frame(name, os.path.basename(path), int(offset, 16), name == _HANDLER)
            for name, path, offset in _FRAME.findall(text)
        ]
        found = stack_of(frames, overflow=bool(deep))
        if found is not None:
            return found
    return None


_REPORTED = re.compile(r"^\s*#(\d+)\s+(?:0x[0-9a-f]+\s+)?(?:in\s+)?(.*?)\s*$")
_MODULE = re.compile(r"\(([^()\s]+)\+(0x[0-9a-f]+)\)$")
_LOCATION = re.compile(r"\s(?:<null>|/\S*|\S+:\d+)$")


def reported_crash(outcome: Outcome) -> Stack | None:
    """Return the stack in a sanitizer's report; None if there is none."""
    for output in (outcome.stderr, outcome.stdout):
        at = output.find(b"Sanitizer:")
        if at >= 0:
            report = output[at : at + (1 << 18)].decode("utf-8", "replace")
            return stack_of(
                list(_frames_in(report)), overflow="stack-overflow" in report.split("\n", 1)[0]
            )
    return None


def _frames_in(report: str) -> Iterator[_Frame]:
    expected = 0
    for line in report.splitlines():
        match = _REPORTED.match(line)
        if match is None:
            continue
        if int(match[1]) != expected:
            return
        expected += 1
        said = re.sub(r"\s*\(BuildId: \w+\)$", "", match[2])
        module = _MODULE.search(said)
        said = said if module is None else said[: module.start()].rstrip()
        name = _LOCATION.sub("", said)
        path, offset = ("", 0) if module is None else (module[1], int(module[2], 16))
        yield _Frame(name, os.path.basename(path), offset)


_LIBRARY = re.compile(
    r"(?:ld-linux|ld-musl|libc|libpthread|libm|libstdc\+\+|libc\+\+|libc\+\+abi|libgcc_s|libunwind"
    r"|lib[a-z]{1,2}san|libclang_rt\.[a-z_]+)(?:[-.].*)?\.so\b|\[vdso\]"
)
_SYSTEM = re.compile(
    r"__|_(?:int_|IO_|dl_|Unwind_|exit\b|start\b)|std::|core::(?:panicking|result|option)::"
    r"|rust_|operator (?:new|delete)|(?:raise|abort|kill|tgkill|pthread_kill|main|start_thread"
    r"|clone\d?|malloc\w*|calloc|realloc|c?free|(?:munmap|unlink)_chunk|sysmalloc"
    r"|mem(?:cpy|move|set|cmp)|str\w{3,6})$"
)
"""Functions of the C, C++ and Rust libraries, which are on many stacks."""
_OFTEN = 3  # a function that is as often among the innermost 64 belongs to the recursion


def stack_of(frames: Sequence[_Frame], *, overflow: bool) -> Stack | None:
    """Return what distinguishes a crash of the frames on its stack; None if they are unknown.

    Frames of signal handlers are left out.
    """
    handled = max((at for at, each in enumerate(frames) if each.trampoline), default=-1)
    frames = frames[handled + 1 :]
    program = [each.label() for each in frames if not _LIBRARY.match(each.module)]
    own = [label for label in program if label and not _SYSTEM.match(label)]
    if overflow:
        often = sorted(name for name, count in Counter(own).items() if count >= _OFTEN)
        if often:
            return Stack(tuple(often), recursion=True)
    # Else in main() itself, or all is in a library.
    found = own or list(filter(None, program)) or [each.label() for each in frames if each.label()]
    return Stack(tuple(found)) if found else None


_OPERATOR = re.compile(r"\boperator ?(\(\)|<=>|<<=?|>>=?|->\*?|[<>]=?)")
_NAMELESS = re.compile(r"\(anonymous (?:namespace|class)\)")
_SUFFIX = re.compile(
    r"(?:\s*\[clone [^\]]*\]|\.(?:isra|part|cold|constprop|lto_priv|llvm)(?:\.\d+)*|@\w+"
    r"|::h[0-9a-f]{16})+$"
)
_QUALIFIED = re.compile(r"(?:\s*(?:const|volatile|noexcept|&&?))+$")
_LAST = re.compile(r"(?:\S*\boperator (?:new|delete)\S*|\S*\boperator [\w:]+|\S+)$")


def function_name(said: str) -> str:
    """Return the name of a function without arguments, template arguments and the result's type.

    These vary for the same place, as do the suffixes of parts that a compiler splits off.
    """
    kept: list[str] = []
    said = _NAMELESS.sub("{anonymous}", _SUFFIX.sub("", said.strip()))
    said = _OPERATOR.sub(lambda match: "operator" + match[1].translate(_HIDDEN), said)
    depth = 0
    for each in said:
        if each in "<(":
            depth += 1
        elif each in ">)":
            depth = max(0, depth - 1)
        elif depth == 0:
            kept.append(each)
    bare = _QUALIFIED.sub("", "".join(kept)).strip()
    match = _LAST.search(bare)
    return (bare if match is None else match[0]).translate(_SHOWN)


_HIDDEN = {ord(each): 0xE000 + at for at, each in enumerate("<>()")}
_SHOWN = {hidden: shown for shown, hidden in _HIDDEN.items()}


@dataclass(frozen=True, slots=True)
class SameStack(AroundFirst):
    """A criterion holds for the first commands, and the crash is at the same place.

    The place is in a sanitizer's report, or what the last command shows (`under_gdb`), which runs
    only if the text is interesting otherwise.
    """

    count: int = FRAMES  # the number of innermost functions that are compared
    pattern: re.Pattern[str] | None = None  # instead of that: any function on the stack must match
    expected: Stack | None = None
    captures: bool = True

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        if len(outcomes) <= self.first:
            judged = self.inner.judge(outcomes)
            if not judged:
                return judged if len(outcomes) < self.first else False
            if reported_crash(outcomes[0]) is None:
                return None
        return self._accepts(self._stack(outcomes))

    def _stack(self, outcomes: Sequence[Outcome]) -> Stack | None:
        found = reported_crash(outcomes[0])
        if found is None and len(outcomes) > self.first:
            found = crash_under_gdb(outcomes[-1])
        return found

    def _accepts(self, stack: Stack | None) -> bool:
        if stack is None:
            return False
        if self.pattern is not None:
            return any(map(self.pattern.search, stack.functions))
        return self.expected is None or self.expected.same_place(stack, self.count)

    def describe(self) -> str:
        if self.pattern is not None:
            return f"{self.inner.describe()}, in a function matching {self.pattern.pattern!r}"
        if self.expected is None:
            return f"{self.inner.describe()}, in the same {self.count} functions"
        return f"{self.inner.describe()}, in {self.expected.describe(self.count)}"

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        """Return the criterion with the stack of the run.

        The inner criterion alone if there is no gdb, or if it cannot trace processes.
        """
        inner = self.inner.shown_by(run[: self.first], limits)
        if inner is None:
            return None
        found = self._stack(run)
        if found is None and not any(map(ran_under_gdb, run[self.first :])):
            return inner
        if not self._accepts(found):
            return None
        known = None if found is None or self.pattern is not None else found.top(self.count)
        return replace(self, inner=inner, expected=known)

    def missing_in(self, run: Sequence[Outcome]) -> str:
        """Explain where the input crashes instead, if the rest is as wanted."""
        if self.inner.shown_by(run[: self.first], Limits()) is None:
            return self.inner.missing_in(run[: self.first])
        found = self._stack(run)
        if found is None:
            return "it does not crash in gdb; leave out `match_stack`"
        wanted = "" if self.pattern is None else f" matching {self.pattern.pattern!r}"
        return f"no function{wanted} in {found.describe(len(found.functions))}"

    def elsewhere(self, outcomes: Sequence[Outcome]) -> Stack | None:
        """Return the stack of a text that is not interesting for its stack alone."""
        rest = self.inner.judge(outcomes[: self.first])
        found = self._stack(outcomes) if rest else None
        return None if self._accepts(found) else found
