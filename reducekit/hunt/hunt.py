"""The hunt's loop: inputs are generated and tested in order, each new bug is kept and reduced.

Hunts of all formats share one loop. They differ only in who tests: the user's programs
or a library that the format plays its inputs to (`testers`). Both yield one result for each input,
and None whenever a reduction would not slow down any run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.events import Event
from reducekit.hunt import events, folder
from reducekit.hunt.campaign import Campaign, HuntOptions, Like, like_file, prepare
from reducekit.hunt.events import MANY_REJECTED, Bug, Control, HuntStats, InputResult, rejections
from reducekit.hunt.findings import Finding
from reducekit.hunt.folder import Claim, Progress, open_progress
from reducekit.hunt.reduce import SAMPLES, SECONDS, Waiting, can_tell, mark_of, reduce, session_for
from reducekit.run import Guard, NoSignals
from reducekit.session import Session
from reducekit.session.report import INTERRUPTED
from reducekit.text import counted

_FIRST = 3  # inputs; if all show the same bug, there is a notice
_UNKNOWN = "not reduced"  # the mark of bugs that nothing tells apart
_SAMPLE = 10  # inputs; if many of them are rejected, there is a notice


class Hunt:
    """One hunt, which others can watch and stop.

    `listen` receives every event, in the thread that calls `run`. `guard` controls where
    KeyboardInterrupt may be raised; without signals it does nothing. `stop` may be called from any
    thread.

    Invariant: the folder has the files of every bug in `stats`, or the bug records why not.
    """

    _campaign: Campaign
    _progress: Progress

    def __init__(
        self,
        options: HuntOptions,
        listen: Callable[[events.HuntEvent], None] = lambda event: None,
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
        """Run the hunt, and return its results, also after a signal. Raises UsageError."""
        stats, options = HuntStats(), self.options
        self.stats = stats
        with ExitStack() as stack:
            campaign = self._campaign = prepare(options, self._guard, stack)
            deciding = campaign.deciding  # may raise, before anything is written
            stats.noun = campaign.noun
            for note in campaign.notes:
                self._notice(note)
            folder.prepare_folder(options.folder)
            stack.enter_context(Claim(options.folder))
            progress = self._progress = open_progress(
                options.folder,
                deciding,
                campaign.test,
                campaign.numbers,
                stats,
                row=campaign.row,
                restart=options.restart,
            )
            self._report_progress()
            if options.like is not None:
                with self._guard.allowed():
                    self._like = like_file(options.like, campaign)
                for title in self._like.titles.values():
                    self._notice(f"looking for less than {options.like} with: {title}")
            results: Callable[[range, Control], Iterator[InputResult | None]] = campaign.results
            cluster = campaign.cluster
            if cluster is not None:
                from reducekit.hunt.cluster_tests import ClusterTests  # loaded only for clusters

                results = ClusterTests(cluster, campaign.options, campaign.commands).results
                if cluster is not options.cluster:
                    cluster.listen(self._notice)
            self._listen(events.HuntStarted(options.folder))
            for bug in stats.bugs.values():
                self._listen(events.KnownBug(bug))
            control = Control(lambda: bool(self._new), self._left)
            numbers = campaign.numbers[progress.begin - campaign.numbers.start :]
            try:
                self._all(results(numbers, control))
                stats.stopped = self._stop
            except KeyboardInterrupt:
                stats.stopped = INTERRUPTED
            with self._guard.held():
                progress.save()
        stats.seconds += stats.elapsed
        stats.details = campaign.summary(stats)
        if self._like is not None:
            stats.details += (self._like.summary(stats),)
        self._listen(events.HuntFinished(stats))
        return stats

    def _notice(self, text: str) -> None:
        self._listen(events.HuntNotice(text))

    def _left(self) -> float | None:
        """Return the seconds left: 0 if the hunt is to stop, None if there is no limit."""
        if self._stop is not None:
            return 0.0
        seconds = self.options.max_time
        return None if seconds is None else max(0.0, seconds - self.stats.elapsed)

    def _report_progress(self) -> None:
        campaign, progress = self._campaign, self._progress
        done = progress.begin - campaign.numbers.start
        if progress.changed:
            names = ", ".join(Path(each).name for each in progress.changed)
            self._notice(f"changed since the earlier run: {names}; starting over")
        if not done:
            return
        inputs = counted(done, campaign.noun)
        if progress.begin >= campaign.numbers.stop:
            said = f"nothing left to test: this hunt has tested {inputs} in {self.options.folder}"
        else:
            said = f"continuing after {inputs} of an earlier run in {self.options.folder}"
        self._notice(f"{said}; `restart` starts over")

    def _all(self, results: Iterator[InputResult | None]) -> None:
        end = object()
        while True:
            with self._guard.allowed():
                result = next(results, end)
            if isinstance(result, InputResult):
                with self._guard.held():
                    self._take(result)
            elif result is None:
                self._reduce_new()
            else:
                return

    def _take(self, result: InputResult) -> None:
        stats, progress, number = self.stats, self._progress, result.input.number
        place, suffix = self.options.folder, self._campaign.suffix
        if self._like is not None:
            result, names = self._like.only_smaller(result, place, suffix, progress.pending)
            for name in names:  # larger inputs, which these supersede
                stats.bugs.pop(name, None)
                self._taken_up.discard(name)
            self._new = [each for each in self._new if each.bug.name not in names]
        met = [
            (folder.bug_of(place, suffix, self._name(each, number), each, result), each)
            for each in result.findings
        ]
        # A bug whose files exist is still new if a kill prevented the steps that follow.
        new = {
            bug.name
            for bug, _ in met
            if bug.name not in self._taken_up
            and (not bug.measure() or progress.is_pending(bug.name))
        }
        progress.found(new, number)
        first_time = progress.is_new(number)
        if first_time:
            stats.count(result)
        for bug, _ in met:
            kept = stats.bugs.setdefault(bug.name, bug)
            if kept is not bug:
                kept.count += first_time
            elif bug.name not in new:
                kept.known_before = True
        progress.tested(number, {bug.name for bug, _ in met})
        for bug, finding in met:
            if bug.name in new - self._taken_up:
                self._take_up(stats.bugs[bug.name], finding, result)
            else:
                self._listen(events.KnownBug(stats.bugs[bug.name]))
        if progress.trouble is not None and not self._troubled:
            self._troubled = True
            self._notice(f"if it is killed, this hunt cannot be continued: {progress.trouble}")
        self._listen(events.InputTested(stats))
        self._warn()

    def _warn(self) -> None:
        """Report once that the inputs are unsuitable: nearly all rejected, or all alike.

        If each of the first inputs shows the same bug, it may not be one.
        """
        stats = self.stats
        if stats.inputs == _FIRST and self.options.programs:
            for bug in stats.bugs.values():
                if bug.count == _FIRST:
                    self._notice(
                        f"each of the first {_FIRST} inputs shows this: {bug.title}\n"
                        "     Can the program read such files, and are its options right? "
                        f"Try\n     {bug.runs[0]}"
                    )
        if stats.inputs == _SAMPLE and stats.rejected_share >= MANY_REJECTED:
            self._notice(rejections(stats))

    def _name(self, finding: Finding, number: int) -> str:
        """Return the name of the bug that an input shows.

        If failures have no place in the code, each of the first few inputs is a bug of its own,
        until its reduction tells whether it is that of an earlier one.
        """
        bucket, progress, samples = finding.name, self._progress, self.stats.samples
        alone = self._like is not None or not self.options.reduce
        if alone or not can_tell(self._campaign.frontend, finding):
            return bucket
        for name, its in progress.pending.items():
            if its == number and (name == bucket or name.startswith(f"{bucket}-")):
                return name
        while progress.is_new(number) and samples[bucket] < SAMPLES:
            samples[bucket] += 1
            name = bucket if samples[bucket] == 1 else f"{bucket}-{samples[bucket]}"
            if not (self.options.folder / f"{name}{self._campaign.suffix}").exists():  # another's
                return name
        return bucket

    def _take_up(self, bug: Bug, finding: Finding, result: InputResult) -> None:
        self._taken_up.add(bug.name)
        text, bug.reduced_size = result.input.text, None
        if bug.path.exists():
            text = bug.path.read_bytes()
        else:
            folder.write_bug(bug, result)
        if bug.unwritten:
            return
        self._listen(events.NewBug(bug, result.input.which))
        bucket, like = finding.name, self._like
        if not self.options.reduce or (like is not None and bucket not in like.titles):
            self._progress.finished(bug.name)
            return
        if like is not None or not can_tell(self._campaign.frontend, finding):
            bucket = ""
        commands = result.commands(finding)
        self._new.append(Waiting(bug, text, commands, finding.criterion, bucket, finding.spared))

    def _reduce_new(self) -> None:
        while self._new:
            waiting = self._new.pop(0)
            if self._left() != 0:
                self._reduce(waiting)
                if self._left() != 0 and not waiting.bug.unwritten:
                    mark = self._mark(waiting)
                    with self._guard.held():
                        if mark is not None:
                            self._tell_apart(waiting, mark)
                        self._progress.finished(waiting.bug.name)

    def _mark(self, waiting: Waiting) -> str | None:
        if not waiting.bucket:
            return None
        if waiting.bug.reduced_size is None:
            return _UNKNOWN  # not why: that tells of this input, such as its line with an error
        path = waiting.bug.reduced_path
        text, frontend = path.read_bytes(), self._campaign.frontend
        with self._guard.allowed():
            return mark_of(frontend, text, waiting.commands, waiting.criterion, path)

    def _tell_apart(self, waiting: Waiting, mark: str) -> None:
        """Count a bug as another one if they have the same mark, otherwise keep it."""
        bug, stats = waiting.bug, self.stats
        other = folder.same_as(bug, waiting.bucket, mark)
        if other is None:
            try:
                folder.write_mark(bug, mark)
            except UsageError as error:
                bug.cannot_be_written(str(error))
            return
        known = stats.bugs.setdefault(other.name, other)
        if known is other:
            known.count = 0
        del stats.bugs[bug.name]
        known.count += bug.count
        folder.remove_bug(bug)
        self._listen(events.KnownBug(known))

    def _reduce(self, waiting: Waiting) -> None:
        bug, text = waiting.bug, waiting.text
        config = self._campaign.reduction(waiting.criterion, text)

        def listen(event: Event) -> None:
            self._listen(events.Reducing(bug, event))

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
            before, after = map(config.own.size, (text, session.best))
            self._listen(events.Reduced(bug, before, after, config.own.unit))
        if stopped == INTERRUPTED:
            raise KeyboardInterrupt
