"""Guesses made before the reduction: which part of the input fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reducekit.executors.executor import Executor
from reducekit.offers import Guesses
from reducekit.oracle.also import about_answers
from reducekit.oracle.answers import answers
from reducekit.oracle.oracle import Oracle
from reducekit.reduction.control import Stopped
from reducekit.session.prepare import Job
from reducekit.session.runs.golden import Golden
from reducekit.session.runs.probing import probe_of

_MOST = 3
"""Number of good runs that are asked: one may not represent the others."""


def guesses(
    job: Job, golden: Golden, open_executor: Callable[[Oracle], Executor]
) -> Iterator[bytes] | None:
    """Return parts of the input that are likely to fail, smallest first; None: no guesses.

    Guesses need a run on the input that answered `unsat`, and a failure about answers of solvers.
    The published algorithms get none, because their tables count the checks of the algorithm alone.
    """
    frontend = job.frontend
    if not isinstance(frontend, Guesses) or job.strategy.passes != "own":
        return None
    if not about_answers(golden.criterion):
        return None
    given = [answers(each) for each in golden.outcomes]
    good = [at for at, each in enumerate(given) if each is not None and each[-1] == b"unsat"]
    if not good:
        return None
    bad = next((at for at, each in enumerate(given) if each is None), 0)
    *chosen, lost = (
        probe_of(job, golden, job.commands[at], open_executor) for at in (*good[:_MOST], bad)
    )
    try:
        return iter(frontend.guesses(job.text, chosen, lost))
    except Stopped:
        return None
