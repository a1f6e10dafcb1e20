"""Passes to a fixpoint: the schedule is run again and again until no pass helps."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from reducekit.errors import ParseError
from reducekit.events import Checked, Event, PassEnded, PassStarted
from reducekit.executors.executor import Executor, Finished
from reducekit.format import Effort, Format, Order, View
from reducekit.journal import Journal, digest
from reducekit.reduction.best import Best
from reducekit.reduction.control import Budget, Control, Counts, Spending, Stopped
from reducekit.reduction.epoch import Epoch, Shared
from reducekit.reduction.plan import PassChoice, first_position
from reducekit.reduction.skips import Fingerprints, Protection
from reducekit.reduction.verdicts import Sightings, Verdicts
from reducekit.run import Limits
from reducekit.runtime import collect
from reducekit.search.strategy import Strategy

# Each return doubles the confirmations, so the third asks for 8 times as many runs of each
# success: a test that is flaky beyond that gives no result worth waiting for.
_RETURNS = 3  # with twice the runs each time
_LOOKS = 3
"""If a text fails in none of this many runs, that is not explained by a flaky failure."""
EARLIER = "earlier steps"
"""The name of the pass that tries the texts of an earlier reduction."""
GUESSES = "guesses"
"""The name of the pass that tries parts of the input that are likely to fail."""
_STARTS = {EARLIER: "of a test that has changed", GUESSES: "a part that was likely to fail"}


class Result(NamedTuple):
    """The smallest interesting text found, its cost, and the reason if the search ended early."""

    text: bytes
    counts: Counts
    rounds: int
    seconds: float
    stopped: str | None
    early: bool = False
    """Whether a limit or a request ended it: continuing may make the text smaller."""
    gone: bool = False
    """Whether it ended because even the input no longer fails."""
    passing: bytes = b""
    """The text nearest to it that passes: the frontend's baseline, unless that was compared."""


class _Refuted(Exception):
    """The best text no longer fails, while the input does."""


