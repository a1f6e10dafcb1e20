"""The search of a session: each improvement is written and reported at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from reducekit.events import Accepted, Checked, Event, PassEnded, RolledBack
from reducekit.executors.executor import Finished
from reducekit.offers import Compares
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.oracle.signature import Signature
from reducekit.reduction import EARLIER, GUESSES, Budget, Counts, Reduction, Result
from reducekit.session.executors import Running, limits_for
from reducekit.session.place.output import SavedBest, Steps
from reducekit.session.prepare import Job
from reducekit.session.report import INTERRUPTED
from reducekit.session.runs.golden import Golden
from reducekit.session.runs.guesses import guesses
from reducekit.session.slippage import SlippageTracker, captured

_REPEATS = 2
_REPEATS_OF_REPEATED = 1  # each of them is several runs already


def slippage_of(running: Running, job: Job, golden: Golden) -> SlippageTracker | None:
    """Watch for failures other than the golden run's; None where only verdicts are known."""
    if not golden.outcomes:
        return None
    collection = job.other_failures
    if collection is None:
        return SlippageTracker(golden.outcomes, golden.criterion)

    def keep(found: Signature, text: bytes) -> None:
        with running.guard.held():
            collection.keep(found, text)

    return SlippageTracker(golden.outcomes, captured(golden.criterion), keep)


def search(
    running: Running,
    job: Job,
    golden: Golden,
    failing: bool,
    slippage: SlippageTracker | None,
    saved: SavedBest,
    steps: Steps,
    on_run: Callable[[Sequence[Outcome]], None],
    on_limits: Callable[[Limits], None],
) -> Result:
    """Search, and write each improvement; the best text is saved in any case.

    `failing`: whether the baseline fails. `on_run` is called with the outcomes of each check,
    `on_limits` with the limits of the checks to come.
    """
    options, journal, counts = running.options, job.opened.journal, Counts()
    replayed = 0

    def listen(event: Event) -> None:
        nonlocal replayed
        running.guard.check()  # a signal that was raised where Python drops exceptions
        match event:
            case Checked() if counts.replayed > replayed:
                replayed = counts.replayed
                event = replace(event, replayed=True)
            case Accepted(text=text):
                steps.accept(text)
                with running.guard.held():
                    # A resumed search repeats also what was taken back later.
                    if journal is None or not journal.replaying:
                        saved.accept(text)
                    else:
                        event = replace(event, replayed=True)
                if slippage is not None:
                    slippage.accept(text)
            case RolledBack(text=text, given_up=given_up):
                steps.give_up(given_up)
                with running.guard.held():
                    saved.give_up(given_up, text)
                if slippage is not None:
                    slippage.go_back(text)
            case PassEnded(name=name, round=number) if journal is not None:
                seconds = reduction.elapsed
                journal.pass_ended(name, number, checks=counts.checks, seconds=seconds)
        running.say(_in_words(event, job.opened.changed))
        running.listen(event)

    def on_checked(text: bytes, finished: Finished) -> None:
        on_run(finished.outcomes)
        if slippage is not None:
            slippage.see(text, finished.interesting, finished.outcomes)

    def limits(seconds: float) -> Limits:
        found = limits_for(golden.criterion, job.limits, seconds)
        on_limits(found)
        return found

    criterion = golden.criterion if slippage is None else slippage.criterion
    oracle = Oracle(job.commands, criterion, resolves=isinstance(job.frontend, Compares))
    try:
        with running.guard.allowed():
            reduction = Reduction(
                job.frontend,
                job.strategy,
                running.executors.open_repeating(oracle, job.jobs),
                limits,
                width=job.opened.width,
                repeats=_repeats(running, job),
                budget=Budget(
                    options.max_checks,
                    options.max_time,
                    options.patience or None,
                    options.until,
                ),
                listen=listen,
                on_checked=on_checked,
                counts=counts,
                fast=options.fast,
                effort=options.effort,
                choice=job.choice,
                journal=journal,
                view=job.take_view(),
                begin=running.begin,
                control=running.control,
                protection=job.protection,
                prefer=job.prefer,
            )
            reduction.preload(job.frontend.baseline, interesting=failing)
            if journal is not None:
                reduction.restore(journal.found.verdicts, journal.found.unresolved)
            earlier = None if journal is None else journal.earlier
            if earlier is not None:
                starts: Iterator[bytes] | None = earlier.from_the_smallest()
                kind = EARLIER
            else:
                starts, kind = guesses(job, golden, running.open_stoppable), GUESSES
            result = reduction.run(job.text, golden.seconds, starts, kind)
    except KeyboardInterrupt:
        result = Result(saved.text, counts, 0, 0.0, INTERRUPTED)
        result = replace(result, passing=job.frontend.baseline)
    saved.save()
    return result


def _repeats(running: Running, job: Job) -> int:
    """Return how many more runs the result must pass; 0 for a function."""
    if not job.commands:
        return 0
    return _REPEATS if running.options.repeat is None else _REPEATS_OF_REPEATED


def _in_words(event: Event, changed: str | None) -> str | None:
    """Return the message for an event; `changed` describes how the test has changed since the last
    run."""
    match event:
        case Accepted(text=text, pass_name=name) if changed and name == EARLIER:
            return (
                f"{changed}: resuming from the smallest earlier step that still fails "
                f"({len(text):,} bytes)"
            )
        case PassEnded(name=name, accepted=0) if changed and name == EARLIER:
            return f"{changed}: no earlier step still fails; starting from the input"
        case Accepted(text=text, pass_name=name) if name == GUESSES:
            return f"starting from a part of the input that fails ({len(text):,} bytes)"
        case RolledBack(text=text, given_up=given_up):
            return (
                f"the best file so far ({len(given_up[0]):,} bytes) no longer fails, or not every "
                f"time; going back to one that does ({len(text):,} bytes), and each success is "
                "repeated from now on"
            )
    return None
