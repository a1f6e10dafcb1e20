"""A hunt for failures on random API traces: made, played, checked; each new bug kept and reduced.

The trace is played while it is made, so most tests cost one replay. Several
processes test at a time; what they report is taken in the order of the seeds, so
what is found first does not depend on which is faster.
"""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from reducekit.cli.findings import Finding
from reducekit.cli.hunting import Kept, Tally
from reducekit.cli.interrupts import Interrupts
from reducekit.cli.streams import say
from reducekit.errors import NotInterestingError, ParseError, UsageError
from reducekit.events import Accepted, Event, WentBack
from reducekit.executors.executor import Finished
from reducekit.frontends.trace.calls import Call
from reducekit.frontends.trace.formats import print_trace, read_trace
from reducekit.frontends.trace.generate import Generator
from reducekit.frontends.trace.model import Model
from reducekit.frontends.trace.replay import Library, Patch, ReplayServer
from reducekit.frontends.trace.replay.answers import AnswerChecker
from reducekit.frontends.trace.replay.live import LiveReplay
from reducekit.golden import establish, limits_for
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import SameSignature
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.oracle.signature import Signature, signature
from reducekit.output import OutputFile
from reducekit.reduction import Budget, Reduction
from reducekit.registry import FRONTENDS, load, strategy

_PATIENCE = 1000  # checks in a row without success that end a reduction
_CHUNK = 10  # tests that a process is given at a time
_SUFFIX = ".trace"


@dataclass(frozen=True, slots=True)
class System:
    """The system under test: its model, its library, perhaps with a fault, and its name.

    `reference` plays the API `ipasir`; None: answers are not checked.
    """

    model: Model
    library: Library
    patch: Patch | None
    reference: Library | None
    name: tuple[str, ...]
    limits: Limits
    options: bool | None = None
    variables: int | None = None


@dataclass(frozen=True, slots=True)
class TraceHunt:
    """What is to be hunted. `seconds` is for all, reductions included; None is no limit.

    `made_by` and `run_by` say how a trace is made and run again: the command lines
    before the seed and the file.
    """

    system: System
    seeds: range
    folder: Path
    made_by: str
    run_by: str
    jobs: int = 1
    seconds: float | None = None
    reduces: bool = True
    strategy: str = "adaptive"
    quiet: bool = False


@dataclass(slots=True)
class TraceTally(Tally):
    """What a hunt on traces has come to: besides, calls, violations, and checked traces."""

    calls: int = 0
    violations: int = 0
    checked: int = 0


@dataclass(frozen=True, slots=True)
class Ends:
    """Ends with this signature. `call` is where it did so first: it tells bugs apart, no more."""

    expected: Signature
    call: str
    captures: bool = True
    wall: float | None = None

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        """Compare the signatures."""
        return SameSignature(self.expected).judge(outcomes)

    def describe(self) -> str:
        """Say in words what is kept alive."""
        return f"{self.expected.describe()} in '{self.call}'"


@dataclass(frozen=True, slots=True)
class Answers:
    """Gives a wrong answer of this kind."""

    wrong: str
    captures: bool = True
    wall: float | None = None

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        """Look for what the replay says of answers."""
        return outcomes[0].stderr == self.wrong.encode()

    def describe(self) -> str:
        """Say in words what is kept alive."""
        return self.wrong


@dataclass(frozen=True, slots=True)
class Report:
    """A test: how the replay ended, how many calls were made, and the bug it shows, if any.

    `text` is the trace, empty where there is no bug.
    """

    seed: int
    kind: str
    calls: int
    checked: bool = False
    criterion: Ends | Answers | None = None
    text: bytes = b""


