"""What the phases of a session share: how commands run, the job, and what each phase found out."""

from __future__ import annotations

import math
import os
import re
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from reducekit.events import Event, Notice
from reducekit.executors.executor import Executor, Finished, InProcess, Repeat, Repeating
from reducekit.format import Format, Order, View
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion, Everything, Oracle
from reducekit.reduction import PassChoice, Protection, Result
from reducekit.reduction.control import POLL, Control
from reducekit.run import Closing, Guard, Limits, Outcome
from reducekit.search.strategy import Strategy
from reducekit.session.failure import Opener
from reducekit.session.options import Options
from reducekit.session.place.inputs import plain_path
from reducekit.session.place.journal import Opened
from reducekit.session.place.output import OutputFile, SavedBest, Steps
from reducekit.session.runs.slippage import SlippageTracker

if TYPE_CHECKING:
    from reducekit.executors.own import OwnOracle, Subject
    from reducekit.session.cluster import Cluster
    from reducekit.session.place.other_failures import OtherFailures


_CRASHES = (
    signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSYS
)  # fmt: skip
_OF_STEPS = 5.0
"""Seconds at least for a run that steps bound: on a busy machine it takes several times as long."""


@dataclass(slots=True, eq=False)
class Executors(Closing):
    """Opens executors, and closes those still open at the end, the latest first."""

    opener: Opener
    repeat: Repeat | None
    guard: Guard
    _opened: list[Executor] = field(default_factory=list)

    def open(self, oracle: Oracle, jobs: int = 1) -> Executor:
        """Open an executor that makes each run once."""
        with self.guard.held():
            executor = self.opener(oracle, jobs)
            self._opened.append(executor)
        return executor

    def open_repeating(self, oracle: Oracle, jobs: int = 1) -> Executor:
        """Open an executor that makes as many runs for a verdict as `repeat` says."""
        executor = self.open(oracle, jobs)
        return executor if self.repeat is None else Repeating(executor, self.repeat)

    @property
    def runs(self) -> int:
        """The number of runs of commands that were started."""
        return sum(each.runs for each in self._opened)

    def close(self) -> None:
        for each in reversed(self._opened):
            each.close()


class Stoppable(Executor):
    """Waits in short slices, and checks between them whether `control` raises Stopped."""

    def __init__(self, inner: Executor, control: Control) -> None:
        self._inner = inner
        self._control = control

    @property
    def free(self) -> int:
        return self._inner.free

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        self._inner.submit(ticket, text, limits)

    def wait(self, timeout: float | None = None) -> list[Finished]:
        until = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            self._control.check()
            left = until - time.monotonic()
            finished = self._inner.wait(max(0.0, min(POLL, left)))
            if finished or left <= 0:
                return finished

    def cancel(self, ticket: int) -> None:
        self._inner.cancel(ticket)

    def close(self) -> None:
        self._inner.close()


def run_once(executor: Executor, text: bytes, limits: Limits) -> Finished:
    """Run one check and wait for it."""
    executor.submit(0, text, limits)
    while True:
        for finished in executor.wait():
            return finished


def opener_of(options: Options, suffix: str, guard: Guard) -> Opener:
    """Return a function that opens executors for these options, for candidates with that suffix."""
    if options.opener is not None:
        return options.opener
    interesting = options.interesting
    if interesting is not None:
        return lambda oracle, jobs: InProcess(interesting, jobs)
    source = b"" if options.several else options.input
    name = plain_path(source).name if isinstance(source, Path) else ""
    workdir = None if options.workdir is None else str(options.workdir.absolute())
    cluster = options.cluster
    if cluster is not None:
        assert not isinstance(cluster, str)  # it is connected
        return cluster.opener(suffix, name=name, workdir=workdir)
    return local_opener(suffix, guard, name=name, workdir=workdir)


def local_opener(
    suffix: str, guard: Guard, *, name: str = "", workdir: str | None = None
) -> Opener:
    """Return a function that opens executors on this machine."""
    from reducekit.executors.local import LocalExecutor

    return lambda oracle, jobs: LocalExecutor(
        oracle, jobs, suffix, guard=guard, name=name, workdir=workdir, shows=True
    )


def timeout_for(seconds: float) -> float:
    """Return the wall limit for candidates when the best so far takes that many seconds."""
    return max(0.4, 4 * seconds + 0.2)


def limits_for(criterion: Criterion, limits: Limits, seconds: float) -> Limits:
    """Return the limits for candidates when the best so far takes that many seconds.

    The wall limit is the criterion's, else the user's, else follows the time.
    """
    found = timeout_for(seconds)
    if criterion.counts_steps:
        found = max(found, _OF_STEPS)
    wall = next((w for w in (criterion.wall, limits.wall) if w is not None), found)
    return Limits(wall, limits.cpu, limits.memory, limits.output)


