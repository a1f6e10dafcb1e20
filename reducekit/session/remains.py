"""The parts of the input that are left, by name and line, and how runs of the result use them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from reducekit.executors.executor import Executor
from reducekit.offers import Labels
from reducekit.oracle.also import about_answers
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.session.prepare import Job
from reducekit.session.report import Remaining
from reducekit.session.runs.golden import Golden
from reducekit.session.runs.probing import good_and_bad, probe_of


def remains(job: Job, golden: Golden, texts: Sequence[bytes]) -> list[Remaining]:
    """Return the parts that are left; `texts` are the input, steps in between, and the result.

    Nothing if the failure is not about answers, or if the format has no names.
    """
    frontend = job.frontend
    if not isinstance(frontend, Labels) or not about_answers(golden.criterion):
        return []
    return [Remaining(*each) for each in frontend.labels(texts)]


def counted(
    remaining: Sequence[Remaining],
    job: Job,
    golden: Golden,
    text: bytes,
    outcomes: Sequence[Outcome],
    open_executor: Callable[[Oracle], Executor],
) -> list[Remaining]:
    """Return them with their instances in a good and in a bad run, if the solvers print those.

    `outcomes` are those of a check of the result, `text`. May raise Stopped.
    """
    columns = list[Sequence[int | None]]()
    for at in good_and_bad(golden.criterion, outcomes):
        found: Sequence[int | None] = ()
        if at is not None and at < len(outcomes) and isinstance(job.frontend, Labels):
            probe = probe_of(job, golden, job.commands[at], open_executor)
            found = job.frontend.instances(text, probe)
        columns.append(found if len(found) == len(remaining) else [None] * len(remaining))
    return [
        replace(each, good=good, bad=bad)
        for each, good, bad in zip(remaining, *columns, strict=True)
    ]
