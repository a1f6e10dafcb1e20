"""A hunt: programs run on inputs without end, each new bug kept in a folder and reduced there.

Knows no format: inputs are given, and reducing is done by a frontend's name.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from reducekit.cli.executors import Executors
from reducekit.cli.findings import Finding, findings
from reducekit.cli.interrupts import Interrupts
from reducekit.cli.streams import say
from reducekit.errors import NotInterestingError, ParseError, UsageError
from reducekit.events import Accepted, Event, WentBack
from reducekit.executors.executor import Finished
from reducekit.frontend import Frontend
from reducekit.golden import establish, limits_for
from reducekit.oracle.command import Command
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.output import OutputFile
from reducekit.reduction import Budget, Reduction
from reducekit.registry import FRONTENDS, load, strategy

_PATIENCE = 500  # checks in a row without success that end a reduction


class Sample(NamedTuple):
    """An input, and the command line that makes it again."""

    text: bytes
    again: str


@dataclass(frozen=True, slots=True)
class Hunt:
    """What is to be hunted, and with what.

    `commands` run one after the other on each input, `reference` says that the last one's
    answers are right. `seconds` is for all, reductions included; None is no limit.
    """

    commands: tuple[Command, ...]
    reference: bool
    folder: Path
    suffix: str
    limits: Limits
    jobs: int = 1
    seconds: float | None = None
    keep_timeouts: bool = False
    frontend: str | None = None
    """Reduce by the frontend of that name; None: not at all."""
    strategy: str = "adaptive"
    quiet: bool = False


@dataclass(slots=True)
class Kept:
    """A bug that is kept: how often it was met, in which file, and how small it became."""

    finding: Finding
    path: Path
    size: int
    count: int = 1
    old: bool = False
    """The folder had it before."""
    reduced: int | None = None
    why_not: str = ""


@dataclass(slots=True)
class Tally:
    """What a hunt has come to so far."""

    inputs: int = 0
    timeouts: int = 0
    kept: dict[str, Kept] = field(default_factory=dict)
    interrupted: bool = False
    begin: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since the hunt began."""
        return time.monotonic() - self.begin


