"""A session: one reduction from the options to the report, for any client.

The way of a session: `prepare` looks at all that the options name and writes nothing; the golden
run finds out what to keep alive; the search reduces, and each improvement is written at once;
the result is checked once more with the user's own command; the report tells the rest. Whatever
ends it (a stop, a signal, an error), the best text so far is in the output and no process is left.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from reducekit.errors import (
    ParseError,
    ReducekitError,
    ResourceError,
    StoppedError,
    UsageError,
    lack_of_resources,
)
from reducekit.events import (
    Accepted,
    Checked,
    Event,
    FailureFound,
    Finished,
    Notice,
    PassEnded,
    Resumed,
    RolledBack,
    Started,
)
from reducekit.executors import executor
from reducekit.executors.guard import Guard, NoSignals
from reducekit.frontend import Frontend
from reducekit.gc_tuning import only_new
from reducekit.journal import digest
from reducekit.offers import Claims, Compares, Presents
from reducekit.oracle.also import innermost
from reducekit.oracle.criterion import Criterion, Everything, SameSignature, TimesOut
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.oracle.signature import Signature
from reducekit.own_checks import AdaptsToFailure
from reducekit.reduction import EARLIER, GUESSES, Budget, Counts, Reduction, Result
from reducekit.reduction.control import Control, Stopped
from reducekit.session import journal_setup
from reducekit.session.executors import Executors
from reducekit.session.fresh import Ends, Steps, as_unstable, in_words
from reducekit.session.golden import (
    Golden,
    GoldenRunError,
    advice,
    ask_predicate,
    baseline_fails,
    doubtful,
    establish,
    fails_too,
    in_the_wrong,
    limits_for,
    run_once,
    unfit_baseline,
)
from reducekit.session.guesses import guesses
from reducekit.session.notebook import View
from reducekit.session.options import Options
from reducekit.session.other_failures import OtherFailures
from reducekit.session.output import SavedBest, back_up, rescue
from reducekit.session.own_folders import in_own_folders
from reducekit.session.passing import compared, write_passing
from reducekit.session.prepare import Job, prepare
from reducekit.session.probing import overridden
from reducekit.session.remains import counted, remains
from reducekit.session.report import (
    INTERRUPTED,
    FailureChanged,
    OtherFailure,
    Remaining,
    Report,
    Reproducer,
)
from reducekit.session.slippage import SlippageTracker, captured
from reducekit.session.stoppable import Stoppable

_LAST_CHECKS = 5
_FIRST = 600.0
"""Seconds for a run on the input, where no limit is given."""
_REPEATS = 2
_REPEATS_OF_REPEATED = 1  # each of them is several runs already
_SMALL = 200_000  # bytes that are parsed and counted in a moment


def ignore(event: Event) -> None:
    """Do nothing with an event."""


class Session:
    """One reduction, which others can watch, pause and stop.

    `listen` is told of every event, in the thread that calls `run`. Without it, a notebook shows
    the progress below the cell. `guard` says where
    KeyboardInterrupt may be raised; without signals it does nothing. `stop`, `pause`, `resume`
    and `skip_pass` may be called from any thread.

    Invariant while it runs: `best` is interesting, and is what the output file holds unless
    writing it failed (see `SavedBest`).
    """

    def __init__(
        self,
        options: Options,
        listen: Callable[[Event], None] = ignore,
        *,
        guard: Guard | None = None,
    ) -> None:
        self.options = options
        self.control = Control()
        self.last_run: Sequence[Outcome] = ()
        """The outcomes of the last check: what the commands printed, for displays."""
        self._saved: SavedBest | None = None
        self._view = View(lambda: self.best)
        self._told = listen
        self._guard = guard or NoSignals()
        self._begin = time.monotonic()

    @property
    def best(self) -> bytes:
        """The smallest interesting text so far; empty until the input is known to fail."""
        return b"" if self._saved is None else self._saved.text

    def _repr_html_(self) -> str:
        """Return what a notebook shows, while it runs or after."""
        return self._view._repr_html_()

    def _listen(self, event: Event) -> None:
        self._view.see(event)
        self._told(event)

    def stop(self, reason: str = "stopped") -> None:
        """End the session soon, with the best text so far; `reason` is told in the report."""
        self.control.stop(reason)

    def pause(self) -> None:
        """Start no more checks until `resume`; those that run go on."""
        self.control.pause()

    def resume(self) -> None:
        """Go on after `pause`."""
        self.control.resume()

    def continued(self) -> None:
        """Note that the process was stopped and runs again: the best text is checked once more."""
        self.control.continued()

    def skip_pass(self) -> None:
        """Leave the present pass, as if nothing were left to try in it."""
        self.control.skip_pass()

    def run(self) -> Report:
        """Reduce, and return the report.

        Raises UsageError for options, files and commands that cannot be used, ParseError if the
        input is not of its format, NotInterestingError if it does not fail, or not every time;
        KeyboardInterrupt if a signal comes before there is a result. A signal that comes later
        ends the session with a report that says so.
        """
        self._begin = time.monotonic()
        self._view.begin(live=self._told is ignore)
        with only_new():
            with self._guard.allowed():
                job = prepare(self.options, self._guard)
            with (
                job.closing as opened,
                Executors(job.opener, self.options.repeat, self._guard) as executors,
            ):
                self._announce(job)
                job, golden, failing = self._seen_to_fail(job, executors)
                job = self._started(job, golden)
                slippage = self._slippage(job, golden)
                saved = self._best_so_far(job)
                opened.enter_context(saved.rescued())
                steps = Steps([job.text])
                result = self._reduce(job, golden, failing, executors, slippage, saved, steps)
                if job.opened.journal is not None:
                    opened.callback(job.opened.journal.close)
                    journal_setup.end(job.opened.journal, result.stopped)
                fresh = self._as_unstable(job, golden, executors, result, saved, steps)
                last, tries = self._confirmed(job, golden, executors, result, saved)
                if job.own is not None and last is not None and last.interesting:
                    with self._guard.held():
                        saved.replace(job.own.finish(saved.text))
                result = replace(result, text=saved.text)
                report = self._report(job, golden, result, last, tries, executors.runs, slippage)
                left = self._left(job, golden, executors, steps, report.text, last)
                report = replace(report, fresh=fresh, left=left, runs=executors.runs)
                if job.opened.journal is not None:
                    journal_setup.tell(job.opened.journal, report)
        self._listen(Finished(report.stopped, len(report.text), report.verified))
        return report

    # The phases of `run`, in their order.

    def _announce(self, job: Job) -> None:
        """Say what will be reduced, and what there is to know beforehand."""
        self._listen(Started(len(job.text), None if job.output is None else job.output.path))
        for note in job.notes:
            self._listen(Notice(note))
        if job.cluster is not None and job.cluster is not self.options.cluster:
            job.cluster.listen(lambda said: self._listen(Notice(said)))

    def _seen_to_fail(self, job: Job, executors: Executors) -> tuple[Job, Golden, bool]:
        """Make the golden run; without one, no journal is left behind."""
        try:
            with self._guard.allowed():
                return self._golden_anywhere(job, executors)
        except BaseException as error:
            journal_setup.discard(job.opened)
            if isinstance(error, Stopped):
                raise StoppedError(f"{error} before there was a result") from None
            raise

    def _started(self, job: Job, golden: Golden) -> Job:
        """Say which failure is kept, and prepare the format, the backup and the journal for it."""
        if job.opened.notice is not None:
            self._listen(Notice(job.opened.notice))
        failure = golden.criterion.describe()
        self._listen(FailureFound(failure))
        if isinstance(job.frontend, AdaptsToFailure):
            by_chance = bool(job.fresh)
            job = replace(job, frontend=job.frontend.for_failure(failure, by_chance=by_chance))
        claimed = job.frontend.claimed(job.text) if isinstance(job.frontend, Claims) else None
        wrong = in_the_wrong(golden.criterion, claimed)
        for said in (doubtful(golden.criterion), advice(golden), wrong):
            if said is not None:
                self._listen(Notice(said))
        if names := overridden(job, golden, job.text):
            self._listen(
                Notice(
                    f"the input sets options itself, which override the command line: {names}. "
                    "Remove these lines to reduce with those of the command"
                )
            )
        if job.backup is not None:
            assert isinstance(self.options.input, Path)
            try:
                back_up(self.options.input, job.backup, job.text)
            except UsageError:
                journal_setup.discard(job.opened)
                raise
        if job.opened.journal is not None and job.subject is not None:
            journal_setup.note_subject(job.opened.journal, job.subject())
        return job

    def _best_so_far(self, job: Job) -> SavedBest:
        """Return the best text, of an earlier run if one is resumed, and save it."""
        with self._guard.held():
            if job.opened.edited is not None and job.output is not None:
                kept = journal_setup.keep_edited(job.opened, job.output)
                self._listen(Notice(kept))
            saved = self._saved = journal_setup.saved_best(
                job.opened.journal, job.text, job.output, job.frontend.order
            )
        if saved.text != job.text:
            self._listen(Resumed(len(saved.text)))
        return saved

    def _confirmed(
        self, job: Job, golden: Golden, executors: Executors, result: Result, saved: SavedBest
    ) -> tuple[executor.Finished | None, int]:
        """Run the saved text once more, laid out if that is wanted; return the run, and how many.

        A signal ends that without a run.
        """
        last, tries = None, 0
        with contextlib.suppress(KeyboardInterrupt), self._guard.allowed():
            if self.options.pretty and result.stopped != INTERRUPTED and not result.gone:
                self._lay_out(job, golden, executors, saved)
            if not result.gone:
                last, tries = self._check_again(job, golden, executors, saved.text)
            if last is not None and not last.interesting and saved.text != result.text:
                # The best text of an earlier run, which this one has not come upon.
                saved.replace(result.text)
                last, tries = self._check_again(job, golden, executors, saved.text)
        return last, tries

    def _as_unstable(
        self,
        job: Job,
        golden: Golden,
        executors: Executors,
        result: Result,
        saved: SavedBest,
        steps: Steps,
    ) -> tuple[Ends, Ends] | None:
        """Go back to an earlier text if the failure is rare on fresh variants of the result.

        Returns how those of the input and of what is kept end; None if that was not found out.
        """
        if not job.fresh or result.gone or result.stopped == INTERRUPTED:
            return None
        limits = limits_for(golden.criterion, job.limits, golden.seconds)
        oracle = Oracle(job.fresh, Everything(len(job.fresh)))
        self._listen(Notice(f"running {len(job.fresh)} other variants of the input and the result"))

        def ends(text: bytes) -> Ends:
            with self._open_stoppable(executors, 1, oracle) as opened:
                return Ends.of(run_once(opened, text, limits).outcomes, golden.criterion)

        with contextlib.suppress(KeyboardInterrupt, Stopped), self._guard.allowed():
            kept, first, last = as_unstable(steps.texts, saved.text, ends)
            went_back = kept != saved.text
            self._listen(Notice(in_words(first, last, len(job.commands), went_back=went_back)))
            if went_back:
                with self._guard.held():
                    saved.replace(kept)
            return first, last
        return None

    def _left(
        self,
        job: Job,
        golden: Golden,
        executors: Executors,
        steps: Steps,
        text: bytes,
        last: executor.Finished | None,
    ) -> list[Remaining]:
        """Return which parts of the input are left, with numbers if a run confirmed the result."""
        found = remains(job, golden, [*steps.texts, text])
        if found and last is not None and last.interesting:
            opener = partial(self._open_stoppable, executors, 1)
            with contextlib.suppress(KeyboardInterrupt, Stopped), self._guard.allowed():
                return counted(found, job, golden, text, last.outcomes, opener)
        return found

    # What the phases are made of.

    def _golden_anywhere(self, job: Job, executors: Executors) -> tuple[Job, Golden, bool]:
        """Make the golden run; if the program finds the input by its name alone, in its folder.

        An interestingness test written for C-Vise takes no argument: it names the file, which
        it expects in the current folder.
        """
        try:
            return self._golden(job, executors)
        except GoldenRunError as error:
            moved = in_own_folders(job.commands, self.options.input)
            if moved is None or error.problem not in ("passes", "not shown", "baseline fails too"):
                raise
            fresh = in_own_folders(job.fresh, self.options.input) or ()
            moved_job = replace(job, commands=moved, fresh=fresh)
            try:
                found = self._golden(moved_job, executors)
            except GoldenRunError:
                raise error from None
            self._listen(
                Notice(
                    "the command names the file itself, so each run gets a folder of its own, "
                    "in which the candidate has that name"
                )
            )
            return found

    def _golden(self, job: Job, executors: Executors) -> tuple[Job, Golden, bool]:
        """Make sure that the input fails every time; say whether the baseline does, by a crash.

        Returns the job with what was learnt about its journal.
        """
        options, journal, baseline = self.options, job.opened.journal, job.frontend.baseline
        opener = partial(self._open_stoppable, executors, job.jobs)
        if not job.commands:
            golden = ask_predicate(job.criterion, job.text, opener, baseline)
            return self._same_function(job, opener), golden, False
        known = None if journal is None else journal.found.golden
        wall = options.first_timeout or job.limits.wall
        given = wall is not None or job.limits.cpu is not None
        if wall is None:
            wall = _first_wall(options.max_time)
        golden = establish(
            job.commands,
            job.criterion,
            job.text,
            replace(job.limits, wall=wall),
            opener,
            path=job.name,
            repeat=options.repeat,
            recorded=known.runs if known is not None and known.whole else (),
            baseline=baseline,
        )
        if isinstance(innermost(golden.criterion), TimesOut) and not given:
            raise GoldenRunError(
                f"the command does not end within {wall:g} s on the input. Give `timeout` to keep "
                "that it hangs, `slower_than` to keep that it is slow",
                "not shown",
            )
        said = None if journal is None else journal.found.verdicts.get(digest(baseline))
        if said is not None:
            fails = said[0]
        else:
            fails = baseline_fails(
                job.commands,
                golden,
                job.limits,
                opener,
                repeat=options.repeat,
                baseline=baseline,
            )
        if journal is not None:
            if known is None:
                # In this order: a run that is resumed with these outcomes does not make the runs
                # again, so it could not find out either what they have written.
                journal_setup.note_written(job.opened, job.commands)
                journal.golden(golden.runs)
            if said is None:
                journal.verdict(digest(baseline), fails, 0.0)
        if fails:
            self._accept_failing_baseline(job, golden.criterion)
        return job, golden, fails

    def _accept_failing_baseline(self, job: Job, criterion: Criterion) -> None:
        """Say that an empty file crashes, too. Raises GoldenRunError if the baseline fails else."""
        baseline = job.frontend.baseline
        kept = innermost(criterion)
        if baseline or not (isinstance(kept, SameSignature) and kept.expected.signal):
            raise unfit_baseline(
                criterion,
                baseline,
                "Does the command read the file? Is what is looked for in every run?",
                job.commands[0].shell_line(job.name),
            )
        self._listen(Notice(fails_too(criterion, baseline)))

    def _same_function(self, job: Job, opener: Callable[[Oracle], executor.Executor]) -> Job:
        """Ask a function about the best text of the run to be resumed; return the job to do.

        A function has no content that could be compared, so that text stands for it.
        """
        journal = job.opened.journal
        if journal is None or not journal.found.current:
            return job
        best = journal.found.text(journal.found.current)
        with opener(Oracle((), job.criterion)) as opened:
            if run_once(opened, best, job.limits).interesting:
                return job
        why = "the function has changed since"
        with self._guard.held():
            again = journal_setup.begin_again(job.opened, self.options, job.text, why)
        return replace(job, opened=again)

    def _open_stoppable(self, executors: Executors, jobs: int, oracle: Oracle) -> executor.Executor:
        """Open an executor whose waits end when the session is stopped."""
        return Stoppable(executors.open(oracle, jobs), self.control)

    def _slippage(self, job: Job, golden: Golden) -> SlippageTracker | None:
        """Look out for other failures than the golden run's; None where only verdicts are known."""
        if not golden.outcomes:
            return None
        collection = job.other_failures
        if collection is None:
            return SlippageTracker(golden.outcomes, golden.criterion)

        def keep(found: Signature, text: bytes) -> None:
            with self._guard.held():
                collection.keep(found, text)

        return SlippageTracker(golden.outcomes, captured(golden.criterion), keep)

    def _reduce(
        self,
        job: Job,
        golden: Golden,
        failing: bool,
        executors: Executors,
        slippage: SlippageTracker | None,
        saved: SavedBest,
        steps: Steps,
    ) -> Result:
        """Search, and write each improvement; whatever happens, the best text is saved."""
        options, journal, counts = self.options, job.opened.journal, Counts()
        replayed = 0

        def listen(event: Event) -> None:
            nonlocal replayed
            self._guard.check()  # a signal that was raised where Python drops exceptions
            match event:
                case Checked() if counts.replayed > replayed:
                    replayed = counts.replayed
                    event = replace(event, replayed=True)
                case Accepted(text=text):
                    steps.accept(text)
                    with self._guard.held():
                        # A resumed search repeats also what was taken back later.
                        if journal is None or not journal.replaying:
                            saved.accept(text)
                        else:
                            event = replace(event, replayed=True)
                    if slippage is not None:
                        slippage.accept(text)
                case RolledBack(text=text, given_up=given_up):
                    steps.give_up(given_up)
                    with self._guard.held():
                        saved.give_up(given_up, text)
                    if slippage is not None:
                        slippage.go_back(text)
                case PassEnded(name=name, round=number) if journal is not None:
                    seconds = reduction.elapsed
                    journal.pass_ended(name, number, checks=counts.checks, seconds=seconds)
            if (said := _in_words(event, job.opened.changed)) is not None:
                self._listen(Notice(said))
            self._listen(event)

        def on_checked(text: bytes, finished: executor.Finished) -> None:
            self.last_run = finished.outcomes
            if slippage is not None:
                slippage.see(text, finished.interesting, finished.outcomes)

        criterion = golden.criterion if slippage is None else slippage.criterion
        try:
            with self._guard.allowed():
                reduction = Reduction(
                    job.frontend,
                    job.strategy,
                    executors.open_repeating(Oracle(job.commands, criterion), job.jobs),
                    partial(limits_for, golden.criterion, job.limits),
                    width=job.opened.width,
                    repeats=self._repeats(job),
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
                    begin=self._begin,
                    control=self.control,
                )
                reduction.preload(job.frontend.baseline, interesting=failing)
                if journal is not None:
                    reduction.restore(journal.found.verdicts, journal.found.unresolved)
                earlier = None if journal is None else journal.earlier
                if earlier is not None:
                    starts: Iterator[bytes] | None = earlier.from_the_smallest()
                    kind = EARLIER
                else:
                    opener = partial(self._open_stoppable, executors, 1)
                    starts, kind = guesses(job, golden, opener), GUESSES
                result = reduction.run(job.text, golden.seconds, starts, kind)
        except KeyboardInterrupt:
            result = Result(saved.text, counts, 0, 0.0, INTERRUPTED)
            result = replace(result, passing=job.frontend.baseline)
        saved.save()
        return result

    def _lay_out(self, job: Job, golden: Golden, executors: Executors, saved: SavedBest) -> None:
        """Pretty-print the result if it still fails."""
        if not isinstance(job.frontend, Presents):
            return
        text = job.frontend.pretty(saved.text)
        if text == saved.text or not job.commands or self.control.stopped:
            return
        limits = limits_for(golden.criterion, job.limits, golden.seconds)
        opened = executors.open_repeating(Oracle(job.commands, golden.criterion))
        if not run_once(opened, text, limits).interesting:
            self._listen(
                Notice("the pretty-printed result does not fail; keeping the original layout")
            )
            return
        with self._guard.held():
            saved.replace(text)

    def _repeats(self, job: Job) -> int:
        """Return how many more runs the result has to pass: none of a function."""
        if not job.commands:
            return 0
        return _REPEATS if self.options.repeat is None else _REPEATS_OF_REPEATED

    def _check_again(
        self, job: Job, golden: Golden, executors: Executors, text: bytes
    ) -> tuple[executor.Finished | None, int]:
        """Check the result once more, and again if that does not fail.

        Returns the last check and the number of checks made. A function is not asked again.
        """
        if not job.commands or self.control.stopped:
            return None, 0
        limits = limits_for(golden.criterion, job.limits, golden.seconds)
        opened = executors.open_repeating(Oracle(job.commands, golden.criterion))
        tries = 0
        while True:
            tries += 1
            last = run_once(opened, text, limits)
            if last.interesting or tries == _LAST_CHECKS:
                return last, tries

    def _report(
        self,
        job: Job,
        golden: Golden,
        result: Result,
        last: executor.Finished | None,
        tries: int,
        runs: int,
        slippage: SlippageTracker | None,
    ) -> Report:
        """Gather the report. Raises UsageError or ResourceError if it could not be written."""
        output, collection = job.output, job.other_failures
        if output is not None and output.write_error:
            elsewhere = rescue(result.text, job.frontend.suffix)
            raise _unwritten(output.path, output.write_error, elsewhere)
        if collection is not None and collection.write_error:
            self._listen(
                Notice(
                    f"not all other failures could be kept in {collection.folder}: "
                    f"{collection.write_error.strerror}"
                )
            )
        frontend = compared(job.frontend, result.passing)
        compares = isinstance(frontend, Compares)
        if compares and output is not None and result.stopped != INTERRUPTED:
            journal = job.opened.journal
            resumed = journal is not None and journal.resumed
            self._listen(Notice(write_passing(output.path, result.passing, resumed=resumed)))
        if isinstance(frontend, Presents) and not result.early:
            remark = frontend.remark(result.text)
            if remark is not None:
                self._listen(Notice(remark))
        if names := overridden(job, golden, result.text):
            self._listen(
                Notice(
                    "the failure needs options in the file, which override the command line: "
                    f"{names}. For a failure of the command's own options, remove these lines from "
                    "the input"
                )
            )
        stopped = result.stopped
        if stopped is None and last is None and job.commands:
            stopped = INTERRUPTED
        sizes = self._sizes(job, frontend, result.text, interrupted=stopped == INTERRUPTED)
        if sizes is None:
            stopped = INTERRUPTED
        before, after = sizes or ({"bytes": len(job.text)}, {"bytes": len(result.text)})
        source = self.options.input
        return Report(
            text=result.text,
            input=source if isinstance(source, Path) else None,
            output=None if output is None else output.path,
            before=before,
            after=after,
            counts=result.counts,
            runs=runs,
            seconds=time.monotonic() - self._begin,
            failure=golden.criterion.describe(),
            reproducers=_reproducers(job, last),
            stopped=stopped,
            early=result.early or stopped == INTERRUPTED,
            verified=None if last is None else last.interesting,
            tries=tries,
            changed=[] if slippage is None else _changes(slippage),
            others=[] if slippage is None else _others(slippage, collection),
            passing=result.passing if compares else None,
        )

    def _sizes(
        self, job: Job, frontend: Frontend, text: bytes, *, interrupted: bool
    ) -> tuple[Mapping[str, int], Mapping[str, int]] | None:
        """Count what is in the input and the result; None if a signal ended that."""
        if len(job.text) <= _SMALL:
            return _count(job.frontend, job.text), _count(frontend, text)
        if not interrupted:
            with contextlib.suppress(KeyboardInterrupt), self._guard.allowed():
                return _count(job.frontend, job.text), _count(frontend, text)
        return None


