"""Runs that ask a solver more than a check does, where the failure is about how it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from reducekit.executors.executor import Executor
from reducekit.offers import Overrides, Probe
from reducekit.oracle.also import about_answers, innermost
from reducekit.oracle.command import Command
from reducekit.oracle.cost import CostAtLeast
from reducekit.oracle.criterion import Criterion, Everything, answers
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.session.golden import Golden, limits_for, run_once
from reducekit.session.prepare import Job


def good_and_bad(
    criterion: Criterion, outcomes: Sequence[Outcome]
) -> tuple[int | None, int | None]:
    """Return which of the runs of a check is good and which is bad; None where there is none.

    Good runs are answered and bad ones are not; where a cost counts, the bad run is the costly one,
    and the good one is that of the reference.
    """
    inner = innermost(criterion)
    if isinstance(inner, CostAtLeast):
        return inner.runs if inner.references else None, 0
    answered = [answers(each) is not None for each in outcomes]
    good, bad = (answered.index(end) if end in answered else None for end in (True, False))
    return good, bad


def overridden(job: Job, golden: Golden, text: bytes) -> str:
    """Return the options that a text sets over those of the commands, in words; '' if none.

    Only where they decide about the answers that are kept.
    """
    frontend = job.frontend
    if not isinstance(frontend, Overrides) or not about_answers(golden.criterion):
        return ""
    words = [word for each in job.commands for word in each.words[1:]]
    return ", ".join(f":{each}" for each in frontend.overrides(text, words))


def probe_of(
    job: Job, golden: Golden, command: Command, open_executor: Callable[[Oracle], Executor]
) -> Probe:
    """Return a way to run one of the commands on a text as it is. It may raise Stopped."""
    limits = limits_for(golden.criterion, job.limits, golden.seconds)
    oracle = Oracle((replace(command, variant=0, vary=None),), Everything(1))

    def run(text: bytes) -> bytes:
        with open_executor(oracle) as executor:
            outcome = run_once(executor, text, limits).outcomes[0]
        return outcome.stdout + b"\n" + outcome.stderr

    return Probe(command.variant, run)