class TraceTester:
    """Makes and plays traces of a system; use it in a `with`."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._generator = Generator(
            system.model, options=system.options, variables=system.variables
        )
        self._stack = ExitStack()
        with ExitStack() as opened:
            self._live = opened.enter_context(LiveReplay(system.library, patch=system.patch))
            self._checker = _checker(system, opened)
            self._stack = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def test(self, seed: int) -> Report:
        """Make the trace of a seed, play it, and check its answers."""
        system, checker = self._system, self._checker
        self._live.begin(system.limits)
        made = self._generator.generate(seed, self._live.play)
        outcome = self._live.finish()
        count = len(made.calls)
        criterion: Ends | Answers | None = None
        checked = False
        if outcome.kind in ("signal", "exit", "output"):
            last = made.calls[-1].name if made.calls else ""
            criterion = Ends(signature(outcome.as_outcome()), last)
        elif outcome.kind == "ok" and checker is not None:
            checked = True
            wrong = checker.check(made.calls, outcome.results)
            if wrong is not None:
                criterion = Answers(wrong.describe())
        text = b""
        if criterion is not None:
            text = print_trace(made.recorded(), system.model.formats[0])
        return Report(seed, outcome.kind, count, checked, criterion, text)


def _checker(system: System, stack: ExitStack) -> AnswerChecker | None:
    """Return what checks answers, its servers closed by the stack; None if none are checked."""
    if system.reference is None:
        return None
    server = stack.enter_context(ReplayServer(system.library, patch=system.patch))
    reference = stack.enter_context(ReplayServer(system.reference))
    return AnswerChecker(system.library.interface.api, server, reference, system.limits)


def hunt_traces(plan: TraceHunt, interrupts: Interrupts) -> TraceTally:
    """Test all seeds; an interrupt ends it, and is noted in the tally."""
    tally = TraceTally()
    tally.interrupted = True
    with contextlib.suppress(KeyboardInterrupt), ExitStack() as stack, interrupts.allowed():
        _Hunting(plan, interrupts, tally, stack).run()
        tally.interrupted = False
    return tally


class _Hunting:
    """A hunt under way."""

    def __init__(
        self, plan: TraceHunt, interrupts: Interrupts, tally: TraceTally, stack: ExitStack
    ) -> None:
        self.plan = plan
        self.interrupts = interrupts
        self.tally = tally
        self.stack = stack
        self.frontend = _frontend() if plan.reduces else None
        if plan.reduces and self.frontend is None:
            self.say("reducekit: there is no frontend 'trace' yet: nothing is reduced")

    def say(self, text: str) -> None:
        if not self.plan.quiet:
            say(text)

    def left(self) -> float | None:
        """Return the seconds that are left."""
        seconds = self.plan.seconds
        return None if seconds is None else max(0.0, seconds - self.tally.seconds)

    def run(self) -> None:
        plan = self.plan
        reports = (
            self._alone()
            if plan.jobs == 1
            else self.stack.enter_context(_Workers(plan, self.interrupts)).reports(self.left)
        )
        for report in reports:
            self.take(report)
            if self.left() == 0:
                return

    def _alone(self) -> Iterator[Report]:
        tester = self.stack.enter_context(TraceTester(self.plan.system))
        return map(tester.test, self.plan.seeds)

    def take(self, report: Report) -> None:
        """Count a test, and keep the bug that it shows."""
        tally = self.tally
        tally.inputs += 1
        tally.calls += report.calls
        tally.violations += report.kind == "contract"
        tally.timeouts += report.kind == "timeout"
        tally.checked += report.checked
        if report.criterion is None:
            return
        finding = Finding((Command(self.plan.system.name),), report.criterion)
        known = tally.kept.get(finding.name)
        if known is not None:
            known.count += 1
            return
        with self.interrupts.held():  # what has files is in the summary
            kept = tally.kept[finding.name] = self.keep(finding, report)
        if not kept.old and self.frontend is not None and self.left() != 0:
            self.reduce(kept, report.text, report.criterion)

    def keep(self, finding: Finding, report: Report) -> Kept:
        """Write a new bug's files, unless the folder has them."""
        path = self.plan.folder / f"{finding.name}{_SUFFIX}"
        kept = Kept(finding, path, len(report.text))
        if path.exists():
            kept.old = True
            kept.size = path.stat().st_size
            return kept
        lines = [
            finding.title,
            f"made by: {self.plan.made_by} --seed {report.seed}",
            f"run: {self.plan.run_by} {path}",
        ]
        _write(path.with_suffix(".txt"), ("\n".join(lines) + "\n").encode())
        _write(path, report.text)
        self.say(f"new: {finding.title} (seed {report.seed})\n     {path}")
        return kept

    def reduce(self, kept: Kept, text: bytes, criterion: Ends | Answers) -> None:
        """Reduce a trace; every improvement is written."""
        plan = self.plan
        path = kept.path.with_suffix(f".reduced{_SUFFIX}")
        output = OutputFile(path)

        def listen(event: Event) -> None:
            if isinstance(event, Accepted | WentBack):
                with self.interrupts.held():
                    output.write(event.text)
                kept.reduced = len(event.text)

        last: dict[bytes, int] = {}
        open_replays = partial(_Replays, plan.system, last)
        commands = kept.finding.commands
        assert self.frontend is not None
        try:
            limits = plan.system.limits
            golden = establish(commands, criterion, text, limits, open_replays, path=str(kept.path))
            with open_replays(Oracle(commands, golden.criterion)) as runs:
                reduction = Reduction(
                    self.frontend(plan.system.model, last=last.get),
                    strategy(plan.strategy),
                    runs,
                    partial(limits_for, golden.criterion, replace(limits, wall=None)),
                    repeats=1,
                    budget=Budget(seconds=self.left(), patience=_PATIENCE),
                    listen=listen,
                )
                result = reduction.run(text, golden.seconds)
        except NotInterestingError:
            kept.why_not = "it does not show every time"
        except ParseError as error:
            kept.why_not = f"our own frontend does not read it: {error}"
        else:
            if output.trouble is not None:
                kept.why_not = f"{path} cannot be written: {output.trouble.strerror}"
                return
            kept.reduced = len(result.text)
            before, after = (_calls(plan.system, each) for each in (text, result.text))
            self.say(f"     reduced from {len(before):,} to {len(after):,} calls")


