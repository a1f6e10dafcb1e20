"""Failures about answers or costs of solvers: more runs than a check makes, and what they show.

Fresh variants: does the failure show as often on the result as on the input? A search keeps what
passes on the variants that it asks, so it also keeps texts that pass on few others; of a cost it
keeps what only just has it. Neither the size nor the last check shows that, but variants that no
check used do. A result on which the failure is much rarer than on the input is given up for an
earlier one.

Probes: what a solver prints on request shows which parts of a text an answer needs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion, innermost, verdict
from reducekit.reduction.control import Stopped
from reducekit.run import Outcome
from reducekit.session.failure import FRESH
from reducekit.session.report import INTERRUPTED, Ends, Remaining, Shown
from reducekit.session.runs.run import Run

if TYPE_CHECKING:
    from reducekit.offers import Probe


def on_fresh_variants(run: Run) -> tuple[Ends | Shown, Ends | Shown] | None:
    """Go back to an earlier text if the failure is rare on fresh variants of the result.

    Returns how often it shows on variants of the input and of the kept text; None if that is
    unknown.
    """
    job, saved = run.job, run.saved
    if run.result.gone or run.result.stopped == INTERRUPTED:
        return None
    run.say(f"running {FRESH} other variants of the input and the result")

    def often(text: bytes) -> Ends | Shown:
        return frequency(run.outcomes(job.fresh, text), run.golden.criterion)

    with contextlib.suppress(KeyboardInterrupt, Stopped), run.guard.allowed():
        kept, first, last = as_often(run.steps.texts, saved.text, often)
        went_back = kept != saved.text
        run.say(in_words(first, last, len(job.commands), went_back=went_back))
        if went_back:
            with run.guard.held():
                saved.replace(kept)
        return first, last
    return None


def frequency(outcomes: Sequence[Outcome], criterion: Criterion) -> Ends | Shown:
    """Count by runs on fresh variants, with the criterion of the checks."""
    inner = innermost(criterion)
    from reducekit.oracle.flips import Flips

    if isinstance(inner, Flips):
        return Ends(*inner.ends(outcomes))
    size = len(outcomes) // FRESH
    runs = [outcomes[at : at + size] for at in range(0, len(outcomes), size)]
    return Shown(sum(verdict(criterion, run) for run in runs))


def as_often(
    texts: Sequence[bytes], result: bytes, often: Callable[[bytes], Ends | Shown]
) -> tuple[bytes, Ends | Shown, Ends | Shown]:
    """Return a result on which the failure is not rarer than on the input, and the counts of both.

    That is `result` if possible, otherwise the last such of `texts`, which begin with the input,
    found by bisection: the failure gets rarer along the way. If only the input itself qualifies,
    `result` is returned anyway.
    """
    first, last = often(texts[0]), often(result)
    counts = {result: last}

    def enough(text: bytes) -> bool:
        counts[text] = often(text)
        return not counts[text].rarer_than(first)

    found = last_same(texts, enough) if last.rarer_than(first) else None
    kept = result if found is None else found
    return kept, first, counts[kept]


def last_same(texts: Sequence[bytes], same: Callable[[bytes], bool]) -> bytes | None:
    """Return the last of `texts`, which begin with the input, that is the same; not the input.

    By bisection, as the place of a crash or a frequency that has changed seldom comes back.
    """
    low, high = 0, len(texts)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if same(texts[middle]) else (low, middle)
    return texts[low] if low else None


def in_words(before: Ends | Shown, after: Ends | Shown, used: int, *, went_back: bool) -> str:
    """Return a sentence on the counts of input and result; checks use `used` variants."""
    said = f"on {FRESH} variants that no check used, the input "
    if isinstance(before, Ends) and isinstance(after, Ends):
        said += (
            f"is solved {before.good} times and lost {before.bad} times, the result {after.good} "
            f"and {after.bad} times"
        )
        often = max(1, min(before) * (used + FRESH) // FRESH // 2)
        better = f"try `unstable` {used + FRESH} with `good` {often} and `bad` {often}"
        cheaper = f". For less, {better}"
    else:
        said += f"shows the failure {before[0]} times, the result {after[0]} times"
        better, cheaper = "ask for three seeds: write {seed} in the command", ""
    if went_back:
        return f"{said}; the last steps were taken back, as it was rarer there{cheaper}"
    if not after.rarer_than(before):
        return said
    return f"{said}: it is rarer. {better[0].upper()}{better[1:]}"


def good_and_bad(
    criterion: Criterion, outcomes: Sequence[Outcome]
) -> tuple[int | None, int | None]:
    """Return the good and the bad run of a check; None for one that does not exist.

    Good runs are answered and bad ones are not; where a cost counts, the bad run is the costly one,
    and the good one is the reference's.
    """
    inner = innermost(criterion)
    from reducekit.oracle.answers import answers
    from reducekit.oracle.cost import CostAtLeast

    if isinstance(inner, CostAtLeast):
        return inner.runs if inner.references else None, 0
    answered = [answers(each) is not None for each in outcomes]
    good, bad = (answered.index(end) if end in answered else None for end in (True, False))
    return good, bad


def overridden(run: Run, text: bytes) -> str:
    """Return the options in the text that override those of the commands; '' if none.

    Only options that can change the preserved answers count.
    """
    words = [word for each in run.job.commands for word in each.words[1:]]
    return ", ".join(f":{each}" for each in run.job.frontend.overrides(text, words))


def probe_of(run: Run, command: Command) -> Probe:
    """Return a function that runs one of the commands on a text without changes.

    It may raise Stopped.
    """
    unchanged = command._replace(variant=0, vary=None)

    def printed(text: bytes) -> bytes:
        (outcome,) = run.outcomes((unchanged,), text)
        return outcome.stdout + b"\n" + outcome.stderr

    from reducekit.offers import Probe

    return Probe(command.variant, printed)


def remains(run: Run) -> list[Remaining]:
    """Return which parts of the input are left, by name and line, if the format has names.

    If a run confirmed the result, with their instances in a good and in a bad run, if the solvers
    print those.
    """
    frontend, text, last = run.job.frontend, run.result.text, run.last
    found = [Remaining(*each) for each in frontend.labels([*run.steps.texts, text])]
    if not found or last is None or not last.interesting:
        return found
    with contextlib.suppress(KeyboardInterrupt, Stopped), run.guard.allowed():
        columns = list[Sequence[int | None]]()
        for at in good_and_bad(run.golden.criterion, last.outcomes):
            counts: Sequence[int | None] = ()
            if at is not None and at < len(last.outcomes):
                counts = frontend.instances(text, probe_of(run, run.job.commands[at]))
            columns.append(counts if len(counts) == len(found) else [None] * len(found))
        return [
            each._replace(good=good, bad=bad)
            for each, good, bad in zip(found, *columns, strict=True)
        ]
    return found
