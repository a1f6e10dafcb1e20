"""A hunt with programs: they run on input after input, and each failure or contradiction counts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

from reducekit.cli.executors import Executors
from reducekit.cli.findings import Finding, findings
from reducekit.cli.hunting import Hunting, Shown, Tally, Way
from reducekit.cli.interrupts import Interrupts
from reducekit.executors.executor import Executor
from reducekit.frontend import Frontend
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Everything
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome

_PATIENCE = 500  # checks in a row without success that end a reduction
_FIRST = 3  # inputs; when all show the same, it is said


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


def hunt(plan: Hunt, samples: Iterator[Sample], interrupts: Interrupts) -> Tally:
    """Run the commands on all samples; an interrupt ends it, and is noted in the tally."""
    tally = Tally()
    with contextlib.suppress(KeyboardInterrupt), Executors(interrupts, plan.suffix) as executors:
        tally.interrupted = True
        with interrupts.allowed():
            hunting = Hunting(plan, tally, interrupts)
            oracle = Oracle(plan.commands, Everything(len(plan.commands)))
            for run in _runs(plan, samples, executors.open(oracle, plan.jobs), hunting):
                if run is None:
                    hunting.reduce_new(partial(_way, plan, executors))
                else:
                    _take(plan, tally, hunting, *run)
        tally.interrupted = False
    return tally


def _runs(
    plan: Hunt, samples: Iterator[Sample], executor: Executor, hunting: Hunting
) -> Iterator[tuple[Sample, tuple[Outcome, ...]] | None]:
    """Yield each sample with how the commands ended on it.

    None, while nothing runs, is the time to reduce: so no run is slower for it.
    """
    flying: dict[int, Sample] = {}
    tickets = count()
    more = True
    while True:
        while more and not hunting.new and executor.free and hunting.left() != 0:
            sample = next(samples, None)
            if sample is None:
                more = False
                break
            ticket = next(tickets)
            flying[ticket] = sample
            executor.submit(ticket, sample.text, plan.limits)
        if not flying:
            if not hunting.new:
                return
            yield None
            continue
        for finished in executor.wait(hunting.left()):
            yield flying.pop(finished.ticket), finished.outcomes
        if hunting.left() == 0:
            more = False
            for each in flying:
                executor.cancel(each)
            flying.clear()


def _take(
    plan: Hunt, tally: Tally, hunting: Hunting, sample: Sample, outcomes: Sequence[Outcome]
) -> None:
    """Look at the runs on a sample."""
    tally.inputs += 1
    tally.timeouts += any(outcome.limit == "time" for outcome in outcomes)
    wall = plan.limits.wall if plan.keep_timeouts else None
    for each in findings(plan.commands, outcomes, reference=plan.reference, timeouts=wall):
        hunting.met(Shown(each, sample.text, sample.again, each.commands))
    if tally.inputs == _FIRST:
        for kept in tally.kept.values():
            if kept.count == _FIRST:
                title = kept.finding.title
                line = kept.finding.commands[0].shell_line(str(kept.path))
                hunting.say(
                    f"reducekit: each of the first {_FIRST} inputs shows this: {title}\n"
                    "     Does the program read such files at all, and does it know its options? "
                    f"Try\n     {line}"
                )


def _way(
    plan: Hunt, executors: Executors, finding: Finding, frontend: Callable[[], Frontend]
) -> Way:
    """Return how inputs are reduced."""
    limits, jobs = plan.limits, plan.jobs
    return Way(frontend(), executors.open, limits, _PATIENCE, jobs=jobs, strict=plan.keep_timeouts)