def _frontend() -> Callable[..., Any] | None:
    """Return the frontend for traces; None if nobody has registered one."""
    try:
        found: Callable[..., Any] = load(FRONTENDS, "trace")
    except UsageError:
        return None
    return found


def _calls(system: System, text: bytes) -> tuple[Call, ...]:
    return read_trace(text, system.model.formats[0]).calls


def _write(path: Path, text: bytes) -> None:
    file = OutputFile(path)
    if not file.write(text):
        reason = file.trouble.strerror if file.trouble is not None else "it failed"
        raise UsageError(f"{path} cannot be written: {reason}")


class _Replays:
    """Checks texts by replay, one at a time, answers too where a wrong one is looked for.

    An `Executor`; `last` is told in which call the replay of each text ended.
    """

    def __init__(self, system: System, last: dict[bytes, int], oracle: Oracle) -> None:
        self._system = system
        self._last = last
        self._criterion = oracle.criterion
        self._stack = ExitStack()
        self._server = self._stack.enter_context(ReplayServer(system.library, patch=system.patch))
        self._checker = _checker(system, self._stack)
        self._waiting: list[tuple[int, bytes, Limits]] = []

    @property
    def free(self) -> int:
        """How many checks may be submitted now."""
        return 1 - len(self._waiting)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Note a check; it is made when it is waited for."""
        self._waiting.append((ticket, text, limits))

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Make the checks that were submitted: they take milliseconds, whatever the timeout."""
        waiting, self._waiting = self._waiting, []
        return [self._checked(*each) for each in waiting]

    def cancel(self, ticket: int) -> None:
        """Forget a check."""
        self._waiting = [each for each in self._waiting if each[0] != ticket]

    def close(self) -> None:
        """End the servers."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _checked(self, ticket: int, text: bytes, limits: Limits) -> Finished:
        try:
            calls = _calls(self._system, text)
        except ParseError as error:
            unread = Outcome(87, None, b"", str(error).encode(), None, 0.0)
            return Finished(ticket, False, (unread,))
        replayed = self._server.replay(calls, limits)
        outcome = replayed.as_outcome()
        if replayed.kind in ("signal", "exit"):
            self._last[text] = replayed.last_call
        if replayed.kind == "ok" and self._checker is not None:
            wrong = self._checker.check(calls, replayed.results)
            if wrong is not None:
                outcome = replace(outcome, stderr=wrong.describe().encode())
        interesting = self._criterion.judge([outcome]) is True
        return Finished(ticket, interesting, (outcome,))


@dataclass(slots=True)
class _Chunk:
    """Seeds that were given to a process, and what it has reported of them."""

    seeds: range
    reports: list[Report] | None = None


@dataclass(slots=True)
class _Worker:
    """A process that tests."""

    process: Any
    connection: Connection
    chunk: _Chunk | None = None


class _Workers:
    """Processes that test; use it in a `with`."""

    def __init__(self, plan: TraceHunt, interrupts: Interrupts) -> None:
        self._plan = plan
        self._workers: list[_Worker] = []
        # Forked: the model is there, and signals are only noted, as in ours while they are held.
        context = multiprocessing.get_context("fork")
        with interrupts.held():
            for _ in range(plan.jobs):
                ours, theirs = context.Pipe()
                others = [each.connection for each in self._workers]
                arguments = (plan.system, theirs, [ours, *others])
                process = context.Process(target=_work, args=arguments, daemon=True)
                process.start()
                theirs.close()
                self._workers.append(_Worker(process, ours))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Their replay servers end when the sockets to them are closed.
        for each in self._workers:
            each.process.kill()
        for each in self._workers:
            each.process.join()
            each.connection.close()

    def reports(self, left: Callable[[], float | None]) -> Iterator[Report]:
        """Yield the reports in the order of the seeds, until no time is left."""
        seeds = self._plan.seeds
        chunks = (seeds[at : at + _CHUNK] for at in range(0, len(seeds), _CHUNK))
        waiting: list[_Chunk] = []
        while True:
            for each in self._workers:
                # One that is far ahead waits for the others.
                if each.chunk is None and len(waiting) < 4 * len(self._workers):
                    given = next(chunks, None)
                    if given is None:
                        break
                    each.chunk = _Chunk(given)
                    waiting.append(each.chunk)
                    each.connection.send(given)
            if not waiting:
                return
            busy = [each for each in self._workers if each.chunk is not None]
            ready = wait([each.connection for each in busy], left())
            if left() == 0:
                return
            for each in busy:
                if each.connection in ready and each.chunk is not None:
                    each.chunk.reports = _received(each)
                    each.chunk = None
            while waiting and waiting[0].reports is not None:
                yield from waiting.pop(0).reports or ()


def _received(worker: _Worker) -> list[Report]:
    try:
        found = worker.connection.recv()
    except EOFError:
        worker.process.join()
        raise RuntimeError(f"a process ended with status {worker.process.exitcode}") from None
    if isinstance(found, BaseException):
        raise found
    reports: list[Report] = found
    return reports


def _work(system: System, connection: Connection, others: Sequence[Connection]) -> None:
    """Test what is asked for, until the other side has gone."""
    for each in others:
        each.close()
    try:
        with TraceTester(system) as tester:
            while True:
                connection.send([tester.test(seed) for seed in connection.recv()])
    except (EOFError, BrokenPipeError):
        pass
    except Exception as error:
        with contextlib.suppress(OSError):
            connection.send(error)


def summary_line(tally: TraceTally) -> str:
    """Say in words what was played, and how much of it broke the contract."""
    share = tally.violations / tally.inputs if tally.inputs else 0.0
    speed = tally.inputs / max(tally.seconds, 0.001)
    return (
        f"  {tally.calls:,} calls, {speed:,.0f} traces a second; "
        f"{tally.violations:,} broke the contract ({share:.1%}), {tally.checked:,} had their "
        "answers checked"
    )
