"""How traces are checked without a command: by replays against the library of their API."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

from reducekit.errors import NotInterestingError, UsageError
from reducekit.executors.executor import Executor
from reducekit.executors.own import OracleRequest, OwnOracle
from reducekit.format import Format
from reducekit.frontends.trace.language.calls import Call, Trace, with_result
from reducekit.frontends.trace.language.text import head_length, print_trace, read_trace, reader
from reducekit.frontends.trace.model.check import check
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.player import DEFAULT_LIMITS, Library, ReplayOutcome, ReplayServer
from reducekit.frontends.trace.player.batch import CrashCache, batching, small_traces
from reducekit.frontends.trace.player.checker import Checker, opened_checker
from reducekit.frontends.trace.player.contract import was_lawful
from reducekit.frontends.trace.player.replay_executor import ReplayExecutor, hangs_after
from reducekit.frontends.trace.player.target import Target, subject_of
from reducekit.oracle.criterion import Oracle, verdict
from reducekit.oracle.own import TimesOut
from reducekit.oracle.printed import Matches, Pattern
from reducekit.runtime import own_python

_USUAL = "lingeling"  # the API that a trace is of where it may be of several
_NEEDS_COMMAND = ("reference", "cost", "unstable", "stdin")
_OTHER_FAILURES = ("exit_code", "slower_than", "match_out", "match_err")


def replay_oracle(
    request: OracleRequest,
    target: Target,
    trace: Trace,
    model: Model,
    frontend_of: Callable[..., Format],
) -> OwnOracle:
    """Replay a trace, and return how its candidates are checked.

    `frontend_of` makes the frontend that reduces it, by what the first replay has shown. Raises
    NotInterestingError with what can be done if the trace does not fail.
    """
    for name in _NEEDS_COMMAND:
        if request.failure[name]:
            raise UsageError(
                f"`{name}` requires `command`: give the program to run, such as 'reducekit replay'"
            )
    # The command names the model if a part of the trace may look like one of another API.
    api = target.model or (None if model.name == _USUAL else model.name)
    target = replace(target.named(trace.head), model=target.model or model.name)
    library, patch = target.opened(model.name)
    read = reader(trace.format)
    serve = partial(ReplayServer, library, patch=patch, check_results=target.check_returns)
    # Of the failure that the user describes, the way in which a replay ends is no part.
    described = any(request.failure[name] not in (None, (), []) for name in _OTHER_FAILURES)
    limits = DEFAULT_LIMITS._replace(
        wall=request.limits.wall or DEFAULT_LIMITS.wall,
        cpu=request.limits.cpu or DEFAULT_LIMITS.cpu,
    )
    with ExitStack() as opened:
        with request.guard.held():
            server = serve()
            opened.callback(server.close)

        def replay(text: bytes) -> tuple[Sequence[Call], ReplayOutcome]:
            calls = read(text)
            return calls, server.replay(calls)

        crashes = CrashCache(replay)
        outcome = server.replay(trace.calls, limits)
        # Opens what checks answers, where a wrong one is the failure.
        checks: Callable[..., Checker | None] | None = None
        if outcome.kind == "ok" and not target.check_returns and not described:
            checks = partial(opened_checker, library.interface.api, target.library, limits=limits)
            with ExitStack() as other:
                checker = checks(server, stack=other)
                if checker is not None:
                    outcome = checker.judged(trace.calls, outcome)
            if outcome.kind != "mismatch":
                checks = None
        _refuse_success(request, target, trace, model, outcome, library, described=described)
        crashes.remember(trace.text, trace.calls, outcome)
        lawful = was_lawful(model, trace.calls, outcome)
        batch, hangs, many = None, None, None
        if not target.check_returns and not described:
            batch = batching(model, outcome)
        if outcome.kind == "timeout" and not described:
            hangs = hangs_after(trace.calls, outcome, server)
        executors: list[ReplayExecutor] = []

        def opener(oracle: Oracle, jobs: int) -> Executor:
            closing, checker = ExitStack(), None
            if checks is not None:
                checker = checks(closing.enter_context(serve()), stack=closing)
            executor = ReplayExecutor(
                serve(jobs=jobs),
                read,
                oracle.criterion,
                crashes,
                proofs=not target.check_returns,
                model=model if lawful else None,
                checker=checker,
                opened=closing,
                batch=batch if jobs == 1 else None,
                hangs=hangs if isinstance(oracle.criterion, TimesOut) else None,
            )
            executors.append(executor)
            return executor

        if outcome.kind != "mismatch" and not described:
            many = small_traces(
                model,
                outcome,
                server,
                crashes,
                limits,
                lambda: executors[-1].count_run(),
                lawful=lawful,
                hangs=hangs,
            )
        frontend = frontend_of(
            last=crashes.last,
            keeps_result=outcome.kind == "mismatch" and checks is None,
            first_failing=None if many is None else many.first,
        )
        program = [found] if (found := shutil.which("reducekit")) else own_python("-m", "reducekit")
        returns = ("--check-returns",) if target.check_returns else ()
        recorded = any(call.result is not None for call in trace.calls)
        head = target.head(trace.format)

        def finish(text: bytes) -> bytes:
            if recorded:
                text = _with_results(text, trace.format, read, server, model)
            return head + text[head_length(text) :] if head else text

        return OwnOracle(
            frontend,
            (*program, "replay", *replace(target, model=api).played_by, *returns),
            opener,
            request.limits._replace(
                cpu=request.limits.cpu or DEFAULT_LIMITS.cpu,
                memory=request.limits.memory or DEFAULT_LIMITS.memory,
            ),
            libraries=(Path(library.path),),
            notes=(f"note: {library.note}",) if library.note else (),
            subject=partial(subject_of, library, target.library or model.name),
            finish=finish,
            close=opened.pop_all().close,
        )


def _refuse_success(
    request: OracleRequest,
    target: Target,
    trace: Trace,
    model: Model,
    outcome: ReplayOutcome,
    library: Library,
    *,
    described: bool,
) -> None:
    """Raise NotInterestingError, with words, for a trace whose replay is no failure."""
    # One that ended with the status or printed the patterns that were asked for is one.
    name, file = request.name, request.file
    asked = Pattern(**{each.name: request.failure[each.name] for each in fields(Pattern)})
    criterion = asked.criterion()
    if criterion != Matches() and verdict(criterion, [outcome.as_outcome()]):
        return
    if outcome.kind == "parse":
        raise NotInterestingError(f"{name}: the library cannot play it: {outcome.reason}")
    problems = check(trace, model)
    hint = f"\nThe model says of {name}, {problems[0]}" if problems else ""
    if outcome.kind == "contract":
        raise NotInterestingError(
            f"{name} breaks the contract of the API, which is no failure of the solver\n"
            f"{outcome.reason}{hint}\n(reducekit trace --check {file} shows all such calls)"
        )
    if outcome.kind != "ok" or described:
        return
    kinds = Counter(call.name for call in trace.calls)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    recorded = sum(call.result is not None for call in trace.calls)
    checked = " and returned what the trace says" if target.check_returns and recorded else ""
    ways = [f"  reducekit replay --results {file}   shows what each call returns"]
    if not target.check_returns:
        compared = f"{recorded} results" if recorded else "it has none"
        ways.insert(0, f"  --check-returns   compares results with the lines 'return' ({compared})")
    ways += [
        "  --check-returns --library NAME   compares them with those of a second engine,",
        "                    such as boolector-lingeling for a trace of Lingeling",
        "  --cmd CMD         replays with another interpreter or build, such as lgluntrace",
    ]
    seeded = ""
    if target.fault is None:
        ways.append(
            "  --fault FAULT     seeds a fault into the library, to see what a failure looks like"
        )
    else:
        seeded = f"\nfault: {target.fault}; the trace does not reach it, or it does no harm there"
    raise NotInterestingError(
        f"{name} does not fail: all its {in_words(trace.calls)} were replayed{checked}{seeded}\n"
        f"library: {library.path}\ncalls: {counts}{hint}\nWhat else can be wrong with it:\n"
        + "\n".join(ways)
    )


def _with_results(
    text: bytes,
    name: str,
    read: Callable[[bytes], Sequence[Call]],
    server: ReplayServer,
    model: Model,
) -> bytes:
    """Return a trace of a format with what its calls return, if its replay ends as without."""
    trace = read_trace(text, name)
    before = server.replay(trace.calls)
    returning = {name for name, known in model.calls.items() if known.result is not None}
    calls = [
        with_result(call, result)
        if result is not None and call.result is None and call.name in returning
        else call
        for call, result in zip(trace.calls, before.results, strict=False)
    ]
    calls += trace.calls[len(calls) :]
    printed = trace.head + print_trace(calls, trace.format, trace.tail)
    if printed == trace.text:
        return text
    after = server.replay(read(printed))
    same = (after.kind, after.status, after.signal) == (before.kind, before.status, before.signal)
    return printed if same else text


def in_words(calls: Sequence[Call]) -> str:
    """Say how many calls there are."""
    return f"{len(calls)} call{'' if len(calls) == 1 else 's'}"
