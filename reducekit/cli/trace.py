"""`reducekit trace`: reduce a trace of API calls, or check it against its model."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from reducekit.cli.executors import Counting, Opener, local
from reducekit.cli.files import naming, refuse_blank
from reducekit.cli.group import Surroundings
from reducekit.cli.interrupts import Interrupts
from reducekit.cli.run import output_path, run
from reducekit.cli.settings import Settings, settings_from, shared_options
from reducekit.cli.streams import say
from reducekit.errors import NotInterestingError, ParseError, UsageError
from reducekit.frontends.trace import Traces
from reducekit.frontends.trace.calls import Call, Trace, with_result
from reducekit.frontends.trace.check import check, find_model
from reducekit.frontends.trace.formats import print_trace, read_trace
from reducekit.frontends.trace.loader import load_model
from reducekit.frontends.trace.model import Model
from reducekit.frontends.trace.passes.options import OptionMode
from reducekit.frontends.trace.replay import (
    DEFAULT_LIMITS,
    Library,
    Patch,
    ReplayOutcome,
    ReplayServer,
    find_library,
    read_fault,
    resolve,
)
from reducekit.frontends.trace.replay.crashes import Crashes, CrashExecutor
from reducekit.frontends.trace.replay.lawful import (
    Lawful,
    LawfulExecutor,
    may_be_lawful,
    was_lawful,
)
from reducekit.frontends.trace.replay.many import Many
from reducekit.frontends.trace.schedule import OPTION_MODES
from reducekit.frontends.trace.view import FirstFailing
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.output import OutputFile, read_input

_USUAL = "lingeling"  # the API that a trace is of where it may be of several
_PACKED = ".gz"
_MANY_SECONDS = 10.0  # for many small traces, which take some 50 ms


@dataclass(frozen=True, slots=True)
class _Choices:
    """The options of this command alone, as given."""

    model: str | None
    options: OptionMode
    check: bool
    library: str | None
    fault: str | None
    faults: str | None
    check_returns: bool


@click.command(
    "trace",
    epilog="Without a command, the trace is replayed against the library of its API, such as "
    "the Lingeling inside python-sat. An interpreter of traces can also stand at the end: "
    "reducekit trace lgl.trace -- ./lgluntrace",
)
@shared_options
@click.option("--model", metavar="NAME|FILE", help="The API's model; default: the trace's.")
@click.option(
    "--options",
    type=click.Choice(OPTION_MODES),
    default="all",
    show_default=True,
    help="Which options of the solver to reduce: those that the trace sets, or all there are.",
)
@click.option("--check", is_flag=True, help="Only say whether the trace keeps to the API.")
@click.option("--library", metavar="NAME|PATH", help="The library; default: what is installed.")
@click.option(
    "--fault",
    metavar="FAULT",
    help="Overwrite an instruction of it: SYMBOL+OFFSET:abort or :delete, or a name in --faults.",
)
@click.option("--faults", metavar="FILE", help="A list of faults (JSON).")
@click.option(
    "--check-returns", is_flag=True, help="A result that is not as the trace says is a failure too."
)
@click.pass_obj
def command(
    surroundings: Surroundings,
    /,
    model: str | None,
    options: OptionMode,
    check: bool,
    library: str | None,
    fault: str | None,
    faults: str | None,
    check_returns: bool,
    **values: Any,
) -> int:
    """Reduce the trace of API calls INPUT while its replay still fails.

    With --cmd, an interpreter of traces (lgluntrace, mobical, ...) replays it.
    """
    choices = _Choices(model, options, check, library, fault, faults, check_returns)
    return _reduced(_with_plain_output(settings_from(values)), choices, surroundings)


def _with_plain_output(settings: Settings) -> Settings:
    """Name the output so that nobody takes it for packed: it is plain text, whatever was read.

    Raises UsageError where a packed file's name was asked for.
    """
    source = settings.input
    named = source if settings.in_place else settings.output
    if named is not None and named.suffix == _PACKED:
        raise UsageError(
            f"the result is plain text, and {named} is the name of a packed file: "
            f"name the output with -o, without {_PACKED}"
        )
    if named is not None or source.suffix != _PACKED or not source.is_file():
        return settings
    plain = source.with_suffix("")
    return replace(settings, output=plain.with_name(f"{plain.stem}.reduced{plain.suffix}"))


def _reduced(settings: Settings, choices: _Choices, surroundings: Surroundings) -> int:
    """Check or reduce; return the exit code."""
    with surroundings.interrupts.allowed():
        text = read_input(settings.input)
        try:
            with naming(settings.input):
                trace, model = _read(text, choices)
                problems = check(trace, model)
        except ParseError:
            if settings.lenient and not choices.check and _has_command(settings):
                return run(settings, Traces(), surroundings)
            raise
    if choices.check:
        for problem in problems:
            say(f"{settings.input}, {problem}")
        if not problems and not settings.quiet:
            print(f"{settings.input}: {_calls(trace.calls)} as {model.title} allows them")
        return 3 if problems else 0
    hint = f"\nThe model says of {settings.input}, {problems[0]}" if problems else ""
    if _has_command(settings):
        return _with_command(settings, choices, surroundings, trace, model)
    return _with_library(settings, choices, surroundings, trace, model, hint)


def _has_command(settings: Settings) -> bool:
    return bool(settings.cmd or settings.oracle or settings.command)


def _read(text: bytes, choices: _Choices) -> tuple[Trace, Model]:
    """Read the trace and its model. Raises ParseError or UsageError."""
    refuse_blank(text)
    trace = read_trace(text)
    return trace, find_model(trace) if choices.model is None else load_model(choices.model)


def _with_command(
    settings: Settings,
    choices: _Choices,
    surroundings: Surroundings,
    trace: Trace,
    model: Model,
) -> int:
    """Reduce by an interpreter of traces."""
    for given, name in (
        (choices.library, "--library"),
        (choices.fault, "--fault"),
        (choices.check_returns, "--check-returns"),
    ):
        if given:
            raise UsageError(f"{name} is for replays against a library, not for a command")
    frontend = Traces(model, options=choices.options, format=trace.format)
    opened = local(surroundings.interrupts, frontend.suffix)
    if settings.oracle:
        return run(settings, frontend, surroundings)
    lawful = may_be_lawful(model, trace.calls)

    def opener(oracle: Oracle, jobs: int) -> Counting:
        judged = Lawful(oracle.criterion, model.classify)
        executor = opened(Oracle(oracle.commands, judged), jobs)
        if not lawful:
            return executor
        return LawfulExecutor(executor, lambda text: read_trace(text, trace.format).calls, model)

    return run(settings, frontend, surroundings, opener)


def _with_library(
    settings: Settings,
    choices: _Choices,
    surroundings: Surroundings,
    trace: Trace,
    model: Model,
    hint: str,
) -> int:
    """Reduce by replays against a library."""
    for given, name in ((settings.reference, "--reference"), (settings.stdin, "--stdin")):
        if given:
            raise UsageError(
                f"{name} goes with --cmd: say which program is to be run, "
                "such as --cmd 'reducekit replay'"
            )
    library = find_library(model.name, choices.library)
    fault = None if choices.fault is None else read_fault(choices.fault, choices.faults)
    patch = None if fault is None else resolve(fault, library.path)
    if library.note and not settings.quiet:
        say(f"reducekit: note: {library.note}")
    replays = _Replays(library, patch, choices.check_returns, trace.format)
    with _server(replays, surroundings.interrupts) as server:
        crashes = Crashes(lambda text: replays.once(server, text))
        with surroundings.interrupts.allowed():
            outcome = server.replay(trace.calls, _limits(settings))
        _refuse(settings, choices, trace, outcome, library, hint)
        crashes.remember(trace.text, trace.calls, outcome)
        if was_lawful(model, trace.calls, outcome):
            replays = replace(replays, model=model)
        opened: list[CrashExecutor] = []
        frontend = Traces(
            model,
            options=choices.options,
            format=trace.format,
            last=crashes.last,
            keeps_result=outcome.kind == "mismatch",
            first_failing=_first_failing(
                settings, model, outcome, server, opened, lawful=replays.model is not None
            ),
        )
        limited = replace(
            settings,
            command=_replay_command(choices, model),
            cpu=settings.cpu or DEFAULT_LIMITS.cpu,
            memory=settings.memory or (DEFAULT_LIMITS.memory or 0) // 1_000_000,
        )
        code = run(limited, frontend, surroundings, replays.opener(crashes, opened))
        if code == 0 and any(call.result is not None for call in trace.calls):
            with surroundings.interrupts.held():
                _record_results(output_path(settings), replays, server, model)
        return code


@dataclass(frozen=True, slots=True)
class _Replays:
    """What is replayed against, and how."""

    library: Library
    patch: Patch | None
    check_results: bool
    format: str
    model: Model | None = None
    """What all replays have to keep to; None where the first one does not."""

    def serve(self, jobs: int = 1) -> ReplayServer:
        """Start a server."""
        return ReplayServer(
            self.library, jobs=jobs, patch=self.patch, check_results=self.check_results
        )

    def read(self, text: bytes) -> Sequence[Call]:
        """Return the calls of a text."""
        return read_trace(text, self.format).calls

    def once(self, server: ReplayServer, text: bytes) -> tuple[Sequence[Call], ReplayOutcome]:
        """Replay a text."""
        calls = self.read(text)
        return calls, server.replay(calls)

    def opener(self, crashes: Crashes, opened: list[CrashExecutor]) -> Opener:
        """Return what opens executors that replay; they are added to `opened`."""

        def opener(oracle: Oracle, jobs: int) -> Counting:
            executor = CrashExecutor(
                self.serve(jobs),
                self.read,
                oracle.criterion,
                crashes,
                proofs=not self.check_results,
                model=self.model,
            )
            opened.append(executor)
            return executor

        return opener


@contextlib.contextmanager
def _server(replays: _Replays, interrupts: Interrupts) -> Iterator[ReplayServer]:
    with interrupts.held():
        server = replays.serve()
    try:
        yield server
    finally:
        with interrupts.held():
            server.close()


def _first_failing(
    settings: Settings,
    model: Model,
    wanted: ReplayOutcome,
    server: ReplayServer,
    opened: Sequence[CrashExecutor],
    *,
    lawful: bool,
) -> FirstFailing | None:
    """Return what plays many small traces at a time, each replay counted as a run.

    With `lawful`, a trace that breaks the contract, given what its calls return, is passed over.
    None where the failure is not the way in which a replay ends, or where a
    solver cannot be made anew: no call makes it or takes it down.
    """
    releases = [name for name, call in model.calls.items() if call.role == "release"]
    makes = any(call.role == "init" for call in model.calls.values())
    told = (settings.exit_code, settings.slower_than, settings.match_out, settings.match_err)
    if wanted.kind not in ("signal", "exit") or any(told) or len(releases) != 1 or not makes:
        return None
    if model.calls[releases[0]].arguments:
        return None
    limits = replace(_limits(settings), wall=_MANY_SECONDS, cpu=_MANY_SECONDS)

    def played(calls: Sequence[Call]) -> ReplayOutcome:
        opened[-1].runs += 1
        outcome = server.replay(calls, limits)
        if outcome.kind == wanted.kind and lawful and not was_lawful(model, calls, outcome):
            return replace(outcome, kind="contract")  # so that the next one is looked for
        return outcome

    return Many(played, Call(releases[0], ()), wanted).first


def _limits(settings: Settings) -> Limits:
    """Return the limits of the first replay."""
    return replace(
        DEFAULT_LIMITS,
        wall=settings.timeout or DEFAULT_LIMITS.wall,
        cpu=settings.cpu or DEFAULT_LIMITS.cpu,
    )


def _refuse(
    settings: Settings,
    choices: _Choices,
    trace: Trace,
    outcome: ReplayOutcome,
    library: Library,
    hint: str,
) -> None:
    """Raise NotInterestingError, with words, for a trace whose replay is no failure."""
    path = settings.input
    if outcome.kind == "parse":
        raise NotInterestingError(f"{path}: the library cannot play it: {outcome.reason}")
    if outcome.kind == "contract":
        raise NotInterestingError(
            f"{path} breaks the contract of the API, which is no failure of the solver\n"
            f"{outcome.reason}{hint}\n(reducekit trace --check {path} shows all such calls)"
        )
    wants = (settings.exit_code, settings.slower_than)
    if outcome.kind != "ok" or wants != (None, None) or settings.match_out or settings.match_err:
        return
    kinds = Counter(call.name for call in trace.calls)
    counts = ", ".join(f"{count} {name}" for name, count in kinds.most_common())
    recorded = sum(call.result is not None for call in trace.calls)
    checked = " and returned what the trace says" if choices.check_returns and recorded else ""
    ways = [f"  reducekit replay --results {path}   shows what each call returns"]
    if not choices.check_returns:
        compared = f"{recorded} results" if recorded else "it has none"
        ways.insert(
            0,
            f"  --check-returns   compares results with the `return` lines ({compared})",
        )
    ways += [
        "  --check-returns --library NAME   compares them with those of a second engine,",
        "                    such as boolector-lingeling for a trace of Lingeling",
        "  --cmd CMD         replays with another interpreter or build, such as lgluntrace",
        "  --fault FAULT     seeds a fault into the library, to see what a failure looks like",
    ]
    raise NotInterestingError(
        f"{path} does not fail: all its {_calls(trace.calls)} were replayed{checked}\n"
        f"library: {library.path}\ncalls: {counts}{hint}\nWhat else can be wrong with it:\n"
        + "\n".join(ways)
    )


def _replay_command(choices: _Choices, model: Model) -> tuple[str, ...]:
    """Return the command that shows the same failure.

    It names the model if a part of the trace may look like one of another API.
    """
    api = choices.model or (None if model.name == _USUAL else model.name)
    program = shutil.which("reducekit")
    words = [program] if program else [sys.executable, "-m", "reducekit"]
    words.append("replay")
    for name, value in (
        ("--model", api),
        ("--library", choices.library),
        ("--fault", choices.fault),
        ("--faults", choices.faults),
    ):
        if value is not None:
            words += [name, value]
    return (*words, "--check-returns") if choices.check_returns else tuple(words)


def _record_results(path: Path, replays: _Replays, server: ReplayServer, model: Model) -> None:
    """Write what calls return behind them, if the replay ends as without it."""
    trace = read_trace(path.read_bytes(), replays.format)
    before = server.replay(trace.calls)
    calls = [
        with_result(call, result)
        if result is not None and call.result is None and _has_result(model, call)
        else call
        for call, result in zip(trace.calls, before.results, strict=False)
    ]
    calls += trace.calls[len(calls) :]
    text = print_trace(calls, trace.format, trace.tail)
    if text == trace.text:
        return
    after = server.replay(replays.read(text))
    if (after.kind, after.status, after.signal) == (before.kind, before.status, before.signal):
        OutputFile(path).write(text)


def _has_result(model: Model, call: Call) -> bool:
    known = model.calls.get(call.name)
    return known is not None and known.result is not None


def _calls(calls: Sequence[Call]) -> str:
    return f"{len(calls)} call{'' if len(calls) == 1 else 's'}"
