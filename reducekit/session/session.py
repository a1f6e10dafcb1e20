"""A session: one reduction from the options to the report, for any client.

The way of a session, with a module for each phase: `prepare` looks at all that the options name and
writes nothing; `golden_runs` find out what to keep alive; `searching` reduces, and each improvement
is written at once; `ending` checks the result once more with the user's own command, and makes the
report. They share what is in `running`. Whatever ends a session (a stop, a signal, an error), the
best text so far is in the output and no process is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.events import Event, FailureFound, Finished, Notice, Resumed, Started
from reducekit.executors.executor import Guard, NoSignals
from reducekit.gc_tuning import only_new
from reducekit.offers import Claims
from reducekit.oracle.also import innermost
from reducekit.oracle.flips import Flips
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome
from reducekit.oracle.stack import SameStack
from reducekit.own_checks import AdaptsToFailure
from reducekit.reduction.control import Control
from reducekit.session.ending import confirmed, left, on_fresh_variants, placed, report_of
from reducekit.session.executors import Executors, Running
from reducekit.session.notebook import below_the_cell, in_html, in_notebook, in_words
from reducekit.session.options import Options
from reducekit.session.place import journal_setup
from reducekit.session.place.output import SavedBest, Steps, back_up
from reducekit.session.prepare import Job, prepare
from reducekit.session.progress import Progress
from reducekit.session.report import Report
from reducekit.session.runs.golden import Golden, advice, doubtful, in_the_wrong
from reducekit.session.runs.golden_runs import seen_to_fail
from reducekit.session.runs.places import UNTRACED
from reducekit.session.runs.probing import overridden
from reducekit.session.searching import search, slippage_of


def ignore(event: Event) -> None:
    """Do nothing with an event."""


def _printed(outcomes: Sequence[Outcome]) -> bool:
    return any(each.stdout or each.stderr for each in outcomes)


class Session:
    """One reduction, which others can watch, pause and stop.

    `listen` is called with every event, in the thread that calls `run`. Without it, a notebook
    shows the progress below the cell. `guard` says where KeyboardInterrupt may be raised; without
    signals it does nothing. `stop`, `pause`, `resume` and `skip_pass` may be called from any
    thread.

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
        """The outcomes of the last check, or of the last one that printed, for displays."""
        self.busy = 0.0
        """Seconds that the commands of all checks ran, in sum."""
        self.timeouts = 0
        """Checks of which a command reached a time limit."""
        self.time_limit: float | None = None
        """Seconds of wall time that a run may take."""
        self._saved: SavedBest | None = None
        self._progress: Progress | None = None
        self._told = listen
        self._guard = guard or NoSignals()

    @property
    def best(self) -> bytes:
        """The smallest interesting text so far; empty until the input is known to fail."""
        return b"" if self._saved is None else self._saved.text

    def _repr_html_(self) -> str:
        """Return what a notebook shows, during the run and after it."""
        return in_html(self._progress, self.best)

    def _listen(self, event: Event) -> None:
        if self._progress is not None:
            self._progress.see(event)
        self._told(event)

    def _ran(self, outcomes: Sequence[Outcome]) -> None:
        if _printed(outcomes) or not _printed(self.last_run):
            self.last_run = outcomes
        self.busy += sum(each.seconds for each in outcomes)
        self.timeouts += any(each.limit == "time" for each in outcomes)

    def _limited(self, limits: Limits) -> None:
        self.time_limit = limits.wall

    def stop(self, reason: str = "stopped") -> None:
        """End the session soon, with the best text so far; the report gives the `reason`."""
        self.control.stop(reason)

    def pause(self) -> None:
        """Start no more checks until `resume`; running checks continue."""
        self.control.pause()

    def resume(self) -> None:
        """Go on after `pause`."""
        self.control.resume()

    def continued(self) -> None:
        """Note that the process was suspended and resumed: the best text is checked again."""
        self.control.continued()

    def skip_pass(self) -> None:
        """Skip the rest of the current pass."""
        self.control.skip_pass()

    def run(self) -> Report[bytes]:
        """Reduce, and return the report.

        Raises UsageError for options, files and commands that cannot be used, ParseError if the
        input is not of its format, NotInterestingError if it does not fail, or not every time;
        KeyboardInterrupt if a signal comes before there is a result. A signal that comes later
        ends the session with a report that says so.
        """
        begin = time.monotonic()
        progress = self._progress = Progress()
        if self._told is ignore and in_notebook():
            self._told = below_the_cell(
                lambda: {"text/plain": in_words(progress), "text/html": self._repr_html_()}
            )
        with only_new():
            with self._guard.allowed():
                job = prepare(self.options, self._guard)
            with (
                job.closing as opened,
                Executors(job.opener, self.options.repeat, self._guard) as executors,
            ):
                running = Running(
                    self.options, executors, self._listen, self._guard, self.control, begin
                )
                self._announce(job)
                for program in job.programs:
                    program.attach(running)
                if job.preference is not None:
                    with self._guard.allowed():
                        job.preference.require_number(job.text)
                job, golden, failing = seen_to_fail(running, job)
                job = self._started(job, golden)
                slippage = slippage_of(running, job, golden)
                saved = self._best_so_far(job)
                opened.enter_context(saved.rescued())
                steps = Steps([job.text])
                result = search(
                    running, job, golden, failing, slippage, saved, steps, self._ran, self._limited
                )
                if job.opened.journal is not None:
                    opened.callback(job.opened.journal.close)
                    journal_setup.end(job.opened.journal, result.stopped)
                fresh = on_fresh_variants(running, job, golden, result, saved, steps)
                last, tries = confirmed(running, job, golden, result, saved)
                if last is not None:
                    self.last_run = last.outcomes
                if job.own is not None and last is not None and last.interesting:
                    finished = job.own.finish(saved.text)
                    with self._guard.held():
                        if job.protection.keeps(finished):
                            saved.replace(finished)
                result = replace(result, text=saved.text)
                there = left(running, job, golden, steps, result.text, last)
                places = placed(running, job, golden, steps, result.text, last)
                with self._guard.held():
                    running.say(saved.restore())
                report = report_of(running, job, golden, result, last, tries, slippage)
                report = replace(
                    report, fresh=fresh, left=there, places=places, runs=executors.runs
                )
                if job.opened.journal is not None:
                    journal_setup.tell(job.opened.journal, report)
        self._listen(Finished(report.stopped, len(report.text), report.verified))
        return report

    # The phases before the search that need no run.

    def _announce(self, job: Job) -> None:
        """Report what will be reduced, and the notes of the preparation."""
        self._listen(Started(len(job.text), None if job.output is None else job.output.path))
        for note in job.notes:
            self._listen(Notice(note))
        if job.cluster is not None and job.cluster is not self.options.cluster:
            job.cluster.listen(lambda said: self._listen(Notice(said)))

    def _started(self, job: Job, golden: Golden) -> Job:
        """Report the preserved failure; prepare the format, the backup and the journal for it."""
        if job.opened.notice is not None:
            self._listen(Notice(job.opened.notice))
        failure = golden.criterion.describe()
        self._listen(FailureFound(failure))
        if isinstance(job.frontend, AdaptsToFailure):
            by_chance = isinstance(innermost(golden.criterion), Flips)
            job = replace(job, frontend=job.frontend.for_failure(failure, by_chance=by_chance))
        claimed = job.frontend.claimed(job.text) if isinstance(job.frontend, Claims) else None
        wrong = in_the_wrong(golden.criterion, claimed)
        traced = self.options.match_stack is None or SameStack.within(golden.criterion) is not None
        untraced = None if traced else UNTRACED
        for said in (doubtful(golden), advice(golden), wrong, untraced):
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
                back_up(self.options.input, job.backup, job.read)
            except UsageError:
                journal_setup.discard(job.opened)
                raise
        if job.opened.journal is not None and job.subject is not None:
            journal_setup.note_subject(job.opened.journal, job.subject())
        return job

    def _best_so_far(self, job: Job) -> SavedBest:
        """Return the best text, which is the earlier run's if one is resumed, and save it."""
        with self._guard.held():
            if job.opened.edited is not None and job.output is not None:
                kept = journal_setup.keep_edited(job.opened, job.output)
                self._listen(Notice(kept))
            saved = self._saved = journal_setup.saved_best(
                job.opened.journal, job.text, job.output, job.prefer(job.frontend.order)
            )
        if saved.text != job.text:
            self._listen(Resumed(len(saved.text)))
        return saved