@dataclass(slots=True, eq=False)
class Reduction:
    """One reduction: its parts and its state.

    `limits(seconds)` gives the limits of a check when the best text so far took that many seconds.
    `listen` receives every event; `on_checked` receives every finished check with its text.
    `control` takes requests from other threads. At most `width` candidates are in flight: each
    depends on the verdicts of all its predecessors except the last `width - 1`. So the result
    depends on the width, but never on timing or on the number of workers. With `fast`, verdicts
    are processed as they arrive, and the result does depend on timing.

    Checks whose verdict is in the journal are not run again.

    The result is run `repeats` more times. If it does not fail every time, the oracle is flaky: the
    search goes back to the smallest reported text that does, and from there every success must be
    confirmed by twice as many more runs. But if even the input no longer fails, something else has
    changed: nothing is taken back, and the reduction stops. The best text is also run again when
    `sightings` asks for it.
    """

    frontend: Format
    strategy: Strategy
    executor: Executor
    limits: Callable[[float], Limits]
    width: int = 1
    budget: Budget = field(default_factory=Budget)
    listen: Callable[[Event], None] = lambda event: None
    on_checked: Callable[[bytes, Finished], None] = lambda text, finished: None
    repeats: int = 0
    fast: bool = False
    effort: Effort = "normal"
    """How much of the schedule to run."""
    choice: PassChoice = field(default_factory=PassChoice)
    """Which passes of the schedule to run."""
    journal: Journal | None = None
    view: View | None = None
    """The first text, if it has already been parsed. It is large, and not kept."""
    begin: float = field(default_factory=time.monotonic)
    """When the time budget starts, by the monotonic clock."""
    counts: Counts = field(default_factory=Counts)
    control: Control = field(default_factory=Control)
    protection: Protection = field(default_factory=Protection)
    """What every candidate has to contain."""
    prefer: Callable[[Order], Order] = lambda order: order
    """Makes the order in which texts must get smaller of the frontend's."""
    _first: Format = field(init=False)
    """The frontend as it was given: it may come to compare with another text (`Format.beside`)."""
    _spending: Spending = field(init=False)
    _verdicts: Verdicts = field(init=False)
    _refuted: set[bytes] = field(default_factory=set)
    _hurried: list[tuple[bytes | None, bytes | None]] = field(default_factory=list)
    """What is remembered of changes that only reached a limit shorter than the first."""
    _fingerprints: Fingerprints = field(init=False)
    _rounds: int = 0
    _gone: bool = False
    _looks: tuple[bytes, int] = (b"", 0)
    """A text, and how often it was seen to fail again."""
    _returns: int = 0
    """How often the search went back."""

    def __post_init__(self) -> None:
        self._first = self.frontend
        self._spending = Spending(self.budget, self.counts, self.control, begin=self.begin)
        self._verdicts = Verdicts(
            self.executor,
            self.limits,
            self.on_checked,
            self.journal,
            self._spending,
            Sightings(active=self.repeats > 0 and not self.executor.steady),
        )
        # The published algorithms identify a text by its bytes.
        if self.strategy.passes == "own":
            self._fingerprints = Fingerprints(self.frontend.fingerprint)
        else:
            self._fingerprints = Fingerprints(lambda text: None)

    @property
    def elapsed(self) -> float:
        """Seconds since the reduction was created, without pauses."""
        return self._spending.elapsed

    def preload(self, text: bytes, *, interesting: bool) -> None:
        """Add a verdict that is already known; it counts as a cache hit when it is needed."""
        self._verdicts.preload(text, interesting=interesting)

    def restore(
        self, verdicts: Mapping[bytes, tuple[bool, float]], unresolved: Set[bytes] = frozenset()
    ) -> None:
        """Add the verdicts of a journal by key: they count as checks, but are not run again."""
        self._verdicts.restore(verdicts, unresolved)

    def run(
        self,
        text: bytes,
        seconds: float,
        starts: Iterable[bytes] | None = None,
        starts_from: str = EARLIER,
    ) -> Result:
        """Reduce an interesting text on which the oracle took `seconds` seconds.

        `starts` are smaller texts that are likely to be interesting, smallest first: the search
        starts from the first one that is. `starts_from` says what they are: EARLIER, GUESSES.

        Raises ParseError if the text is not of the format. After an interrupt, the executor's
        `close` ends its checks; all accepted texts have been passed to `listen`.
        """
        # The frontend's order is called for every candidate, so it is looked up once.
        order = self.prefer(self.frontend.order)
        self._verdicts.first = seconds
        best = Best(text, seconds, order, self._spending, self.listen, self.journal)
        stopped = None if starts is None else self._try_starts(best, starts, starts_from)
        while stopped is None and self._returns < _RETURNS:
            before = best.reported
            try:
                with suppress(_Refuted):
                    stopped = self._to_fixpoint(best, (text, seconds))
                    if best.reported in (text, before) or self.control.stopped or self._gone:
                        break
                    if self._confirmed(best):
                        break
                self._go_back(best, (text, seconds))
            except Stopped as stop:
                stopped = str(stop)
        else:
            stopped = stopped or "the test gives different verdicts for the same text"
        self._verdicts.cancel_all()
        return Result(
            best.reported,
            self.counts,
            self._rounds,
            self.elapsed,
            stopped,
            early=self._spending.early or self.control.stopped is not None,
            gone=self._gone,
            passing=self.frontend.baseline,
        )

    def _try_starts(self, best: Best, texts: Iterable[bytes], name: str) -> str | None:
        """Continue from the first interesting text; return the reason if the search ended early.

        Up to `width` of them are checked at the same time.
        """
        verdicts, spending = self._verdicts, self._spending
        todo, flight = iter(texts), deque[tuple[bytes, bytes]]()
        checks, accepted = self.counts.checks, 0
        self.listen(PassStarted(name, 0))
        try:
            while True:
                for text in islice(todo, self.width - len(flight)):
                    if self.protection.keeps(text) and best.is_below(text, best.text):
                        flight.append((digest(text), text))
                if not flight:
                    break
                key, text = flight[0]
                verdicts.handle_requests()
                spending.require_check(known=verdicts.is_recorded(key))
                while key not in verdicts:
                    for each in flight:
                        verdicts.start(*each, best.seconds)
                    verdicts.wait(spending.require_time())
                verdict = verdicts.use(key, text, best.seconds)
                flight.popleft()
                self.listen(Checked(verdict.interesting, False, name, len(text)))
                if verdict.interesting:
                    best.accept(text, verdict.seconds, _STARTS[name], name, key)
                    accepted, self.view = 1, None
                    spending.guessed = name == GUESSES
                    break
        except Stopped as stop:
            return str(stop)
        finally:
            verdicts.cancel_all()
        spent = self.counts.checks - checks
        self.listen(PassEnded(name, 0, spent, accepted, len(best.reported)))
        return None

    def _to_fixpoint(self, best: Best, first: tuple[bytes, float]) -> str | None:
        """Run the passes until none helps; return the reason if the search ended early."""
        stopped = self._run_schedule(best, first, allow_growth=True)
        if best.roll_back() and stopped is None:
            # The initial growth has not paid off: everything else is tried without it.
            # Rarely needed, and mostly from the cache: the verdicts of the first run are known.
            stopped = self._run_schedule(best, first, allow_growth=False)
            best.roll_back()
        if stopped is None and self._verdicts.be_patient():
            # Which changes failed is remembered apart from the texts, too.
            for local, fingerprint in self._hurried:
                self._refuted.discard(local or b"")
                self._fingerprints.forget(fingerprint)
            stopped = self._run_schedule(best, first, allow_growth=False)
            best.roll_back()
        self._verdicts.cancel_all()
        return stopped

    def _run_schedule(
        self, best: Best, first: tuple[bytes, float], *, allow_growth: bool
    ) -> str | None:
        """Run the schedule once; return the reason if the search ended early."""
        schedule = self.choice.of(self.frontend.schedule(self.strategy.passes))
        schedule = replace(schedule, effort=self.effort)
        if self.effort == "thorough":
            schedule = schedule.to_the_end()
        position = first_position(schedule, allow_growth)
        shared = Shared(
            self.frontend,
            self.strategy,
            self.width,
            self.fast,
            self.listen,
            self.control,
            self._verdicts,
            best,
            self._refuted,
            self._fingerprints,
            self._hurried,
            lambda: self._look_again(best, first),
            {},
            self.protection,
            self.prefer,
        )
        view, self.view = self.view, None
        if view is None:
            view = shared.frontend.parse(best.text)
        try:
            while position is not None:
                if shared.is_useless(position):
                    position = position.after(False)
                    continue
                if view is None:
                    # Documents are large and their parts refer to each other, so the next one
                    # would be made while the last is still in memory.
                    collect()  # the previous document is no longer needed
                    view = shared.frontend.parse(best.text)
                helped, position = Epoch(shared, view, deque([position])).run()
                if helped:
                    view = None
        except Stopped as stop:
            return str(stop)
        except ParseError as error:
            return f"the best text can no longer be parsed ({error})"
        finally:
            self._rounds += shared.round
            self.frontend = shared.frontend
        return None

    def _look_again(self, best: Best, first: tuple[bytes, float]) -> None:
        """Run the best text again.

        Raises Stopped if neither it nor the input fails any more, `_Refuted` if only the input
        does.
        """
        if not self._fails(best.reported, best.seconds):
            self._require_failure(*first)
            raise _Refuted
        text, looks = self._looks
        self._looks = best.reported, looks + 1 if text == best.reported else 1
        self._seen()

    def _fails(self, text: bytes, seconds: float) -> bool:
        """Return whether a text fails in any of a few more runs."""
        return any(self._verdicts.always(text, seconds, 1) for _ in range(_LOOKS))

    def _require_failure(self, text: bytes, seconds: float) -> None:
        """Raise Stopped if the input no longer fails."""
        if self._fails(text, seconds):
            return self._seen()
        self._gone = self._spending.early = True
        if self.journal is not None:
            self.journal.seen(False)
        raise Stopped(
            "neither the best file nor the input fails any more: "
            "the program, or something that it needs, has changed or is gone"
        )

    def _seen(self) -> None:
        self._verdicts.sightings.seen()
        # Seen after a stop that ended meanwhile, too. A test that sends SIGCONT in each run would
        # otherwise ask for the next look by this one, and no candidate would ever be tried.
        self._spending.control.take_continued()
        if self.journal is not None:
            self.journal.seen(True)

    def _confirmed(self, best: Best) -> bool:
        """Return whether the result fails in all its repetitions; earlier reruns count too."""
        times = self.repeats << self._returns
        text, looks = self._looks
        if text == best.reported:
            # Each look at the result during the search counts as one of the reruns, but one is
            # always made at the end.
            times = max(min(1, times), times - looks)
        if not self._verdicts.always(best.reported, best.seconds, times):
            return False
        if times:
            self._seen()
        return True

    def _go_back(self, best: Best, first: tuple[bytes, float]) -> None:
        """Make the smallest reported text that fails every time the best; if none, the input.

        Raises Stopped if the input no longer fails.
        """
        self._verdicts.cancel_all()
        self._require_failure(*first)
        best.roll_back()
        # What was seen to pass is as doubtful.
        self.frontend = self._first
        best.order = self.prefer(self.frontend.order)
        self._returns += 1
        self._looks = b"", 0
        # Successes must be found again, and confirmed by more runs if runs may differ.
        self._verdicts.invalidate()
        if not self.executor.steady:
            # Double after each return: a flaky text that passed n confirmations has to pass 2 n.
            self._verdicts.confirmations = self.repeats << self._returns
        times = self.repeats << self._returns
        best.return_to(lambda each: self._verdicts.always(each, best.seconds, times), first[0])