def prepare(folder: Path) -> None:
    """Make the folder. Raises UsageError if it cannot be had, or not be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {folder} cannot be made: {error.strerror}") from None
    OutputFile(folder / "probe")  # tries it out


def hunt(plan: Hunt, samples: Iterator[Sample], interrupts: Interrupts) -> Tally:
    """Run the commands on all samples; an interrupt ends it, and is noted in the tally."""
    tally = Tally()
    with contextlib.suppress(KeyboardInterrupt), Executors(interrupts, plan.suffix) as executors:
        tally.interrupted = True
        with interrupts.allowed():
            _Hunting(plan, samples, interrupts, executors, tally).run()
        tally.interrupted = False
    return tally


@dataclass(frozen=True, slots=True)
class _All:
    """Has all commands run, and keeps what they print."""

    commands: int
    captures: bool = True
    wall: float | None = None

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        return True if len(outcomes) == self.commands else None

    def describe(self) -> str:
        return "all runs"


class _Hunting:
    """A hunt under way. Inputs run while there is nothing to reduce."""

    def __init__(
        self,
        plan: Hunt,
        samples: Iterator[Sample],
        interrupts: Interrupts,
        executors: Executors,
        tally: Tally,
    ) -> None:
        self.plan = plan
        self.samples = samples
        self.interrupts = interrupts
        self.executors = executors
        self.tally = tally
        self.flying: dict[int, Sample] = {}
        self.new: list[tuple[Kept, Sample]] = []
        self.frontend = None if plan.frontend is None else _frontend(plan.frontend)
        if plan.frontend is not None and self.frontend is None:
            self.say(f"reducekit: there is no frontend {plan.frontend!r} yet: nothing is reduced")

    def say(self, text: str) -> None:
        if not self.plan.quiet:
            say(text)

    def left(self) -> float | None:
        """Return the seconds that are left."""
        seconds = self.plan.seconds
        return None if seconds is None else max(0.0, seconds - self.tally.seconds)

    def run(self) -> None:
        plan = self.plan
        oracle = Oracle(plan.commands, _All(len(plan.commands)))
        executor = self.executors.open(oracle, plan.jobs)
        more, ticket = True, 0
        while True:
            while more and not self.new and executor.free and self.left() != 0:
                sample = next(self.samples, None)
                if sample is None:
                    more = False
                    break
                self.flying[ticket] = sample
                executor.submit(ticket, sample.text, plan.limits)
                ticket += 1
            if not self.flying:
                if not self.new:
                    return
                self.reduce_all()
                continue
            for finished in executor.wait(self.left()):
                self.take(finished)
            if self.left() == 0:
                more = False
                for each in list(self.flying):
                    executor.cancel(each)
                self.flying.clear()

    def take(self, finished: Finished) -> None:
        """Look at the runs on an input."""
        sample = self.flying.pop(finished.ticket)
        plan, tally = self.plan, self.tally
        tally.inputs += 1
        tally.timeouts += any(outcome.limit == "time" for outcome in finished.outcomes)
        wall = plan.limits.wall if plan.keep_timeouts else None
        found = findings(plan.commands, finished.outcomes, reference=plan.reference, timeouts=wall)
        for each in found:
            known = tally.kept.get(each.name)
            if known is None:
                tally.kept[each.name] = self.keep(each, sample)
            else:
                known.count += 1

    def keep(self, finding: Finding, sample: Sample) -> Kept:
        """Write a new bug's files, unless the folder has them."""
        path = self.plan.folder / f"{finding.name}{self.plan.suffix}"
        kept = Kept(finding, path, len(sample.text))
        if path.exists():
            kept.old = True
            kept.size = path.stat().st_size
            return kept
        lines = [finding.title, f"made by: {sample.again}"]
        lines += [f"run: {each.shell_line(str(path))}" for each in finding.commands]
        with self.interrupts.held():
            _write(path.with_suffix(".txt"), ("\n".join(lines) + "\n").encode())
            _write(path, sample.text)
        self.say(f"new: {finding.title}\n     {path}")
        self.new.append((kept, sample))
        return kept

    def reduce_all(self) -> None:
        """Reduce what is new, one after the other."""
        while self.new:
            kept, sample = self.new[0]
            if self.frontend is not None and self.left() != 0:
                self.reduce(kept, sample.text, self.frontend)
            self.new.pop(0)

    def reduce(self, kept: Kept, text: bytes, frontend: Frontend) -> None:
        """Reduce an input; every improvement is written."""
        plan, finding = self.plan, kept.finding
        path = kept.path.with_suffix(f".reduced{plan.suffix}")
        output = OutputFile(path)

        def listen(event: Event) -> None:
            if isinstance(event, Accepted | WentBack):
                with self.interrupts.held():
                    output.write(event.text)
                kept.reduced = len(event.text)

        limits = replace(plan.limits, wall=plan.limits.wall if plan.keep_timeouts else None)
        try:
            golden = establish(
                finding.commands,
                finding.criterion,
                text,
                plan.limits,
                self.executors.open,
                path=str(kept.path),
            )
            with self.executors.open(Oracle(finding.commands, golden.criterion), plan.jobs) as runs:
                reduction = Reduction(
                    frontend,
                    strategy(plan.strategy),
                    runs,
                    partial(limits_for, golden.criterion, limits),
                    width=plan.jobs,
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
            self.say(f"     reduced from {len(text):,} to {kept.reduced:,} bytes")


def _write(path: Path, text: bytes) -> None:
    file = OutputFile(path)
    if not file.write(text):
        reason = file.trouble.strerror if file.trouble is not None else "it failed"
        raise UsageError(f"{path} cannot be written: {reason}")


def _frontend(name: str) -> Frontend | None:
    """Return a frontend by its name; None if nobody has registered one."""
    try:
        found: Frontend = load(FRONTENDS, name)()
    except UsageError:
        return None
    return found


def summary(tally: Tally) -> str:
    """Say in words what a hunt has come to."""
    kept = sorted(tally.kept.values(), key=lambda each: -each.count)
    head = f"{_count(tally.inputs, 'input')} in {tally.seconds:.1f} s"
    if tally.timeouts:
        head += f", {tally.timeouts} out of time"
    lines = [head + (", interrupted" if tally.interrupted else "")]
    lines[0] += f": {_count(len(kept), 'bug')}"
    for each in kept:
        times = "once" if each.count == 1 else f"{each.count} times"
        lines.append(f"  {times}: {each.finding.title}")
        sizes = f"{each.size:,} bytes" + (", known before" if each.old else "")
        if each.reduced is not None:
            sizes += f", reduced to {each.reduced:,}"
        elif each.why_not:
            sizes += f", not reduced: {each.why_not}"
        lines.append(f"    {each.path} ({sizes})")
    return "\n".join(lines)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
