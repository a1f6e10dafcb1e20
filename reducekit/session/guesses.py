"""Guesses about which part of the input fails, made before the reduction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from reducekit.executors.executor import Executor
from reducekit.offers import Guesses, Probe
from reducekit.oracle.also import Also, innermost
from reducekit.oracle.command import Command
from reducekit.oracle.cost import CostAtLeast
from reducekit.oracle.criterion import Criterion, Everything, Matches, answers
from reducekit.oracle.flips import Flips
from reducekit.oracle.oracle import Oracle
from reducekit.reduction.control import Stopped
from reducekit.session.golden import Golden, limits_for, run_once
from reducekit.session.prepare import Job

_MOST = 3
"""Good runs that are asked: one may say nothing of what the others do."""


def guesses(
    job: Job, golden: Golden, open_executor: Callable[[Oracle], Executor]
) -> Iterator[bytes] | None:
    """Return parts of the input that are likely to fail, the smallest first; None: no guesses.

    There are some if a run on the input answered `unsat` and the failure is about how solvers
    answer. The published algorithms get none: their tables count the checks of their own.
    """
    frontend = job.frontend
    if not isinstance(frontend, Guesses) or job.strategy.passes != "own":
        return None
    if not _about_answers(golden.criterion):
        return None
    given = [answers(each) for each in golden.outcomes]
    good = [at for at, each in enumerate(given) if each is not None and each[-1] == b"unsat"]
    if not good:
        return None
    bad = next((at for at, each in enumerate(given) if each is None), 0)
    limits = limits_for(golden.criterion, job.limits, golden.seconds)

    def probe(command: Command) -> Probe:
        oracle = Oracle((replace(command, variant=0, vary=None),), Everything(1))

        def run(text: bytes) -> bytes:
            with open_executor(oracle) as executor:
                outcome = run_once(executor, text, limits).outcomes[0]
            return outcome.stdout + b"\n" + outcome.stderr

        return Probe(command.variant, run)

    chosen = [probe(job.commands[at]) for at in good[:_MOST]]
    try:
        return iter(frontend.guesses(job.text, chosen, probe(job.commands[bad])))
    except Stopped:
        return None


def _about_answers(criterion: Criterion) -> bool:
    """Return whether a criterion wants a query answered, and more: in other runs, or its cost."""
    if isinstance(criterion, Also):
        return any(isinstance(each, Matches) for each in criterion.others)
    return isinstance(innermost(criterion), Flips | CostAtLeast)
