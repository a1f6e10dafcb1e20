"""The campaign: inputs are made and tested one after the other, each new bug is kept and reduced.

The idea is that hunts of all formats are one loop. What differs is only who tests: programs of
the user (`command_tests`), or a library that the format plays its inputs to (`library_tests`).
Both yield one result for each input, and None whenever a reduction would slow no run down.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from reducekit.events import Event
from reducekit.executors.guard import Guard, NoSignals
from reducekit.hunt import store
from reducekit.hunt.campaign import Campaign, prepare
from reducekit.hunt.events import (
    HuntEvent,
    HuntFinished,
    HuntNotice,
    HuntStarted,
    InputTested,
    KnownBug,
    NewBug,
    Reduced,
    Reducing,
)
from reducekit.hunt.options import HuntOptions
from reducekit.hunt.reduce import reduce, session_for
from reducekit.hunt.results import Control, InputResult
from reducekit.hunt.stats import Bug, HuntStats
from reducekit.session import Session
from reducekit.session.report import INTERRUPTED

_FIRST = 3  # inputs; when all show the same, it is said


def ignore(event: HuntEvent) -> None:
    """Do nothing with an event."""


class Hunt:
    """One hunt, which others can watch and stop.

    `listen` is told of every event, in the thread that calls `run`. `guard` says where
    KeyboardInterrupt may be raised; without signals it does nothing. `stop` may be called from
    any thread.

    Invariant: the folder has the files of every bug in `stats`, or the bug says why not.
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
        self._new: list[tuple[Bug, bytes]] = []
        """Bugs to be reduced, each with its input."""

    def stop(self, reason: str = "stopped") -> None:
        """End the hunt soon; a reduction under way ends with the best input so far."""
        with self._lock:
            self._stop = self._stop or reason
            if self._session is not None:
                self._session.stop(reason)

    def run(self) -> HuntStats:
        """Hunt, and return what it came to.

        Raises UsageError for options, programs and folders that cannot be used. A signal that
        comes later ends the hunt with what it has come to so far.
        """
        stats = self.stats = HuntStats()
        with ExitStack() as stack:
            campaign = prepare(self.options, self._guard, stack)
            stats.noun = campaign.noun
            for note in campaign.notes:
                self._listen(HuntNotice(note))
            store.prepare(self.options.folder)
            if campaign.cluster is not None and campaign.cluster is not self.options.cluster:
                campaign.cluster.listen(lambda said: self._listen(HuntNotice(said)))
            self._listen(HuntStarted(self.options.folder))
            control = Control(lambda: bool(self._new), self._left)
            try:
                self._all(campaign, campaign.results(control))
                stats.stopped = self._stop
            except KeyboardInterrupt:
                stats.stopped = INTERRUPTED
        stats.seconds = stats.elapsed
        stats.details = campaign.summary(stats)
        self._listen(HuntFinished(stats))
        return stats

    def _left(self) -> float | None:
        """Return the seconds that are left, none if the hunt is to stop; None is no limit."""
        if self._stop is not None:
            return 0.0
        seconds = self.options.max_time
        return None if seconds is None else max(0.0, seconds - self.stats.elapsed)

    def _all(self, campaign: Campaign, results: Iterator[InputResult | None]) -> None:
        """Take all results, and reduce where that slows no test down."""
        end, progress = object(), campaign.progress
        while True:
            with self._guard.allowed():
                result = next(results, end)
            if isinstance(result, InputResult):
                self._take(campaign, result)
                continue
            if progress is not None:
                with self._guard.held():
                    progress.save()
            if result is not None:
                return
            self._reduce_new(campaign)

    def _take(self, campaign: Campaign, result: InputResult) -> None:
        """Count a result, and keep what is new of it."""
        stats, progress = self.stats, campaign.progress
        pending = set[str]()
        if progress is not None and result.seed is not None:
            pending = progress.take(result.seed)
        stats.inputs += 1
        stats.timeouts += result.timed_out
        stats.counts.update(result.counts)
        for finding in result.findings:
            bug = stats.bugs.get(finding.name)
            if bug is not None:
                bug.count += 1
                self._listen(KnownBug(bug))
                continue
            bug = store.keep(self.options.folder, campaign.suffix, finding, result)
            bug.known_before &= finding.name not in pending
            stats.bugs[finding.name] = bug
            if bug.known_before:
                self._listen(KnownBug(bug))
            elif not bug.unwritten:
                self._listen(NewBug(bug, result.input.which))
                self._new.append((bug, result.input.text))
                if progress is not None and result.seed is not None and self.options.reduce:
                    progress.pending[finding.name] = result.seed
        self._listen(InputTested(stats))
        if stats.inputs == _FIRST and self.options.programs:
            self._doubt()

    def _doubt(self) -> None:
        """Say so if each of the first inputs shows the same: that is hardly a bug."""
        for bug in self.stats.bugs.values():
            if bug.count == _FIRST:
                line = bug.finding.commands[0].shell_line(str(bug.path))
                self._listen(
                    HuntNotice(
                        f"each of the first {_FIRST} inputs shows this: {bug.finding.title}\n"
                        "     Does the program read such files at all, and does it know its "
                        f"options? Try\n     {line}"
                    )
                )

    def _reduce_new(self, campaign: Campaign) -> None:
        """Reduce what is new, one after the other, while there is time."""
        while self._new:
            bug, text = self._new.pop(0)
            if self.options.reduce and self._left() != 0:
                self._reduce(campaign, bug, text)
                if campaign.progress is not None and self._left() != 0:
                    campaign.progress.pending.pop(bug.finding.name, None)

    def _reduce(self, campaign: Campaign, bug: Bug, text: bytes) -> None:
        """Reduce a bug; every improvement is written. Raises KeyboardInterrupt after a signal."""
        config = campaign.reduction(bug.finding, text)

        def listen(event: Event) -> None:
            self._listen(Reducing(bug, event))

        session = session_for(bug, text, config, self._left(), listen, self._guard)
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
