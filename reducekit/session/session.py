"""A session: one reduction from the options to the report, for any client.

Each phase is a function of the `Run`, which holds what they share: `prepare` looks at all that the
options name and writes nothing; `golden_runs` find out what to keep alive; `search` reduces, and
each improvement is written at once; `ending` checks the result once more with the user's own
command, and makes the report. Whatever ends a session (a stop, a signal, an error), the best text
so far is in the output and no process is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from reducekit.events import Event, Finished, Notice, Resumed, Started
from reducekit.reduction.control import Control
from reducekit.run import Guard, NoSignals
from reducekit.runtime import only_new
from reducekit.session.options import Options
from reducekit.session.phases.ending import confirm, report_of
from reducekit.session.phases.prepare import prepare
from reducekit.session.phases.search import adapt, golden_runs, search
from reducekit.session.place.journal import ENDED, note_report, saved_best
from reducekit.session.place.output import SavedBest, Steps, keep_edited
from reducekit.session.progress import Progress
from reducekit.session.report import Report, below_the_cell, in_html, in_notebook, in_words
from reducekit.session.runs.run import Executors, Run, Watched


def ignore(event: Event) -> None:
    """Do nothing with an event."""


class Session(Watched):
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
        super().__init__()
        self.options = options
        self.control = Control()
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
                run = Run(
                    self.options,
                    job,
                    executors,
                    self._listen,
                    self._guard,
                    self.control,
                    begin,
                    watched=self,
                )
                self._announce(run)
                golden_runs(run)
                adapt(run)
                self._save_first(run)
                opened.enter_context(run.saved.rescued())
                search(run)
                journal = run.job.opened.journal
                if journal is not None:
                    opened.callback(journal.close)
                    if run.result.stopped is None:
                        journal.note(ENDED, "")
                report = self._end(run)
                if journal is not None:
                    note_report(journal, report)
        self._listen(Finished(report.stopped, len(report.text), report.verified))
        return report

    def _announce(self, run: Run) -> None:
        job = run.job
        self._listen(Started(len(job.text), None if job.output is None else job.output.path))
        for note in job.notes:
            self._listen(Notice(note))
        if job.cluster is not None and job.cluster is not self.options.cluster:
            job.cluster.listen(run.say)
        with self._guard.allowed():
            job.steering.attach(self.control, run.say)

    def _save_first(self, run: Run) -> None:
        job = run.job
        with self._guard.held():
            if job.opened.edited is not None and job.output is not None:
                run.say(keep_edited(job.output.path, job.opened.edited))
            self._saved = run.saved = saved_best(
                job.opened.journal, job.text, job.output, job.steering.prefer(job.frontend.order)
            )
        run.steps = Steps([job.text])
        if run.saved.text != job.text:
            self._listen(Resumed(len(run.saved.text)))

    def _end(self, run: Run) -> Report[bytes]:
        fresh = None
        if run.job.fresh:
            from reducekit.session.runs.variants import on_fresh_variants

            fresh = on_fresh_variants(run)
        confirm(run)
        if run.last is not None:
            self.last_run = run.last.outcomes
            if run.job.own is not None and run.last.interesting:
                finished = run.job.own.finish(run.saved.text)
                with self._guard.held():
                    if run.job.protection.keeps(finished):
                        run.saved.replace(finished)
        run.result = run.result._replace(text=run.saved.text)
        return report_of(run, fresh)
