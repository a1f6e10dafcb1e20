"""Passes to a fixpoint: ties documents, searches, the executor and known verdicts together."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from reducekit.document import Patched
from reducekit.errors import ParseError
from reducekit.events import Accepted, Checked, Event, PassEnded, PassStarted, WentBack
from reducekit.executors.executor import Executor, Finished
from reducekit.frontend import Frontend, View
from reducekit.journal import Journal, digest
from reducekit.oracle.limits import Limits
from reducekit.plan import Place, first_place
from reducekit.search.problem import Strategy
from reducekit.search.team import Task, Team
from reducekit.surroundings import Surroundings
from reducekit.verdicts import Counts, Verdict, Verdicts


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop early. None: never."""

    checks: int | None = None
    """After so many checks."""
    seconds: float | None = None
    """After so many seconds."""
    patience: int | None = None
    """After so many checks in a row without success."""
    size: int | None = None
    """As soon as the text has at most so many bytes."""


@dataclass(frozen=True, slots=True)
class Result:
    """The smallest interesting text found, what it cost, and why the search ended early, if so."""

    text: bytes
    counts: Counts
    rounds: int
    seconds: float
    stopped: str | None


class _Stop(Exception):
    """The budget is used up."""


_RETURNS = 3  # with twice the runs each time
_HISTORY = 1 << 16  # bytes; larger texts are not kept to go back to
_STRANDS = 10


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A candidate in flight."""

    task: Task[Patched]
    place: Place
    key: bytes | None
    """Stands for the text among the verdicts; None if it is not worth a run."""
    around: bytes | None
    """Stands for what is changed, and into what, among the refuted changes."""

    @property
    def text(self) -> bytes:
        """What is to be checked."""
        return self.task.text


@dataclass(slots=True)
class Reduction:
    """One reduction: the parts it is made of, and its state.

    `limits(seconds)` gives the limits of a check when the best text so far took
    that many seconds. `listen` is told of every event, `witness` of every check
    that has run and its text. `width` candidates are in flight at most: each
    depends on the verdicts of all but the last `width - 1` before it, and so
    the result on the width, but never on timing or on the number of workers.
    With `fast`, verdicts are taken as they come, and it does.

    What the journal knows is not run again.

    The result is run `repeats` more times. If it does not fail every time, the
    oracle is flaky: the search goes back to the smallest accepted text that
    does, and from there every success has to show in twice as many more runs.
    """

    frontend: Frontend
    strategy: Strategy
    executor: Executor
    limits: Callable[[float], Limits]
    width: int = 1
    budget: Budget = field(default_factory=Budget)
    listen: Callable[[Event], None] = lambda event: None
    witness: Callable[[bytes, Finished], None] = lambda text, finished: None
    repeats: int = 0
    fast: bool = False
    journal: Journal | None = None
    counts: Counts = field(default_factory=Counts)
    _verdicts: Verdicts = field(init=False)
    _refuted: set[bytes] = field(default_factory=set)
    _failures: int = 0
    """Checks since the last success."""
    _history: list[bytes] = field(default_factory=list)
    _rounds: int = 0
    _returns: int = 0
    """How often the search has gone back."""
    _begin: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._verdicts = Verdicts(
            self.executor, self.limits, self.witness, self.journal, self.counts
        )

    @property
    def elapsed(self) -> float:
        """Seconds since the reduction was made."""
        return time.monotonic() - self._begin

    def know(self, text: bytes, *, interesting: bool) -> None:
        """Take in a verdict that is known before; it counts as a cache hit when it is needed."""
        self._verdicts.know(text, interesting=interesting)

    def recall(self, verdicts: Mapping[bytes, tuple[bool, float]]) -> None:
        """Take in the verdicts of a journal by key: they count as checks, and are not run again."""
        self._verdicts.recall(verdicts)

    def run(self, text: bytes, seconds: float) -> Result:
        """Reduce an interesting text on which the oracle took so many seconds.

        Raises ParseError if the text is not of the format. An interrupt leaves
        the executor's checks to its `close`; what was accepted was told to `listen`.
        """
        best = _Best(text, seconds)
        rounds, stopped = 0, None
        while True:
            before = best.text
            self._rounds = 0
            stopped = self._run_schedule(best)
            rounds += self._rounds
            self._verdicts.cancel_all()
            if best.text in (text, before) or self._repeated(best.text, best.seconds):
                break
            self._go_back(best, text)
            if self._returns == _RETURNS:
                stopped = stopped or "the oracle does not always say the same of a text"
            if stopped is not None:
                break
        return Result(best.text, self.counts, rounds, self.elapsed, stopped)

    def _run_schedule(self, best: _Best) -> str | None:
        """Run the passes until none helps; return why it ended early, if so."""
        place = first_place(self.frontend.schedule(self.strategy.name))
        useless: dict[str, bytes] = {}  # pass -> the text on which it found nothing
        view: View | None = self.frontend.parse(best.text)
        try:
            while place is not None:
                if useless.get(place.each.name) == best.text:
                    place = place.after(False)
                    continue
                if view is None:
                    view = self.frontend.parse(best.text)
                helped, place = self._search(place, view, best, useless)
                if helped:
                    view = None
        except _Stop as stop:
            return str(stop)
        except ParseError as error:
            return f"the best text can no longer be parsed ({error})"
        return None

    def _go_back(self, best: _Best, text: bytes) -> None:
        """Make the smallest accepted text that fails every time the best; else the first text."""
        given_up = len(best.text)
        self._returns += 1
        # What was found interesting has to show again, and in more runs.
        self._verdicts.doubt()
        self._history.pop()
        while self._history and not self._repeated(self._history[-1], best.seconds):
            self._history.pop()
        best.text = self._history[-1] if self._history else text
        if self.journal is not None:
            self.journal.went_back(best.text)
        self.listen(WentBack(best.text, given_up))

    def _repeated(self, text: bytes, seconds: float) -> bool:
        """Return whether a text is interesting in so many more runs."""
        return self._verdicts.always(text, seconds, self.repeats << self._returns)

    def _search(
        self, place: Place, view: View, best: _Best, useless: dict[str, bytes]
    ) -> tuple[bool, Place | None]:
        """Search from a pass on until one has helped, over one document.

        Returns whether one has, and the place after it. As long as none does, the
        following passes are searched too where there is room.
        """
        epoch = _Epoch(view, Team(self.width, Patched(view.document)), deque([place]), best.text)
        team, flight = epoch.team, epoch.flight
        self._open(epoch, place)
        self._begin_pass(place)
        checks = self.counts.checks
        while True:
            self._fill(epoch, best)
            while team.done:
                place = epoch.places.popleft()
                strand = team.strands.pop(0)
                helped = epoch.accepted > 0
                name, spent = place.each.name, self.counts.checks - checks
                ended = PassEnded(name, place.round, spent, strand.accepted, len(best.text))
                self.listen(ended)
                checks = self.counts.checks
                following = place.after(helped)
                self.counts.rejected += team.rejected
                if not helped and place.mode.everything and not team.rejected:
                    useless[name] = best.text
                team.rejected = 0
                if helped or following is None:
                    self._verdicts.cancel_all()
                    team.abandon()
                    return helped, following
                if not epoch.places:
                    if useless.get(following.each.name) == best.text:
                        return False, following
                    epoch.places.append(following)
                    self._open(epoch, following)
                self._begin_pass(epoch.places[0])
                self._fill(epoch, best)
            if flight:
                self._settle(epoch, self._first(flight), best)

    def _begin_pass(self, place: Place) -> None:
        self._rounds = place.round
        self.listen(PassStarted(place.each.name, place.round))

    def _open(self, epoch: _Epoch, place: Place) -> None:
        """Search a pass too. One that finds nothing to do ends at once."""
        problem = place.each.problem(epoch.view)
        search = None if problem is None else self.strategy.start(problem)
        epoch.team.add(place, search)

    def _fill(self, epoch: _Epoch, best: _Best) -> None:
        """Start what is likely to be of use, as much as there is room for."""
        team, flight = epoch.team, epoch.flight
        self._start_all(flight, best.seconds)  # in order: those first that are needed first
        while len(flight) < self.width:
            task = team.next()
            if task is None:
                if not self._look_ahead(epoch, best):
                    return
                continue
            candidate = self._candidate(epoch, task)
            known = self._known(candidate)
            if known is None:
                flight.append(candidate)
                self._start(candidate, best.seconds)
            else:
                self._take(epoch, candidate, known, best, remembered=True)

    def _look_ahead(self, epoch: _Epoch, best: _Best) -> bool:
        """Begin the next pass as long as no pass has changed anything; return whether there is one.

        Only where several candidates may be in flight, and some are: a search
        that has ended makes room by itself.
        """
        if epoch.accepted or epoch.team.believed is not epoch.team.accepted:
            return False
        if self.width == 1 or len(epoch.places) >= _STRANDS or not epoch.flight:
            return False
        following = epoch.places[-1].after(False)
        if following is None or following.mode != epoch.places[-1].mode:
            return False
        epoch.places.append(following)
        self._open(epoch, following)
        return True

    def _first(self, flight: deque[_Candidate]) -> _Candidate:
        """Return the candidate whose verdict is taken next."""
        if self.fast:
            while True:
                for at, candidate in enumerate(flight):
                    if candidate.key in self._verdicts:
                        del flight[at]
                        return candidate
                self._budget_left()
                self._verdicts.wait(self._time_left())
        return flight.popleft()

    def _settle(self, epoch: _Epoch, candidate: _Candidate, best: _Best) -> None:
        """Take the verdict on a candidate in flight."""
        known = self._known(candidate)
        verdict = known or self._verdict(epoch, candidate, best.seconds)
        self._take(epoch, candidate, verdict, best, remembered=known is not None)

    def _take(
        self,
        epoch: _Epoch,
        candidate: _Candidate,
        verdict: Verdict,
        best: _Best,
        *,
        remembered: bool,
    ) -> None:
        """Tell the team of a verdict, and make what it proves the best text."""
        team, task, flight = epoch.team, candidate.task, epoch.flight
        ok, what = verdict.interesting, task.change.what
        if remembered and candidate.key is not None:
            self.counts.hits += 1
        self.listen(Checked(ok, remembered, what, len(task.text)))
        if not ok and candidate.around is not None and team.proved(task):
            self._refuted.add(candidate.around)
        if ok and task.lane is not None:
            epoch.helped.add(candidate.place.each.name)
        if team.settle(task, ok):
            epoch.accepted += 1
            self._accept(candidate, verdict, best)
        dead = [each for each in flight if each.task.dead]
        if not dead:
            return
        for each in dead:
            flight.remove(each)
            team.settle(each.task, False)
        needed = {each.key for each in flight}
        self._verdicts.cancel([each.key for each in dead if each.key and each.key not in needed])

    def _accept(self, candidate: _Candidate, verdict: Verdict, best: _Best) -> None:
        text, what, name = candidate.text, candidate.task.change.what, candidate.place.each.name
        best.text, best.seconds = text, verdict.seconds
        self.counts.accepted += 1
        if len(text) <= _HISTORY:
            self._history.append(text)
        if self.journal is not None:
            seconds, checks = self.elapsed, self.counts.checks
            self.journal.step(text, what, name, seconds=seconds, checks=checks, key=candidate.key)
        self.listen(Accepted(text, what, name))
        if self.budget.size is not None and len(text) <= self.budget.size:
            raise _Stop(f"at {len(text):,} bytes, not more than {self.budget.size:,}")

    def _candidate(self, epoch: _Epoch, task: Task[Patched]) -> _Candidate:
        """Render a task, and see whether it is worth a run."""
        assert task.base is not None
        place = epoch.places[0] if task.lane is None else task.lane.strand.name
        if task.search is None:
            task.text = task.base.render()
            wrong = self.frontend.strict and epoch.mixes(None) and not self._is_read(task.text)
            return _Candidate(task, place, None if wrong else digest(task.text), None)
        base = task.above.text if task.above is not None else epoch.base()
        task.text = task.base.render_with(task.edits) if task.edits else base
        if task.text == base or not (place.mode.sideways or self._down(task.text, base)):
            return _Candidate(task, place, None, None)
        if self.frontend.strict and epoch.mixes(place) and not self._is_read(task.text):
            return _Candidate(task, place, None, None)
        around = epoch.around.key(task.base, task.edits)
        return _Candidate(task, place, digest(task.text), around)

    def _is_read(self, text: bytes) -> bool:
        try:
            self.frontend.parse(text)
        except ParseError:
            return False
        return True

    def _down(self, text: bytes, base: bytes) -> bool:
        order = self.frontend.order
        return bool(order(text) < order(base))

    def _known(self, candidate: _Candidate) -> Verdict | None:
        """Return the verdict on a candidate if it takes no check.

        What is known here depends on nothing that came early.
        """
        key = candidate.key
        if key is None:
            return Verdict(interesting=False, seconds=0.0)
        verdict = self._verdicts.used(key)
        if verdict is not None:
            return verdict
        if not candidate.place.mode.everything and candidate.around in self._refuted:
            return Verdict(interesting=False, seconds=0.0)
        return None

    def _start(self, candidate: _Candidate, seconds: float) -> None:
        """Start the check of a candidate, if it is still needed and there is room."""
        if candidate.key is not None and not self._spent:
            self._verdicts.start(candidate.key, candidate.text, seconds)

    def _start_all(self, candidates: Iterable[_Candidate], seconds: float) -> None:
        """Start the checks of candidates, as many as there is room for."""
        for each in candidates:
            if not each.task.dead:
                self._start(each, seconds)

    def _verdict(self, epoch: _Epoch, candidate: _Candidate, seconds: float) -> Verdict:
        """Wait for the verdict on a candidate; the others in flight run on meanwhile."""
        key = candidate.key
        assert key is not None
        self._budget_left()
        while key not in self._verdicts:
            self._start_all((candidate, *epoch.flight), seconds)
            self._verdicts.wait(self._time_left())
        verdict = self._verdicts.use(key)
        if verdict.interesting and self._returns and not self._repeated(candidate.text, seconds):
            verdict = self._verdicts.refute(key)
        self._failures = 0 if verdict.interesting else self._failures + 1
        return verdict

    def _budget_left(self) -> None:
        """Raise _Stop when no check may follow."""
        if self.budget.patience is not None and self._failures >= self.budget.patience:
            raise _Stop(f"after {self._failures} checks in a row without success")
        if self._spent:
            raise _Stop(f"after {self.counts.checks} checks")

    @property
    def _spent(self) -> bool:
        return self.budget.checks is not None and self.counts.checks >= self.budget.checks

    def _time_left(self) -> float | None:
        """Return the seconds left, None without end. Raises _Stop when there are none."""
        if self.budget.seconds is None:
            return None
        left = self.budget.seconds - self.elapsed
        if left <= 0:
            raise _Stop(f"after {self.budget.seconds:g} s")
        return left


@dataclass(slots=True)
class _Best:
    """The smallest interesting text so far, and how long the oracle took on it."""

    text: bytes
    seconds: float


@dataclass(slots=True)
class _Epoch:
    """The search over one document: the passes that are searched, and what is in flight."""

    view: View
    team: Team[Patched]
    places: deque[Place]
    """Of the strands, first to last."""
    text: bytes
    """The best text when it began."""
    flight: deque[_Candidate] = field(default_factory=deque)
    accepted: int = 0
    helped: set[str] = field(default_factory=set)
    """The passes with a success."""
    around: Surroundings = field(init=False)
    _base: tuple[Patched, bytes] | None = None

    def __post_init__(self) -> None:
        self.around = Surroundings(self.view.document)
        self._base = self.team.accepted, self.text

    def mixes(self, place: Place | None) -> bool:
        """Return whether a candidate of a pass may hold changes of others; None: of any."""
        return len(self.helped) > 1 if place is None else bool(self.helped - {place.each.name})

    def base(self) -> bytes:
        """Return the text of what is believed."""
        believed = self.team.believed
        if self._base is None or self._base[0] is not believed:
            self._base = believed, believed.render()
        return self._base[1]