def _in_words(event: Event, changed: str | None) -> str | None:
    """Return what to say of an event; `changed` is how the test has changed since the last run."""
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


def _count(frontend: Frontend, text: bytes) -> Mapping[str, int]:
    """Count what is in a text; only its bytes if it does not parse."""
    with contextlib.suppress(ParseError):
        return frontend.measure(frontend.parse(text))
    return {"bytes": len(text)}


def _first_wall(max_time: float | None) -> float:
    """Return the time limit of the golden run in seconds, if none is given."""
    return _FIRST if max_time is None else min(_FIRST, max(1.0, max_time / 2))


def _unwritten(path: Path, error: OSError, elsewhere: Path | None) -> ReducekitError:
    """Return the error that the result is not at its path, but perhaps elsewhere."""
    kind = ResourceError if lack_of_resources(error) else UsageError
    message = f"the result could not be written to {path}: {error.strerror}"
    return kind(message + (f"; it is in {elsewhere}" if elsewhere else ""))


def _changes(slippage: SlippageTracker) -> list[FailureChanged]:
    return [
        FailureChanged(each.before.describe(), each.after.describe(), each.size, each.step)
        for each in slippage.slippages
    ]


def _others(slippage: SlippageTracker, collection: OtherFailures | None) -> list[OtherFailure]:
    """Return the other failures that candidates had.

    Complaints come from ill-formed candidates, mostly: they are shown with their files only.
    """
    return [
        OtherFailure(
            each.signature.describe(),
            each.count,
            each.size,
            None if collection is None else collection.file(each.signature),
        )
        for each in slippage.met
        if collection is not None or not each.complaint
    ]


def _reproducers(job: Job, last: executor.Finished | None) -> list[Reproducer]:
    """Return how to see the failure again, and how that looks."""
    path = "result" + job.frontend.suffix if job.output is None else str(job.output.path)
    outcomes: list[Outcome | None] = [] if last is None else list(last.outcomes)
    if last is None or not last.interesting:
        outcomes += [None] * (len(job.commands) - len(outcomes))
    return [
        Reproducer(
            command.shell_line(path),
            None if outcome is None else job.as_if_run_on(outcome, path),
        )
        for command, outcome in zip(job.commands, outcomes, strict=False)
    ]
