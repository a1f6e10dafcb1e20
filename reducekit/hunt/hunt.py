"""The hunt's loop: inputs are generated and tested in order, each new bug is kept and reduced.

Hunts of all formats share one loop. They differ only in who tests: the user's programs
(`command_tests`), or a library that the format plays its inputs to (`library_tests`). Both yield
one result for each input, and None whenever a reduction would not slow down any run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import ExitStack
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.events import Event
from reducekit.executors.executor import Guard, NoSignals
from reducekit.hunt.campaign import Campaign, Like, like_file, prepare
from reducekit.hunt.events import (
    MANY_REJECTED,
    Bug,
    Control,
    HuntEvent,
    HuntFinished,
    HuntNotice,
    HuntStarted,
    HuntStats,
    InputResult,
    InputTested,
    KnownBug,
    NewBug,
    Reduced,
    Reducing,
    rejections,
)
from reducekit.hunt.findings import Finding
from reducekit.hunt.folder import (
    Claim,
    Progress,
    bug_of,
    open_progress,
    prepare_folder,
    remove_bug,
    same_as,
    write_bug,
    write_mark,
)
from reducekit.hunt.options import HuntOptions
from reducekit.hunt.reduce import SAMPLES, SECONDS, Waiting, can_tell, mark_of, reduce, session_for
from reducekit.session import Session
from reducekit.session.report import INTERRUPTED

_FIRST = 3  # inputs; if all show the same bug, there is a notice
_UNKNOWN = "not reduced"  # the mark of bugs that nothing tells apart
_SAMPLE = 10  # inputs; if many of them are rejected, there is a notice


def ignore(event: HuntEvent) -> None:
    """Ignore an event."""


class Hunt:
    """One hunt, which others can watch and stop.

    `listen` receives every event, in the thread that calls `run`. `guard` controls where
    KeyboardInterrupt may be raised; without signals it does nothing. `stop` may be called from any
    thread.

    Invariant: the folder has the files of every bug in `stats`, or the bug records why not.
    """

    def __init__(
        self,
        options: HuntOptions,
        listen: Callable[[HuntEvent], None] = ignore,
        *,
        guard: Guard | None = None,
    ) -> None:
        self.options = options
        self.stats = HuntStats()
        self._listen = listen
        self._guard = guard or NoSignals()
        self._lock = threading.Lock()
        self._stop: str | None = None
        self._session: Session | None = None
        self._like: Like | None = None
        self._troubled = False
        self._new: list[Waiting] = []
        self._taken_up: set[str] = set()
        """The names of bugs that this run found first, or that were left to reduce."""

    def stop(self, reason: str = "stopped") -> None:
        """End the hunt soon; a running reduction ends with its best input so far."""
        with self._lock:
            self._stop = self._stop or reason
            if self._session is not None:
                self._session.stop(reason)

    def run(self) -> HuntStats:
        """Run the hunt, and return its results.

        Raises UsageError for unusable options, programs and folders. A later signal ends the hunt
        with the results so far.
        """
        stats = self.stats = HuntStats()
        with ExitStack() as stack:
            campaign = prepare(self.options, self._guard, stack)
            stats.noun = campaign.noun
            for note in campaign.notes:
                self._listen(HuntNotice(note))
            options = self.options
            prepare_folder(options.folder)
            stack.enter_context(Claim(options.folder))
            progress = open_progress(
                options.folder,
                campaign.deciding,
                campaign.test,
                campaign.numbers,
                stats,
                row=campaign.row,
                restart=options.restart,
            )
            self._report_progress(campaign, progress)
            if options.like is not None:
                with self._guard.allowed():
                    self._like = like_file(options.like, campaign)
                for title in self._like.titles.values():
                    self._listen(HuntNotice(f"looking for less than {options.like} with: {title}"))
            if campaign.cluster is not None and campaign.cluster is not self.options.cluster:
                campaign.cluster.listen(lambda said: self._listen(HuntNotice(said)))
            self._listen(HuntStarted(options.folder))
            for bug in stats.bugs.values():
                self._listen(KnownBug(bug))
            control = Control(lambda: bool(self._new), self._left)
            numbers = campaign.numbers[progress.begin - campaign.numbers.start :]
            results: Callable[[range, Control], Iterator[InputResult | None]] = campaign.results
            if campaign.cluster is not None:
                from reducekit.hunt.cluster_tests import ClusterTests  # loaded only for clusters

                results = ClusterTests(
                    campaign.cluster, campaign.options, campaign.commands
                ).results
            try:
                self._all(campaign, progress, results(numbers, control))
                stats.stopped = self._stop
            except KeyboardInterrupt:
                stats.stopped = INTERRUPTED
            with self._guard.held():
                progress.save()
        stats.seconds += stats.elapsed
        stats.details = campaign.summary(stats)
        if self._like is not None:
            stats.details += (self._like.summary(stats),)
        self._listen(HuntFinished(stats))
        return stats

    def _left(self) -> float | None:
        """Return the seconds left: 0 if the hunt is to stop, None if there is no limit."""
        if self._stop is not None:
            return 0.0
        seconds = self.options.max_time
        return None if seconds is None else max(0.0, seconds - self.stats.elapsed)

    def _report_progress(self, campaign: Campaign, progress: Progress) -> None:
        """Report where the hunt continues, if an earlier run began it."""
        done = progress.begin - campaign.numbers.start
        if progress.changed:
            names = ", ".join(Path(each).name for each in progress.changed)
            self._listen(HuntNotice(f"changed since the earlier run: {names}; starting over"))
        if not done:
            return
        inputs = f"{done:,} {campaign.noun}{'' if done == 1 else 's'}"
        if progress.begin >= campaign.numbers.stop:
            said = f"nothing left to test: this hunt has tested {inputs} in {self.options.folder}"
        else:
            said = f"continuing after {inputs} of an earlier run in {self.options.folder}"
        self._listen(HuntNotice(f"{said}; `restart` starts over"))

    def _all(
        self, campaign: Campaign, progress: Progress, results: Iterator[InputResult | None]
    ) -> None:
        """Process all results, and reduce when that slows down no test."""
        end = object()
        while True:
            with self._guard.allowed():
                result = next(results, end)
            if isinstance(result, InputResult):
                with self._guard.held():
                    self._take(campaign, progress, result)
            elif result is None:
                self._reduce_new(campaign, progress)
            else:
                return

    def _take(self, campaign: Campaign, progress: Progress, result: InputResult) -> None:
        """Count a result, and keep its new bugs."""
        stats, number = self.stats, result.input.number
        if self._like is not None:
            result = self._only_smaller(self._like, campaign, progress, result)
        met = []
        for each in result.findings:
            name = self._name(campaign, progress, each, number)
            bug = bug_of(self.options.folder, campaign.suffix, name, each, result)
            met.append((bug, each))
        new = self._unseen([bug for bug, _ in met], progress)
        progress.found(new, number)
        first_time = progress.is_new(number)
        if first_time:
            stats.count(result)
        self._count([bug for bug, _ in met], new, first_time)
        progress.tested(number, {bug.name for bug, _ in met})
        for bug, finding in met:
            if bug.name in new - self._taken_up:
                self._take_up(campaign, progress, stats.bugs[bug.name], finding, result)
            else:
                self._listen(KnownBug(stats.bugs[bug.name]))
        self._report_trouble(progress)
        self._listen(InputTested(stats))
        self._warn()

    def _only_smaller(
        self, like: Like, campaign: Campaign, progress: Progress, result: InputResult
    ) -> InputResult:
        """Return a result without larger inputs for a failure; forget those it supersedes."""
        folder = self.options.folder
        kept, names = like.only_smaller(result, folder, campaign.suffix, progress.pending)
        for name in names:
            self.stats.bugs.pop(name, None)
            self._taken_up.discard(name)
        self._new = [each for each in self._new if each.bug.name not in names]
        return kept

    def _is_reduced(self, bucket: str) -> bool:
        """Return whether bugs of a bucket are reduced."""
        return self.options.reduce and (self._like is None or bucket in self._like.titles)

    def _unseen(self, met: Iterable[Bug], progress: Progress) -> set[str]:
        """Return the names of the bugs that no input showed before."""
        # A bug whose files exist is still new if a kill prevented the steps that follow.
        return {
            bug.name
            for bug in met
            if bug.name not in self._taken_up
            and (not bug.measure() or progress.is_pending(bug.name))
        }

    def _count(self, met: Sequence[Bug], new: Set[str], first_time: bool) -> None:
        """Count the bugs that an input shows, and keep those met for the first time."""
        for bug in met:
            kept = self.stats.bugs.setdefault(bug.name, bug)
            if kept is not bug:
                kept.count += first_time
            elif bug.name not in new:
                kept.known_before = True

    def _warn(self) -> None:
        """Report once that the inputs are unsuitable: all alike, or nearly all rejected."""
        stats = self.stats
        if stats.inputs == _FIRST and self.options.programs:
            self._warn_if_all_alike()
        if stats.inputs == _SAMPLE and stats.rejected_share >= MANY_REJECTED:
            self._listen(HuntNotice(rejections(stats)))

    def _name(self, campaign: Campaign, progress: Progress, finding: Finding, number: int) -> str:
        """Return the name of the bug that an input shows.

        If failures have no place in the code, each of the first few inputs is a bug of its own,
        until its reduction tells whether it is that of an earlier one.
        """
        bucket = finding.name
        alone = self._like is not None or not self.options.reduce
        if alone or not can_tell(campaign.frontend, finding):
            return bucket
        for name, its in progress.pending.items():
            if its == number and (name == bucket or name.startswith(f"{bucket}-")):
                return name
        return self._new_name(bucket, campaign.suffix) if progress.is_new(number) else bucket

    def _new_name(self, bucket: str, suffix: str) -> str:
        """Return a separate name for one of the first inputs of a bucket."""
        samples = self.stats.samples
        while samples[bucket] < SAMPLES:
            samples[bucket] += 1
            name = bucket if samples[bucket] == 1 else f"{bucket}-{samples[bucket]}"
            if not (self.options.folder / f"{name}{suffix}").exists():  # of another hunt
                return name
        return bucket

    def _take_up(
        self,
        campaign: Campaign,
        progress: Progress,
        bug: Bug,
        finding: Finding,
        result: InputResult,
    ) -> None:
        """Write the files of a new bug, and queue it for reduction."""
        self._taken_up.add(bug.name)
        text, bug.reduced_size = result.input.text, None
        if bug.path.exists():
            text = bug.path.read_bytes()
        else:
            write_bug(bug, result)
        if bug.unwritten:
            return
        self._listen(NewBug(bug, result.input.which))
        if self._is_reduced(finding.name):
            told = self._like is None and can_tell(campaign.frontend, finding)
            bucket = finding.name if told else ""
            commands = result.commands(finding)
            waiting = Waiting(bug, text, commands, finding.criterion, bucket, finding.spared)
            self._new.append(waiting)
        else:
            progress.finished(bug.name)

    def _report_trouble(self, progress: Progress) -> None:
        """Report once that the state of the hunt cannot be written."""
        if progress.trouble is not None and not self._troubled:
            self._troubled = True
            self._listen(
                HuntNotice(f"if it is killed, this hunt cannot be continued: {progress.trouble}")
            )

    def _warn_if_all_alike(self) -> None:
        """Report if each of the first inputs shows the same bug: it may not be one."""
        for bug in self.stats.bugs.values():
            if bug.count == _FIRST:
                self._listen(
                    HuntNotice(
                        f"each of the first {_FIRST} inputs shows this: {bug.title}\n"
                        "     Can the program read such files, and are its options right? "
                        f"Try\n     {bug.runs[0]}"
                    )
                )

    def _reduce_new(self, campaign: Campaign, progress: Progress) -> None:
        """Reduce new bugs one by one, while there is time."""
        while self._new:
            waiting = self._new.pop(0)
            if self._left() != 0:
                self._reduce(campaign, waiting)
                if self._left() != 0 and not waiting.bug.unwritten:
                    mark = self._mark(campaign, waiting)
                    with self._guard.held():
                        if mark is not None:
                            self._tell_apart(waiting, mark)
                        progress.finished(waiting.bug.name)

    def _mark(self, campaign: Campaign, waiting: Waiting) -> str | None:
        """Return what distinguishes a reduced bug from others; None if nothing does."""
        bug = waiting.bug
        if not waiting.bucket:
            return None
        if bug.reduced_size is None:
            return _UNKNOWN  # not why: that tells of this input, such as its line with an error
        text, path = bug.reduced_path.read_bytes(), bug.reduced_path
        with self._guard.allowed():
            return mark_of(campaign.frontend, text, waiting.commands, waiting.criterion, path)

    def _tell_apart(self, waiting: Waiting, mark: str) -> None:
        """Count a bug as another one if they have the same mark, otherwise keep it."""
        bug, stats = waiting.bug, self.stats
        other = same_as(bug, waiting.bucket, mark)
        try:
            if other is None:
                write_mark(bug, mark)
                return
        except UsageError as error:
            bug.cannot_be_written(str(error))
            return
        known = stats.bugs.setdefault(other.name, other)
        if known is other:
            known.count = 0
        del stats.bugs[bug.name]
        known.count += bug.count
        remove_bug(bug)
        self._listen(KnownBug(known))

    def _reduce(self, campaign: Campaign, waiting: Waiting) -> None:
        """Reduce a bug, writing every improvement. Raises KeyboardInterrupt after a signal."""
        bug, text = waiting.bug, waiting.text
        config = campaign.reduction(waiting.criterion, text)

        def listen(event: Event) -> None:
            self._listen(Reducing(bug, event))

        seconds = self._left()
        if self.stats.samples[waiting.bucket] > 1 and bug.name != waiting.bucket:
            seconds = SECONDS if seconds is None else min(SECONDS, seconds)
        session = session_for(waiting, config, seconds, listen, self._guard)
        with self._lock:
            self._session = session
            if self._stop is not None:
                session.stop(self._stop)
        try:
            stopped = reduce(bug, session)
        finally:
            with self._lock:
                self._session = None
        if bug.reduced_size is not None:
            before, after = config.size(text), config.size(session.best)
            self._listen(Reduced(bug, before, after, config.unit))
        if stopped == INTERRUPTED:
            raise KeyboardInterrupt
