"""What traces offer to `replay`: one run, by a library or an interpreter, and how it ended."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from reducekit.errors import ParseError, UsageError
from reducekit.executors.local import LocalExecutor
from reducekit.frontends.trace.language.calls import Call, Trace
from reducekit.frontends.trace.language.text import FORMATS, read_trace
from reducekit.frontends.trace.model.check import find_model
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import (
    CONTRACT,
    MISMATCH,
    PARSE,
    Library,
    ReplayOutcome,
    ReplayServer,
    find_library,
)
from reducekit.frontends.trace.player.checker import opened_checker
from reducekit.frontends.trace.player.contract import classified
from reducekit.frontends.trace.player.faults import patch_of
from reducekit.frontends.trace.player.outcome import where
from reducekit.frontends.trace.player.target import TARGET_OPTIONS, Target
from reducekit.frontends.trace.programs import program
from reducekit.offers import FormatOption, PlayEnd, Playing, PlayRequest
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Everything, Oracle

_APIS = {"lgl": "lingeling", "mobical": "cadical", "boolector": "boolector", "words": "ipasir"}
# The format that several APIs have.
_SHARED = "words"
_STATUSES = {"contract": CONTRACT, "parse": PARSE, "oracle": MISMATCH}
_GDB = "gdb"
_NAMES = {"ok": "passed", "contract": "contract violation", "mismatch": "wrong result"}


def play(request: PlayRequest) -> PlayEnd:
    """Play a trace once. Raises UsageError."""
    if request.command is None:
        with request.guard.allowed():
            return _with_library(request, Target.of(request.values))
    for name in ("library", "fault", "check_returns", "results", "gdb"):
        if request.values[name]:
            raise UsageError(f"`{name}` is for replays against a library, not for `command`")
    return _with_command(request, request.command)


def _with_library(request: PlayRequest, target: Target) -> PlayEnd:
    # A text that is no trace has an exit status of its own, as interpreters of traces have one.
    try:
        trace = read_trace(request.text, request.values["format"])
    except ParseError as error:
        return PlayEnd(PARSE, None, f"not a trace: {request.path}: {error}")
    target = target.named(trace.head)
    if target.model is None and trace.format not in _APIS:
        raise UsageError(
            f"there is no library that a trace in the format {trace.format} can be replayed "
            "against; `command` names a program that reads it"
        )
    api = _APIS.get(trace.format, "")
    api = target.model or (find_model(trace).name if trace.format == _SHARED else api)
    library = find_library(api, target.library)
    if request.values["gdb"]:
        return _in_debugger(trace, library, request.values)
    patch = patch_of(library.path, target.fault, target.faults)
    # Wrong answers are looked for only in a trace that passes, as a reduction does.
    with ReplayServer(library, patch=patch, check_results=target.check_returns) as server:
        outcome = server.replay(trace.calls, request.limits)
        if outcome.kind == "ok":
            api = library.interface.api
            with ExitStack() as opened:
                checker = opened_checker(api, target.library, server, request.limits, opened)
                if checker is not None:
                    outcome = checker.judged(trace.calls, outcome)
    lines = (
        f"{call.line}: {call}: {result}"
        for call, result in zip(trace.calls, outcome.results, strict=False)
        if request.values["results"] and result is not None
    )
    return PlayEnd(
        outcome.status,
        _number(outcome.signal, late=outcome.kind == "timeout"),
        _summary(outcome, trace.calls),
        outcome.stdout,
        outcome.stderr,
        tuple(lines),
        (f"library: {library}", *((library.note,) if library.note else ())),
    )


def _in_debugger(trace: Trace, library: Library, values: Mapping[str, Any]) -> PlayEnd:
    """Run a program that makes the calls of a trace below gdb, which the user talks to."""
    for name in ("fault", "check_returns", "results"):
        if values[name]:
            raise UsageError(f"`gdb` and `{name}` are mutually exclusive: give one")
    if shutil.which(_GDB) is None:
        raise UsageError(f"{_GDB} is not in PATH: install it, or leave out `gdb`")
    # gdb debugs one process: not a fork server, but a program that makes the calls.
    written, left_out = program(trace, "py", library.interface.api, library, checked=False)
    with TemporaryDirectory(prefix="reducekit-") as folder:
        path = Path(folder, "trace.py")
        path.write_bytes(written)
        words = [_GDB, "--args", sys.executable, str(path)]
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for gdb
        try:
            status = subprocess.run(
                words, check=False, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
            ).returncode
        finally:
            signal.signal(signal.SIGINT, before)
    names = ", ".join(dict.fromkeys(call.name for call in left_out))
    notes = (f"the library lacks these calls, so they are left out: {names}",) if names else ()
    number = -status if status < 0 else None
    return PlayEnd(None if number else status, number, f"{_GDB} has ended", notes=notes)


def _summary(outcome: ReplayOutcome, calls: Sequence[Call]) -> str:
    if outcome.kind == "ok":
        return f"passed: {len(calls)} call{'' if len(calls) == 1 else 's'}"
    if outcome.kind in _NAMES:
        return f"{_NAMES[outcome.kind]}: {outcome.place or outcome.reason}"
    if outcome.last_call < 0:
        return outcome.describe()
    after = "after" if len(outcome.results) > outcome.last_call else "in"
    return f"{outcome.describe()} {after} {where(outcome.last_call, calls[outcome.last_call])}"


def _with_command(request: PlayRequest, command: str | Sequence[str]) -> PlayEnd:
    api = request.values["model"]
    if api is None:
        name = request.values["format"]
        if name is None:
            try:
                name = read_trace(request.text).format
            except ParseError:  # the interpreter may know better
                name = ""
        api = _APIS.get(name)
    table = load_model(api).classify if api is not None else ()
    oracle = Oracle((Command.of(command),), Everything(1))
    suffix = "".join(request.path.suffixes[-1:])
    guard = request.guard
    with LocalExecutor(oracle, 1, suffix, guard=guard) as executor, guard.allowed():
        executor.submit(0, request.text, request.limits)
        (finished,) = executor.wait()
    (outcome,) = finished.outcomes
    name = classified(table, outcome)
    described = outcome.describe()
    if name is not None and outcome.limit is None:
        described = f"{name}: {described}"
    if name in _STATUSES and outcome.limit is None:
        return PlayEnd(_STATUSES[name], None, described, outcome.stdout, outcome.stderr)
    number = _number(outcome.signal, late=outcome.limit == "time")
    return PlayEnd(outcome.status, number, described, outcome.stdout, outcome.stderr)


def _number(number: int | None, *, late: bool) -> int | None:
    """Return the signal by which to end: a run that was killed as time was up ends by SIGALRM."""
    return signal.SIGALRM if late and number == signal.SIGKILL else number


PLAYING = Playing(
    play,
    (
        FormatOption("model", "The API; default: that of the trace's format.", metavar="API"),
        FormatOption(
            "format", "Default: what it looks like.", "choice", choices=tuple(sorted(FORMATS))
        ),
        *(replace(each, rare=False) for each in TARGET_OPTIONS),
        FormatOption(
            "check_returns", "Compare results with those in the trace.", "flag", default=False
        ),
        FormatOption("results", "Print what each call returned.", "flag", default=False),
        FormatOption("gdb", "Replay in one process, in gdb.", "flag", default=False),
    ),
    "Exit status: 0 passed, 86 contract violation, 87 not a trace of the API, 88 wrong answer, or "
    "another result than in the trace (--check-returns); otherwise the program's own, or its own "
    "signal. A replay that runs out of time ends by SIGXCPU (--cpu) or SIGALRM (--timeout).",
)
