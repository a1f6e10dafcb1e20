"""Runs that ask a solver for more than a check does, for failures about answers or costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from reducekit.executors.executor import Executor
from reducekit.offers import Overrides, Probe
from reducekit.oracle.also import about_answers, innermost
from reducekit.oracle.answers import answers
from reducekit.oracle.command import Command
from reducekit.oracle.cost import CostAtLeast
from reducekit.oracle.criterion import Criterion, Everything
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.session.executors import limits_for
from reducekit.session.prepare import Job
from reducekit.session.runs.golden import Golden, run_once


def good_and_bad(
    criterion: Criterion, outcomes: Sequence[Outcome]
) -> tuple[int | None, int | None]:
    """Return the good and the bad run of a check; None for one that does not exist.

    Good runs are answered and bad ones are not; where a cost counts, the bad run is the costly one,
    and the good one is the reference's.
    """
    inner = innermost(criterion)
    if isinstance(inner, CostAtLeast):
        return inner.runs if inner.references else None, 0
    answered = [answers(each) is not None for each in outcomes]
    good, bad = (answered.index(end) if end in answered else None for end in (True, False))
    return good, bad


def overridden(job: Job, golden: Golden, text: bytes) -> str:
    """Return a sentence on options in the text that override those of the commands; '' if none.

    Only options that can change the preserved answers count.
    """
    frontend = job.frontend
    if not isinstance(frontend, Overrides) or not about_answers(golden.criterion):
        return ""
    words = [word for each in job.commands for word in each.words[1:]]
    return ", ".join(f":{each}" for each in frontend.overrides(text, words))


def probe_of(
    job: Job, golden: Golden, command: Command, open_executor: Callable[[Oracle], Executor]
) -> Probe:
    """Return a function that runs one of the commands on a text without changes.

    It may raise Stopped.
    """
    limits = limits_for(golden.criterion, job.limits, golden.seconds)
    oracle = Oracle((replace(command, variant=0, vary=None),), Everything(1))

    def run(text: bytes) -> bytes:
        with open_executor(oracle) as executor:
            outcome = run_once(executor, text, limits).outcomes[0]
        return outcome.stdout + b"\n" + outcome.stderr

    return Probe(command.variant, run)
