"""`reducekit replay`: run a trace once, and end as the program under test ended."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from reducekit.cli.executors import Executors
from reducekit.cli.group import Surroundings
from reducekit.cli.interrupts import Interrupts
from reducekit.cli.options import SECONDS
from reducekit.cli.streams import say
from reducekit.errors import ParseError, UsageError
from reducekit.frontends.trace.calls import Call, Trace
from reducekit.frontends.trace.formats import FORMATS, read_trace
from reducekit.frontends.trace.loader import load_model
from reducekit.frontends.trace.replay import (
    CONTRACT,
    MISMATCH,
    PARSE,
    ReplayOutcome,
    ReplayServer,
    find_library,
    read_fault,
    resolve,
)
from reducekit.frontends.trace.replay.classify import classified
from reducekit.oracle.command import Command
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.output import read_input

_APIS = {"lgl": "lingeling", "mobical": "cadical", "boolector": "boolector", "words": "ipasir"}
_STATUSES = {"contract": CONTRACT, "parse": PARSE, "oracle": MISMATCH}
_NAMES = {"ok": "passed", "contract": "contract violation", "mismatch": "wrong result"}


@dataclass(frozen=True, slots=True)
class _Options:
    """What is to be replayed, and how."""

    file: Path
    model: str | None
    format: str | None
    library: str | None
    fault: str | None
    faults: str | None
    command: tuple[str, ...] | str | None
    check_returns: bool
    results: bool
    limits: Limits


@dataclass(frozen=True, slots=True)
class _End:
    """How the replay ended: exactly one of `status` and `signal` is not None."""

    status: int | None
    signal: int | None
    summary: str
    stdout: bytes
    stderr: bytes


class _AllCaptured:
    """A criterion for a single run that somebody else judges."""

    captures = True
    wall = None

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        """Accept any outcome."""
        return True

    def describe(self) -> str:
        """Say in words what is kept alive."""
        return "any end"


@click.command(
    "replay",
    epilog="Exit status: 0 passed, 86 contract violation, 87 not a trace of the API, 88 wrong "
    "result (--check-returns); otherwise the program's own, or its own signal. A replay that "
    "runs out of time ends by SIGXCPU (--cpu) or SIGALRM (--timeout).",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--cmd", metavar="CMD", help="An interpreter of traces to run instead of a library.")
@click.option("--model", metavar="API", help="The API; default: that of the trace's format.")
@click.option("--format", type=click.Choice(sorted(FORMATS)), help="Default: what it looks like.")
@click.option("--library", metavar="NAME|PATH", help="The library; default: what is installed.")
@click.option(
    "--fault",
    metavar="FAULT",
    help="Overwrite an instruction: SYMBOL+OFFSET:abort or :delete, =HEX for the bytes expected "
    "there; or a name in --faults.",
)
@click.option("--faults", metavar="FILE", help="A list of faults (JSON).")
@click.option("--check-returns", is_flag=True, help="Compare results with those in the trace.")
@click.option("--results", is_flag=True, help="Print what each call returned.")
@click.option("--timeout", type=SECONDS, default=60, show_default=True, metavar="S")
@click.option("--cpu", type=SECONDS, default=10, show_default=True, metavar="S")
@click.option(
    "--memory", type=click.IntRange(min=1), default=4096, show_default=True, metavar="MIB"
)
@click.pass_obj
def command(
    surroundings: Surroundings,
    file: Path,
    command: tuple[str, ...],
    cmd: str | None,
    model: str | None,
    format: str | None,  # noqa: A002 - the option's name
    library: str | None,
    fault: str | None,
    faults: str | None,
    check_returns: bool,
    results: bool,
    timeout: float,
    cpu: float,
    memory: int,
) -> int:
    """Replay the API trace FILE against a library, and end as that ended.

    No --cmd is needed: a trace of Lingeling is replayed against the one inside
    python-sat, in a process of its own.
    """
    if cmd is not None and command:
        raise UsageError("two commands: one after --cmd, one at the end")
    limits = Limits(wall=timeout, cpu=cpu, memory=memory << 20, output=1 << 20)
    options = _Options(
        file, model, format, library, fault, faults, cmd or command or None,
        check_returns, results, limits,
    )  # fmt: skip
    end = _ended(options, surroundings.interrupts)
    sys.stdout.flush()
    sys.stdout.buffer.write(end.stdout)
    sys.stdout.flush()
    sys.stderr.flush()
    sys.stderr.buffer.write(end.stderr)
    say(f"replay: {end.summary}")
    if end.signal is not None:
        _die_by(end.signal)
    return end.status if end.status is not None else 128 + (end.signal or 0)


def _ended(options: _Options, interrupts: Interrupts) -> _End:
    """Replay, and say how that ended. Raises UsageError."""
    with interrupts.allowed():
        text = read_input(options.file)
        if options.command is None:
            return _with_library(options, text)
    for given, name in (
        (options.library, "--library"),
        (options.fault, "--fault"),
        (options.check_returns, "--check-returns"),
        (options.results, "--results"),
    ):
        if given:
            raise UsageError(f"{name} is for replays against a library, not for --cmd")
    return _with_command(options, text, interrupts)


def _with_library(options: _Options, text: bytes) -> _End:
    try:
        trace = read_trace(text, options.format)
    except ParseError as error:
        return _End(PARSE, None, f"not a trace: {options.file}: {error}", b"", b"")
    library = find_library(_api(options, trace), options.library)
    fault = None if options.fault is None else read_fault(options.fault, options.faults)
    patch = None if fault is None else resolve(fault, library.path)
    if library.note:
        say(f"replay: note: {library.note}")
    with ReplayServer(library, patch=patch, check_results=options.check_returns) as server:
        outcome = server.replay(trace.calls, options.limits)
    if options.results:
        for call, result in zip(trace.calls, outcome.results, strict=False):
            if result is not None:
                print(f"{call.line}: {call}: {result}")
    summary = _summary(outcome, trace.calls)
    number = outcome.signal
    if outcome.kind == "timeout" and number == signal.SIGKILL:
        number = signal.SIGALRM
    return _End(outcome.status, number, summary, outcome.stdout, outcome.stderr)


def _api(options: _Options, trace: Trace) -> str:
    if options.model is not None:
        return options.model
    if trace.format not in _APIS:
        raise UsageError(
            f"there is no library that a trace in the format {trace.format} can be replayed "
            "against; --cmd names a program that reads it"
        )
    return _APIS[trace.format]


def _summary(outcome: ReplayOutcome, calls: Sequence[Call]) -> str:
    """Say how a replay ended, and where."""
    if outcome.kind == "ok":
        return f"passed: {len(calls)} call{'' if len(calls) == 1 else 's'}"
    if outcome.kind in _NAMES:
        return f"{_NAMES[outcome.kind]}: {outcome.reason}"
    if outcome.last_call < 0:
        return outcome.describe()
    call = calls[outcome.last_call]
    place = f"line {call.line}" if call.line else f"call {outcome.last_call + 1}"
    after = "after " if len(outcome.results) > outcome.last_call else "in "
    return f"{outcome.describe()} {after}{place}: {call}"


def _with_command(options: _Options, text: bytes, interrupts: Interrupts) -> _End:
    assert options.command is not None
    api = options.model
    if api is None:
        with_format = options.format
        if with_format is None:
            try:
                with_format = read_trace(text).format
            except ParseError:  # the interpreter may know better
                with_format = ""
        api = _APIS.get(with_format)
    table = load_model(api).classify if api is not None else ()
    oracle = Oracle((Command.of(options.command),), _AllCaptured())
    with Executors(interrupts, "".join(options.file.suffixes[-1:])) as executors:
        executor = executors.open(oracle)
        with interrupts.allowed():
            executor.submit(0, text, options.limits)
            (finished,) = executor.wait()
    (outcome,) = finished.outcomes
    name = classified(table, outcome)
    described = outcome.describe()
    if name is not None and outcome.limit is None:
        described = f"{name}: {described}"
    if name in _STATUSES and outcome.limit is None:
        return _End(_STATUSES[name], None, described, outcome.stdout, outcome.stderr)
    number = outcome.signal
    if outcome.limit == "time" and number == signal.SIGKILL:
        number = signal.SIGALRM
    return _End(outcome.status, number, described, outcome.stdout, outcome.stderr)


def _die_by(number: int) -> None:
    """End this process by a signal, without a core file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