class Golden(NamedTuple):
    """What is to be kept alive, as the runs on the input showed it.

    `outcomes` are those of the first run that showed it. `seconds` is the wall
    time of the slowest single run of a command.
    """

    criterion: Criterion
    outcomes: tuple[Outcome, ...]
    seconds: float
    runs: tuple[tuple[Outcome, ...], ...] = ()  # the outcomes of all runs on the input
    baseline: tuple[Outcome, ...] | None = None
    """Those of a run on the baseline, if there was room for one next to the others."""

    @property
    def crashed(self) -> bool:
        """Whether the command ended by a crash, or a shell says so of its last command."""
        outcome = self.outcomes[0]
        number = outcome.signal or (outcome.status or 0) - 128
        return outcome.limit is None and number in _CRASHES


class Steering(NamedTuple):
    """What the user's programs do in a search, besides passes."""

    attach: Callable[[Control, Callable[[str], None]], None] = lambda control, say: None
    """Connects them to a session. Raises UsageError if they cannot judge the input."""
    prefer: Callable[[Order], Order] = lambda order: order
    """Returns the order in which texts have to get smaller, given the frontend's."""


class Job(NamedTuple):
    """The work of a session, prepared."""

    name: str  # the name of the input in messages
    read: bytes  # the input as it was read
    text: bytes  # what is reduced: the input, without options that the commands set
    frontend: Format
    views: list[View]  # the parsed text, to be taken once: it is large, so nothing else may keep it
    strategy: Strategy
    choice: PassChoice
    commands: tuple[Command, ...]  # the commands of the oracle; none if it is a function
    fresh: tuple[Command, ...]  # about answers or costs: on variants that no check uses
    criterion: Criterion
    limits: Limits
    opened: Opened  # the journal, and results of an earlier run
    output: OutputFile | None
    backup: Path | None  # the path of the backup if the input is replaced
    other_failures: OtherFailures | None
    opener: Opener
    own: OwnOracle | None  # how the format checks candidates if no command is given
    jobs: int  # the number of parallel checks
    cluster: Cluster | None  # the cluster that runs them, if any
    subject: Callable[[], Subject] | None  # what fails, if not the first command's program
    protection: Protection  # what every candidate has to contain
    steering: Steering
    notes: tuple[str, ...]  # notes for the user
    closing: ExitStack  # closes everything opened for this job

    def as_if_run_on(self, outcome: Outcome, path: str) -> Outcome:
        """Replace the name of the candidate's file, which is gone, by that of the output."""
        names = (f"input{self.frontend.suffix}", Path(self.name).name)
        either = b"|".join(re.escape(os.fsencode(each)) for each in names)
        place = re.compile(rb"/[^\s:'\"]*/reducekit-[^\s/]+/\d+/(?:" + either + rb")")
        name = os.fsencode(path)
        return outcome._replace(
            stdout=place.sub(lambda _: name, outcome.stdout),
            stderr=place.sub(lambda _: name, outcome.stderr),
        )


@dataclass(slots=True, eq=False, repr=False)
class Watched:
    """What displays read of the runs so far."""

    last_run: Sequence[Outcome] = ()  # the outcomes of the last check, or the last that printed
    busy: float = 0.0  # seconds that the commands of all checks ran, in sum
    timeouts: int = 0  # checks in which a command reached a time limit
    time_limit: float | None = None  # seconds of wall time that a run may take


def note_check(watched: Watched, outcomes: Sequence[Outcome]) -> None:
    """Take the outcomes of a check in."""
    printed, before = (
        any(each.stdout or each.stderr for each in some) for some in (outcomes, watched.last_run)
    )
    if printed or not before:
        watched.last_run = outcomes
    watched.busy += sum(each.seconds for each in outcomes)
    watched.timeouts += any(each.limit == "time" for each in outcomes)


@dataclass(slots=True, eq=False)
class Run:
    """A session that runs. Each phase reads what those before it found out, and adds its own."""

    options: Options
    job: Job
    executors: Executors
    listen: Callable[[Event], None]  # called with every event
    guard: Guard
    control: Control
    begin: float  # the start, by the monotonic clock
    watched: Watched = field(default_factory=Watched)
    golden: Golden = field(init=False)  # by the golden runs
    baseline_fails: bool = False
    slippage: SlippageTracker | None = field(init=False)
    """Watches for other failures; None if only verdicts are known."""
    saved: SavedBest = field(init=False)  # the best text so far
    steps: Steps = field(init=False)  # the way to it
    result: Result = field(init=False)  # by the search
    last: Finished | None = None  # the last check of the result; None if there was none
    tries: int = 0  # how many checks that took

    def say(self, sentence: str | None) -> None:
        """Send a message to the user, if there is one."""
        if sentence is not None:
            self.listen(Notice(sentence))

    def open_stoppable(self, oracle: Oracle, jobs: int = 1) -> Executor:
        """Open an executor whose waits end when the session is stopped."""
        return Stoppable(self.executors.open(oracle, jobs), self.control)

    @property
    def limits(self) -> Limits:
        """The limits of runs on texts for which a command takes as long as for the input."""
        return limits_for(self.golden.criterion, self.job.limits, self.golden.seconds)

    def outcomes(self, commands: tuple[Command, ...], text: bytes) -> tuple[Outcome, ...]:
        """Run commands on a text, and return how they ended. Raises Stopped."""
        with self.open_stoppable(Oracle(commands, Everything(len(commands)))) as executor:
            return run_once(executor, text, self.limits).outcomes
