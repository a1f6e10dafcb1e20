"""A hunt for failures on random API traces: made, played, checked.

The trace is played while it is made, so most tests cost one replay.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from reducekit.cli.findings import Finding
from reducekit.cli.hunting import Hunting, Shown, Tally, Way, summary
from reducekit.cli.hunting_replays import CheckedReplays
from reducekit.cli.hunting_workers import Workers
from reducekit.cli.interrupts import Interrupts
from reducekit.executors.executor import Closing, Executor
from reducekit.frontend import Frontend
from reducekit.frontends.trace.calls import Call
from reducekit.frontends.trace.formats import print_trace, read_trace
from reducekit.frontends.trace.generate import Generator
from reducekit.frontends.trace.model import Model
from reducekit.frontends.trace.replay import Library, Patch, ReplayServer
from reducekit.frontends.trace.replay.answers import AnswerChecker
from reducekit.frontends.trace.replay.crashes import Crashes, CrashExecutor
from reducekit.frontends.trace.replay.lawful import was_lawful
from reducekit.frontends.trace.replay.trial import Trials
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import SameSignature
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.oracle.signature import Signature, signature

_PATIENCE = 1000  # checks in a row without success that end a reduction


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

    `made_by` returns the command line that makes the trace of a seed, `run_by` runs one.
    """

    system: System
    seeds: range
    folder: Path
    made_by: Callable[[int], str]
    run_by: Command
    jobs: int = 1
    seconds: float | None = None
    frontend: str | None = "trace"
    strategy: str = "adaptive"
    quiet: bool = False
    suffix: str = ".trace"


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

    `text` is the trace, empty where there is no bug. It begins with those of so many seeds
    before as `company` says.
    """

    seed: int
    kind: str
    calls: int
    checked: bool = False
    criterion: Ends | Answers | None = None
    text: bytes = b""
    company: int = 0


class TraceTester(Closing):
    """Makes and plays traces of a system; use it in a `with`."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._trials = Trials(
            Generator(system.model, options=system.options, variables=system.variables),
            system.library,
            patch=system.patch,
            reference=system.reference,
            limits=system.limits,
        )

    def close(self) -> None:
        """End what plays them."""
        self._trials.close()

    def test(self, seed: int) -> Report:
        """Make the trace of a seed, play it, and check its answers."""
        trial = self._trials.run(seed)
        made, outcome = trial.made, trial.outcome
        criterion: Ends | Answers | None = None
        failed = trial.wrong is not None or outcome.kind in ("signal", "exit", "output")
        if failed and not was_lawful(self._system.model, made.calls, outcome):
            # A library need not notice what it forbids: nothing that follows is its fault.
            return Report(seed, "contract", len(made.calls), trial.checked)
        if outcome.kind in ("signal", "exit", "output"):
            last = made.calls[-1].name if made.calls else ""
            criterion = Ends(signature(outcome.as_outcome()), last)
        elif trial.wrong is not None:
            criterion = Answers(trial.wrong.describe())
        text = b""
        if criterion is not None:
            text = print_trace(made.recorded(), self._system.model.formats[0])
        return Report(
            seed, outcome.kind, len(made.calls), trial.checked, criterion, text, trial.company
        )


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
        hunting = Hunting(plan, tally, interrupts)
        for report in _reports(plan, hunting, interrupts, stack):
            _take(plan, tally, hunting, report)
            hunting.reduce_new(partial(_way, plan.system))
            if hunting.left() == 0:
                break
        tally.interrupted = False
    return tally


def _reports(
    plan: TraceHunt, hunting: Hunting, interrupts: Interrupts, stack: ExitStack
) -> Iterator[Report]:
    """Return the tests of all seeds, one after the other; the stack ends what makes them."""
    open_tester = partial(TraceTester, plan.system)
    if plan.jobs == 1:
        return map(stack.enter_context(open_tester()).test, plan.seeds)
    with interrupts.held():
        workers = stack.enter_context(Workers(open_tester, plan.jobs))
    return workers.reports(plan.seeds, hunting.left)


def _take(plan: TraceHunt, tally: TraceTally, hunting: Hunting, report: Report) -> None:
    """Look at a test."""
    tally.inputs += 1
    tally.calls += report.calls
    tally.violations += report.kind == "contract"
    tally.timeouts += report.kind == "timeout"
    tally.checked += report.checked
    if report.criterion is None:
        return
    finding = Finding((Command(plan.system.name),), report.criterion)
    seed, company = report.seed, report.company
    made_by = plan.made_by(seed)
    if company:
        made_by += f" behind what the seeds from {seed - company} on make"
    hunting.met(Shown(finding, report.text, made_by, (plan.run_by,), f" (seed {seed})"))


def _way(system: System, finding: Finding, frontend: Callable[..., Frontend]) -> Way:
    """Return how a trace is reduced that shows a bug."""

    def read(text: bytes) -> tuple[Call, ...]:
        return read_trace(text, system.model.formats[0]).calls

    crashes = Crashes()

    def opened(oracle: Oracle, jobs: int) -> Executor:
        with ExitStack() as stack:
            server = stack.enter_context(
                ReplayServer(system.library, jobs=jobs, patch=system.patch)
            )
            if isinstance(finding.criterion, Answers):
                checker = _checker(system, stack)
                assert checker is not None, "it has found something"
                return CheckedReplays(
                    server, read, oracle.criterion, checker, system.model, stack.pop_all()
                )
            stack.pop_all()
            return CrashExecutor(
                server, read, oracle.criterion, crashes, proofs=True, model=system.model
            )

    return Way(
        frontend(system.model, last=crashes.last),
        opened,
        system.limits,
        _PATIENCE,
        size=lambda text: len(read(text)),
        unit="calls",
    )


def told(tally: TraceTally) -> str:
    """Say in words what a hunt has come to."""
    share = tally.violations / tally.inputs if tally.inputs else 0.0
    speed = tally.inputs / max(tally.seconds, 0.001)
    played = (
        f"{tally.calls:,} calls, {speed:,.0f} traces a second; "
        f"{tally.violations:,} broke the contract ({share:.1%}), {tally.checked:,} had their "
        "answers checked"
    )
    return summary(tally, "trace", [played])
