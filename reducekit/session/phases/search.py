"""The search of a session: each improvement is written and reported at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reducekit.events import Accepted, Checked, Event, PassEnded, RolledBack
from reducekit.executors.executor import Finished
from reducekit.oracle.criterion import Oracle
from reducekit.oracle.signature import Signature
from reducekit.reduction import EARLIER, GUESSES, Budget, Counts, Reduction, Result
from reducekit.reduction.control import Stopped
from reducekit.run import Limits
from reducekit.session.report import INTERRUPTED
from reducekit.session.runs.run import Run, limits_for, note_check
from reducekit.session.runs.slippage import SlippageTracker, captured

if TYPE_CHECKING:
    from reducekit.offers import Probe

_REPEATS = 2
_REPEATS_OF_REPEATED = 1  # each of them is several runs already
_ASKED = 3  # number of good runs that are asked for a guess: one may not represent the others


def search(run: Run) -> None:
    """Search, and write each improvement; the best text is saved in any case.

    Adds `slippage` and `result` to the run.
    """
    run.slippage = _slippage_of(run)
    counts = Counts()
    try:
        with run.guard.allowed():
            run.result = _Search(run, counts).reduce()
    except KeyboardInterrupt:
        passing = run.job.frontend.baseline
        run.result = Result(run.saved.text, counts, 0, 0.0, INTERRUPTED, passing=passing)
    run.saved.save()


def _slippage_of(run: Run) -> SlippageTracker | None:
    """Watch for failures other than the golden run's; None where only verdicts are known."""
    golden, collection = run.golden, run.job.other_failures
    if not golden.outcomes:
        return None
    if collection is None:
        return SlippageTracker(golden.outcomes, golden.criterion)

    def keep(found: Signature, text: bytes) -> None:
        with run.guard.held():
            collection.keep(found, text)

    return SlippageTracker(golden.outcomes, captured(golden.criterion), keep)


def _guesses(run: Run) -> Iterator[bytes] | None:
    """Return parts of the input that are likely to fail, smallest first; None: no guesses.

    The runs on the input that answered `unsat` may be asked where the failure is about answers. The
    published algorithms get no guesses, because their tables count the checks of the algorithm
    alone.
    """
    job = run.job
    if job.strategy.passes != "own":
        return None
    chosen: list[Probe] = []
    lost = None
    if run.golden.criterion.about_answers:
        from reducekit.oracle.answers import answers
        from reducekit.session.runs.variants import probe_of

        given = [answers(each) for each in run.golden.outcomes]
        good = [at for at, each in enumerate(given) if each is not None and each[-1] == b"unsat"]
        if good:
            bad = next((at for at, each in enumerate(given) if each is None), 0)
            *chosen, lost = (probe_of(run, job.commands[at]) for at in (*good[:_ASKED], bad))
    try:
        found = list(job.frontend.guesses(job.text, chosen, lost))
    except Stopped:
        return None
    return iter(found) if found else None


class _Search:
    def __init__(self, run: Run, counts: Counts) -> None:
        self._run = run
        self._counts = counts
        self._replayed = 0
        options, job = run.options, run.job
        criterion = run.golden.criterion if run.slippage is None else run.slippage.criterion
        oracle = Oracle(job.commands, criterion, resolves=job.frontend.offers("beside"))
        repeats = _REPEATS if options.repeat is None else _REPEATS_OF_REPEATED
        self._reduction = Reduction(
            job.frontend,
            job.strategy,
            run.executors.open_repeating(oracle, job.jobs),
            self._limits,
            width=job.opened.width,
            repeats=repeats if job.commands else 0,  # a function says the same each time
            budget=Budget(
                options.max_checks, options.max_time, options.patience or None, options.until
            ),
            listen=self._listen,
            on_checked=self._checked,
            counts=counts,
            fast=options.fast,
            effort=options.effort,
            choice=job.choice,
            journal=job.opened.journal,
            view=job.views.pop(),
            begin=run.begin,
            control=run.control,
            protection=job.protection,
            prefer=job.steering.prefer,
        )

    def reduce(self) -> Result:
        """Start with what is known, and with smaller texts that are likely to fail; search."""
        run, job, reduction = self._run, self._run.job, self._reduction
        journal = job.opened.journal
        reduction.preload(job.frontend.baseline, interesting=run.baseline_fails)
        if journal is not None:
            reduction.restore(journal.found.verdicts, journal.found.unresolved)
        starts: Iterator[bytes] | None = None
        kind = GUESSES
        if journal is not None and journal.earlier is not None:
            starts, kind = journal.earlier.from_the_smallest(), EARLIER
        elif job.frontend.offers("guesses"):
            starts = _guesses(run)
        return reduction.run(job.text, run.golden.seconds, starts, kind)

    def _listen(self, event: Event) -> None:
        run, journal = self._run, self._run.job.opened.journal
        run.guard.check()  # a signal that was raised where Python drops exceptions
        match event:
            case Checked() if self._counts.replayed > self._replayed:
                self._replayed = self._counts.replayed
                event = event._replace(replayed=True)
            case Accepted(text=text):
                run.steps.accept(text)
                with run.guard.held():
                    # A resumed search repeats also what was taken back later.
                    if journal is None or not journal.replaying:
                        run.saved.accept(text)
                    else:
                        event = event._replace(replayed=True)
                if run.slippage is not None:
                    run.slippage.accept(text)
            case RolledBack(text=text, given_up=given_up):
                run.steps.give_up(given_up)
                with run.guard.held():
                    run.saved.give_up(given_up, text)
                if run.slippage is not None:
                    run.slippage.go_back(text)
            case PassEnded(name=name, round=number) if journal is not None:
                seconds = self._reduction.elapsed
                journal.pass_ended(name, number, checks=self._counts.checks, seconds=seconds)
        run.say(_in_words(event, run.job.opened.changed))
        run.listen(event)

    def _checked(self, text: bytes, finished: Finished) -> None:
        note_check(self._run.watched, finished.outcomes)
        if self._run.slippage is not None:
            self._run.slippage.see(text, finished.interesting, finished.outcomes)

    def _limits(self, seconds: float) -> Limits:
        found = limits_for(self._run.golden.criterion, self._run.job.limits, seconds)
        self._run.watched.time_limit = found.wall
        return found


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
