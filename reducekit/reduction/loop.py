"""Passes to a fixpoint: the schedule is run again and again until no pass helps."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from reducekit.errors import ParseError
from reducekit.events import Event
from reducekit.executors.executor import Executor, Finished
from reducekit.frontend import Effort, Frontend, View
from reducekit.gc_tuning import collect
from reducekit.journal import Journal
from reducekit.oracle.limits import Limits
from reducekit.reduction.best import Best
from reducekit.reduction.budget import Budget, Spending
from reducekit.reduction.control import Control, Stopped
from reducekit.reduction.counts import Counts
from reducekit.reduction.epoch import Epoch, Shared
from reducekit.reduction.fingerprints import Fingerprints
from reducekit.reduction.plan import PassChoice, first_position
from reducekit.reduction.verdicts import Verdicts
from reducekit.search.strategy import Strategy

_RETURNS = 3  # with twice the runs each time


@dataclass(frozen=True, slots=True)
class Result:
    """The smallest interesting text found, what it cost, and why the search ended early, if so."""

    text: bytes
    counts: Counts
    rounds: int
    seconds: float
    stopped: str | None
    steered: bool = False
    """Whether a pass was skipped on request: then the result depends on more than the input."""
    early: bool = False
    """Whether a limit or a request ended it: going on may make the text smaller."""


@dataclass(slots=True)
class Reduction:
    """One reduction: the parts it is made of, and its state.

    `limits(seconds)` gives the limits of a check when the best text so far took
    that many seconds. `listen` is told of every event, `on_checked` of every
    check that has run and its text. `control` takes requests from other threads.
    At most `width` candidates are in flight: each depends on the verdicts of all
    but the last `width - 1` before it, and so the result on the width, but never
    on timing or on the number of workers. With `fast`, verdicts are taken as
    they come, and it does.

    What the journal knows is not run again.

    The result is run `repeats` more times. If it does not fail every time, the
    oracle is flaky: the search goes back to the smallest text told that does,
    and from there every success has to show in twice as many more runs.
    """

    frontend: Frontend
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
    """How much of the schedule is run."""
    choice: PassChoice = field(default_factory=PassChoice)
    """Which passes of the schedule are run."""
    journal: Journal | None = None
    view: View | None = None
    """The first text parsed, if that has been done already. It is large, and not kept."""
    begin: float = field(default_factory=time.monotonic)
    """When the seconds of the budget begin, by the monotonic clock."""
    counts: Counts = field(default_factory=Counts)
    control: Control = field(default_factory=Control)
    _spending: Spending = field(init=False)
    _verdicts: Verdicts = field(init=False)
    _refuted: set[bytes] = field(default_factory=set)
    _fingerprints: Fingerprints = field(init=False)
    _rounds: int = 0
    _returns: int = 0
    """How often the search has gone back."""

    def __post_init__(self) -> None:
        self._spending = Spending(self.budget, self.counts, self.control, begin=self.begin)
        self._verdicts = Verdicts(
            self.executor, self.limits, self.on_checked, self.journal, self._spending
        )
        # The published algorithms know a text by its bytes.
        own = self.strategy.passes == "own"
        self._fingerprints = Fingerprints(self.frontend.fingerprint if own else lambda text: None)

    @property
    def elapsed(self) -> float:
        """Seconds since the reduction was made, without those in which it was paused."""
        return self._spending.elapsed

    def preload(self, text: bytes, *, interesting: bool) -> None:
        """Take in a verdict that is known before; it counts as a cache hit when it is needed."""
        self._verdicts.preload(text, interesting=interesting)

    def restore(self, verdicts: Mapping[bytes, tuple[bool, float]]) -> None:
        """Take in the verdicts of a journal by key: they count as checks, and are not run again."""
        self._verdicts.restore(verdicts)

    def run(self, text: bytes, seconds: float) -> Result:
        """Reduce an interesting text on which the oracle took this many seconds.

        Raises ParseError if the text is not of the format. An interrupt leaves
        the executor's checks to its `close`; what was accepted was told to `listen`.
        """
        order = self.frontend.order
        best = Best(text, seconds, order, self._spending, self.listen, self.journal)
        stopped = None
        while stopped is None and self._returns < _RETURNS:
            before = best.told
            stopped = self._to_fixpoint(best)
            if best.told in (text, before) or self.control.stopped:
                break
            try:
                if self._repeated(best.told, best.seconds):
                    break
                self._go_back(best, text)
            except Stopped as stop:
                stopped = str(stop)
        else:
            stopped = stopped or "the oracle does not always say the same of a text"
        self._verdicts.cancel_all()
        return Result(
            best.told,
            self.counts,
            self._rounds,
            self.elapsed,
            stopped,
            self.control.skipped,
            early=self._spending.early or self.control.stopped is not None,
        )

    def _to_fixpoint(self, best: Best) -> str | None:
        """Run the passes until none helps; return why it ended early, if so."""
        stopped = self._run_schedule(best, allow_growth=True)
        if best.roll_back() and stopped is None:
            # What made the text larger at first has not paid: all else is tried without it.
            stopped = self._run_schedule(best, allow_growth=False)
            best.roll_back()
        self._verdicts.cancel_all()
        return stopped

    def _run_schedule(self, best: Best, *, allow_growth: bool) -> str | None:
        """Run the passes of the schedule once to the end; return why it ended early, if so."""
        schedule = self.choice.of(self.frontend.schedule(self.strategy.passes))
        schedule = replace(schedule, effort=self.effort)
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
            {},
        )
        view, self.view = self.view, None
        if view is None:
            view = self.frontend.parse(best.text)
        try:
            while position is not None:
                if shared.is_useless(position):
                    position = position.after(False)
                    continue
                if view is None:
                    collect()  # the document before this one is not needed any more
                    view = self.frontend.parse(best.text)
                helped, position = Epoch(shared, view, deque([position])).run()
                if helped:
                    view = None
        except Stopped as stop:
            return str(stop)
        except ParseError as error:
            return f"the best text can no longer be parsed ({error})"
        finally:
            self._rounds += shared.round
        return None

    def _go_back(self, best: Best, text: bytes) -> None:
        """Make the smallest text told that fails every time the best; if none does, the input."""
        self._returns += 1
        # What was found interesting has to show again, and in more runs if these may differ.
        self._verdicts.invalidate()
        if not self.executor.steady:
            self._verdicts.confirmations = self.repeats << self._returns
        best.return_to(lambda each: self._repeated(each, best.seconds), text)

    def _repeated(self, text: bytes, seconds: float) -> bool:
        """Return whether a text is interesting in the number of runs that is asked for by now."""
        return self._verdicts.always(text, seconds, self.repeats << self._returns)
